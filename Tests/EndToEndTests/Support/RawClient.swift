import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A client that sends exactly the messages that a test gives it, legal or not, over a plain socket. No call blocks its
/// thread: it waits for an idle socket asynchronously, for `patience` at most.
final class RawClient {
  /// No message arrived within `patience`.
  struct ReadTimeout: Error {}
  /// The server ended the stream although an answer was expected.
  struct StreamClosed: Error { let goodbye: CloseMessage? }

  /// The server's last message.
  struct CloseMessage: Equatable {
    let code: String
    let message: String
  }

  static let patience = Duration.seconds(60)

  let replica: UniqueID
  private(set) var lastRequest: UInt64 = 0
  private var lastSequence: UInt64 = 0
  private var descriptor: Int32
  /// A frame from the server is as long as what it carries.
  private var decoder = FrameDecoder(maximumFrameSize: 64 << 20)
  /// Messages that arrived while another one was awaited.
  private(set) var unasked = [ToClient]()
  private(set) var bytesReceived = 0

  init(_ address: ServerAddress, replica: UniqueID? = nil) throws {
    self.replica = replica ?? UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
    descriptor = try PlainSocket.connect(to: address)
  }

  deinit { close() }

  /// Drops the connection; over TCP with a reset, as the kernel does for a killed process.
  func close() {
    guard descriptor >= 0 else { return }
    PlainSocket.abort(descriptor)
    descriptor = -1
  }

  // MARK: - Saying

  /// Sends bytes as they are. A server that has hung up meanwhile is no error here: its goodbye is read later.
  func send(bytes: [UInt8]) async throws {
    var rest = bytes[...]
    let deadline = ContinuousClock.now + Self.patience
    while !rest.isEmpty {
      switch PlainSocket.send(rest, to: descriptor) {
      case .some(let count) where count > 0: rest = rest.dropFirst(count)
      case .some:
        guard await SocketPoller.write.happens(on: descriptor, by: deadline) else { throw ReadTimeout() }
      case nil: return
      }
    }
  }

  /// Sends a message under the next request number, or under the given one; returns the number.
  @discardableResult
  func send(_ body: ToServer.Body, as request: UInt64? = nil) async throws -> UInt64 {
    let number = request ?? lastRequest + 1
    lastRequest = max(lastRequest, number)
    try await send(bytes: Frame.encode(ToServer(number, body)))
    return number
  }

  func transaction(_ changes: [Change]) -> Transaction {
    lastSequence += 1
    return Transaction(id: TransactionID(replica: replica, sequence: lastSequence), changes: changes)
  }

  @discardableResult
  func commit(_ changes: [Change]) async throws -> ToClient.Body {
    try await reply(to: send(.commit(transaction(changes))))
  }

  @discardableResult
  func hello(
    protocol version: UInt32 = ProtocolLimits.version, model: ModelHash? = nil, author: String = "raw@test"
  ) async throws -> Welcome {
    let hello = Hello(protocolVersion: version, model: model, replica: replica, author: author, program: "raw")
    guard case .welcome(let welcome) = try await reply(to: send(.hello(hello))) else { throw ReadTimeout() }
    return welcome
  }

  // MARK: - Hearing

  /// The next message; nil when the stream has ended.
  func next() async throws -> ToClient? {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      if let bytes = try decoder.next() {
        var reader = BinaryReader(bytes)
        return try ToClient(from: &reader)
      }
      switch PlainSocket.receive(from: descriptor) {
      case .some(let bytes) where !bytes.isEmpty:
        bytesReceived += bytes.count
        decoder.append(bytes)
      case .some: return nil
      case nil:
        guard await SocketPoller.read.happens(on: descriptor, by: deadline) else { throw ReadTimeout() }
      }
    }
  }

  /// The next message under a request's number; earlier ones are kept in `unasked`.
  func reply(to request: UInt64) async throws -> ToClient.Body {
    while let message = try await next() {
      if message.request == request { return message.body }
      if case .close(let code, let reason) = message.body {
        throw StreamClosed(goodbye: CloseMessage(code: code, message: reason))
      }
      unasked.append(message)
    }
    throw StreamClosed(goodbye: nil)
  }

  func dropUnasked() { unasked = [] }

  func refusal(of request: UInt64) async throws -> Refusal? {
    if case .refused(let refusal) = try await reply(to: request) { refusal } else { nil }
  }

  /// Reads to the end of the stream, and returns the server's last message.
  func goodbye() async throws -> CloseMessage? {
    var last: CloseMessage?
    while let message = try await next() {
      if case .close(let code, let reason) = message.body { last = CloseMessage(code: code, message: reason) }
    }
    return last
  }

  /// All objects of a fetch, with the state they were read at.
  func fetch(_ fetch: Fetch) async throws -> (objects: [ObjectImage], at: Token) {
    try await result(under: send(.fetch(fetch)))
  }

  /// All chunks under a request, requested one by one.
  func result(under request: UInt64) async throws -> (objects: [ObjectImage], at: Token) {
    var objects = [ObjectImage]()
    while true {
      switch try await reply(to: request) {
      case .chunk(let chunk):
        objects += chunk.objects
        if let end = chunk.end { return (objects, end.at) }
        try await send(.more(of: request))
      case .refused(let refusal): throw refusal
      default: throw ReadTimeout()
      }
    }
  }

  /// Follows a query: its number and its first result.
  func follow(
    _ entity: EntityNumber, wholeObjects: Bool = false
  ) async throws -> (query: UInt64, objects: [ObjectImage], at: Token) {
    let request = try await send(.subscribe(Subscribe(entity: entity, wholeObjects: wholeObjects)))
    guard case .subscribed(let query, _, _) = try await reply(to: request) else { throw ReadTimeout() }
    let (objects, at) = try await result(under: request)
    return (query, objects, at)
  }
}
