/// The cells of a screen. Each turn draws a new grid, and `ScreenWriter` writes the difference from the previous one.
public struct Grid: Hashable, Sendable {
  /// The columns and rows.
  public let size: Size
  /// The cells, row by row.
  var cells: [Cell]
  /// The visible cursor; nil if it is hidden.
  public var cursor: Point?

  /// Creates a blank grid of at most 4,096 columns and rows.
  public init(_ size: Size, style: Style = .standard) {
    self.size = Size(width: min(size.width, 4096), height: min(size.height, 4096))
    cells = Array(repeating: Cell(.space, style: style.bits, .whole), count: self.size.width * self.size.height)
  }

  /// The grid as a rectangle.
  public var bounds: Rect { Rect(origin: Point(x: 0, y: 0), size: size) }

  /// The cell at a position; a blank outside.
  public subscript(x: Int, y: Int) -> Cell { bounds.contains(Point(x: x, y: y)) ? cells[y * size.width + x] : .blank }

  /// Returns a row as text, without the right halves of wide characters.
  public func text(row: Int) -> String { (0..<size.width).map { self[$0, row].text }.joined() }

  /// All rows as text without trailing blanks, for tests and messages.
  public var text: String {
    (0..<size.height).map { row in
      var line = text(row: row)
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// Puts a glyph at a position inside of `clip`, which must be inside of the grid. If it covers half of a wide
  /// character, the other half becomes a blank; a wide glyph that is only half inside is drawn as a blank.
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

  /// Replaces both halves of the wide character at an index by blanks, if there is one.
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

  /// Whether every head has a continuation, and every continuation a head.
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
