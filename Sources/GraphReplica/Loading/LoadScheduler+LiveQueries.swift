// Tests: PrefetchTests.swift, AwaitedPrefetchTests.swift
import GraphModel

/// The prefetches of live queries, as the context asks for them.
///
/// A source that shows a query may wait for them (`ObjectContext.awaitPrefetches`): it receives the end of each load,
/// and asks which objects are not complete yet. The context itself never waits, so that other live queries go on.
extension LoadScheduler {
  /// Prefetches for a query from its first result on.
  func addPrefetch(_ tree: RelationshipTree, of query: QueryID) {
    if !tree.isEmpty { prefetches[query] = QueryPrefetch(tree: tree) }
  }

  /// The load for a query's first or reloaded result, or why it failed; nil if the query does not prefetch.
  func prefetch(of query: QueryID) -> (load: LoadID?, failure: Refusal?)? {
    prefetches[query].map { ($0.first, $0.failure) }
  }

  /// Collects the objects that joined the queries that prefetch, or changed in them.
  func prefetch(for update: CommitUpdate) {
    for (query, changes) in update.changes {
      prefetches.modifyIfPresent(query) { prefetch in
        prefetch.newcomers += changes.compactMap { $0.kind == .removed ? nil : context.results[query]?[$0.id] }
      }
    }
  }

  /// Keeps the objects that were loaded for a query; nil if the query does not prefetch.
  func companions(of query: QueryID) -> RetainedObjects? { prefetches[query]?.companions }

  /// Reports the end of each load of a query to observers, also of one that has changed nothing.
  func awaitPrefetches(of query: QueryID) { prefetches.modifyIfPresent(query) { $0.isAwaited = true } }

  /// Whether a query waits for a relationship of one of its objects that satisfies a condition.
  func awaitsPrefetch(of query: QueryID, where condition: (ObjectID) -> Bool) -> Bool {
    guard let prefetch = prefetches[query], let result = context.results[query] else { return false }
    func isIncomplete(_ object: ObjectState, reloads: Bool) -> Bool {
      condition(object.id) && result[object.id] != nil && (reloads || context.isMissing(prefetch.tree, of: object))
    }
    if prefetch.newcomers.contains(where: { isIncomplete($0, reloads: false) }) { return true }
    return unfinished.values.contains { load in
      load.query == query && load.roots.contains { isIncomplete($0, reloads: load.reloadsHeld) }
    }
  }
}
