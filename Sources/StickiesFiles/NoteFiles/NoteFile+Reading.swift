import GraphModel

extension NoteFile {
  /// Parses a file. A file that does not begin with a line `---` contains only text.
  /// - Throws: the first `ParseError`.
  public init(parsing bytes: [UInt8]) throws(ParseError) {
    self.init()
    guard bytes.count <= Self.maximumSize else {
      throw ParseError(line: 1, reason: "the file has \(bytes.count) bytes; at most \(Self.maximumSize) are allowed")
    }
    var reader = LineReader(bytes)
    let hasFrontMatter = reader.isFrontMatter
    if hasFrontMatter { try reader.readFrontMatter(into: &self) }
    var rest = bytes[reader.position...]
    if rest.last == UInt8(ascii: "\n") {
      rest.removeLast()
      // A file of our own has a front matter with line feeds; its text may end with a carriage return.
      if hasCarriageReturns || !hasFrontMatter, rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    }
    guard rest.count <= Self.maximumTextSize else {
      throw ParseError(
        line: reader.line, reason: "the text has \(rest.count) bytes; a note can have at most \(Self.maximumTextSize)")
    }
    guard let text = String(validating: rest, as: UTF8.self) else {
      var line = reader.line
      for part in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        if String(validating: part, as: UTF8.self) == nil { break }
        line += 1
      }
      throw ParseError(line: line, reason: "this is not UTF-8")
    }
    self.text = text
  }
}

/// Reads the lines of the front matter.
private struct LineReader {
  private let bytes: [UInt8]
  /// The offset of the next line.
  private(set) var position = 0
  /// The number of the next line.
  private(set) var line = 1
  private var seen = Set<String>()

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // The byte order mark that some editors write before UTF-8.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  var isFrontMatter: Bool {
    var copy = self
    return copy.next()?.line.elementsEqual("---".utf8) == true
  }

  /// Returns the next line without its line ending; nil at the end of the file.
  private mutating func next() -> (line: ArraySlice<UInt8>, hasCR: Bool)? {
    guard position < bytes.count else { return nil }
    let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    var content = bytes[position..<end]
    position = min(end + 1, bytes.count)
    line += 1
    let hasCR = content.last == UInt8(ascii: "\r")
    if hasCR { content.removeLast() }
    return (content, hasCR)
  }

  mutating func readFrontMatter(into file: inout NoteFile) throws(NoteFile.ParseError) {
    guard let first = next() else { preconditionFailure("a front matter has a first line") }
    file.hasCarriageReturns = first.hasCR
    /// A list whose items are on the lines below its name.
    var open: (name: String, line: Int, items: [String])?
    while let (content, _) = next() {
      let number = line - 1
      guard position <= NoteFile.maximumFrontMatterSize else {
        throw .init(line: number, reason: "the front matter has more than \(NoteFile.maximumFrontMatterSize) bytes")
      }
      guard let text = String(validating: content, as: UTF8.self) else {
        throw .init(line: number, reason: "this is not UTF-8")
      }
      guard !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }) else {
        throw .init(line: number, reason: "the front matter contains a control character")
      }
      let trimmed = Self.trimmed(text)
      let isEnd = text == "---"
      if var list = open {
        if !isEnd, trimmed == "-" || trimmed.hasPrefix("- ") {
          list.items.append(try FrontMatterValue.word(Self.trimmed(String(trimmed.dropFirst())), number))
          open = list
          continue
        }
        open = nil
        try file.set(list.name, .list(list.items), list.line)
      }
      if isEnd { return }
      if trimmed.isEmpty { continue }
      guard let colon = text.firstIndex(of: ":"), let name = Optional(String(text[..<colon])), !name.isEmpty,
        name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D })
      else { throw .init(line: number, reason: "this line is not \"name: value\"") }
      let rest = text[text.index(after: colon)...]
      guard rest.isEmpty || rest.first == " " || rest.first == "\t" else {
        throw .init(line: number, reason: "a space is missing after \"\(name):\"")
      }
      guard seen.insert(name).inserted else { throw .init(line: number, reason: "\"\(name)\" appears here twice") }
      let value = Self.trimmed(String(rest))
      if value.isEmpty, NoteFile.field(name)?.field == .tags {
        open = (name, number, [])
      } else {
        try file.set(name, try FrontMatterValue(value, number), number)
      }
    }
    throw .init(line: 1, reason: "the front matter is not closed: a second line --- is missing")
  }

  private static func trimmed(_ text: String) -> String {
    var rest = text[...]
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return String(rest)
  }
}

extension NoteFile {
  /// Returns the field with a name, and whether the name means the server's value of it.
  fileprivate static func field(_ name: String) -> (field: NoteField, isHeld: Bool)? {
    let isHeld = name.hasPrefix("server-")
    return NoteField(rawValue: isHeld ? String(name.dropFirst(7)) : name).map { ($0, isHeld) }
  }

  fileprivate mutating func set(_ name: String, _ value: FrontMatterValue, _ line: Int) throws(ParseError) {
    if let (field, isHeld) = Self.field(name) {
      let value = try value.value(of: field, line)
      if isHeld { held[field] = value } else { values[field] = value }
      return
    }
    func date() throws(ParseError) -> Timestamp {
      guard case .word(let text) = value, let time = RFC3339.timestamp(text) else {
        throw ParseError(line: line, reason: "\"\(name)\" is not a date such as 2026-11-21T09:30:00Z")
      }
      return time
    }
    func whole<Number: FixedWidthInteger>() throws(ParseError) -> Number {
      guard case .word(let text) = value, let number = Number(text), number >= 0 else {
        throw ParseError(line: line, reason: "\"\(name)\" is not a whole number")
      }
      return number
    }
    switch name {
    case "id":
      guard case .word(let text) = value, let id = UniqueID(text) else {
        throw ParseError(line: line, reason: "this is not an id; remove it to make a new note")
      }
      self.id = id
    case "revision": revision = try whole()
    case "number": number = try whole()
    case "created": created = try date()
    case "updated": updated = try date()
    default: throw ParseError(line: line, reason: "\"\(name)\" is not a property of a note")
    }
  }
}
