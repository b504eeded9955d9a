extension JSON {
  /// A syntax error in a JSON text, with its position.
  public struct ParseError: Error, Equatable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int
    /// The error message.
    public let reason: String
    /// The JSON pointer (RFC 6901) of the value in which the error is; empty for the document.
    package let pointer: String

    public var description: String { "line \(line), column \(column): \(reason)" }
  }

  /// The maximum nesting depth of arrays and objects.
  public static let maximumDepth = 128

  /// The maximum number of levels around the documents in a line of JSON Lines, a body of a request, or the stored form
  /// of an unsent edit.
  package static let envelopeLevels = 16

  /// Parses a document according to RFC 8259: without comments, trailing commas or duplicate names.
  public init(parsing bytes: some Collection<UInt8>) throws(ParseError) {
    var parser = JSONParser(bytes: Array(bytes))
    self = try parser.document()
  }

  /// Parses a text whose arrays and objects may contain documents of the maximum nesting depth. Otherwise as strict as
  /// `init(parsing:)`.
  package init(parsingEnvelope bytes: some Collection<UInt8>) throws(ParseError) {
    var parser = JSONParser(bytes: Array(bytes), maximumDepth: Self.maximumDepth + Self.envelopeLevels)
    self = try parser.document()
  }

  /// The nesting depth of arrays and objects: 0 for any other value, 1 for `[]`.
  package var depth: Int {
    switch self {
    case .array(let elements): elements.reduce(0) { max($0, $1.depth) } + 1
    case .object(let members): members.reduce(0) { max($0, $1.value.depth) } + 1
    case .null, .bool, .integer, .double, .number, .string: 0
    }
  }

  /// Parses a document of a program that splits strings within a surrogate pair or a UTF-8 sequence.
  ///
  /// Each unpaired surrogate (`\ud83d` alone) and each invalid UTF-8 sequence becomes U+FFFD. Otherwise as strict as
  /// `init(parsing:)`.
  /// - Parameter replaced: is increased by the number of characters that became U+FFFD.
  public init(repairing bytes: some Collection<UInt8>, replaced: inout Int) throws(ParseError) {
    var parser = JSONParser(bytes: Array(bytes), isRepairing: true)
    self = try parser.document()
    replaced += parser.replaced
  }

  /// The JSON pointer (RFC 6901) to a value: an empty one for the document itself.
  /// - Parameter path: the names of members and the indexes of elements that lead to it.
  package static func pointer(_ path: [String]) -> String {
    path.map { name in
      "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
    }.joined()
  }

  /// Parses a document from a string.
  public init(parsing text: String) throws(ParseError) {
    try self.init(parsing: Array(text.utf8))
  }
}

private struct JSONParser {
  let bytes: [UInt8]
  /// Whether invalid Unicode becomes U+FFFD instead of an error.
  let isRepairing: Bool
  let maximumDepth: Int
  var position = 0
  /// The names and indexes that lead to the value that is being read.
  private var path = [String]()
  /// The number of characters that became U+FFFD.
  private(set) var replaced = 0

  init(bytes: [UInt8], isRepairing: Bool = false, maximumDepth: Int = JSON.maximumDepth) {
    self.bytes = bytes
    self.isRepairing = isRepairing
    self.maximumDepth = maximumDepth
    // The standard forbids a byte order mark, but it is common in files.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  mutating func document() throws(JSON.ParseError) -> JSON {
    let value = try value(depth: 0)
    skipBlanks()
    guard position == bytes.count else { throw error("unexpected text after the end of the document") }
    return value
  }

  private func error(_ reason: String, at place: Int? = nil) -> JSON.ParseError {
    let before = bytes[..<min(place ?? position, bytes.count)]
    let line = before.count { $0 == 0x0A } + 1
    let column = before.reversed().prefix { $0 != 0x0A }.count + 1
    return JSON.ParseError(line: line, column: column, reason: reason, pointer: JSON.pointer(path))
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func value(depth: Int) throws(JSON.ParseError) -> JSON {
    skipBlanks()
    guard depth < maximumDepth || current != UInt8(ascii: "{") && current != UInt8(ascii: "[") else {
      throw error("nested deeper than \(maximumDepth)")
    }
    switch current {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw error("the document ends where a value is expected")
    case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return try number()
    default: throw error("a value is expected here")
    }
  }

  private mutating func word(_ word: String, _ value: JSON) throws(JSON.ParseError) -> JSON {
    guard bytes[position...].starts(with: word.utf8) else { throw error("a value is expected here") }
    position += word.utf8.count
    return value
  }

  private mutating func object(depth: Int) throws(JSON.ParseError) -> JSON {
    position += 1
    var members = [JSON.Member]()
    // Compared by bytes: `é` as one scalar and as two are different names.
    var names = Set<Value>()
    skipBlanks()
    if current == UInt8(ascii: "}") {
      position += 1
      return .object([])
    }
    while true {
      skipBlanks()
      let start = position
      guard current == UInt8(ascii: "\"") else { throw error("a name in quotation marks is expected here") }
      let name = try string()
      guard names.insert(.string(name)).inserted else {
        path.append(name)
        throw error("the name \"\(name.excerpt)\" appears here twice", at: start)
      }
      skipBlanks()
      guard current == UInt8(ascii: ":") else { throw error("':' is expected here") }
      position += 1
      path.append(name)
      members.append(JSON.Member(name, try value(depth: depth + 1)))
      path.removeLast()
      if try !hasNextElement(until: UInt8(ascii: "}")) { return .object(members) }
    }
  }

  private mutating func array(depth: Int) throws(JSON.ParseError) -> JSON {
    position += 1
    var elements = [JSON]()
    skipBlanks()
    if current == UInt8(ascii: "]") {
      position += 1
      return .array([])
    }
    while true {
      path.append(String(elements.count))
      elements.append(try value(depth: depth + 1))
      path.removeLast()
      if try !hasNextElement(until: UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  private mutating func hasNextElement(until end: UInt8) throws(JSON.ParseError) -> Bool {
    skipBlanks()
    guard let byte = current, byte == UInt8(ascii: ",") || byte == end else {
      throw error("',' or '\(Character(Unicode.Scalar(end)))' is expected here")
    }
    position += 1
    return byte != end
  }

  /// Keeps the text of a number that neither an integer nor a double prints unchanged.
  private mutating func number() throws(JSON.ParseError) -> JSON {
    let start = position
    while let byte = current, (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard Self.isNumber(bytes[start..<position]) else { throw error("'\(text.excerpt)' is not a number", at: start) }
    if let value = Int64(text), UTF8Comparison.equal(String(value), text) { return .integer(value) }
    if let value = Double(text), value.isFinite, UTF8Comparison.equal(JSON.double(value).text, text) {
      return .double(value)
    }
    return .number(text)
  }

  /// Whether the text is a number by RFC 8259: digits without a leading zero, then an optional fraction and exponent.
  private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    func digits(_ rest: inout ArraySlice<UInt8>) -> Int {
      let found = rest.prefix { (0x30...0x39).contains($0) }
      rest = rest.dropFirst(found.count)
      return found.count
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let isZero = rest.first == UInt8(ascii: "0")
    let whole = digits(&rest)
    guard whole == 1 || whole > 1 && !isZero else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard digits(&rest) > 0 else { return false }
    }
    if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
      guard digits(&rest) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private mutating func string() throws(JSON.ParseError) -> String {
    let start = position
    position += 1
    var content = [UInt8]()
    while true {
      guard let byte = current else { throw error("this string is not closed", at: start) }
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        if let string = String(validating: content, as: UTF8.self) { return string }
        guard isRepairing else { throw error("this string is not UTF-8", at: start) }
        return repaired(content)
      case UInt8(ascii: "\\"): try escape(into: &content)
      case 0..<0x20: throw error("a control character must be written as an escape", at: position - 1)
      default: content.append(byte)
      }
    }
  }

  private mutating func repaired(_ content: [UInt8]) -> String {
    var (iterator, decoder) = (content.makeIterator(), UTF8())
    var string = String.UnicodeScalarView()
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): string.append(scalar)
      case .emptyInput: return String(string)
      case .error:
        replaced += 1
        string.append("\u{FFFD}")
      }
    }
  }

  private mutating func escape(into content: inout [UInt8]) throws(JSON.ParseError) {
    guard let byte = current else { throw error("the document ends within an escape") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"):
      var scalar = try hexDigits()
      if (0xD800..<0xDC00).contains(scalar), bytes[position...].starts(with: "\\u".utf8) {
        let second = position
        position += 2
        let low = try hexDigits()
        if (0xDC00..<0xE000).contains(low) {
          scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
        } else if isRepairing {
          // The second escape is a separate character, or the first half of another pair.
          position = second
        } else {
          throw error("half of a surrogate pair")
        }
      }
      guard let valid = Unicode.Scalar(scalar) else {
        guard isRepairing else { throw error("half of a surrogate pair") }
        replaced += 1
        return content.append(contentsOf: "\u{FFFD}".utf8)
      }
      content.append(contentsOf: String(Character(valid)).utf8)
    default: throw error("there is no such escape", at: position - 1)
    }
  }

  private mutating func hexDigits() throws(JSON.ParseError) -> UInt32 {
    let digits = bytes[position...].prefix(4)
    // A sign would be accepted by the initializer.
    guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("four hexadecimal digits are expected here") }
    position += 4
    return value
  }
}
