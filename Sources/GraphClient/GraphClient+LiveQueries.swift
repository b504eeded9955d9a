// Tests: LiveQueryTests.swift, GraphClientTests.swift
import GraphModel
import GraphReplica
import GraphWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Live queries of the context, and watches without it. Presence, which the server forwards to other sessions.
extension GraphClient {
  // MARK: - Live queries

  /// Follows a query in the context; returns when its first result has arrived. `unfollow` ends it.
  package func follow(
    _ entity: Entity, where predicate: GraphPredicate = .always, prefetch: RelationshipTree = .none
  ) async throws -> QueryID {
    try await followUntilLoaded {
      context.follow(entity: entity, predicate: predicate.bound(now: Self.now), prefetch: prefetch)
    }
  }

  /// Follows the objects of a class that satisfy a predicate; returns when the first result has arrived.
  package func follow<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> QueryID {
    let (condition, tree) = (GraphPredicate(type, where: predicate), RelationshipTree(type, prefetch))
    return try await follow(try entity(of: type), where: condition, prefetch: tree)
  }

  /// Follows a part of a query's ordered result; returns when its first rows have arrived.
  func follow(
    _ entity: Entity, where predicate: GraphPredicate, sort: [SortKey], offset: Int, limit: Int,
    prefetch: RelationshipTree
  ) async throws -> QueryID {
    try await followUntilLoaded {
      context.follow(
        entity: entity, predicate: predicate.bound(now: Self.now), sort: sort, offset: offset, limit: limit,
        prefetch: prefetch)
    }
  }

  /// Moves a window to another part of its query.
  func moveWindow(of query: QueryID, offset: Int, limit: Int?) {
    context.moveWindow(of: query, offset: offset, limit: limit)
    perform()
  }

  private func followUntilLoaded(_ follow: () -> QueryID) async throws -> QueryID {
    guard state != .closed else { throw Refusal(.unavailable, "the connection is closed") }
    try Task.checkCancellation()
    let query = follow()
    let loading = CancellableWait()
    loadingQueries[query] = loading
    perform()
    do {
      try await loading.wait()
      try await waitForPrefetch(of: query)
      try Task.checkCancellation()
    } catch {
      loadingQueries[query] = nil
      unfollow(query)
      throw error
    }
    return query
  }

  /// Returns when the relationships to prefetch with a query's present result have been loaded.
  func waitForPrefetch(of query: QueryID) async throws {
    let (load, failure) = context.prefetch(of: query)
    if let failure { throw failure }
    if let load { try await fill(load) }
  }

  /// The time of this machine's clock, in microseconds since 1970. `now()` in a query is bound to it, because it must
  /// mean the same after each reconnect.
  package static var now: Timestamp { Date.now.microseconds }

  /// Ends a live query of the context.
  package func unfollow(_ query: QueryID) {
    context.unfollow(query)
    perform()
  }

  /// The events of a watch, in order.
  package enum WatchEvent: Sendable {
    /// The next result of the query lacks these objects, which exist but are damaged.
    case incomplete(QueryID, DamageNotice)
    /// A first result, or a new one after a reset. It replaces all earlier objects.
    case loaded(QueryID, [ObjectImage], at: Token)
    /// The same for a window.
    case loadedWindow(QueryID, WindowRows, at: Token)
    /// Later events follow `since`; the result before it stays valid.
    case resumed(QueryID, since: Revision)
    /// The store does not know the state that was delivered. It was restored from a backup, or its history was
    /// pruned. New results follow. Sent once for each watch, which may have several queries.
    case diverged
    /// A commit, with all of its changes to the watch's queries.
    case changed(CommitUpdate)
    /// The query was refused, or the client was closed: no events follow.
    case ended(Refusal)
  }

  final class Watch {
    let body: (WatchEvent) -> Void

    init(body: @escaping (WatchEvent) -> Void) { self.body = body }
  }

  /// Follows queries with complete objects and without the context. `body` is called for each result and each commit.
  /// - Parameter since: the token at which an earlier watch stopped; only later changes are delivered.
  /// - Returns: the queries' numbers, in the order of `queries`.
  @discardableResult
  package func watch(
    _ queries: [(entity: Entity, predicate: GraphPredicate)], since: Token? = nil, body: @escaping (WatchEvent) -> Void
  ) -> [QueryID] {
    let watch = Watch(body: body)
    var numbers = [QueryID]()
    for (entity, predicate) in queries {
      let number = add(watch)
      numbers.append(number)
      let text = predicate == .always ? "" : predicate.bound(now: Self.now).text(in: context.model)
      context.handle(
        .subscribe(number, Subscribe(entity: entity.number, predicate: text, wholeObjects: true, since: since)))
    }
    perform()
    return numbers
  }

  /// The queries of the context have smaller numbers.
  private static let firstWatch: QueryID = 1 << 32

  /// Adds a query of a watch, and returns its number.
  private func add(_ watch: Watch) -> QueryID {
    lastRequest += 1
    let number = Self.firstWatch + lastRequest
    watches[number] = watch
    return number
  }

  /// Follows a window with complete objects and without the context.
  /// - Parameters:
  ///   - sort: over the object's own properties; ids break ties.
  ///   - offset: the number of rows to skip.
  ///   - limit: the maximum number of rows, from 1 to 1,000.
  @discardableResult
  package func watch(
    _ entity: Entity, where predicate: GraphPredicate, sort: [SortKey], offset: Int, limit: Int,
    body: @escaping (WatchEvent) -> Void
  ) -> QueryID {
    let number = add(Watch(body: body))
    let text = predicate == .always ? "" : predicate.bound(now: Self.now).text(in: context.model)
    let window = Subscribe.Window(
      sort: sort.text(in: context.model), offset: UInt64(max(0, offset)), limit: UInt64(max(0, limit)))
    context.handle(
      .subscribe(
        number, Subscribe(entity: entity.number, predicate: text, wholeObjects: true, window: window)))
    perform()
    return number
  }

  // MARK: - Presence

  /// Sets this session's presence, at most 4,096 bytes. The server forwards it to all other sessions with a presence.
  /// Dropped without a connection: send it again after a reconnect, and when a new session appears.
  public func showPresence(_ state: [UInt8]) { handle(.presence(state)) }
}
