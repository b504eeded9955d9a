import Foundation
import GraphModel
import GraphReplica
import GraphWire

extension GraphClient {
  // MARK: - Live queries

  /// Follows a query in the context; returns when its first result is there.
  /// - Parameter prefetching: what is read along with its objects, and with each that joins it later: such an object is
  ///   told at once, and what was read for it as `refreshed`.
  public func follow(
    _ entity: Entity, where predicate: GraphPredicate = .always, prefetching: RelationshipTree = .none
  ) async throws -> QueryID {
    guard state != .closed else { throw Refusal(.unavailable, "the client is closed") }
    let query = context.follow(entity: entity, predicate: predicate.bound(now: Self.now), prefetching: prefetching)
    try await withCheckedThrowingContinuation { continuation in
      loading[query] = continuation
      perform()
    }
    do {
      let (load, failure) = context.prefetch(of: query)
      if let failure { throw failure }
      if let load { try await filled(load) }
    } catch {
      unfollow(query)
      throw error
    }
    return query
  }

  /// What `now()` means in a query that is made here: it must mean the same after every reconnect.
  private static var now: Timestamp { Int64(Date().timeIntervalSince1970 * 1_000_000) }

  /// Ends a live query of the context.
  public func unfollow(_ query: QueryID) {
    context.unfollow(query)
    perform()
  }

  /// What a watch is told, in order.
  public enum WatchEvent: Sendable {
    /// A first result, or a new one after a reset: what was told of the query before is void.
    case loaded(QueryID, [ObjectImage], at: Token)
    /// What is told from here on comes after `since`; the result before it stands.
    case resumed(QueryID, since: Revision)
    /// A commit, with all that it does to the watch's queries.
    case changed(CommitUpdate)
    /// The query was refused, or the client is closed: nothing more is told.
    case ended(Refusal)
  }

  final class Watch {
    let body: (WatchEvent) -> Void

    init(body: @escaping (WatchEvent) -> Void) { self.body = body }
  }

  /// Follows queries with whole objects and without the context: `body` is called for each result and each commit.
  /// - Parameter since: where an earlier watch stopped; then only what came after it is told.
  /// - Returns: the queries' numbers, in the order of `queries`.
  @discardableResult
  public func watch(
    _ queries: [(entity: Entity, predicate: GraphPredicate)], since: Token? = nil, body: @escaping (WatchEvent) -> Void
  ) -> [QueryID] {
    let watch = Watch(body: body)
    var numbers = [QueryID]()
    for (entity, predicate) in queries {
      lastWatch += 1
      watches[lastWatch] = watch
      numbers.append(lastWatch)
      let text = predicate == .always ? "" : predicate.bound(now: Self.now).text(in: context.model)
      context.handle(
        .subscribe(lastWatch, Subscribe(entity: entity.number, predicate: text, wholeObjects: true, since: since)))
    }
    perform()
    return numbers
  }
}
