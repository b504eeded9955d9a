import GraphModel

extension FolderManifest {
  /// The error of reading a list.
  public struct ParseError: Error, CustomStringConvertible {
    public let description: String
  }

  /// The list's stored form.
  public var json: JSON {
    var members: [JSON.Member] = [
      .init("format", .integer(1)), .init("store", .string(token.store.description)),
      .init("revision", .integer(token.revision)),
      .init("fingerprint", .string(String(token.fingerprint, radix: 16))),
      .init("board", .string(board.description)), .init("files", .array(entries.map(Self.json))),
    ]
    if let sending {
      members.append(
        .init(
          "sending",
          .object([
            .init("replica", .string(sending.replica.description)), .init("after", .integer(sending.after)),
            .init("files", .array(sending.files.map(Self.json))),
          ])))
    }
    return .object(members)
  }

  private static func json(_ entry: Entry) -> JSON {
    var members: [JSON.Member] = [
      .init("file", .string(entry.file)), .init("id", .string(entry.id.description)),
      .init("revision", .integer(entry.revision)),
    ]
    if entry.isDetached { members.append(.init("detached", .bool(true))) }
    if entry.isUnmarked { members.append(.init("unmarked", .bool(true))) }
    return .object(members + content(entry.values, entry.text))
  }

  private static func json(_ sent: PendingChanges) -> JSON {
    var members: [JSON.Member] = [.init("file", .string(sent.file))]
    if let id = sent.id { members.append(.init("id", .string(id.description))) }
    if let origin = sent.origin { members.append(.init("origin", .string(origin))) }
    return .object(members + content(sent.values, sent.text))
  }

  private static func content(_ values: [NoteField: NoteValue], _ text: String) -> [JSON.Member] {
    NoteField.allCases.compactMap { field in values[field].map { .init(field.rawValue, $0.json) } }
      + [.init("text", .string(text))]
  }

  /// Parses a list.
  /// - Throws: `ParseError` if this program cannot have written it.
  public init(parsing bytes: [UInt8]) throws(ParseError) {
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      throw ParseError(description: "\(error)")
    }
    guard let format = json["format"]?.integerValue else { throw ParseError(description: "its format is missing") }
    guard format == 1 else { throw ParseError(description: "it has format \(format); this program reads format 1") }
    let fingerprint = json["fingerprint"]?.stringValue.flatMap { UInt64($0, radix: 16) }
    guard let fingerprint else { throw ParseError(description: "its fingerprint is missing") }
    token = Token(
      store: try Self.id(json, "store"), revision: try Self.revision(json, "revision"), fingerprint: fingerprint)
    board = try Self.id(json, "board")
    var files = Set<ByteKey>()
    var ids = Set<UniqueID>()
    for item in try Self.items(json) {
      let (file, text, values) = try Self.content(item)
      var entry = Entry(
        file: file, id: try Self.id(item, "id"), revision: try Self.revision(item, "revision"), text: text,
        values: values)
      entry.isDetached = item["detached"]?.boolValue == true
      entry.isUnmarked = item["unmarked"]?.boolValue == true
      guard files.insert(file).inserted, ids.insert(entry.id).inserted else {
        throw ParseError(description: "\(file) appears in it twice")
      }
      self[entry.id] = entry
    }
    if let sending = json["sending"] {
      let sent = try Self.items(sending).map { (item) throws(ParseError) in
        let (file, text, values) = try Self.content(item)
        let id = item["id"] == nil ? nil : try Self.id(item, "id")
        return PendingChanges(file: file, id: id, origin: item["origin"]?.stringValue, text: text, values: values)
      }
      self.sending = PendingCommit(
        replica: try Self.id(sending, "replica"), after: try Self.revision(sending, "after"), files: sent)
    }
  }

  private static func id(_ json: JSON, _ name: String) throws(ParseError) -> UniqueID {
    guard let id = json[name]?.stringValue.flatMap({ UniqueID($0) }) else {
      throw ParseError(description: "its \(name) is missing or is not an id")
    }
    return id
  }

  private static func revision(_ json: JSON, _ name: String) throws(ParseError) -> Revision {
    guard let revision = json[name]?.integerValue, revision >= 0 else {
      throw ParseError(description: "its \(name) is missing or is not a revision")
    }
    return revision
  }

  private static func items(_ json: JSON) throws(ParseError) -> [JSON] {
    guard let items = json["files"]?.arrayValue else { throw ParseError(description: "its files are missing") }
    return items
  }

  private static func content(
    _ json: JSON
  ) throws(ParseError) -> (file: String, text: String, values: [NoteField: NoteValue]) {
    guard let file = json["file"]?.stringValue, NoteFileName.isPlain(file) else {
      throw ParseError(description: "it names a file that can't be in the folder")
    }
    guard let text = json["text"]?.stringValue else { throw ParseError(description: "the text of \(file) is missing") }
    var values = [NoteField: NoteValue]()
    for field in NoteField.allCases {
      guard let member = json[field.rawValue] else { continue }
      guard let value = NoteValue(json: member, of: field) else {
        throw ParseError(description: "the \(field.rawValue) of \(file) can't be read")
      }
      values[field] = value
    }
    return (file, text, values)
  }
}

extension NoteValue {
  /// The value as JSON, for lists and for programs.
  public var json: JSON {
    switch self {
    case .word(let word): .string(word)
    case .number(let number): .double(number)
    case .flag(let flag): .bool(flag)
    case .words(let words): .array(words.map(JSON.string))
    }
  }

  /// Creates a value; nil if it is not valid for the field.
  init?(json: JSON, of field: NoteField) {
    switch (field.kind, json) {
    case (.color, .string(let word)): self = .word(word)
    case (.number, .double), (.number, .integer), (.number, .number):
      guard let number = json.doubleValue else { return nil }
      self = .number(number)
    case (.flag, .bool(let flag)): self = .flag(flag)
    case (.words, .array(let items)):
      let words = items.compactMap(\.stringValue)
      guard words.count == items.count else { return nil }
      self = .words(of: words)
    default: return nil
    }
  }
}
