import GraphModel
import GraphWire

/// Presence: the state that sessions publish to each other.
extension Hub {
  mutating func presence(_ state: [UInt8], _ session: Session, _ request: UInt64, _ actions: inout [HubAction]) {
    guard state.count <= ProtocolLimits.maximumPresenceSize else {
      let refusal = Refusal(.limit, "a presence has at most \(ProtocolLimits.maximumPresenceSize) bytes")
      return refuse(request, refusal, session, &actions)
    }
    session.hasPresence = true
    forwardPresence(state, of: session, left: false, &actions)
  }

  /// Sends a presence to every other session that has published one. It is never stored, and lagging sessions miss
  /// it.
  mutating func forwardPresence(_ state: [UInt8], of session: Session, left: Bool, _ actions: inout [HubAction]) {
    let frame = Frame.encode(
      ToClient(0, .presence(session: session.id, author: session.author, state: state, left: left)))
    for other in sessions.values.inOrder()
    where other !== session && other.hasPresence && other.isLive && fitsBacklog(other, for: frame.count) {
      sendFrame(frame, to: other, &actions)
    }
  }
}
