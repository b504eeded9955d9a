/// A text broken into rows at words, or inside words that are longer than a row. Rows refer to the text by UTF-8
/// offsets, so a cursor can be mapped both ways, and every byte belongs to exactly one row.
///
/// Blanks at the end of a row hang over its edge: they belong to its range and take no columns beyond the width. A
/// row that ends with a line break includes it in its range; a text that ends with one has an empty last row.
public struct TextLayout: Hashable, Sendable {
  /// A row.
  public struct Row: Hashable, Sendable {
    /// The row's UTF-8 range, including its line break.
    public var range: Range<Int>
    /// The row's UTF-8 range without its line break.
    public var visible: Range<Int>
    /// Whether a line of the text ends here; otherwise it continues in the next row.
    public var endsLine: Bool
  }

  /// The rows; at least one.
  public let rows: [Row]
  /// The number of available columns.
  public let width: Int

  /// Breaks `text` into rows of at most `width` columns, at least 1. A character wider than that has a row of its
  /// own.
  public init(_ text: String, width: Int) {
    let width = max(1, width)
    var rows = [Row]()
    var start = 0
    var column = 0
    /// The last possible break: the offset after the last blank.
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
      // A longer character is not compared, because that would normalize it.
      let isBlank = length == 1 && (character == " " || character == "\t")
      if !isBlank, column + columns > width, offset > start {
        if let place = breakAt {
          rows.append(Row(range: start..<place, visible: start..<place, endsLine: false))
          (start, column) = (place, columnsAfterBreak)
          breakAt = nil
        }
        // The rest may be a long word that fills a row by itself.
        if column + columns > width, offset > start {
          rows.append(Row(range: start..<offset, visible: start..<offset, endsLine: false))
          (start, column, breakAt) = (offset, 0, nil)
        }
      }
      column += columns
      columnsAfterBreak += columns
      // A line may break after any ideograph.
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

  /// Returns the row of a cursor at an offset; at a wrap, the next row.
  public func row(at offset: Int) -> Int {
    var low = 0
    var high = rows.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if rows[middle].range.lowerBound <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Returns the cell of a cursor at an offset of the original text. A cursor after hanging blanks is at the edge.
  public func position(of offset: Int, in text: String) -> Point {
    let row = row(at: offset)
    let shown = text.slice(rows[row].range.lowerBound..<max(rows[row].range.lowerBound, min(offset, text.utf8.count)))
    return Point(x: min(CellText.width(of: shown), width), y: row)
  }

  /// Returns the offset nearest to a cell: before the character there, or after it if the cell is in its right half.
  /// Above the text it is the first offset, below it the last.
  public func offset(at point: Point, in text: String) -> Int {
    if point.y < 0 { return 0 }
    guard point.y < rows.count else { return text.utf8.count }
    let row = rows[point.y]
    var column = 0
    var offset = row.visible.lowerBound
    for character in text.slice(row.visible) {
      let columns = CellText.width(of: character)
      // In a wrapped row, the offset after the last character would be shown in the next row.
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
  /// Returns the text between two UTF-8 offsets, clamped to the text.
  func slice(_ range: Range<Int>) -> Substring {
    let count = utf8.count
    let low = utf8.index(startIndex, offsetBy: Swift.min(Swift.max(0, range.lowerBound), count))
    let high = utf8.index(startIndex, offsetBy: Swift.min(Swift.max(0, range.upperBound), count))
    return low <= high ? self[low..<high] : self[low..<low]
  }
}
