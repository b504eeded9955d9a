import CLoad

/// Connections whose messages are counted and discarded, with the same reader for every server.
final class Watchers {
  enum Messages {
    /// Count nothing: a writer's replies.
    case none
    /// Count the deltas among length-prefixed frames.
    case frames
    /// Count the deltas among the frames of a WebSocket.
    case webSocketFrames
    /// Count messages of this size, in bytes.
    case ofSize(Int)
  }

  private let handle: OpaquePointer
  /// Keeps the sockets alive.
  private var connections = [Socket]()

  /// A message that takes longer than this is lost.
  private static let timeoutMilliseconds: Int32 = 30_000

  init() throws {
    guard let handle = load_watchers_make() else { throw BenchmarkError(description: "no memory for watchers") }
    self.handle = handle
  }

  /// - Parameter socket: a socket between two messages, with no other reader from now on.
  func add(_ socket: Socket, counting messages: Messages) throws {
    guard !socket.hasUnread else { throw BenchmarkError(description: "a watcher begins in the middle of something") }
    connections.append(socket)
    let size: Int64 =
      switch messages {
      case .none: Int64(LOAD_DISCARD)
      case .frames: Int64(LOAD_FRAMES)
      case .webSocketFrames: Int64(LOAD_WEBSOCKET)
      case .ofSize(let size): Int64(size)
      }
    guard load_watchers_add(handle, socket.descriptor, size) == 0 else {
      throw BenchmarkError(description: "a socket can't be watched")
    }
  }

  /// The number of counted messages.
  var total: Int { Int(load_watchers_total(handle)) }

  func wait(until total: Int) throws {
    switch load_watchers_wait(handle, Int64(total), Self.timeoutMilliseconds) {
    case 0: return
    case 1: throw BenchmarkError(description: "\(total - self.total) deliveries did not come")
    default: throw BenchmarkError(description: "a watcher lost its connection")
    }
  }

  /// Measures deliveries per second with a number of updates in flight: the next update is sent when all watchers
  /// have received an earlier one.
  /// - Parameter send: writes a number of updates.
  func deliveries(
    to watchers: Int, window: Int, seconds: Double, send: (Int) throws -> Void
  ) throws -> Double {
    _ = try run(to: watchers, window: window, seconds: seconds / 4, send: send)
    return try run(to: watchers, window: window, seconds: seconds, send: send)
  }

  private func run(
    to watchers: Int, window: Int, seconds: Double, send: (Int) throws -> Void
  ) throws -> Double {
    let first = total
    var sent = 0
    let start = now()
    while true {
      let done = (total - first) / watchers
      let elapsed = now() - start
      if elapsed >= seconds, done > 0 {
        let counted = total - first
        try wait(until: first + sent * watchers)
        return Double(counted) / elapsed
      }
      if sent < done + window {
        try send(done + window - sent)
        sent = done + window
      }
      try wait(until: first + (done + 1) * watchers)
    }
  }

  deinit { load_watchers_free(handle) }
}
