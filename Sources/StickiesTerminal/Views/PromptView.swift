import TerminalCells

/// Draws a panel that asks for one line: the line, what is said about it, and names that it could become.
public struct PromptView: Sendable {
  /// A part of it that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The line, at an offset in UTF-8.
    case text(Int)
    /// A name, by its place.
    case name(Int)
    /// The panel elsewhere.
    case panel
  }

  /// Names that are shown at most; more letters lead to the others.
  public static let maximumNames = 8

  /// What is asked for.
  public let title: String
  /// What is typed.
  public let text: String
  /// The cursor, as an offset in UTF-8.
  public let cursor: Int
  /// What is selected of the text.
  public let selection: Range<Int>
  /// What is said about it.
  public let remark: String
  /// Whether that is a complaint.
  public let isWrong: Bool
  /// What it could become.
  public let names: [String]
  /// The name that is chosen.
  public let chosen: Int?

  /// A panel.
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
    // It grows downwards, so that the line stays where it is while names come and go.
    let room = screen.centered(Size(width: 44, height: 3 + Self.maximumNames))
    return Rect(x: room.minX, y: room.minY, width: room.size.width, height: min(height, room.size.height))
  }

  private func line(_ panel: Rect) -> Rect {
    let told = remark.isEmpty ? 0 : CellText.width(of: remark) + 1
    return Rect(
      x: panel.minX + 2, y: panel.minY + 1, width: panel.size.width - 4 - told, height: min(1, panel.size.height))
  }

  private func column(of offset: Int) -> Int {
    let end = text.utf8.index(text.startIndex, offsetBy: min(max(0, offset), text.utf8.count))
    return CellText.width(of: text[..<end])
  }

  private func scroll(_ line: Rect) -> Int { max(0, column(of: cursor) - line.size.width + 1) }

  /// Draws it over a screen.
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
    let told = CellText.width(of: remark)
    grid.draw(
      remark, x: panel.maxX - 2 - told, y: line.minY, isWrong ? theme.wrong : theme.panelBorder, clip: inside)
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

  /// What lies at a point; nil beside it.
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
  /// The offset in UTF-8 of the character at a column of a line; its end behind the last one.
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
