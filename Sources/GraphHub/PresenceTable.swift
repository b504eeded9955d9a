// Tests: GraphClientTests.swift
import GraphModel
import GraphWire

/// The sessions that have published a presence: the state that sessions show to each other.
///
/// A presence is forwarded and never stored. A session enters with its first presence and leaves when it ends.
struct PresenceTable {
  private var sessions = [SessionID: Session]()
  /// The newest presence of each session whose user has published too many in this second.
  private var postponed = [SessionID: [UInt8]]()

  /// Forwards the presence of a session, which from now on receives the presences of others.
  mutating func publish(
    _ state: [UInt8], of session: Session, _ request: UInt64, _ sender: inout SessionSender,
    _ actions: inout [HubAction]
  ) {
    guard state.count <= ProtocolLimits.maximumPresenceSize else {
      let refusal = Refusal(.limit, "a presence has at most \(ProtocolLimits.maximumPresenceSize) bytes")
      return sender.refuse(request, refusal, session, &actions)
    }
    sessions[session.id] = session
    guard session.user?.countPresence() != false else { return postponed[session.id] = state }
    postponed[session.id] = nil
    forward(state, of: session, left: false, &sender, &actions)
  }

  /// Forwards the presences that were postponed, when a new second has begun.
  mutating func publishPostponed(_ sender: inout SessionSender, _ actions: inout [HubAction]) {
    if postponed.isEmpty { return }
    for (id, state) in postponed.sorted(by: { $0.key < $1.key }) {
      guard let session = sessions[id] else {
        assertionFailure("a postponed presence is removed with its session")
        continue
      }
      guard session.user?.countPresence() != false else { continue }
      postponed[id] = nil
      forward(state, of: session, left: false, &sender, &actions)
    }
  }

  /// Removes a session that has ended, and notifies the others.
  mutating func remove(_ session: Session, _ sender: inout SessionSender, _ actions: inout [HubAction]) {
    postponed[session.id] = nil
    if sessions.removeValue(forKey: session.id) != nil { forward([], of: session, left: true, &sender, &actions) }
  }

  /// Notifies the sessions that no longer see each other, because one of them sees other objects now. Sessions that now
  /// see each other receive the next presence of the other.
  mutating func changeVisibility(
    of session: Session, from former: Visibility?, _ sender: inout SessionSender, _ actions: inout [HubAction]
  ) {
    // A session that has shown nothing is not in the table.
    let isShown = sessions[session.id] === session
    for other in sessions.values.inOrder() where isShown && other !== session {
      if Self.shows(former, to: other.visibility), !Self.shows(session.visibility, to: other.visibility) {
        sendLeft(session, to: other, &sender, &actions)
      }
      if Self.shows(other.visibility, to: former), !Self.shows(other.visibility, to: session.visibility) {
        sendLeft(other, to: session, &sender, &actions)
      }
    }
  }

  private func sendLeft(
    _ session: Session, to other: Session, _ sender: inout SessionSender, _ actions: inout [HubAction]
  ) {
    guard let principal = session.principal else {
      return assertionFailure("a session that publishes a presence has sent its hello")
    }
    let left = ToClient.Body.presence(session: session.id, author: principal.name, state: [], left: true)
    sender.send(ToClient(0, left), to: other, &actions)
  }

  /// Whether a session that sees these objects may see the presence of another one, which may name any object that the
  /// other one sees.
  private static func shows(_ visibility: Visibility?, to other: Visibility?) -> Bool {
    guard let other else { return true }
    return visibility.map { other.covers($0) } == true
  }

  /// Sends a presence to every other session that has published one and may see it; lagging sessions miss it.
  private func forward(
    _ state: [UInt8], of session: Session, left: Bool, _ sender: inout SessionSender, _ actions: inout [HubAction]
  ) {
    guard let principal = session.principal else {
      return assertionFailure("a session that publishes a presence has sent its hello")
    }
    let frame = Frame.encode(
      ToClient(0, .presence(session: session.id, author: principal.name, state: state, left: left)))
    for other in sessions.values.inOrder()
    where other !== session && Self.shows(session.visibility, to: other.visibility)
      && sender.fits(frame.count, for: other)
    {
      assert(other.isLive, "a session that ends has no presence")
      sender.sendFrame(frame, to: other, &actions)
    }
  }
}
