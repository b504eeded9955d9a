import GraphModel
import GraphReplica

/// The window of a sorted query that is watched.
struct WatchedWindow {
  let entity: Entity
  let predicate: GraphPredicate
  let sort: [SortKey]
  let offset: Int
  let limit: Int
}
