import GraphModel
import GraphWire

/// Clients that follow the whole store from a token. A client requests one part at a time, so a slow client costs
/// nothing. A request at the head of the store waits here for the next commit.
extension Hub {
  mutating func follow(
    _ follow: FollowRequest, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) throws {
    // Any other token can be answered now, if only with a refusal.
    guard follow.waits, follow.since == head else {
      return try read(.changes(.follow(follow)), session, request, &actions)
    }
    guard session.followers.count < limits.waitingFollowers else {
      throw Refusal(.limit, "more than \(limits.waitingFollowers) requests wait for the next commit")
    }
    session.followers[request] = follow
  }

  /// Answers the waiting follow requests after a commit.
  mutating func answerFollowers(_ actions: inout [HubAction]) {
    for session in sessions.values.filter({ !$0.followers.isEmpty && $0.isLive }).inOrder() {
      let due = session.followers.filter { $0.value.since != head }
      for (request, follow) in due.sorted(by: { $0.key < $1.key }) {
        session.followers[request] = nil
        do {
          try read(.changes(.follow(follow)), session, request, &actions)
        } catch {
          refuse(request, Refusal(.unavailable, "\(error)"), session, &actions)
        }
      }
    }
  }
}
