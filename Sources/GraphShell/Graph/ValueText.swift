import GraphModel

/// Formats values on one line, for users.
enum ValueText {
  /// The old and the new value of a property. For texts whose first lines are equal, the first differing lines, with
  /// their number.
  static func change(from old: Value, to new: Value, _ property: Property) -> (was: String, is: String) {
    func text(_ value: Value) -> String { value.isNull ? "null" : cell(value, property) }
    let cells = (was: text(old), is: text(new))
    guard UTF8Comparison.equal(cells.was, cells.is), let before = old.stringValue, let after = new.stringValue,
      !UTF8Comparison.equal(before, after)
    else {
      return cells
    }
    func lines(_ text: String) -> [Substring] {
      text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }
    let (first, second) = (lines(before), lines(after))
    let place = zip(first, second).prefix { $0.utf8.elementsEqual($1.utf8) }.count
    func line(_ lines: [Substring]) -> String {
      place < lines.count
        ? "line \(place + 1): \(TextTable.firstLine(String(lines[place])))" : Output.count(lines.count, "line")
    }
    return (line(first), line(second))
  }

  static func cell(_ value: Value, _ property: Property) -> String { cell(value, property.attribute?.kind) }

  static func cell(_ value: Value, _ kind: Attribute.Kind?) -> String {
    switch value {
    case .null: ""
    case .string(let text) where kind != .json: TextTable.firstLine(text)
    case .data(let bytes): Output.count(bytes.count, "byte")
    case .object(let id): String(id.description.prefix(8))
    case .objects(let ids): ids.map { String($0.description.prefix(8)) }.joined(separator: " ")
    default:
      TextTable.firstLine(value.json(kind: kind).stringValue ?? value.json(kind: kind).text)
    }
  }
}
