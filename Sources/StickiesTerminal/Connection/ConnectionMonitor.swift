import GraphModel
import TerminalApplication

/// Events of the connection that arrive between turns.
enum ConnectionEvent {
  /// A new state of the connection.
  /// - Parameter message: the status line's message at that time.
  case state(ConnectionState, message: TimerID?)
  /// Whether the server has been silent for a while.
  case silence(Bool)
  /// The rights of the user have changed.
  case rights
  /// The board lacks damaged objects.
  case damage(DamageNotice)
  /// The presence of another session; nil when it has ended.
  case presence([UInt8]?, session: UInt64, author: String)
}

/// The state of the connection. Events can arrive at any time and are queued; a turn handles all of them in order,
/// because presence belongs to one connection.
final class ConnectionMonitor: BoardPart {
  let services: BoardServices
  private(set) var state = ConnectionState.connected { didSet { if state != oldValue { stateDidChange() } } }
  /// Whether the server has not answered for a while.
  private(set) var isSilent = false { didSet { if isSilent != oldValue { application.setNeedsDisplay() } } }
  /// Whether machines on the way can read and change what is sent.
  var isUnprotected = false
  /// Called when the state has changed.
  var stateDidChange: () -> Void = {}
  /// Called when the rights of the user have changed.
  var rightsDidChange: () -> Void = {}
  /// Called with the presence of another session; nil when the session has ended.
  var didReceivePresence: (_ presence: [UInt8]?, _ session: UInt64, _ author: String) -> Void = { _, _, _ in }
  /// The damage that was reported.
  private var reportedDamage = DamageNotice()
  /// Events since the last turn.
  private var events = [ConnectionEvent]()

  init(_ services: BoardServices) { self.services = services }

  /// Queues an event for the next turn.
  func receive(_ event: ConnectionEvent) {
    events.append(event)
    application.post(ApplicationEvent(.connection, at: now))
  }

  /// Handles the queued events; in a turn.
  func handleEvents() {
    let all = events
    events = []
    for event in all {
      switch event {
      case .state(let state, let message):
        // The message "needs the server" is obsolete; later messages stay.
        if state.isConnected, state != self.state, services.status.timer == message { services.status.clear() }
        self.state = state
      case .silence(let isSilent): self.isSilent = isSilent
      case .rights: rightsDidChange()
      case .damage(let notice): report(notice)
      case .presence(let presence, let session, let author): didReceivePresence(presence, session, author)
      }
    }
  }

  /// Reports damaged objects, each once for all queries of the board.
  private func report(_ damage: DamageNotice) {
    let count = reportedDamage.count
    reportedDamage.formUnion(damage)
    let total = reportedDamage.count
    if total > count {
      report(
        total == 1
          ? "1 object is damaged and not shown: run stickiesd check"
          : "\(total) objects are damaged and not shown: run stickiesd check", isTrouble: true)
    }
  }

  // MARK: - Permission to change

  /// Whether changes are possible; shows the reason if not.
  var allowsChanges: Bool {
    if case .closed(let why) = state {
      report("nothing can be changed now: \(why)", isTrouble: true)
      return false
    }
    guard let why = readOnlyReason else { return true }
    report("read-only: \(why)", isTrouble: true)
    return false
  }

  /// The reason why changes are not possible; nil if they are.
  var readOnlyReason: String? {
    if case .closed(let why) = state { return why }
    return (application as? StickiesApplication)?.readOnlyReason
  }
}
