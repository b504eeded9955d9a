// Tests: ClientLifetimeTests.swift, InstrumentsTests.swift
import GraphWire

/// The observers of a connection: the log, the metrics, the handlers of the client's owner, and streams of states. A
/// stream ends with its consumer or with the client.
@MainActor
struct ConnectionObservers {
  var stateHandler: ((GraphClient.State) -> Void)?
  var silenceHandler: ((Bool) -> Void)?
  let instruments: ClientInstruments
  private let log: ConnectionLog
  /// Whether there is a connection, which counts as one in the metrics.
  private var isConnected = false
  /// The time without a connection, from its loss until there is one again.
  private var outage: Measurement?
  private var streams = [Int: AsyncStream<GraphClient.State>.Continuation]()
  private var lastStream = 0

  /// The states that wait for a slow consumer. It misses older ones, never the newest.
  private static let maximumWaiting = 16

  init(_ options: GraphClient.Options, address: ServerAddress) {
    log = ConnectionLog(options, address: address)
    instruments = ClientInstruments(options, address: address)
  }

  var streamCount: Int { streams.count }

  /// Logs and counts a new state, and sends it to the streams. The last one is `closed`, which ends them.
  mutating func record(_ state: GraphClient.State, welcome: Welcome?, ending: Refusal?) {
    log.record(state, welcome: welcome, ending: ending)
    count(state, ending: ending)
    for (_, stream) in streams {
      stream.yield(state)
      if state == .closed { stream.finish() }
    }
    if state == .closed { streams = [:] }
  }

  private mutating func count(_ state: GraphClient.State, ending: Refusal?) {
    if isConnected != (state == .connected) {
      isConnected.toggle()
      instruments.recordConnection(isOpen: isConnected)
    }
    switch state {
    case .connecting: break
    case .reconnecting: if outage == nil { outage = instruments.begin(.reconnect) }
    case .connected:
      if let outage {
        instruments.recordReconnect()
        outage.finish()
      }
      outage = nil
    case .closed:
      // The owner's own `close` has no reason yet.
      if let ending { outage?.finish(throwing: ending) } else { outage?.finish(throwing: CancellationError()) }
      outage = nil
    }
  }

  /// Logs that the server has fallen silent, or sends again.
  func record(isSilent: Bool) { log.record(isSilent: isSilent) }

  /// A stream that begins with the current state.
  /// - Parameter removeLater: called when the consumer has ended, on any thread, with the stream's number for `remove`.
  mutating func makeStream(
    _ current: GraphClient.State, removeLater: @escaping @Sendable (Int) -> Void
  ) -> AsyncStream<GraphClient.State> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: GraphClient.State.self, bufferingPolicy: .bufferingNewest(Self.maximumWaiting))
    continuation.yield(current)
    guard current != .closed else {
      continuation.finish()
      return stream
    }
    lastStream += 1
    streams[lastStream] = continuation
    continuation.onTermination = { [lastStream] _ in removeLater(lastStream) }
    return stream
  }

  mutating func remove(_ number: Int) { streams[number] = nil }
}
