import GraphModel
import TerminalCells

/// A row of a list of notes.
public struct ListRow: Hashable, Sendable {
  /// The kind of a row.
  public enum Kind: Hashable, Sendable {
    /// The heading of a section.
    case section
    /// A note with a paper color.
    case note(PaperColor)
    /// A note that exists but is not loaded yet.
    case loading
  }

  /// The kind of the row.
  public var kind: Kind
  /// The title of the note or the section.
  public var title: String
  /// The search matches in the title, as offsets in UTF-8.
  public var matches: [Range<Int>]
  /// Text at the end of the row, such as a time or a tag.
  public var detail: String
  /// The marks of the note.
  public var marks: NoteBadges
  /// Whether the note is selected, in edit mode.
  public var isChecked: Bool

  /// Creates a row.
  public init(
    _ kind: Kind, _ title: String, matches: [Range<Int>] = [], detail: String = "", marks: NoteBadges = [],
    isChecked: Bool = false
  ) {
    self.kind = kind
    self.title = title
    self.matches = matches
    self.detail = detail
    self.marks = marks
    self.isChecked = isChecked
  }
}

/// Draws a list of any length; only the visible rows are requested.
public struct ListPane {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// A row.
    case row(Int)
    /// The circle of a row.
    case circle(Int)
    /// The line between list and canvas; drags change the list's width.
    case edge
    /// The area below the last row, or the heading.
    case empty
  }

  /// The heading; empty for none.
  public let heading: String
  /// The number of rows.
  public let count: Int
  /// The first visible row.
  public let top: Int
  /// The focused row.
  public let focus: Int?
  /// Whether the list has the keyboard focus.
  public let isFocused: Bool
  /// Columns of the circles that have slid in, 0 to `circleColumns`.
  public let circles: Int
  /// The number of notes, if some rows are headings.
  public let noteCount: Int
  private let row: (Int) -> ListRow

  /// The full width of the circles, in columns.
  public static let circleColumns = 2

  /// Creates a list. `row` is called once for each visible row.
  public init(
    heading: String = "", count: Int, top: Int = 0, focus: Int? = nil, isFocused: Bool = false, circles: Int = 0,
    noteCount: Int? = nil, row: @escaping (Int) -> ListRow
  ) {
    self.heading = heading
    self.count = max(0, count)
    self.top = min(max(0, top), max(0, count - 1))
    self.focus = focus
    self.isFocused = isFocused
    self.circles = min(max(circles, 0), Self.circleColumns)
    self.noteCount = noteCount ?? max(0, count)
    self.row = row
  }

  private var headingRows: Int { heading.isEmpty ? 0 : 1 }

  /// The number of rows that fit into a frame.
  public func visibleRows(in frame: Rect) -> Int { max(0, frame.size.height - headingRows) }

  /// The top row nearest to `top` at which `row` is visible.
  public static func top(_ top: Int, showing row: Int, count: Int, rows: Int) -> Int {
    let rows = max(1, rows)
    let low = max(0, row - rows + 1)
    return max(0, min(max(min(top, row), low), max(0, count - rows)))
  }

  /// Draws the list; its last column is the line beside the canvas.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let clip = clip.intersection(frame).intersection(grid.bounds)
    guard !clip.isEmpty else { return }
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.list)
    let edge = Rect(x: frame.maxX - 1, y: frame.minY, width: 1, height: frame.size.height)
    grid.fill(edge, with: theme.symbols.joints[3], theme.listFaint, clip: clip)
    drawScroller(into: &grid, frame, clip, theme)
    let width = frame.size.width - 1
    let inside = clip.intersection(Rect(x: frame.minX, y: frame.minY, width: width, height: frame.size.height))
    guard !inside.isEmpty else { return }
    if headingRows == 1, inside.minY == frame.minY {
      var style = theme.list
      style.attributes.insert(.bold)
      let number = String(noteCount)
      grid.draw(
        heading, x: frame.minX + 1, y: frame.minY, width: width - number.count - 3, style, clip: inside,
        cut: theme.symbols.cut)
      grid.draw(number, x: frame.minX + width - 1 - number.count, y: frame.minY, theme.listFaint, clip: inside)
    }
    for y in max(inside.minY, frame.minY + headingRows)..<max(inside.maxY, frame.minY + headingRows) {
      let index = top + y - frame.minY - headingRows
      guard index < count else { break }
      draw(row(index), index, into: &grid, Rect(x: frame.minX, y: y, width: width, height: 1), inside, theme)
    }
  }

  private func drawScroller(into grid: inout Grid, _ frame: Rect, _ clip: Rect, _ theme: Theme) {
    let rows = visibleRows(in: frame)
    guard rows > 1, count > rows else { return }
    let length = max(1, rows * rows / count)
    let place = (rows - length) * min(top, count - rows) / (count - rows)
    let thumb = Rect(x: frame.maxX - 1, y: frame.minY + headingRows + place, width: 1, height: length)
    grid.fill(thumb, with: theme.symbols.thumb, theme.listFaint, clip: clip)
  }

  private func draw(
    _ row: ListRow, _ index: Int, into grid: inout Grid, _ line: Rect, _ clip: Rect, _ theme: Theme
  ) {
    let symbols = theme.symbols
    let isChosen = index == focus
    var style = isChosen ? (isFocused ? theme.chosen : theme.bar) : theme.list
    let faint = isChosen ? style : theme.listFaint
    if isChosen { grid.fill(line, style, clip: clip) }
    guard case .note(let color) = row.kind else {
      let isSection = row.kind == .section
      if isSection { style.attributes.insert(.bold) }
      grid.draw(
        isSection ? row.title : String(symbols.cut), x: line.minX + 1, y: line.minY,
        width: line.size.width - 2, isSection ? style : faint, clip: clip, cut: symbols.cut)
      return
    }
    if circles > 0 {
      let circle = row.isChecked ? symbols.selected : symbols.unselected
      let slid = clip.intersection(Rect(x: line.minX + 1, y: line.minY, width: circles, height: 1))
      grid.draw("\(circle) ", x: line.minX + 1 - (Self.circleColumns - circles), y: line.minY, style, clip: slid)
    }
    var x = line.minX + 1 + circles
    let paper = theme.note(color).text
    grid.draw(theme.depth == .none ? "-" : " ", x: x, y: line.minY, theme.depth == .none ? style : paper, clip: clip)
    x += 2
    var tail = ""
    if row.marks.contains(.pinned) { tail.append(symbols.badges.pinned) }
    if row.marks.contains(.locked) { tail.append(symbols.badges.locked) }
    if row.marks.contains(.conflict) { tail.append(symbols.badges.conflict) }
    if row.marks.contains(.unsent) { tail.append(symbols.badges.unsent) }
    if !row.detail.isEmpty {
      tail += (tail.isEmpty ? "" : " ")
      tail += TruncatedLine(row.detail, width: max(0, line.size.width / 3), cut: symbols.cut).text
    }
    let tailWidth = CellText.width(of: tail)
    let room = line.maxX - 1 - x - (tail.isEmpty ? 0 : tailWidth + 1)
    if tailWidth > 0 { grid.draw(tail, x: line.maxX - 1 - tailWidth, y: line.minY, faint, clip: clip) }
    let title = row.title.isEmpty ? "(empty)" : row.title
    let rest = clip.intersection(Rect(x: x, y: line.minY, width: room, height: 1))
    grid.draw(title, x: x, y: line.minY, width: room, row.title.isEmpty ? faint : style, clip: rest, cut: symbols.cut)
    grid.highlight(row.matches, of: row.title, x: x, y: line.minY, theme.match, clip: rest)
  }

  /// The part at a point; nil outside.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard frame.contains(point) else { return nil }
    if point.x == frame.maxX - 1 { return .edge }
    let index = top + point.y - frame.minY - headingRows
    guard point.y >= frame.minY + headingRows, index < count else { return .empty }
    let isCircle = circles == Self.circleColumns && point.x <= frame.minX + Self.circleColumns
    return isCircle ? .circle(index) : .row(index)
  }
}

extension Grid {
  /// Changes the style of parts of a text that was drawn from `x` on. Ranges are clamped to the text.
  mutating func highlight(_ ranges: [Range<Int>], of text: String, x: Int, y: Int, _ style: Style, clip: Rect) {
    guard !ranges.isEmpty else { return }
    let shown = text.beginning(of: 1000)
    var column = x
    var offset = 0
    for character in shown {
      guard column < clip.maxX else { break }
      let width = CellText.width(of: character)
      let end = offset + character.utf8.count
      if ranges.contains(where: { $0.lowerBound < end && $0.upperBound > offset }) {
        restyle(Rect(x: column, y: y, width: width, height: 1), clip: clip) { $0 = style }
      }
      column += width
      offset = end
    }
  }
}
