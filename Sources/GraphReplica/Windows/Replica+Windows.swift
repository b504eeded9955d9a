import GraphModel
import GraphWire

/// The rows of a window.
public struct WindowRows: Hashable, Sendable {
  /// The ids of the rows, in order.
  public var rows: [ObjectID]
  /// The objects of the rows, at least of those that the window did not show before.
  public var objects: [ObjectImage]
  /// The number of rows of the query before limit and offset.
  public var total: UInt64
  /// The number of rows before the window.
  public var offset: UInt64
  /// The maximum number of rows in the window.
  public var limit: UInt64

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
  mutating func moveWindow(_ query: QueryID, _ offset: UInt64, _ limit: UInt64, _ actions: inout [ReplicaAction]) {
    guard queries[query]?.subscribe.window != nil else { return }
    queries[query]?.subscribe.window?.offset = offset
    queries[query]?.subscribe.window?.limit = limit
    moveOn(query, &actions)
  }

  /// Sends the requested place, if it differs from the last one sent and those rows are visible.
  mutating func moveOn(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard case .live = phase, let followed = queries[query], !followed.isMoving, followed.incoming == nil,
      followed.isLoaded,
      let number = followed.number,
      let place = followed.subscribe.window, place != followed.place
    else { return }
    queries[query]?.place = place
    queries[query]?.isMoving = true
    send(.moveWindow(query: number, offset: place.offset, limit: place.limit), for: .moveWindow(query), &actions)
  }

  /// Handles the answer to a move.
  mutating func take(_ moved: WindowMoved, of query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let before = queries[query]?.number else {
      return send(.unsubscribe(query: moved.query), for: .other, &actions)
    }
    numbers[moved.query] = query
    queries[query]?.number = moved.query
    moves[query] = (moved, before)
  }

  /// Handles a move that is answered by a new result. The server does not know which rows this side holds.
  mutating func takeAnew(_ query: QueryID, _ number: UInt64, _ actions: inout [ReplicaAction]) {
    guard let before = queries[query]?.number else {
      return send(.unsubscribe(query: number), for: .other, &actions)
    }
    numbers[before] = nil
    numbers[number] = query
    let place = queries[query]?.place
    queries[query]?.number = number
    queries[query]?.isMoving = false
    queries[query]?.shown = place
    queries[query]?.beginAnew()
    queries[query]?.incoming = FollowedQuery.IncomingResult()
    staged.removeAll { $0.query == before }
  }

  /// Drops a move when the rows of its place are reloaded. The rows that the move brought are older, and must not
  /// replace them.
  mutating func dropMove(of query: QueryID) {
    guard let move = moves.removeValue(forKey: query) else { return }
    numbers[move.before] = nil
    staged.removeAll { $0.query == move.before }
    let place = queries[query]?.place
    queries[query]?.shown = place
    queries[query]?.isMoving = false
  }

  /// Handles a refused move: the window stays where it is.
  mutating func stay(_ query: QueryID) {
    let shown = queries[query]?.shown
    queries[query]?.isMoving = false
    queries[query]?.place = shown
    queries[query]?.subscribe.window = shown
  }

  /// Publishes moves of revisions before this one.
  mutating func showMoves(before revision: Revision, _ actions: inout [ReplicaAction]) {
    for query in moves.keys.sorted() {
      guard let move = moves[query], move.moved.at.revision < revision else { continue }
      showMove(of: query, &actions)
    }
  }

  private mutating func showMove(of query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let move = moves.removeValue(forKey: query) else { return }
    numbers[move.before] = nil
    guard let place = queries[query]?.place else { return }
    queries[query]?.shown = place
    queries[query]?.isMoving = false
    actions.append(.loadedWindow(query, WindowRows(move.moved, place), at: move.moved.at))
    moveOn(query, &actions)
  }
}
