import GraphModel
import TerminalCells

extension Rect {
  /// The maximum coordinate; sums of coordinates stay far from overflow.
  static let farthest = 1 << 30

  /// The rectangle with origin and size clamped to the limits; ordinary rectangles do not change.
  var clamped: Rect {
    Rect(
      x: min(max(minX, -Self.farthest), Self.farthest), y: min(max(minY, -Self.farthest), Self.farthest),
      width: min(size.width, Self.farthest), height: min(size.height, Self.farthest))
  }

  /// The cell in the middle.
  var middle: Point { Point(x: minX + size.width / 2, y: minY + size.height / 2) }
}

extension Grid {
  /// Hides the cursor if it is in the rectangle, which is drawn over.
  mutating func hideCursor(in rect: Rect) {
    if let cursor, rect.contains(cursor) { self.cursor = nil }
  }

  /// Draws a text, truncated with `cut` to a width.
  /// - Returns: the column after the text.
  @discardableResult
  mutating func draw(
    _ text: String, x: Int, y: Int, width: Int, _ style: Style, clip: Rect, cut: Character
  ) -> Int {
    guard width > 0 else { return x }
    let line = TruncatedLine(text, width: width, cut: cut)
    return draw(line.text, x: x, y: y, style, clip: clip)
  }
}

/// A text truncated to fit one line.
struct TruncatedLine: Hashable, Sendable {
  /// The truncated text.
  let text: String
  /// Its width in columns.
  let width: Int
  /// Whether the text was truncated.
  let isCut: Bool

  /// Truncates a text to a width, with `cut` in place of the rest. At most 1,000 characters are read, because they
  /// may be invisible, and as many of their marks as `beginning(of:)` allows.
  init(_ text: String, width: Int, cut: Character) {
    guard width > 0 else {
      self.init("", 0, !text.isEmpty)
      return
    }
    let beginning = text.beginning(of: 1000)
    var isCut = beginning.endIndex < text.endIndex
    var shown = ""
    var column = 0
    for character in beginning {
      let columns = CellText.width(of: character)
      if column + columns > width {
        isCut = true
        break
      }
      shown.append(character)
      column += columns
    }
    if isCut {
      // The last column is for the mark.
      while column >= width, !shown.isEmpty { column -= CellText.width(of: shown.removeLast()) }
      shown.append(cut)
      column += 1
    }
    self.init(shown, column, isCut)
  }

  private init(_ text: String, _ width: Int, _ isCut: Bool) {
    (self.text, self.width, self.isCut) = (text, width, isCut)
  }
}
