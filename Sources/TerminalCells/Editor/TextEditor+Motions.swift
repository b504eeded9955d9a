/// A motion of the cursor.
public enum TextMotion: Hashable, Sendable {
  /// One character to the left.
  case left
  /// One character to the right.
  case right
  /// To the beginning of the current or previous word.
  case wordLeft
  /// To the end of the current or next word.
  case wordRight
  /// One row up, in the original column.
  case up
  /// One row down.
  case down
  /// Some rows up.
  case pageUp(rows: Int)
  /// Some rows down.
  case pageDown(rows: Int)
  /// To the beginning of the row.
  case rowStart
  /// To the end of the row.
  case rowEnd
  /// To the beginning of the current or previous paragraph.
  case paragraphStart
  /// To the end of the current or next paragraph.
  case paragraphEnd
  /// To the beginning of the text.
  case start
  /// To the end of the text.
  case end
}

extension TextEditor {
  /// Returns the target of a motion from the cursor, and the column that subsequent vertical motions keep.
  func target(of motion: TextMotion) -> (offset: Int, column: Int?) {
    switch motion {
    case .left: (step(cursor, by: -1), nil)
    case .right: (step(cursor, by: 1), nil)
    case .wordLeft: (wordLeft(of: cursor), nil)
    case .wordRight: (wordRight(of: cursor), nil)
    case .up: vertical(-1)
    case .down: vertical(1)
    case .pageUp(let rows): vertical(-max(1, rows))
    case .pageDown(let rows): vertical(max(1, rows))
    case .rowStart: (layout.rows[layout.row(at: cursor)].range.lowerBound, nil)
    case .rowEnd: (rowEnd(layout.row(at: cursor)), nil)
    case .paragraphStart: (paragraphStart(of: cursor), nil)
    case .paragraphEnd: (paragraphEnd(of: cursor), nil)
    case .start: (0, nil)
    case .end: (text.utf8.count, nil)
    }
  }

  func index(_ offset: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: offset) }

  func offset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }

  private func step(_ from: Int, by distance: Int) -> Int {
    let place = index(from)
    if distance < 0 { return place > text.startIndex ? offset(text.index(before: place)) : 0 }
    return place < text.endIndex ? offset(text.index(after: place)) : from
  }

  private func vertical(_ rows: Int) -> (Int, Int?) {
    let here = cursorPosition
    let column = column ?? here.x
    let row = here.y + rows
    if row < 0 { return (0, column) }
    if row >= layout.rows.count { return (text.utf8.count, column) }
    return (layout.offset(at: Point(x: column, y: row), in: text), column)
  }

  /// Returns the last offset of a row. In a wrapped row it is before the last character, because the offset after it
  /// belongs to the next row.
  private func rowEnd(_ row: Int) -> Int {
    let place = layout.rows[row]
    guard !place.endsLine, !place.visible.isEmpty else { return place.visible.upperBound }
    return step(place.visible.upperBound, by: -1)
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character.utf8.count == 1 && character == "_"
  }

  func wordLeft(of from: Int) -> Int {
    var place = index(from)
    while place > text.startIndex, !Self.isWord(text[text.index(before: place)]) { place = text.index(before: place) }
    while place > text.startIndex, Self.isWord(text[text.index(before: place)]) { place = text.index(before: place) }
    return offset(place)
  }

  func wordRight(of from: Int) -> Int {
    var place = index(from)
    while place < text.endIndex, !Self.isWord(text[place]) { place = text.index(after: place) }
    while place < text.endIndex, Self.isWord(text[place]) { place = text.index(after: place) }
    return offset(place)
  }

  /// Returns the word at an offset, or the run of characters of the same kind.
  func word(at from: Int) -> Range<Int> {
    var low = index(from)
    if low == text.endIndex, low > text.startIndex { low = text.index(before: low) }
    guard low < text.endIndex, !text[low].isNewline else { return from..<from }
    let kind = (Self.isWord(text[low]), text[low].isWhitespace)
    func belongs(_ character: Character) -> Bool {
      !character.isNewline && (Self.isWord(character), character.isWhitespace) == kind
    }
    var high = low
    while high < text.endIndex, belongs(text[high]) { high = text.index(after: high) }
    while low > text.startIndex, belongs(text[text.index(before: low)]) { low = text.index(before: low) }
    return offset(low)..<offset(high)
  }

  func paragraphStart(of from: Int) -> Int {
    var place = index(from)
    // At the beginning of a paragraph, continue to the previous one.
    if place > text.startIndex { place = text.index(before: place) }
    while place > text.startIndex, !text[text.index(before: place)].isNewline { place = text.index(before: place) }
    return offset(place)
  }

  func paragraphEnd(of from: Int) -> Int {
    var place = index(from)
    if place < text.endIndex { place = text.index(after: place) }
    while place < text.endIndex, !text[place].isNewline { place = text.index(after: place) }
    return offset(place)
  }

  /// Returns the line at an offset, including its line break.
  func line(at from: Int) -> Range<Int> {
    var low = index(from)
    while low > text.startIndex, !text[text.index(before: low)].isNewline { low = text.index(before: low) }
    var high = index(from)
    while high < text.endIndex, !text[high].isNewline { high = text.index(after: high) }
    if high < text.endIndex { high = text.index(after: high) }
    return offset(low)..<offset(high)
  }
}
