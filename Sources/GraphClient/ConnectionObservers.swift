// Tests: ClientLifetimeTests.swift
import GraphWire

/// The observers of a connection: the log, the handlers of the client's owner, and streams of states. A stream ends with
/// its consumer or with the client.
struct ConnectionObservers {
  var stateHandler: ((GraphClient.State) -> Void)?
  var silenceHandler: ((Bool) -> Void)?
  let states = ConnectionStates()
  private let log: ConnectionLog

  init(log: ConnectionLog) { self.log = log }

  var streamCount: Int { states.streamCount }

  /// Logs a new state, and sends it to the streams. The last one is `closed`, which ends them.
  func record(_ state: GraphClient.State, welcome: Welcome?, ending: Refusal?) {
    log.record(state, welcome: welcome, ending: ending)
    states.record(state, ending: ending)
  }

  /// Logs that the server has fallen silent, or sends again.
  func record(isSilent: Bool) { log.record(isSilent: isSilent) }
}
