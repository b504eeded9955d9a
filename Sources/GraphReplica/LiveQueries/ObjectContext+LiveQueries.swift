// Tests: ReplicaTests.swift, WindowTests.swift, PrefetchTests.swift
import GraphModel
import GraphWire

/// Live queries and windows of them. A window is a part of an ordered result: a client reads only the rows that it
/// shows, even of a very long list.
extension ObjectContext {
  // MARK: - Following

  /// Follows a query; its result is empty until the first one has arrived.
  /// - Parameters:
  ///   - prefetch: relationships to load with its objects, and with those that join it later.
  ///   - most: the query is refused, with `limit`, if its first or a reloaded result has more objects; the rest of
  ///     them is not awaited. Nil for any number.
  package func follow(
    entity: Entity, predicate: GraphPredicate = .always, prefetch: RelationshipTree = .none, atMost most: Int? = nil
  ) -> QueryID {
    if let parent { return parent.follow(entity: entity, predicate: predicate, prefetch: prefetch, atMost: most) }
    lastQuery += 1
    if refusesEdit("no query can be followed") { return lastQuery }
    let subscribe = Subscribe(entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: model))
    return follow(subscribe, prefetch: prefetch, atMost: most)
  }

  /// Follows a part of a query's ordered result; it is empty until the first rows have arrived.
  /// - Parameters:
  ///   - sort: over the object's own properties; ids break ties.
  ///   - offset: the number of rows to skip.
  ///   - limit: the maximum number of rows, from 1 to 1,000.
  ///   - prefetch: relationships to load with its objects, and with those that join it later.
  package func follow(
    entity: Entity, predicate: GraphPredicate = .always, sort: [SortKey], offset: Int = 0, limit: Int,
    prefetch: RelationshipTree = .none
  ) -> QueryID {
    if let parent {
      return parent.follow(
        entity: entity, predicate: predicate, sort: sort, offset: offset, limit: limit, prefetch: prefetch)
    }
    lastQuery += 1
    if refusesEdit("no query can be followed") { return lastQuery }
    windows[lastQuery] = WindowState()
    let subscribe = Subscribe(
      entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: model),
      window: .init(sort: sort.text(in: model), offset: UInt64(max(0, offset)), limit: UInt64(max(0, limit))))
    return follow(subscribe, prefetch: prefetch)
  }

  private func follow(
    _ subscribe: Subscribe, prefetch tree: RelationshipTree, atMost most: Int? = nil
  ) -> QueryID {
    let query = lastQuery
    results[query] = [:]
    loads.addPrefetch(tree, of: query)
    handle(.subscribe(query, subscribe, atMost: most))
    notifyOwner()
    return query
  }

  /// Ends a live query. Its objects live as long as the program holds them, without further updates from this query.
  package func unfollow(_ query: QueryID) {
    if let parent { return parent.unfollow(query) }
    let unchecked = loads.uncheckedObjects(of: query)
    results[query] = nil
    windows[query] = nil
    loads.removePrefetch(of: query, LoadScheduler.cancellation)
    loads.checkDeparted(unchecked, from: query)
    handle(.unsubscribe(query))
    notifyOwner()
  }

  /// Moves a window to another part of its query. The old rows stay visible until the new ones arrive; then observers
  /// receive the difference. Of several moves in a row the last one counts.
  /// - Parameter limit: nil leaves it as it is.
  package func moveWindow(of query: QueryID, offset: Int, limit: Int? = nil) {
    if let parent { return parent.moveWindow(of: query, offset: offset, limit: limit) }
    // The server may have refused the query.
    guard let window = replica.queries[query]?.subscribe.window else { return }
    let most = ProtocolLimits.maximumWindow
    handle(
      .moveWindow(
        query, offset: UInt64(max(0, offset)), limit: limit.map { UInt64(min(max(1, $0), most)) } ?? window.limit))
    notifyOwner()
  }

  // MARK: - Results

  /// The current objects of a live query, in the given order.
  package func result(of query: QueryID, sort: [SortKey] = []) -> [ManagedObject] {
    if let parent { return parent.result(of: query, sort: sort).compactMap { fault($0.id) } }
    let result = results[query, default: [:]]
    return SortOrder(sort, model: model).sorted(result.values.compactMap(\.stored), in: StoredImages(context: self))
      .compactMap { result[$0.id].map { instance(of: $0) } }
  }

  /// The current objects of a live query, in the given order.
  package func result<Object: ManagedObject>(
    of query: QueryID, as type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey] = []
  ) -> [Object] {
    result(of: query, sort: [SortKey](type, sort)).compactMap { $0 as? Object }
  }

  /// An object of a live query; nil if it is not in the result. An object whose deletion here is not saved is in it.
  package func object(_ id: ObjectID, in query: QueryID) -> ManagedObject? {
    if let parent { return parent.object(id, in: query).flatMap { fault($0.id) } }
    return results[query]?[id].map { instance(of: $0) }
  }

  /// The visible rows of a window; nil for a query without one.
  package func window(of query: QueryID) -> QueryWindow? {
    if let parent {
      guard var window = parent.window(of: query) else { return nil }
      window.objects = window.objects.compactMap { fault($0.id) }
      return window
    }
    guard let held = windows[query] else { return nil }
    let result = results[query, default: [:]]
    return QueryWindow(
      objects: held.rows.compactMap { result[$0].map { instance(of: $0) } }, offset: held.offset, limit: held.limit,
      total: held.total)
  }

  /// The place of a window, and its query's number of rows before limit and offset. Nil for a query without one.
  package func windowPlace(of query: QueryID) -> (offset: Int, limit: Int, total: Int)? {
    if let parent { return parent.windowPlace(of: query) }
    return windows[query].map { ($0.offset, $0.limit, $0.total) }
  }

  // MARK: - The server's state

  /// The objects of a live query as the server has them, by id.
  package func storedResult(of query: QueryID) -> [ObjectID: ObjectImage] {
    if let parent { return parent.storedResult(of: query) }
    return results[query, default: [:]].compactMapValues(\.stored)
  }

  /// The ids of a window's rows as the server has them, in order.
  package func storedWindow(of query: QueryID) -> [ObjectID] {
    if let parent { return parent.storedWindow(of: query) }
    return windows[query, default: WindowState()].rows
  }

  /// An object of a live query as the server has it; nil if it is not in the result.
  package func storedImage(_ id: ObjectID, in query: QueryID) -> ObjectImage? {
    if let parent { return parent.storedImage(id, in: query) }
    return results[query]?[id]?.stored
  }

  /// Whether the first result of a live query has arrived. A query that is reloading after a reset counts as not
  /// loaded.
  package func isLoaded(_ query: QueryID) -> Bool {
    if let parent { return parent.isLoaded(query) }
    return replica.queries[query].map(\.isLoaded) == true
  }

  /// The held objects as the server has them, for the paths of a sort order.
  public var storedObjects: any ImageSource { parent?.storedObjects ?? StoredImages(context: self) }
}
