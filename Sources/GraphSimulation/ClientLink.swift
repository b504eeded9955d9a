import GraphWire

/// The connection of a client, which the seed delays, cuts and drops.
struct ClientLink {
  /// The current session; nil without a connection.
  private(set) var session: UInt64?
  /// Whether the server has sent a close message.
  var closing = false
  /// Bytes in transit to the server and to the client; the hub counts the latter as its backlog.
  var up = [[UInt8]]()
  var down = [[UInt8]]()
  /// The number of fetches sent.
  private(set) var fetchesSent = 0
  private var decoder = FrameDecoder()

  mutating func connect(as session: UInt64) {
    self.session = session
    closing = false
    (up, down) = ([], [])
    decoder = FrameDecoder()
  }

  mutating func disconnect() {
    session = nil
    (up, down) = ([], [])
  }

  mutating func send(_ message: ToServer) {
    if case .fetch = message.body { fetchesSent += 1 }
    up.append(Frame.encode(message))
  }

  /// Receives bytes, which may end in the middle of a frame.
  mutating func receive(_ bytes: [UInt8]) { decoder.append(bytes) }

  /// The next complete message; nil when more bytes are needed.
  mutating func next() throws -> ToClient? {
    guard let bytes = try decoder.next() else { return nil }
    return try ToClient(binary: bytes)
  }
}
