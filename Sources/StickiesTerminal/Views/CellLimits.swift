import TerminalCells

extension Rect {
  /// Farther out than this nothing lies: sums of places stay far from the limits of numbers.
  static let farthest = 1 << 30

  /// The rectangle with its place and size within bounds; what lies in the usual places is unchanged.
  var clamped: Rect {
    Rect(
      x: min(max(minX, -Self.farthest), Self.farthest), y: min(max(minY, -Self.farthest), Self.farthest),
      width: min(size.width, Self.farthest), height: min(size.height, Self.farthest))
  }

  /// Column and row in the middle.
  var middle: Point { Point(x: minX + size.width / 2, y: minY + size.height / 2) }
}

extension Grid {
  /// What is drawn over the cursor hides it.
  mutating func hideCursor(in rect: Rect) {
    if let cursor, rect.contains(cursor) { self.cursor = nil }
  }

  /// Draws a text into so many columns from `x` on, with `cut` at its end if it does not fit; returns the column behind it.
  @discardableResult
  mutating func draw(
    _ text: String, x: Int, y: Int, width: Int, _ style: Style, clip: Rect, cut: Character
  ) -> Int {
    guard width > 0 else { return x }
    let line = CellLine(text, width: width, cut: cut)
    return draw(line.text, x: x, y: y, style, clip: clip)
  }
}

/// A text made to fit one line.
struct CellLine: Hashable, Sendable {
  /// What of it is shown.
  let text: String
  /// Columns of that.
  let width: Int
  /// Whether something was left out.
  let isCut: Bool

  /// As much of the text as fits, with `cut` for what does not. A text of a thousand invisible characters ends after them.
  init(_ text: String, width: Int, cut: Character) {
    guard width > 0 else {
      self.init("", 0, !text.isEmpty)
      return
    }
    var shown = ""
    var column = 0
    var count = 0
    for character in text {
      let columns = CellText.width(of: character)
      count += 1
      if column + columns > width || count > 1000 {
        // Room for the mark: the last place of the line.
        while column >= width, !shown.isEmpty { column -= CellText.width(of: shown.removeLast()) }
        shown.append(cut)
        self.init(shown, column + 1, true)
        return
      }
      shown.append(character)
      column += columns
    }
    self.init(shown, column, false)
  }

  private init(_ text: String, _ width: Int, _ isCut: Bool) {
    (self.text, self.width, self.isCut) = (text, width, isCut)
  }
}
