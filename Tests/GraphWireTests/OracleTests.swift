import GraphModel
import GraphTesting
import GraphWire
import SwiftProtobuf
import Testing

/// Our encoder and decoder against protobuf's own library: the same bytes for the same message, both ways. A failure
/// names its seed.
@Suite struct OracleTests {
  private static let seeds = UInt64(1)...60

  /// Runs `body` on every kind of message for every seed, as bytes of ours and the name of their type.
  private static func eachMessage(_ body: (_ seed: UInt64, _ message: AnyMessage) throws -> Void) throws {
    let model = try Fixtures.stickies()
    for seed in seeds {
      var messages = RandomMessages(seed: seed, model: model)
      for message in messages.toServer() { try body(seed, .toServer(message)) }
      for message in messages.toClient() { try body(seed, .toClient(message)) }
    }
  }

  /// A message of either direction, and what the tests ask of both.
  enum AnyMessage {
    case toServer(ToServer)
    case toClient(ToClient)

    var binary: [UInt8] {
      switch self {
      case .toServer(let message): message.binary
      case .toClient(let message): message.binary
      }
    }

    var type: String {
      switch self {
      case .toServer: "ToServer"
      case .toClient: "ToClient"
      }
    }

    /// The message that our decoder reads from other bytes for the same direction, as our encoder writes it.
    func reread(_ bytes: [UInt8]) throws -> [UInt8] {
      switch self {
      case .toServer: try ToServer(binary: bytes).binary
      case .toClient: try ToClient(binary: bytes).binary
      }
    }

    /// Whether our decoder finds this message in the bytes. Ids are compared by their 128 bits and strings by their
    /// characters; the re-encoded bytes cover the rest.
    func isRead(from bytes: [UInt8]) throws -> Bool {
      switch self {
      case .toServer(let message):
        let read = try ToServer(binary: bytes)
        return read == message && read.binary == message.binary
      case .toClient(let message):
        let read = try ToClient(binary: bytes)
        return read == message && read.binary == message.binary
      }
    }

    /// Whether protobuf's library reads the bytes at all.
    func isProtobuf(_ bytes: [UInt8]) -> Bool {
      switch self {
      case .toServer: (try? Graph_ToServer(serializedBytes: bytes)) != nil
      case .toClient: (try? Graph_ToClient(serializedBytes: bytes)) != nil
      }
    }
  }

  @Test func messagesMatchProtobufByteForByte() throws {
    let schema = try WireSchema.graph()
    var met = Set<String>()
    let mapping = OracleMapping()
    try Self.eachMessage { seed, message in
      let ours = message.binary
      let theirs: [UInt8]
      switch message {
      case .toServer(let message):
        let expected = mapping.message(message)
        #expect(try Graph_ToServer(serializedBytes: ours) == expected, "seed \(seed): \(message)")
        theirs = try expected.serializedBytes()
      case .toClient(let message):
        let expected = mapping.message(message)
        #expect(try Graph_ToClient(serializedBytes: ours) == expected, "seed \(seed): \(message)")
        theirs = try expected.serializedBytes()
      }
      #expect(theirs == ours, "seed \(seed): \(message)")
      #expect(try message.isRead(from: theirs), "seed \(seed): \(message)")
      met.formUnion(try schema.everything(in: ours, of: message.type))
    }
    // Nothing of the contract was left out by chance.
    let all = schema.everything(in: "ToServer").union(schema.everything(in: "ToClient"))
    #expect(all.count > 150)
    #expect(all.subtracting(met).sorted() == [])
  }

  @Test func unknownFieldsAreSkipped() throws {
    // One of each wire type, with keys of two and of five bytes.
    let newer: [UInt8] = [0x98, 0x06, 0x01, 0xA1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 0xAA, 0x06, 2, 0xFF, 0xFF]
    let last: [UInt8] = [0xFD, 0xFF, 0xFF, 0xFF, 0x0F, 1, 2, 3, 4]
    let mapping = OracleMapping(unknown: try Graph_Ping(serializedBytes: newer + last).unknownFields)
    try Self.eachMessage { seed, message in
      let bytes: [UInt8] =
        switch message {
        case .toServer(let message): try mapping.message(message).serializedBytes()
        case .toClient(let message): try mapping.message(message).serializedBytes()
        }
      #expect(bytes.count > message.binary.count + newer.count + last.count)
      #expect(try message.isRead(from: bytes), "seed \(seed): \(message)")
    }
  }

  @Test func unknownCaseIsNotMistakenForAnother() throws {
    let unknown: [UInt8] = [0x98, 0x06, 0x01]
    #expect(throws: MalformedMessage.self) { try Value(binary: unknown) }
    #expect(throws: MalformedMessage.self) { try Edit(binary: [0x08, 0x01] + unknown) }
    #expect(throws: MalformedMessage.self) { try ToServer(binary: [0x08, 0x01] + unknown) }
    #expect(throws: MalformedMessage.self) { try ToClient(binary: [0x08, 0x01] + unknown) }
    #expect(try Value(binary: [UInt8]()) == .null)
  }

  @Test func fieldOrderIsArbitrary() throws {
    let schema = try WireSchema.graph()
    var differences = 0
    try Self.eachMessage { seed, message in
      let bytes = try schema.rewrite(message.binary, of: message.type) { _, fields in
        // Backwards by number; the elements of one list keep their order.
        fields.enumerated().sorted { ($1.element.field.number, $0.offset) < ($0.element.field.number, $1.offset) }
          .map(\.element)
      }
      if bytes != message.binary { differences += 1 }
      #expect(try message.isRead(from: bytes), "seed \(seed): \(message)")
    }
    #expect(differences > 500)
  }

  @Test func explicitZerosAndRepeatedFieldsAreAccepted() throws {
    let schema = try WireSchema.graph()
    var additions = 0
    try Self.eachMessage { seed, message in
      let bytes = try schema.rewrite(message.binary, of: message.type) { name, fields in
        var result = fields
        for field in schema.messages[name] ?? [] where !field.isRepeated && !field.isChoice {
          let isThere = fields.contains { $0.field.number == field.number }
          guard let content = schema.content(of: field, isZero: !isThere) else { continue }
          result.insert(WireSchema.WrittenField(field: field, content: content), at: 0)
          additions += 1
        }
        return result
      }
      #expect(try message.isRead(from: bytes), "seed \(seed): \(message)")
    }
    #expect(additions > 1_000)
  }

  /// The one place where protobuf's library does more: it merges the two.
  @Test func repeatedSubmessageUsesTheLast() throws {
    let replica = UniqueID(high: 1, low: 2)
    let first = Token(store: UniqueID(high: 3, low: 4), revision: 5, fingerprint: 6)
    var hello = BinaryWriter()
    hello.field(3, replica.bytes)
    hello.field(6, first)
    hello.message(6) { $0.field(2, Int64(7)) }
    let last = Token(store: .zero, revision: 7, fingerprint: 0)
    #expect(try Hello(binary: hello.bytes).token == last)
    let merged = OracleMapping().token(Token(store: first.store, revision: 7, fingerprint: 6))
    #expect(try Graph_Hello(serializedBytes: hello.bytes).token == merged)
  }

  @Test func repeatedHashUsesTheLast() throws {
    var hello = BinaryWriter()
    hello.field(2, UniqueID(high: 1, low: 2).bytes)
    hello.field(2, [UInt8](), always: true)
    #expect(try Hello(binary: hello.bytes).model == nil)
    #expect(try Graph_Hello(serializedBytes: hello.bytes).model.isEmpty)
  }

  /// Readers of proto3 take a list of numbers packed and unpacked. The contract has no such list, and must not get one
  /// before our reader takes both.
  @Test func schemaHasNoPackableFields() throws {
    let schema = try WireSchema.graph()
    let lists = schema.messages.values.flatMap { $0 }.filter(\.isRepeated)
    #expect(lists.count > 10)
    for list in lists {
      #expect(schema.messages[list.type] != nil || list.type == "string", "\(list.name) is a list of \(list.type)")
    }
  }

  @Test func truncatedMessageIsAnError() throws {
    var cuts = 0
    let model = try Fixtures.stickies()
    for seed in UInt64(1)...3 {
      var messages = RandomMessages(seed: seed, model: model)
      // The body is the last field of a message, so no beginning of one is a message of its own.
      for message in messages.toServer().map(AnyMessage.toServer) + messages.toClient().map(AnyMessage.toClient) {
        let bytes = message.binary
        let taken = (0..<bytes.count).filter { (try? message.reread(Array(bytes[..<$0]))) != nil }
        #expect(taken == [], "seed \(seed): \(message)")
        cuts += bytes.count
      }
    }
    #expect(cuts > 1_000)
  }

  @Test func acceptedDamagedBytesAreValidProtobuf() throws {
    var (taken, refused) = (0, 0)
    try Self.eachMessage { seed, message in
      var random = SeededGenerator(seed: seed)
      var bytes = message.binary
      for _ in 0..<5 {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        bytes[place] = random.chance(50) ? bytes[place] ^ (1 << UInt8.random(in: 0..<8, using: &random)) : 0
        guard let again = try? message.reread(bytes) else {
          refused += 1
          continue
        }
        taken += 1
        #expect(message.isProtobuf(bytes), "seed \(seed): \(bytes)")
        let twice = try message.reread(again)
        #expect(twice == again, "seed \(seed): \(bytes)")
      }
    }
    #expect(taken > 100 && refused > 100)
  }
}
