/// Parses a schema file, and names file and line of everything beyond the supported part of the language.
struct ProtoParser {
  private struct Token {
    var text: String
    var line: Int
  }

  private let path: String
  private var tokens: ArraySlice<Token>
  private var lastLine = 1
  private var file: ProtoFile

  static func parse(_ text: String, path: String) throws(SourceError) -> ProtoFile {
    var parser = ProtoParser(text, path: path)
    return try parser.parse()
  }

  private init(_ text: String, path: String) {
    self.path = path
    tokens = Self.tokens(text)[...]
    file = ProtoFile(path: path)
  }

  /// Words and punctuation, without comments.
  private static func tokens(_ text: String) -> [Token] {
    var tokens = [Token]()
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
      var word = ""
      func finishWord() {
        if !word.isEmpty { tokens.append(Token(text: word, line: index + 1)) }
        word = ""
      }
      for character in code {
        if character.isLetter || character.isNumber || "_.\"".contains(character) {
          word.append(character)
        } else {
          finishWord()
          if !character.isWhitespace { tokens.append(Token(text: String(character), line: index + 1)) }
        }
      }
      finishWord()
    }
    return tokens
  }

  private mutating func parse() throws(SourceError) -> ProtoFile {
    while let token = tokens.first {
      switch token.text {
      case "syntax":
        try expect(["syntax", "="])
        guard try next().text == "\"proto3\"" else { throw sourceError("the syntax must be \"proto3\"") }
        try expect([";"])
      case "package": while try next().text != ";" {}
      case "message": try parseMessage()
      case "enum": try parseEnumeration()
      default:
        throw sourceError("\"\(token.text)\" is not supported here; write a message or an enum", at: token.line)
      }
    }
    try checkTypes()
    return file
  }

  private mutating func parseMessage() throws(SourceError) {
    try expect(["message"])
    let name = try next()
    try expect(["{"])
    var fields = [ProtoFile.Field]()
    while tokens.first?.text != "}" {
      guard tokens.first?.text == "oneof" else {
        fields.append(try parseField(choice: nil))
        continue
      }
      try expect(["oneof"])
      let choice = try next().text
      try expect(["{"])
      while tokens.first?.text != "}" { fields.append(try parseField(choice: choice)) }
      try expect(["}"])
    }
    try expect(["}"])
    guard file.message(name.text) == nil else {
      throw sourceError("the message \(name.text) is defined twice; rename one", at: name.line)
    }
    fields.sort { $0.number < $1.number }
    for (field, next) in zip(fields, fields.dropFirst()) where field.number == next.number {
      throw sourceError("\(field.name) and \(next.name) have the same number; use the next free one", at: next.line)
    }
    file.messages.append(ProtoFile.Message(name: name.text, line: name.line, fields: fields))
  }

  private mutating func parseField(choice: String?) throws(SourceError) -> ProtoFile.Field {
    var type = try next()
    let label = type.text
    if label == "repeated" || label == "optional" {
      guard choice == nil else { throw sourceError("a field of a oneof cannot be \(label)", at: type.line) }
      type = try next()
    }
    for keyword in ["message", "enum", "map", "reserved", "option"] where type.text == keyword {
      throw sourceError("\"\(keyword)\" is not supported inside of a message; move it out", at: type.line)
    }
    let name = try next().text
    try expect(["="])
    let digits = try next()
    guard let number = Int(digits.text), number >= 1, number < 1 << 29, !(19_000...19_999).contains(number) else {
      throw sourceError("\"\(digits.text)\" is not a field number", at: digits.line)
    }
    try expect([";"])
    return ProtoFile.Field(
      name: name, type: type.text, number: number, isRepeated: label == "repeated", isOptional: label == "optional",
      choice: choice, line: type.line)
  }

  private mutating func parseEnumeration() throws(SourceError) {
    try expect(["enum"])
    let name = try next()
    try expect(["{"])
    var cases = [String]()
    while tokens.first?.text != "}" {
      let label = try next()
      try expect(["="])
      guard try next().text == String(cases.count) else {
        throw sourceError(
          "\(label.text) must have the number \(cases.count): cases count from 0 without gaps", at: label.line)
      }
      try expect([";"])
      cases.append(label.text)
    }
    try expect(["}"])
    file.enumerations.append(ProtoFile.Enumeration(name: name.text, cases: cases))
  }

  /// Checks that the type of every field exists, and that no repeated field has a type that other encoders pack.
  private func checkTypes() throws(SourceError) {
    let known = Set(file.messages.map(\.name)).union(file.enumerations.map(\.name)).union(ScalarType.all.keys)
    for field in file.messages.flatMap(\.fields) {
      guard known.contains(field.type) else {
        throw sourceError(
          "there is no type \(field.type); define it, or use one of \(ScalarType.names)", at: field.line)
      }
      let isPackable = file.message(field.type) == nil && field.type != "string" && field.type != "bytes"
      guard !field.isRepeated || !isPackable else {
        throw sourceError("a list of \(field.type) may come packed; put the number into a message", at: field.line)
      }
    }
  }

  // MARK: - Tokens

  private mutating func next() throws(SourceError) -> Token {
    guard let token = tokens.popFirst() else { throw sourceError("the file ends too early; close the brace") }
    lastLine = token.line
    return token
  }

  private mutating func expect(_ texts: [String]) throws(SourceError) {
    for text in texts {
      let token = try next()
      guard token.text == text else { throw sourceError("\"\(text)\" is expected instead of \"\(token.text)\"") }
    }
  }

  private func sourceError(_ message: String, at line: Int? = nil) -> SourceError {
    SourceError(path: path, line: line ?? lastLine, message: message)
  }
}
