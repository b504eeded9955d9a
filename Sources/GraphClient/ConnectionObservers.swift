// Tests: ClientLifetimeTests.swift, InstrumentsTests.swift
import GraphModel
import GraphWire

/// The observers of a connection: the log, the metrics, the handlers of the client's owner, and streams of states. A
/// stream ends with its consumer or with the client.
struct ConnectionObservers {
  var stateHandler: ((GraphClient.State) -> Void)?
  var silenceHandler: ((Bool) -> Void)?
  var presenceHandler: ((Presence) -> Void)?
  var damageHandler: ((DamageNotice) -> Void)?
  var rightsHandler: (() -> Void)?
  /// The roles of the principal, of which the owner knows; nil before the first welcome.
  private var grants: [Welcome.GrantEntry]?
  let states = ConnectionStates()
  let instruments: ClientInstruments
  private let log: ConnectionLog
  /// Whether there is a connection, which counts as one in the metrics.
  private var isConnected = false
  /// The time without a connection, from its loss until there is one again.
  private var outage: Measurement?

  init(_ options: GraphClient.Options, address: ServerAddress) {
    log = ConnectionLog(options, address: address)
    instruments = ClientInstruments(options, address: address)
  }

  var streamCount: Int { states.streamCount }

  /// Logs and counts a new state, and sends it to the streams. The last one is `closed`, which ends them.
  mutating func record(_ state: GraphClient.State, welcome: Welcome?, ending: Refusal?) {
    log.record(state, welcome: welcome, ending: ending)
    count(state, ending: ending)
    states.record(state, ending: ending)
  }

  /// Counts the end of a client that was released, and ends the streams.
  mutating func end() {
    count(.closed, ending: nil)
    states.end()
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

  /// Records the roles of the principal.
  /// - Returns: whether they differ from those before; the caller then notifies the owner.
  mutating func record(grants: [Welcome.GrantEntry]) -> Bool {
    defer { self.grants = grants }
    return self.grants.map { $0 != grants } == true
  }

  /// Logs that the server has fallen silent, or sends again.
  func record(isSilent: Bool) { log.record(isSilent: isSilent) }

  /// Logs that an edit of a deleted object was ignored.
  func recordIgnoredEdit(of object: ObjectID, _ property: Property) {
    log.recordIgnoredEdit(of: object, property)
  }
}
