// Tests: WindowTests.swift
import GraphModel
import GraphWire

/// The rows of a window.
package struct WindowRows: Hashable, Sendable {
  /// The ids of the rows, in order.
  package var rows: [ObjectID]
  /// The objects of the rows, at least of the rows that the window did not show before.
  package var objects: [ObjectImage]
  /// The number of rows of the query before limit and offset.
  package var total: UInt64
  /// The number of rows before the window.
  package var offset: UInt64
  /// The maximum number of rows in the window.
  package var limit: UInt64

  /// Rows that arrived with all of their objects.
  init(_ objects: [ObjectImage], total: UInt64, _ place: Subscribe.Window) {
    (rows, self.objects, self.total) = (objects.map(\.id), objects, total)
    (offset, limit) = (place.offset, place.limit)
  }

  /// Rows of which some objects are already known.
  init(_ moved: WindowMoved, _ place: Subscribe.Window) {
    (rows, objects, total) = (moved.rows, moved.objects, moved.total)
    (offset, limit) = (place.offset, place.limit)
  }
}

/// Windows that move. One move is in flight at a time, followed by the newest place that was requested. The place
/// survives reconnects.
///
/// The rows of the new place are of the revision that this connection has been sent, so they wait with the deltas for
/// the next advance. Until then the window has two numbers, and deltas under both belong to it.
extension Replica {
  /// Sets the place that the owner wants. The server may have refused the query meanwhile.
  mutating func moveWindow(_ query: QueryID, _ offset: UInt64, _ limit: UInt64, _ actions: inout [ReplicaAction]) {
    queries.modifyIfPresent(query) { $0.setPlace(offset: offset, limit: limit) }
    requestMove(query, &actions)
  }

  /// Sends the requested place, if it differs from the last one sent and those rows are visible.
  mutating func requestMove(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let begun = queries.modifyIfPresent(query, { $0.beginMove() }), let (number, place) = begun else { return }
    assert(state.isWelcomed, "a query that the server follows belongs to a connection")
    send(.moveWindow(query: number, offset: place.offset, limit: place.limit), for: .moveWindow(query), &actions)
  }

  /// Handles the answer to a move. The query may no longer be followed.
  mutating func receiveMoved(
    _ moved: WindowMoved, of query: QueryID, _ request: UInt64, _ actions: inout [ReplicaAction]
  ) {
    guard answerMove(request, of: query) != nil else {
      return send(.unsubscribe(query: moved.query), for: .unanswered, &actions)
    }
    numbers[moved.query] = query
    queries.modify(query) { $0.acceptMove(moved) }
  }

  /// Handles a move that is answered by a new result. The server does not know which rows this side holds.
  mutating func receiveMovedAsReload(
    _ number: UInt64, of query: QueryID, _ request: UInt64, _ actions: inout [ReplicaAction]
  ) {
    guard let subscription = answerMove(request, of: query) else {
      return send(.unsubscribe(query: number), for: .unanswered, &actions)
    }
    numbers[subscription.number] = nil
    numbers[number] = query
    queries.modify(query) { $0.reloadAfterMove(number: number) }
    staged.removeAll { $0.query == subscription.number }
  }

  /// Makes the move the request that the server's answers name from here on.
  /// - Returns: the subscription before it; nil if the query is no longer followed.
  private mutating func answerMove(_ request: UInt64, of query: QueryID) -> FollowedQuery.Subscription? {
    guard let subscription = queries[query]?.subscription else {
      openRequests.close(request)
      return nil
    }
    openRequests.replace(subscription.request, by: request, for: .subscribe(query))
    queries.modify(query) { $0.setRequest(request) }
    return subscription
  }

  /// Drops an answered move when the rows of its place are reloaded. The rows that the move brought are older, and must
  /// not replace them.
  mutating func dropMove(of query: QueryID) {
    if let move = queries[query]?.answeredMove {
      numbers[move.previousNumber] = nil
      staged.removeAll { $0.query == move.previousNumber }
      queries.modify(query) { $0.endMove() }
    }
  }

  /// Handles a refused move: the window stays where it is. The query may no longer be followed.
  mutating func receiveMoveRefusal(_ query: QueryID) {
    queries.modifyIfPresent(query) { $0.cancelMove() }
  }

  /// Publishes moves of revisions before this one.
  mutating func publishMoves(of queries: [QueryID], before revision: Revision, _ actions: inout [ReplicaAction]) {
    for query in queries {
      guard let (moved, previous) = self.queries[query]?.answeredMove, moved.at.revision < revision else { continue }
      numbers[previous] = nil
      self.queries.modify(query) { $0.endMove() }
      guard let place = self.queries[query]?.places?.visible else {
        assertionFailure("a window that has moved has a place")
        continue
      }
      actions.append(.loadedWindow(query, WindowRows(moved, place), at: moved.at))
      requestMove(query, &actions)
    }
  }
}
