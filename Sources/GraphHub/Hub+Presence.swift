import GraphModel
import GraphWire

/// Presence: the state that sessions publish to each other.
extension Hub {
  mutating func presence(_ state: [UInt8], _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]) {
    guard state.count <= ProtocolLimits.maximumPresenceSize else {
      return send(
        answer(Refusal(.limit, "a presence has at most \(ProtocolLimits.maximumPresenceSize) bytes"), request), to: id,
        &actions)
    }
    sessions[id]?.hasPresence = true
    forwardPresence(state, of: id, left: false, &actions)
  }

  /// Sends a presence to every other session that has published one. It is never stored, and lagging sessions miss
  /// it.
  mutating func forwardPresence(_ state: [UInt8], of id: SessionID, left: Bool, _ actions: inout [HubAction]) {
    guard let author = sessions[id]?.author else { return }
    let frame = Frame.encode(ToClient(0, .presence(session: id, author: author, state: state, left: left)))
    for (other, session) in sessions.sorted(by: { $0.key < $1.key })
    where other != id && session.hasPresence && session.isLive && hasRoom(session, for: frame.count) {
      send(frame: frame, to: other, &actions)
    }
  }
}
