import GraphModel

/// A parsed value in the front matter, before it is converted to its field's type.
enum FrontMatterValue {
  case word(String)
  case list([String])

  /// Parses a word, or a list in brackets.
  init(_ text: String, _ line: Int) throws(NoteFile.ParseError) {
    guard text.utf8.first == UInt8(ascii: "[") else {
      self = .word(try Self.word(text, line))
      return
    }
    self = .list(try Self.items(Array(text.utf8.dropFirst()), line))
  }

  /// Parses the items of a list after its opening bracket.
  private static func items(_ bytes: [UInt8], _ line: Int) throws(NoteFile.ParseError) -> [String] {
    var items = [String]()
    var start = 0
    var index = 0
    var isQuoted = false
    func item(_ end: Int) throws(NoteFile.ParseError) -> String {
      var part = bytes[start..<end]
      while let first = part.first, first == 0x20 || first == 0x09 { part.removeFirst() }
      while let last = part.last, last == 0x20 || last == 0x09 { part.removeLast() }
      return try word(String(decoding: part, as: UTF8.self), line)
    }
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "\\") where isQuoted: index += 1
      case UInt8(ascii: ",") where !isQuoted:
        items.append(try item(index))
        start = index + 1
      case UInt8(ascii: "]") where !isQuoted:
        guard index == bytes.count - 1 else {
          throw .init(line: line, reason: "there is extra text after the list")
        }
        let isEmpty = items.isEmpty && bytes[start..<index].allSatisfy { $0 == 0x20 || $0 == 0x09 }
        if !isEmpty { items.append(try item(index)) }
        return items
      default: break
      }
      index += 1
    }
    throw .init(line: line, reason: "the list is not closed: ] is missing")
  }

  /// Parses a word, plain or in double quotes with JSON's escapes.
  static func word(_ text: String, _ line: Int) throws(NoteFile.ParseError) -> String {
    guard let first = text.utf8.first else { throw .init(line: line, reason: "a value is missing") }
    if first == UInt8(ascii: "\"") {
      guard let json = try? JSON(parsing: text), let word = json.stringValue else {
        throw .init(line: line, reason: "the quoted word can't be read")
      }
      return word
    }
    // Refuse text that YAML would parse as something other than a word.
    guard !"[]{},&*!|>%@`'#?".utf8.contains(first), !text.hasPrefix("- "), !text.contains(": "), !text.contains(" #"),
      text.utf8.allSatisfy({ !"[]{},\"".utf8.contains($0) })
    else { throw .init(line: line, reason: "a word with these characters needs double quotes") }
    return text
  }

  /// Converts the value to the field's type.
  func value(of field: NoteField, _ line: Int) throws(NoteFile.ParseError) -> NoteValue {
    func parseError(_ reason: String) -> NoteFile.ParseError {
      .init(line: line, reason: "\"\(field.rawValue)\" \(reason)")
    }
    switch (field.kind, self) {
    case (.color, .word(let word)):
      guard let color = NoteColor(rawValue: word) else {
        throw parseError("is not one of \(NoteColor.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return .word(color.rawValue)
    case (.flag, .word("true")): return .flag(true)
    case (.flag, .word("false")): return .flag(false)
    case (.flag, _): throw parseError("is neither true nor false")
    case (.number(let range), .word(let word)):
      guard let number = Double(decimal: word) else { throw parseError("is not a number") }
      if let range, !range.contains(number) {
        throw parseError("is outside \(NoteFile.text(of: range.lowerBound)) to \(NoteFile.text(of: range.upperBound))")
      }
      return .number(number == 0 ? 0 : number)
    case (.words, .list(let words)):
      guard words.count <= NoteFile.maximumTagCount else {
        throw parseError("has \(words.count) words; at most \(NoteFile.maximumTagCount) are allowed")
      }
      for word in words where word.isEmpty || word.utf8.count > NoteFile.maximumTagSize {
        throw parseError("has a word of \(word.utf8.count) bytes; each must have 1 to \(NoteFile.maximumTagSize)")
      }
      return .words(of: words)
    case (.words, .word): throw parseError("is not a list such as [home, phone]")
    case (.color, .list), (.number, .list): throw parseError("is a list; a single value is expected")
    }
  }
}
