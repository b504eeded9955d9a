import Foundation
import GraphModel
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// Malformed frames, and messages at the wrong time. Their sender receives the reason and is disconnected; another
/// client notices nothing.
@Suite struct MalformedFrameTests {
  /// A frame around any bytes.
  private static func frame(_ body: [UInt8]) -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: ProtocolLimits.headerSize) + body
    Frame.setLength(&frame)
    return frame
  }

  private static func malformed(_ message: String) -> RawClient.CloseMessage {
    RawClient.CloseMessage(code: "malformed", message: message)
  }

  private static let unreadable: [(name: String, bytes: [UInt8], reason: String)] = [
    ("an empty frame", [0, 0, 0, 0], "a frame is empty"),
    (
      "another protocol", Array("GET / HTTP/1.1\r\n\r\n".utf8),
      "a frame has 1195725856 bytes; at most 16777216 are allowed"
    ),
    ("a header of ones", [0xFF, 0xFF, 0xFF, 0xFF], "a frame has 4294967295 bytes; at most 16777216 are allowed"),
    ("field number 0", frame([0x00, 0x01]), "a field has the invalid number 0"),
    ("an unknown wire type", frame([0x0B]), "field 1 has the invalid wire type 3"),
    ("a number that never ends", frame([0x08] + [UInt8](repeating: 0xFF, count: 12)), "a number has more than 64 bits"),
    ("a length beyond the frame", frame([0x08, 0x01, 0x12, 0x7F, 0x01]), "the message is cut short"),
    ("a message cut inside a fixed number", frame([0x09, 0x01, 0x02]), "the message is cut short"),
    ("a number where a message belongs", frame([0x08, 0x01, 0x10, 0x01]), "bytes are expected"),
    ("a request number of bytes", frame([0x0A, 0x01, 0x41]), "a number is expected"),
    ("no body", frame([0x08, 0x01]), "the message has no body that this version knows"),
    (
      "a body of a later version", frame([0x08, 0x01, 0x82, 0x06, 0x00]),
      "the message has no body that this version knows"
    ),
    ("a commit without a transaction", frame([0x08, 0x01, 0x2A, 0x00]), "a commit has no transaction"),
    ("an undo without an id", frame([0x08, 0x01, 0x32, 0x00]), "an undo has no transaction id"),
    (
      "an entity beyond 32 bits", frame([0x08, 0x01, 0x22, 0x06, 0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
      "a number is too large"
    ),
    ("a hello whose author is no UTF-8", frame([0x12, 0x04, 0x22, 0x02, 0xC3, 0x28]), "a string is not UTF-8"),
    ("a hello whose replica has one byte", frame([0x12, 0x03, 0x1A, 0x01, 0x07]), "an id needs 16 bytes"),
    ("a hello whose model has one byte", frame([0x12, 0x03, 0x12, 0x01, 0x07]), "a model's hash needs 16 bytes"),
  ]

  @Test func garbageIsAnsweredWithReasonBeforeClose() async throws {
    let scene = try await DaemonFixture()
    for address in try scene.addresses() {
      for (name, bytes, reason) in Self.unreadable {
        let stranger = try RawClient(address)
        try await stranger.send(bytes: bytes)
        #expect(try await stranger.goodbye() == Self.malformed(reason), "\(name) at \(address)")
        // The same from a welcomed client.
        let guest = try await scene.client(address)
        try await guest.send(bytes: bytes)
        #expect(try await guest.goodbye() == Self.malformed(reason), "\(name) after hello at \(address)")
        try await scene.expectUndisturbed()
      }
    }
    try scene.end()
  }

  @Test func randomBytesCloseOnlyTheirConnection() async throws {
    let scene = try await DaemonFixture()
    let hello = Frame.encode(
      ToServer(1, .hello(Hello(model: nil, replica: UniqueID(high: 7, low: 7), author: "raw@test", program: "raw"))))
    var generator = SeededGenerator(seed: 2026)
    for _ in 0..<200 {
      // A legal hello with some bytes changed; the length stays, so the server never waits for more.
      var bytes = hello
      var changed = [(Int, UInt8)]()
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: ProtocolLimits.headerSize..<bytes.count, using: &generator)
        bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        changed.append((place, bytes[place]))
      }
      let stranger = try RawClient(scene.daemon.socket)
      try await stranger.send(bytes: bytes)
      let answer = try #require(try await stranger.next(), "no answer to a hello with \(changed)")
      switch answer.body {
      case .welcome: break
      case .close(let code, let message):
        #expect(["malformed", "notAllowed"].contains(code) && !message.isEmpty, "\(code) to \(changed)")
        #expect(try await stranger.next() == nil)
      default: Issue.record("a hello with \(changed) is answered by \(answer.body)")
      }
    }
    try await scene.expectUndisturbed()
    try scene.end()
  }

  @Test func truncatedStreamEndsOnlyItsSession() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let change = try scene.insertion([("text", .string("never")), ("board", .object(board))])
    for address in try scene.addresses() {
      let commit = Frame.encode(
        ToServer(2, .commit(Transaction(id: .init(replica: .zero, sequence: 1), changes: [change]))))
      for length in [1, 3, 4, 5, commit.count / 2, commit.count - 1] {
        let guest = try await scene.client(address)
        try await guest.send(bytes: Array(commit[..<length]))
        guest.close()
        try await scene.expectUndisturbed()
      }
    }
    #expect(scene.held.isEmpty, "half a commit became a note")
    try scene.end()
  }

  @Test func frameLimitIsSixteenMebibytes() async throws {
    let scene = try await DaemonFixture()
    let limit = ProtocolLimits.maximumFrameSize
    for address in try scene.addresses() {
      for size in [limit - 1, limit] {
        let guest = try await scene.client(address)
        // The message is read completely and refused for another reason; the connection stays open.
        try await guest.send(bytes: Self.presence(as: 2, size: size))
        let refusal = try await guest.refusal(of: 2)
        #expect(refusal?.code == .limit, "\(size) bytes")
        #expect(refusal?.message == "a presence has at most 4096 bytes")
        guard case .pong = try await guest.reply(to: guest.send(.ping, as: 3)) else {
          Issue.record("no pong after a frame of \(size) bytes")
          continue
        }
        try await scene.expectUndisturbed()
      }
      let guest = try await scene.client(address)
      // The length alone decides: the server does not wait for the rest.
      try await guest.send(bytes: Array(Self.presence(as: 2, size: limit + 1).prefix(ProtocolLimits.headerSize)))
      #expect(
        try await guest.goodbye() == Self.malformed("a frame has \(limit + 1) bytes; at most \(limit) are allowed"))
      try await scene.expectUndisturbed()
    }
    try scene.end()
  }

  /// A frame with a message of exactly `size` bytes.
  private static func presence(as request: UInt64, size: Int) -> [UInt8] {
    let empty = Frame.encode(ToServer(request, .presence([UInt8](repeating: 0, count: size))))
    let excess = empty.count - ProtocolLimits.headerSize - size
    let frame = Frame.encode(ToServer(request, .presence([UInt8](repeating: 0, count: size - excess))))
    precondition(frame.count == size + ProtocolLimits.headerSize)
    return frame
  }

  // MARK: - Messages at the wrong time

  @Test func requestBeforeHelloIsRefused() async throws {
    let scene = try await DaemonFixture()
    let transaction = Transaction(
      id: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1),
      changes: [try scene.insertion([("name", .string("B"))], of: "Board")])
    let early: [ToServer.Body] = [
      .commit(transaction), .fetch(Fetch(entity: 1)), .subscribe(Subscribe(entity: 1)), .ping,
      .status, .model, .log(after: 0, limit: 0, through: 0), .more(of: 1), .unsubscribe(query: 1), .presence([1]),
      .undo(UndoRequest(transaction.id)), .undoState(scope: nil), .close(code: "unavailable", message: "bye"),
    ]
    for body in early {
      let stranger = try RawClient(scene.daemon.socket)
      try await stranger.send(body)
      #expect(
        try await stranger.goodbye() == Self.malformed("the first message of a connection must be hello"), "\(body)")
      try await scene.expectUndisturbed()
    }
    #expect(try await scene.client().fetch(Fetch(entity: 1)).objects.isEmpty)
    try scene.end()
  }

  @Test func secondHelloIsRefused() async throws {
    let scene = try await DaemonFixture()
    let guest = try await scene.client()
    try await guest.send(.hello(Hello(model: nil, replica: guest.replica, author: "raw@test")))
    #expect(try await guest.goodbye() == Self.malformed("hello can be sent only once"))
    try await scene.expectUndisturbed()
    try scene.end()
  }

  @Test func requestNumbersMustIncrease() async throws {
    let scene = try await DaemonFixture()
    for (number, reason) in [(5, "request 5 came after request 5"), (4, "request 4 came after request 5")] {
      let guest = try await scene.client()
      // A request number may rise by any step.
      _ = try await guest.reply(to: guest.send(.ping, as: 5))
      try await guest.send(.ping, as: UInt64(number))
      #expect(try await guest.goodbye() == Self.malformed(reason))
      try await scene.expectUndisturbed()
    }
    try scene.end()
  }

  @Test func messagesForUnknownRequestsAreIgnored() async throws {
    let scene = try await DaemonFixture()
    let guest = try await scene.client()
    try await guest.send(.more(of: 77))
    let request = try await guest.send(.unsubscribe(query: 4_711))
    guard case .unsubscribed(let query) = try await guest.reply(to: request) else {
      Issue.record("a query that is not followed can't be given up")
      return
    }
    #expect(query == 4_711)
    // Credit for more chunks than there are is dropped.
    let fetch = try await guest.send(.fetch(Fetch(entity: scene.entity.number)))
    for _ in 0..<5 { try await guest.send(.more(of: fetch)) }
    #expect(try await guest.result(under: fetch).objects.isEmpty)
    #expect(guest.unasked.isEmpty)
    try await scene.expectUndisturbed()
    try scene.end()
  }

  // MARK: - Hello

  @Test func otherProtocolAndOtherModelAreRefusedWithReason() async throws {
    let scene = try await DaemonFixture()
    let hash = StickiesModel.model.hash
    let other = try #require(ModelHash(bytes: [UInt8](repeating: 0xAB, count: 16)))
    for address in try scene.addresses() {
      let late = try RawClient(address)
      try await late.send(.hello(Hello(protocolVersion: 2, model: hash, replica: late.replica, author: "raw@test")))
      #expect(
        try await late.goodbye()
          == RawClient.CloseMessage(
            code: "notAllowed",
            message: "the client speaks protocol 2, this server speaks 1: use programs of the same release"))
      let foreign = try RawClient(address)
      try await foreign.send(.hello(Hello(model: other, replica: foreign.replica, author: "raw@test")))
      let goodbye = try #require(try await foreign.goodbye())
      #expect(goodbye.code == "notAllowed")
      #expect(goodbye.message.contains("\(other)") && goodbye.message.contains("\(hash)"), "\(goodbye.message)")
      try await scene.expectUndisturbed()
    }
    try scene.end()
  }

  @Test func helloRequiresReplicaAndBoundedAuthor() async throws {
    let scene = try await DaemonFixture()
    let replica = UniqueID(high: 1, low: 1)
    let hellos: [(Hello, String)] = [
      (Hello(model: nil, replica: .zero, author: "a"), "hello must name a replica: sixteen random bytes"),
      (Hello(model: nil, replica: replica, author: ""), "the author has 0 bytes; 1 to 256 are allowed"),
      (
        Hello(model: nil, replica: replica, author: String(repeating: "a", count: 257)),
        "the author has 257 bytes; 1 to 256 are allowed"
      ),
    ]
    for (hello, reason) in hellos {
      let stranger = try RawClient(scene.daemon.socket)
      try await stranger.send(.hello(hello))
      #expect(try await stranger.goodbye() == Self.malformed(reason))
    }
    let guest = try RawClient(scene.daemon.socket)
    try await guest.hello(author: String(repeating: "a", count: 256))
    try await scene.expectUndisturbed()
    try scene.end()
  }
}
