import GraphModel
import GraphWire

/// What a window shows.
public struct WindowRows: Hashable, Sendable {
  /// In their order.
  public var rows: [ObjectID]
  /// Of these, at least the objects that it did not show before.
  public var objects: [ObjectImage]
  /// How many rows the query has before limit and offset.
  public var total: UInt64
  /// So many of them come before the window.
  public var offset: UInt64
  /// So many rows it has at most.
  public var limit: UInt64

  /// Whole rows.
  init(_ objects: [ObjectImage], total: UInt64, _ place: Subscribe.Window) {
    (rows, self.objects, self.total) = (objects.map(\.id), objects, total)
    (offset, limit) = (place.offset, place.limit)
  }

  /// Rows of which some are known.
  init(_ moved: WindowMoved, _ place: Subscribe.Window) {
    (rows, objects, total) = (moved.rows, moved.objects, moved.total)
    (offset, limit) = (place.offset, place.limit)
  }
}

/// Windows that move: one move at a time, the newest wish next; where a window stands counts over every reconnect.
///
/// What a window shows at another place is of the revision that this connection had been told, so it waits with the
/// deltas for the advance behind it. Until then the window has two numbers, and deltas of both belong to it.
extension Replica {
  mutating func moveWindow(_ query: QueryID, _ offset: UInt64, _ limit: UInt64, _ actions: inout [ReplicaAction]) {
    guard queries[query]?.subscribe.window != nil else { return }
    queries[query]?.subscribe.window?.offset = offset
    queries[query]?.subscribe.window?.limit = limit
    moveOn(query, &actions)
  }

  /// Says where the window is to stand, if the server has been told another place and what it shows there is shown.
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

  /// The window stands where it is to stand.
  mutating func take(_ moved: WindowMoved, of query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let before = queries[query]?.number else {
      return send(.unsubscribe(query: moved.query), for: .other, &actions)
    }
    numbers[moved.query] = query
    queries[query]?.number = moved.query
    moves[query] = (moved, before)
  }

  /// The server does not know what this side holds: all of the rows come again.
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
    queries[query]?.incoming = FollowedQuery.Incoming()
    staged.removeAll { $0.query == before }
  }

  /// The rows of the place that the window has moved to come anew: those that the move brought are older, and are not shown
  /// over them.
  mutating func dropMove(of query: QueryID) {
    guard let move = moves.removeValue(forKey: query) else { return }
    numbers[move.before] = nil
    staged.removeAll { $0.query == move.before }
    let place = queries[query]?.place
    queries[query]?.shown = place
    queries[query]?.isMoving = false
  }

  /// The window stays where it is.
  mutating func stay(_ query: QueryID) {
    let shown = queries[query]?.shown
    queries[query]?.isMoving = false
    queries[query]?.place = shown
    queries[query]?.subscribe.window = shown
  }

  /// Moves as of earlier revisions than this one come before it.
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
