import GraphModel
import GraphServer
import GraphWire
import NIOCore

/// The streams of an interface: what they share, and one sweep that sends all heartbeats.
///
/// `@unchecked Sendable`: the table is used on the hub's loop only, which serves all connections.
final class LiveStreams: @unchecked Sendable {
  let sessions: HubSessions
  let author: String
  let check: RequestGuard
  let counters: HTTPCounters
  private var streams = [ObjectIdentifier: LiveStreamHandler]()
  private var sweep: RepeatedTask?

  /// - Parameter author: the name of a session without an account.
  init(sessions: HubSessions, author: String, check: RequestGuard, counters: HTTPCounters) {
    (self.sessions, self.author, self.check, self.counters) = (sessions, author, check, counters)
  }

  func add(_ stream: LiveStreamHandler) {
    sessions.loop.assertInEventLoop()
    streams[ObjectIdentifier(stream)] = stream
    counters.streamBegan()
    if sweep == nil {
      sweep = sessions.loop.scheduleRepeatedTask(initialDelay: HTTPLimits.heartbeat, delay: HTTPLimits.heartbeat) {
        [weak self] _ in self?.beat()
      }
    }
  }

  private func beat() { for stream in streams.values { stream.beat() } }

  func remove(_ stream: LiveStreamHandler) {
    if streams.removeValue(forKey: ObjectIdentifier(stream)) != nil { counters.streamEnded() }
    if streams.isEmpty {
      sweep?.cancel()
      sweep = nil
    }
  }
}
