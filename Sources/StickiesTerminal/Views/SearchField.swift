import TerminalCells

/// Draws the search field: the query and the number of notes found.
public struct SearchField: Sendable {
  /// The state of the search.
  public enum Answer: Hashable, Sendable {
    /// No search is active.
    case none
    /// The search is in progress.
    case searching
    /// The number of notes found.
    case found(Int)
    /// The search failed, with the reason.
    case failed(String)
  }

  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The text, at an offset in UTF-8.
    case text(Int)
    /// The mark that clears the field.
    case clear
  }

  /// The typed text: one line.
  public let text: String
  /// The cursor, as an offset in UTF-8; nil if the field is not focused.
  public let cursor: Int?
  /// The selected range of the text.
  public let selection: Range<Int>
  /// The state of the search.
  public let answer: Answer

  /// Creates a field. Line breaks of the text are shown as control pictures.
  public init(_ text: String, cursor: Int? = nil, selection: Range<Int> = 0..<0, answer: Answer = .none) {
    self.text = text
    self.cursor = cursor
    self.selection = selection
    self.answer = answer
  }

  private var answerText: String {
    switch answer {
    case .none: ""
    case .searching: "…"
    case .found(0): "nothing"
    case .found(1): "1 note"
    case .found(let count): "\(count) notes"
    case .failed(let reason): reason.isEmpty ? "failed" : reason
    }
  }

  /// The frame of the text in the first row, and the number of columns scrolled out to the left.
  private func place(_ frame: Rect) -> (area: Rect, scroll: Int, answerText: TruncatedLine) {
    let answerText = TruncatedLine(self.answerText, width: max(0, frame.size.width / 2), cut: "~")
    let left = frame.minX + 3
    let right = frame.maxX - (answerText.width == 0 ? 1 : answerText.width + 2) - (text.isEmpty ? 0 : 2)
    let area = Rect(x: left, y: frame.minY, width: right - left, height: min(1, frame.size.height))
    let scroll = if let cursor { max(0, column(of: cursor) - area.size.width + 1) } else { 0 }
    return (area, scroll, answerText)
  }

  private func column(of offset: Int) -> Int {
    let index = text.utf8.index(text.startIndex, offsetBy: min(max(0, offset), text.utf8.count))
    return CellText.width(of: text[..<index])
  }

  /// Draws the field in the first row of `frame`.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let row = Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: min(1, frame.size.height))
    let clip = clip.intersection(row).intersection(grid.bounds)
    guard !clip.isEmpty else { return }
    grid.hideCursor(in: clip)
    let style = theme.list
    grid.fill(clip, style)
    grid.draw(String(theme.symbols.search), x: row.minX + 1, y: row.minY, theme.listFaint, clip: clip)
    let (area, scroll, answerText) = place(frame)
    let inside = clip.intersection(area)
    if text.isEmpty {
      let hint = TruncatedLine("Search", width: area.size.width, cut: theme.symbols.cut)
      if cursor == nil { grid.draw(hint.text, x: area.minX, y: row.minY, theme.listFaint, clip: inside) }
    } else {
      grid.draw(text, x: area.minX - scroll, y: row.minY, style, clip: inside)
      let (low, high) = (column(of: selection.lowerBound), column(of: selection.upperBound))
      if low < high {
        let selected = Rect(x: area.minX - scroll + low, y: row.minY, width: high - low, height: 1)
        grid.restyle(selected, clip: inside) { $0 = theme.chosen }
      }
      grid.draw(String(theme.symbols.close), x: area.maxX, y: row.minY, theme.listFaint, clip: clip)
    }
    let isWrong = if case .failed = answer { true } else { false }
    grid.draw(
      answerText.text, x: row.maxX - 1 - answerText.width, y: row.minY, isWrong ? theme.wrong : theme.listFaint,
      clip: clip)
    guard let cursor else { return }
    let point = Point(x: area.minX + column(of: cursor) - scroll, y: row.minY)
    if inside.contains(point) { grid.cursor = point }
  }

  /// The part at a point; nil where nothing can be clicked.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard frame.contains(point), point.y == frame.minY else { return nil }
    let (area, scroll, _) = place(frame)
    if !text.isEmpty, point.x == area.maxX { return .clear }
    guard area.contains(point) else { return nil }
    return .text(text.offset(atColumn: point.x - area.minX + scroll))
  }
}
