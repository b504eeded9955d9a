import GraphModel
import GraphWire

/// Reads of the store for a session. Frames stream directly to the client, except for the last one of each read: the
/// hub sends it, so that the hub's next message follows the complete result.
extension Hub {
  mutating func read(
    _ request: ReadRequest, _ id: SessionID, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let ticket = ticket()
    tickets[ticket] = .read(id, request: number)
    sessions[id]?.reads[number] = ticket
    actions.append(.read(ticket, seen(request, by: id), session: id, request: number))
  }

  mutating func finishRead(
    _ ticket: StoreRequestID, _ result: Result<ReadCompletion, Refusal>, _ actions: inout [HubAction]
  ) {
    switch tickets.removeValue(forKey: ticket) {
    case .read(let id, let request)?:
      sessions[id]?.reads[request] = nil
      switch result {
      case .failure(let refusal): send(answer(refusal, request), to: id, &actions)
      case .success(let end): send(frame: end.lastFrame, to: id, &actions)
      }
      performWaiting(id, &actions)
    case .load(let id, let query)?:
      guard let reader = sessions[id]?.readers[query] else { return }
      sessions[id]?.reads[reader.request] = nil
      switch result {
      case .failure(let refusal):
        drop(query, id, &actions)
        send(answer(refusal, reader.request), to: id, &actions)
      case .success(let end):
        let revision = end.at.revision
        sessions[id]?.readers[query] = Session.Subscription(state: .live, through: revision, request: reader.request)
        send(frame: end.lastFrame, to: id, &actions)
        showWhenReached(query, id, revision, &actions)
      }
      performWaiting(id, &actions)
    default: break
    }
  }

  mutating func answerStatus(_ ticket: StoreRequestID, _ status: ServerStatus, _ actions: inout [HubAction]) {
    guard case .statistics(let id, let request)? = tickets.removeValue(forKey: ticket) else { return }
    sessions[id]?.reads[request] = nil
    defer { performWaiting(id, &actions) }
    var status = status
    status.server = server
    let others = sessions.filter { $0.key != id && $0.value.isLive }
    status.sessions = UInt64(others.count)
    status.registrations = UInt64(queries.registrations - (sessions[id]?.readers.count ?? 0))
    send(ToClient(request, .status(status)), to: id, &actions)
  }
}
