/// Parses the mapping file. A line at the margin begins a `form`, a `file` or a `message`; indented lines belong to the
/// message above them.
struct MappingParser {
  private var mapping: SwiftMapping
  private var line = 0
  private var words = [String]()[...]

  static func parse(_ text: String, path: String) throws(SourceError) -> SwiftMapping {
    var parser = MappingParser(mapping: SwiftMapping(path: path))
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      parser.line = index + 1
      parser.words = try parser.split(line)[...]
      guard let first = parser.words.popFirst() else { continue }
      if line.first == " " { try parser.parseDetail(first) } else { try parser.parseHead(first) }
      if let rest = parser.words.first { throw parser.sourceError("\"\(rest)\" is not understood here") }
    }
    return parser.mapping
  }

  private init(mapping: SwiftMapping) { self.mapping = mapping }

  /// Words, texts in double quotes, and Swift expressions in backticks; a # outside of them begins a comment.
  private func split(_ line: Substring) throws(SourceError) -> [String] {
    var words = [String]()
    var rest = line.drop { $0 == " " }
    while let first = rest.first, first != "#" {
      let isQuoted = first == "\"" || first == "`"
      let body = isQuoted ? rest.dropFirst() : rest
      let word = body.prefix { isQuoted ? $0 != first : $0 != " " }
      guard !isQuoted || word.endIndex < body.endIndex else { throw sourceError("a closing \(first) is missing") }
      words.append(String(word))
      rest = body[word.endIndex...].dropFirst(isQuoted ? 1 : 0).drop { $0 == " " }
    }
    return words
  }

  private mutating func parseHead(_ keyword: String) throws(SourceError) {
    switch keyword {
    case "form":
      let name = try next("a form needs a name")
      mapping.forms[name] = SwiftMapping.Form(
        proto: try next("a form needs a type of protobuf"), swift: try next("a form needs a type of Swift"),
        zero: try next("a form needs the value of an absent field"), line: line)
    case "file":
      let path = try next("a file needs a path below Sources")
      guard path.hasSuffix(".swift") else { throw sourceError("\(path) is not a Swift file") }
      mapping.files.append((path, try next("a file needs a sentence that says what it holds")))
    case "message": try parseMessage()
    default: throw sourceError("\"\(keyword)\" is not known; write form, file or message, and indent details")
    }
  }

  private mutating func parseMessage() throws(SourceError) {
    let name = try next("a message needs its name in the schema")
    guard mapping.message(name) == nil else { throw sourceError("\(name) is mapped twice; remove one") }
    var message = SwiftMapping.Message(name: name, line: line, role: .type, type: name, file: mapping.files.last?.path)
    if let keyword = words.popFirst() {
      switch keyword {
      case "type": message.type = try next("the name of a type is missing")
      case "payload": message.role = .payload
      case "wrapper": message.role = .wrapper(try next("the name of its functions is missing"))
      case "handwritten":
        message.role = .handwritten
        if let type = words.popFirst() { message.type = type }
      default: throw sourceError("\"\(keyword)\" is not known; write type, payload, wrapper or handwritten")
      }
    }
    mapping.messages.append(message)
  }

  /// A property of the message, or a field with its options.
  private mutating func parseDetail(_ name: String) throws(SourceError) {
    guard var message = mapping.messages.popLast() else { throw sourceError("there is no message above this line") }
    switch name {
    case "@start": message.start = try next("the arguments of the initializer are missing")
    case "@empty": message.empty = try next("the empty value is missing")
    case "@unknown": message.unknown = try next("the error is missing")
    case "@verify": message.isVerified = true
    default:
      guard message.fields[name] == nil else { throw sourceError("\(name) is mapped twice; remove one") }
      message.fields[name] = try parseOptions()
    }
    mapping.messages.append(message)
  }

  private mutating func parseOptions() throws(SourceError) -> SwiftMapping.Field {
    var field = SwiftMapping.Field(line: line)
    while let option = words.popFirst() {
      switch option {
      case "=": field.property = try next("the property is missing")
      case "_": field.isUnlabeled = true
      case "as": field.form = try next("the form is missing")
      case "type": field.type = try next("the type is missing")
      case "required": field.required = try next("the error is missing")
      case "present": field.isPresent = true
      case "zero": field.zero = try next("the value is missing")
      case "if": field.condition = try next("the condition is missing")
      case "flags": field.flags = try next("the property is missing")
      case "part": field.part = try next("the property is missing")
      case "also": field.also = (try next("the property is missing"), try next("the key path is missing"))
      case "limit": field.limit = (try next("the limit is missing"), try next("the error is missing"))
      case "narrow": field.narrow = try next("the error is missing")
      case "through": field.filter = try next("the function is missing")
      case "together": field.isWrittenTogether = true
      default: throw sourceError("\"\(option)\" is not an option of a field")
      }
    }
    return field
  }

  private mutating func next(_ message: String) throws(SourceError) -> String {
    guard let word = words.popFirst() else { throw sourceError(message) }
    return word
  }

  private func sourceError(_ message: String) -> SourceError {
    SourceError(path: mapping.path, line: line, message: message)
  }
}
