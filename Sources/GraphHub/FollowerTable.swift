// Tests: HistoryRequestTests.swift
import GraphModel
import GraphWire

/// The requests of clients that have received all commits and wait for the next one.
///
/// A client that follows the whole store requests one part after another, each from a token, so a slow client needs no
/// resources here.
struct FollowerTable {
  private let limits: HubLimits
  /// The requests of each session, by their number.
  private var requests = [SessionID: [UInt64: FollowRequest]]()

  init(limits: HubLimits) { self.limits = limits }

  mutating func add(_ follow: FollowRequest, of session: Session, _ request: UInt64) throws(Refusal) {
    guard let waiting = requests[session.id] else {
      requests[session.id] = [request: follow]
      return
    }
    guard waiting.count < limits.waitingFollowers else {
      throw Refusal(.limit, "more than \(limits.waitingFollowers) requests wait for the next commit")
    }
    requests[session.id, default: [:]][request] = follow
  }

  mutating func remove(_ session: Session) { requests[session.id] = nil }

  /// Removes a waiting request of a session.
  /// - Returns: false if there is none of that number.
  mutating func remove(_ request: UInt64, of session: Session) -> Bool {
    guard var waiting = requests[session.id], waiting.removeValue(forKey: request) != nil else { return false }
    requests[session.id] = waiting.isEmpty ? nil : waiting
    return true
  }

  /// Removes the requests that can be answered at `head`, in the order of their sessions and numbers.
  mutating func removeDue(at head: Token) -> [(session: SessionID, request: UInt64, follow: FollowRequest)] {
    var due = [(session: SessionID, request: UInt64, follow: FollowRequest)]()
    for (session, waiting) in requests.sorted(by: { $0.key < $1.key }) {
      let rest = waiting.filter { $0.value.since == head }
      for (request, follow) in waiting.sorted(by: { $0.key < $1.key }) where rest[request] == nil {
        due.append((session, request, follow))
      }
      requests[session] = rest.isEmpty ? nil : rest
    }
    return due
  }
}
