// Tests: TimeLimitTests.swift, UnresponsiveServerTests.swift
import GraphModel
import GraphWire

/// Time, which arrives in ticks; `deadline` is when the next one is due.
extension Replica {
  /// The time without an answer or another message after which the owner is notified.
  package static let silenceMilliseconds: Int64 = 5_000

  /// The time at which the next tick is due, on the clock of the ticks. It serves to ping, to report silence, or to
  /// close the connection.
  ///
  /// It equals the last tick's time if a tick is due at once because of a new request. Nil while there is no
  /// connection. Each event may change it, and an early tick is harmless.
  package var deadline: Int64? { timer.deadline(in: state.phase) }

  mutating func tick(_ milliseconds: Int64, _ actions: inout [ReplicaAction]) {
    let phase = state.phase
    timer.advance(to: milliseconds, in: phase)
    switch phase {
    case .disconnected: break
    case .handshaking, .welcomed:
      if timer.isLost(in: phase) {
        let patience = timer.patience(in: phase)
        actions.append(.disconnect(Refusal(.unavailable, "the server has sent nothing for \(patience) ms")))
      } else if phase == .welcomed {
        if timer.isPingDue { send(.ping, for: .ping, &actions) }
        if timer.beginSilence() { actions.append(.silence(true)) }
      }
    }
    timer.finishTick()
  }
}
