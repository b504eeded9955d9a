import GraphModel
import GraphTesting

/// The fields and cases of graph.proto that the tests need, so that a test can check that it has met all of them, and
/// can write a message as another program legally might.
struct WireSchema {
  struct Field {
    var number: Int
    var name: String
    var type: String
    var isRepeated: Bool
    /// A field of a oneof, at most one of which is written, or an optional one: written even where it is zero.
    var isChoice: Bool
  }

  private(set) var messages = [String: [Field]]()
  private(set) var enumerations = [String: [Int: String]]()

  static func graph() throws -> WireSchema {
    WireSchema(parsing: String(decoding: try Fixtures.file("Schema/Wire/graph.proto"), as: UTF8.self))
  }

  /// Reads what our file uses of the language: messages, enumerations, and oneofs in messages.
  init(parsing text: String) {
    let code = text.split(separator: "\n").map { $0.prefix(upTo: $0.firstRange(of: "//")?.lowerBound ?? $0.endIndex) }
    var tokens = code.joined(separator: " ").split(separator: " ")[...]
      .flatMap { $0.replacing(#/[{}=;]/#) { " \($0.output) " }.split(separator: " ").map(String.init) }[...]
    while let token = tokens.popFirst() {
      switch token {
      case "message": messages[tokens.removeFirst()] = Self.fields(&tokens, isChoice: false)
      case "enum":
        let name = tokens.removeFirst()
        for field in Self.fields(&tokens, isChoice: false) {
          enumerations[name, default: [:]][field.number] = field.name
        }
      default: break
      }
    }
  }

  /// The fields between braces; a case of an enumeration is a field without a type.
  private static func fields(_ tokens: inout ArraySlice<String>, isChoice: Bool) -> [Field] {
    var fields = [Field]()
    var words = [String]()
    while let token = tokens.popFirst(), token != "}" {
      switch token {
      case "oneof":
        tokens.removeFirst()
        fields += Self.fields(&tokens, isChoice: true)
      case "{": break
      case ";":
        if let number = words.last.flatMap({ Int($0) }), let place = words.firstIndex(of: "=") {
          fields.append(
            Field(
              number: number, name: words[place - 1], type: words[max(place - 2, 0)],
              isRepeated: words.first == "repeated", isChoice: isChoice || words.first == "optional"))
        }
        words = []
      default: words.append(token)
      }
    }
    return fields
  }

  /// `Message.field` and `Enumeration.CASE` of everything that a message of this type can hold.
  func everything(in message: String) -> Set<String> {
    var found = Set<String>()
    var waiting = [message]
    while let message = waiting.popLast() {
      for field in messages[message] ?? [] where found.insert("\(message).\(field.name)").inserted {
        if messages[field.type] != nil { waiting.append(field.type) }
        for name in (enumerations[field.type] ?? [:]).values { found.insert("\(field.type).\(name)") }
      }
    }
    return found
  }

  /// The same of one message that was written.
  func everything(in bytes: some Collection<UInt8>, of message: String) throws -> Set<String> {
    var found = Set<String>()
    var reader = BinaryReader(Array(bytes))
    var numbers = Set<Int>()
    while let (number, content) = try reader.next() {
      guard let field = messages[message]?.first(where: { $0.number == number }) else { continue }
      numbers.insert(number)
      found.insert("\(message).\(field.name)")
      if messages[field.type] != nil {
        found.formUnion(try everything(in: try content.slice(), of: field.type))
      } else if let name = enumerations[field.type]?[Int(truncatingIfNeeded: try content.unsignedOrZero())] {
        found.insert("\(field.type).\(name)")
      }
    }
    // Zero is not written.
    for field in messages[message] ?? [] where !numbers.contains(field.number) {
      if let name = enumerations[field.type]?[0] { found.insert("\(field.type).\(name)") }
    }
    return found
  }

  /// A field as it was written.
  struct WrittenField {
    var field: Field
    var content: BinaryReader.Field
  }

  /// The message written again, inner messages first, with `change` applied to the fields of each.
  func rewrite(
    _ bytes: some Collection<UInt8>, of message: String, _ change: (_ message: String, [WrittenField]) -> [WrittenField]
  ) throws -> [UInt8] {
    var reader = BinaryReader(Array(bytes))
    var fields = [WrittenField]()
    while let (number, content) = try reader.next() {
      guard let field = messages[message]?.first(where: { $0.number == number }) else { continue }
      guard messages[field.type] != nil else {
        fields.append(WrittenField(field: field, content: content))
        continue
      }
      let inner = try rewrite(try content.slice(), of: field.type, change)
      fields.append(WrittenField(field: field, content: .bytes(inner[...])))
    }
    var writer = BinaryWriter()
    for written in change(message, fields) {
      switch written.content {
      case .varint(let value): writer.field(written.field.number, value, always: true)
      case .fixed(let value): writer.fixed(written.field.number, value, always: true)
      case .bytes(let slice): writer.field(written.field.number, Array(slice), always: true)
      case .other: break
      }
    }
    return writer.bytes
  }

  /// A scalar's content; nil for a message.
  func content(of field: Field, isZero: Bool) -> BinaryReader.Field? {
    if messages[field.type] != nil { return nil }
    switch field.type {
    case "fixed64", "double": return .fixed(isZero ? 0 : 1)
    case "string": return .bytes(isZero ? [] : Array("x".utf8)[...])
    // Sixteen: most of our bytes are an id or a hash.
    case "bytes": return .bytes(isZero ? [] : [UInt8](repeating: 7, count: 16)[...])
    default: return .varint(isZero ? 0 : 1)
    }
  }
}

extension BinaryReader.Field {
  fileprivate func unsignedOrZero() throws -> UInt64 {
    if case .varint(let value) = self { value } else { 0 }
  }
}
