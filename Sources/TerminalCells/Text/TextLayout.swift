/// A text broken into the rows of a window, by words, by letters where a word is longer than a row. Rows name their text by
/// offsets in UTF-8, so that a cursor is mapped both ways, and every byte of the text belongs to exactly one row.
///
/// Blanks at which a row ends hang over its edge: they are in its range and take no columns past the width. A row whose
/// text ends with a line break has the break in its range; a text that ends with one has an empty row behind it.
public struct TextLayout: Hashable, Sendable {
  /// A row.
  public struct Row: Hashable, Sendable {
    /// Its text, line break included, as offsets in UTF-8.
    public var range: Range<Int>
    /// Its text without the line break.
    public var visible: Range<Int>
    /// True if a line of the text ends here, false if it goes on in the next row.
    public var endsLine: Bool
  }

  /// The rows; at least one.
  public let rows: [Row]
  /// Columns that were to be had.
  public let width: Int

  /// Breaks `text` into rows of at most `width` columns, at least 1. A character that is wider than that has a row of
  /// its own.
  public init(_ text: String, width: Int) {
    let width = max(1, width)
    var rows = [Row]()
    var start = 0
    var column = 0
    /// Where the row may end: behind the last blank, and how many columns come after that.
    var breakAt: Int?
    var columnsAfterBreak = 0
    var offset = 0
    for character in text {
      let length = character.utf8.count
      let end = offset + length
      if character.isNewline {
        rows.append(Row(range: start..<end, visible: start..<offset, endsLine: true))
        (start, column, breakAt, columnsAfterBreak) = (end, 0, nil, 0)
        offset = end
        continue
      }
      let columns = CellText.width(of: character)
      let isBlank = character == " " || character == "\t"
      if !isBlank, column + columns > width, offset > start {
        if let place = breakAt {
          rows.append(Row(range: start..<place, visible: start..<place, endsLine: false))
          (start, column) = (place, columnsAfterBreak)
          breakAt = nil
        }
        // What is left may be a long word that fills a row alone.
        if column + columns > width, offset > start {
          rows.append(Row(range: start..<offset, visible: start..<offset, endsLine: false))
          (start, column, breakAt) = (offset, 0, nil)
        }
      }
      column += columns
      columnsAfterBreak += columns
      // Ideographs may be parted anywhere.
      if isBlank || Self.isIdeograph(character) {
        breakAt = end
        columnsAfterBreak = 0
      }
      offset = end
    }
    rows.append(Row(range: start..<offset, visible: start..<offset, endsLine: true))
    self.rows = rows
    self.width = width
  }

  /// The row that a cursor at an offset stands in. Where a row goes over into the next, it is the next.
  public func row(at offset: Int) -> Int {
    var low = 0
    var high = rows.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if rows[middle].range.lowerBound <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The cell of a cursor that stands at an offset of the text that this was made of. A cursor behind hanging blanks stands at
  /// the edge.
  public func position(of offset: Int, in text: String) -> Point {
    let row = row(at: offset)
    let shown = text.slice(rows[row].range.lowerBound..<max(rows[row].range.lowerBound, min(offset, text.utf8.count)))
    return Point(x: min(CellText.width(of: shown), width), y: row)
  }

  /// The offset that is nearest to a cell: the beginning of the character there, or what is behind it if the cell is in
  /// its right half. Above the text it is the first one, below it the last.
  public func offset(at point: Point, in text: String) -> Int {
    if point.y < 0 { return 0 }
    guard point.y < rows.count else { return text.utf8.count }
    let row = rows[point.y]
    var column = 0
    var offset = row.visible.lowerBound
    for character in text.slice(row.visible) {
      let columns = CellText.width(of: character)
      // A cursor at the very end of a row that goes on would be shown in the next.
      let end = offset + character.utf8.count
      if point.x < column + columns, 2 * (point.x - column) < max(columns, 2) { return offset }
      if !row.endsLine, end == row.visible.upperBound { return offset }
      column += columns
      offset = end
      if point.x < column { return offset }
    }
    return offset
  }

  private static func isIdeograph(_ character: Character) -> Bool {
    guard let value = character.unicodeScalars.first?.value else { return false }
    return (0x3040...0x30FF).contains(value) || (0x3400...0x9FFF).contains(value) || (0x20000...0x3FFFD).contains(value)
  }
}

extension String {
  /// The text between two offsets in UTF-8, which are cut to what there is.
  func slice(_ range: Range<Int>) -> Substring {
    let count = utf8.count
    let low = utf8.index(startIndex, offsetBy: Swift.min(Swift.max(0, range.lowerBound), count))
    let high = utf8.index(startIndex, offsetBy: Swift.min(Swift.max(0, range.upperBound), count))
    return low <= high ? self[low..<high] : self[low..<low]
  }
}
