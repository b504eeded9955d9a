import TerminalCells

/// Draws a panel with a text field, a remark and suggested names.
public struct PromptView: Sendable {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The field, at an offset in UTF-8.
    case text(Int)
    /// A name, by its index.
    case name(Int)
    /// The rest of the panel.
    case panel
  }

  /// Maximum number of suggested names; typing more narrows them down.
  public static let maximumNames = 8

  /// The title.
  public let title: String
  /// The typed text.
  public let text: String
  /// The cursor, as an offset in UTF-8.
  public let cursor: Int
  /// The selected range of the text.
  public let selection: Range<Int>
  /// The remark beside the text.
  public let remark: String
  /// Whether the remark is an error.
  public let isWrong: Bool
  /// The suggested names.
  public let names: [String]
  /// The index of the chosen name.
  public let chosen: Int?

  /// Creates a panel.
  public init(
    _ title: String, text: String, cursor: Int, selection: Range<Int> = 0..<0, remark: String = "",
    isWrong: Bool = false, names: [String] = [], chosen: Int? = nil
  ) {
    self.title = title
    self.text = text
    self.cursor = cursor
    self.selection = selection
    self.remark = remark
    self.isWrong = isWrong
    self.names = Array(names.prefix(Self.maximumNames))
    self.chosen = chosen
  }

  private func panel(_ screen: Rect) -> Rect {
    let height = 3 + names.count
    // Grows downwards, so that the field does not move while names appear and disappear.
    let room = screen.centered(Size(width: 44, height: 3 + Self.maximumNames))
    return Rect(x: room.minX, y: room.minY, width: room.size.width, height: min(height, room.size.height))
  }

  private func line(_ panel: Rect) -> Rect {
    let remarkWidth = remark.isEmpty ? 0 : CellText.width(of: remark) + 1
    return Rect(
      x: panel.minX + 2, y: panel.minY + 1, width: panel.size.width - 4 - remarkWidth, height: min(1, panel.size.height)
    )
  }

  private func column(of offset: Int) -> Int {
    let end = text.utf8.index(text.startIndex, offsetBy: min(max(0, offset), text.utf8.count))
    return CellText.width(of: text[..<end])
  }

  private func scroll(_ line: Rect) -> Int { max(0, column(of: cursor) - line.size.width + 1) }

  /// Draws the panel over a screen.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    let panel = panel(frame)
    grid.panel(panel, theme: theme, clip: clip)
    grid.draw(
      " \(title) ", x: panel.minX + 2, y: panel.minY, width: panel.size.width - 4, theme.panel.bold,
      clip: clip.intersection(panel), cut: theme.symbols.cut)
    let inside = clip.intersection(panel.inset(1))
    let line = line(panel)
    let (shown, scroll) = (inside.intersection(line), scroll(line))
    grid.draw(text, x: line.minX - scroll, y: line.minY, theme.panel, clip: shown)
    let (low, high) = (column(of: selection.lowerBound), column(of: selection.upperBound))
    if low < high {
      let selected = Rect(x: line.minX - scroll + low, y: line.minY, width: high - low, height: 1)
      grid.restyle(selected, clip: shown) { $0 = theme.chosen }
    }
    let remarkWidth = CellText.width(of: remark)
    grid.draw(
      remark, x: panel.maxX - 2 - remarkWidth, y: line.minY, isWrong ? theme.wrong : theme.panelBorder, clip: inside)
    for (place, name) in names.enumerated() {
      let row = Rect(x: panel.minX + 1, y: line.minY + 1 + place, width: panel.size.width - 2, height: 1)
      let style = place == chosen ? theme.chosen : theme.panel
      grid.fill(row, style, clip: inside)
      grid.draw(
        name, x: row.minX + 1, y: row.minY, width: row.size.width - 2, style, clip: inside, cut: theme.symbols.cut)
    }
    let point = Point(x: line.minX + column(of: cursor) - scroll, y: line.minY)
    if shown.contains(point) { grid.cursor = point }
  }

  /// The part at a point; nil outside the panel.
  public func part(at point: Point, frame: Rect) -> Part? {
    let panel = panel(frame.clamped)
    guard panel.contains(point) else { return nil }
    let line = line(panel)
    let name = point.y - line.minY - 1
    if point.x > panel.minX, point.x < panel.maxX - 1, point.y < panel.maxY - 1, names.indices.contains(name) {
      return .name(name)
    }
    guard line.contains(point) else { return .panel }
    return .text(text.offset(atColumn: point.x - line.minX + scroll(line)))
  }
}

extension String {
  /// The offset in UTF-8 of the character at a column of a line; the end if the column is after the last one.
  func offset(atColumn wanted: Int) -> Int {
    var column = 0
    var offset = 0
    for character in self {
      let width = CellText.width(of: character)
      if wanted < column + width { return offset }
      column += width
      offset += character.utf8.count
    }
    return offset
  }
}
