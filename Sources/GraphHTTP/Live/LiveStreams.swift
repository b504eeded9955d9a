import GraphModel
import GraphServer
import GraphWire
import NIOCore

/// The streams of an interface, with the values that they share and one timer for all heartbeats. Used on the hub's
/// loop.
final class LiveStreams: Sendable {
  private struct State {
    var streams = [ObjectIdentifier: LiveStreamHandler]()
    var sweep: RepeatedTask?
  }

  let sessions: HubSessions
  let author: String
  let check: RequestGuard
  let counters: HTTPCounters
  private let state: NIOLoopBoundBox<State>

  /// - Parameter author: the name of a session without an account.
  init(sessions: HubSessions, author: String, check: RequestGuard, counters: HTTPCounters) {
    (self.sessions, self.author, self.check, self.counters) = (sessions, author, check, counters)
    state = .makeBoxSendingValue(State(), eventLoop: sessions.loop)
  }

  func add(_ stream: LiveStreamHandler) {
    state.value.streams[ObjectIdentifier(stream)] = stream
    counters.streamBegan()
    if state.value.sweep == nil {
      let period = HTTPLimits.heartbeat
      state.value.sweep = sessions.loop.scheduleRepeatedTask(initialDelay: period, delay: period) { [weak self] _ in
        self?.beat()
      }
    }
  }

  private func beat() {
    // A stream may end within its heartbeat.
    let streams = Array(state.value.streams.values)
    for stream in streams { stream.beat() }
  }

  func remove(_ stream: LiveStreamHandler) {
    if state.value.streams.removeValue(forKey: ObjectIdentifier(stream)) != nil { counters.streamEnded() }
    if state.value.streams.isEmpty {
      state.value.sweep?.cancel()
      state.value.sweep = nil
    }
  }
}
