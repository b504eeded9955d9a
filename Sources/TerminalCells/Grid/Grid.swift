/// A screen's worth of cells. A turn draws a new one; `ScreenWriter` finds what differs from the one before.
public struct Grid: Hashable, Sendable {
  /// Columns and rows.
  public let size: Size
  /// Row by row.
  var cells: [Cell]
  /// Where the cursor is shown; nil if it is hidden.
  public var cursor: Point?

  /// A blank grid. More than 4,096 columns or rows are not to be had.
  public init(_ size: Size, style: Style = .standard) {
    self.size = Size(width: min(size.width, 4096), height: min(size.height, 4096))
    cells = Array(repeating: Cell(.space, style: style.bits, .whole), count: self.size.width * self.size.height)
  }

  /// All of it, as a rectangle.
  public var bounds: Rect { Rect(origin: Point(x: 0, y: 0), size: size) }

  /// The cell at a place; a blank outside.
  public subscript(x: Int, y: Int) -> Cell { bounds.contains(Point(x: x, y: y)) ? cells[y * size.width + x] : .blank }

  /// A row as text, right halves of wide characters left out.
  public func text(row: Int) -> String { (0..<size.width).map { self[$0, row].text }.joined() }

  /// All rows as text, blanks at their ends left out: for tests and for people.
  public var text: String {
    (0..<size.height).map { row in
      var line = text(row: row)
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// Puts a glyph at a place inside of `clip`, which lies inside of the grid. A half of a wide character that it
  /// covers takes the other half with it; a wide one of which only a half is inside is drawn as a blank.
  mutating func put(_ glyph: Glyph, width: Int, x: Int, y: Int, style: UInt64, clip: Rect) {
    guard !clip.isEmpty, y >= clip.minY, y < clip.maxY, x < clip.maxX, x + width > clip.minX else { return }
    let row = y * size.width
    if width == 2 {
      guard x >= clip.minX, x + 1 < clip.maxX else {
        let inside = x >= clip.minX ? x : x + 1
        partWide(at: row + inside)
        cells[row + inside] = Cell(.space, style: style, .whole)
        return
      }
      partWide(at: row + x)
      partWide(at: row + x + 1)
      cells[row + x] = Cell(glyph, style: style, .head)
      cells[row + x + 1] = Cell(glyph, style: style, .continuation)
    } else {
      partWide(at: row + x)
      cells[row + x] = Cell(glyph, style: style, .whole)
    }
  }

  /// Makes blanks of both halves of the wide character at an index, if there is one.
  private mutating func partWide(at index: Int) {
    switch cells[index].part {
    case .whole: break
    case .head: blank(index, index + 1)
    case .continuation: blank(index - 1, index)
    }
  }

  private mutating func blank(_ head: Int, _ continuation: Int) {
    let style = cells[head].styleBits
    cells[head] = Cell(.space, style: style, .whole)
    cells[continuation] = Cell(.space, style: style, .whole)
  }

  /// True if every head has its continuation and no continuation is without a head.
  var isWellFormed: Bool {
    for y in 0..<size.height {
      for x in 0..<size.width {
        switch self[x, y].part {
        case .whole: break
        case .head:
          guard x + 1 < size.width, self[x + 1, y].isContinuation, self[x + 1, y].styleBits == self[x, y].styleBits
          else { return false }
        case .continuation: if x == 0 || !self[x - 1, y].isWide { return false }
        }
      }
    }
    return true
  }
}
