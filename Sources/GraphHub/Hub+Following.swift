import GraphModel
import GraphWire

/// Clients that follow the whole store from a token. A client requests one part at a time, so a slow client costs
/// nothing. A request at the head of the store waits here for the next commit.
extension Hub {
  mutating func follow(
    _ follow: FollowRequest, _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]
  ) throws {
    // Any other token can be answered now, if only with a refusal.
    guard follow.waits, follow.since == head else {
      return try read(.changes(.follow(follow)), id, request, &actions)
    }
    guard let session = sessions[id], session.followers.count < limits.waitingFollowers else {
      throw Refusal(.limit, "more than \(limits.waitingFollowers) requests wait for the next commit")
    }
    session.followers[request] = follow
  }

  /// Answers the waiting follow requests after a commit.
  mutating func tellFollowers(_ actions: inout [HubAction]) {
    for (id, session) in sessions.sorted(by: { $0.key < $1.key }) where !session.followers.isEmpty && session.isLive {
      let due = session.followers.filter { $0.value.since != head }
      for (request, follow) in due.sorted(by: { $0.key < $1.key }) {
        session.followers[request] = nil
        do {
          try read(.changes(.follow(follow)), id, request, &actions)
        } catch {
          send(answer(Refusal(.unavailable, "\(error)"), request), to: id, &actions)
        }
      }
    }
  }
}
