// Tests: ReconnectTests.swift
import GraphWire

/// The subscriptions of a connection that the server has not answered.
///
/// A server reads a few at a time, and refuses requests beyond its limit: the other ones wait here.
struct SubscriptionQueue {
  /// The most subscriptions that are sent and unanswered: a quarter of the requests that the server lets wait.
  static let maximumSent = ProtocolLimits.maximumOutstandingRequests / 4

  /// Unanswered subscriptions, unsent ones included, and the request whether the server knows the newest state.
  private var unansweredCount = 0
  private var unsent = [QueryID]()

  /// Whether the server has answered all of them.
  ///
  /// Until then nothing is published: a query that resumes may still deliver its part of a revision that the others
  /// have.
  var areAnswered: Bool { unansweredCount == 0 }

  /// Adds a subscription.
  /// - Returns: whether to send it now.
  mutating func add(_ query: QueryID) -> Bool {
    assert(!unsent.contains(query), "a query waits for one subscription")
    unansweredCount += 1
    if unansweredCount - unsent.count <= Self.maximumSent { return true }
    unsent.append(query)
    return false
  }

  /// Adds the request whether the server knows the newest state, which is always sent.
  mutating func addConfirmation() { unansweredCount += 1 }

  /// Removes a query that has not been sent.
  /// - Returns: whether it was here. The caller records an answer then.
  mutating func removeUnsent(_ query: QueryID) -> Bool {
    guard let index = unsent.firstIndex(of: query) else { return false }
    unsent.remove(at: index)
    return true
  }

  /// Records an answer.
  /// - Returns: the query to subscribe to next; nil if none waits.
  mutating func recordAnswer() -> QueryID? {
    // A server may answer twice.
    unansweredCount = max(0, unansweredCount - 1)
    guard !unsent.isEmpty, unansweredCount - unsent.count < Self.maximumSent else { return nil }
    return unsent.removeFirst()
  }
}
