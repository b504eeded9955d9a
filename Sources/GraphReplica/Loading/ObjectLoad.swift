// Tests: PrefetchTests.swift, FaultTests.swift
import GraphModel
import GraphWire

/// A load along a tree of relationships, one level at a time. A level sends one request for each family of entities
/// and each thousand ids, for all of its objects. When all are answered, the next level begins from the results. A
/// load without a tree fills faults.
final class ObjectLoad {
  let id: LoadID
  /// The query that it prefetches for, if any.
  let query: QueryID?
  /// Whether to reload objects that the context holds and no query keeps current.
  let reloadsHeld: Bool
  /// Whether it reads `faults` although the context holds them: their visibility may have changed.
  let readsAgain: Bool
  let roots: [ObjectState]
  /// The objects that keep the loaded ones; empty for a query, which keeps them itself.
  let owners: [ManagedObject]
  /// The ids of the roots, if other objects may share this load.
  var sharers = Set<ObjectID>()
  let tree: RelationshipTree
  let companions: RetainedObjects
  /// The current level: objects, and the branches to follow from them.
  var level: [(tree: RelationshipTree, objects: [ObjectState])]
  /// Faults to fill before the first level; empty once they are.
  var faults: [ObjectID]
  /// Whether to fill up requests with other faults of the same kind that the program holds.
  let bringsOthers: Bool
  /// The objects of earlier results, kept until it has ended.
  var predecessors = [RetainedObjects]()
  /// Interrupted loads, whose callers wait for this one.
  private(set) var replaced = [LoadID]()
  var pendingRequests = Set<RequestID>()
  /// Reloaded objects, and objects that turned out to be deleted, of which observers have not been notified.
  var refreshed = [ObjectID]()
  var deleted = [ObjectID]()
  /// Whether it has been refused, completed, or replaced after the connection was lost.
  var isFinished = false

  init(
    id: LoadID, query: QueryID?, reloadsHeld: Bool, roots: [ObjectState], owners: [ManagedObject] = [],
    tree: RelationshipTree, companions: RetainedObjects = RetainedObjects()
  ) {
    self.owners = owners
    (self.id, self.query, self.reloadsHeld, self.roots, self.tree) = (id, query, reloadsHeld, roots, tree)
    self.companions = companions
    level = [(tree, roots)]
    faults = roots.filter(\.isFault).map(\.id)
    (bringsOthers, readsAgain) = (false, false)
  }

  init(id: LoadID, faults: [ObjectState], bringsOthers: Bool) {
    (self.id, query, reloadsHeld, roots, tree) = (id, nil, false, faults, .none)
    companions = RetainedObjects()
    owners = []
    level = []
    self.faults = faults.map(\.id)
    self.bringsOthers = bringsOthers
    readsAgain = false
  }

  /// Takes the place of an interrupted load.
  func replace(_ interrupted: ObjectLoad) {
    replaced += interrupted.replaced + [interrupted.id]
    predecessors += interrupted.predecessors
    interrupted.isFinished = true
  }

  /// A load that reads objects again, and keeps none of them.
  init(id: LoadID, again ids: [ObjectID]) {
    (self.id, query, reloadsHeld, readsAgain, roots, tree) = (id, nil, false, true, [], .none)
    companions = RetainedObjects()
    owners = []
    level = []
    faults = ids
    bringsOthers = false
  }
}

/// A live query's prefetch: the tree, and the loaded objects, kept as long as the query is followed.
struct QueryPrefetch {
  let tree: RelationshipTree
  var companions = RetainedObjects()
  /// The load for the first or a reloaded result; nil once it has ended.
  var first: LoadID?
  /// Loads that lost the connection; the next one replaces them.
  var interrupted = [ObjectLoad]()
  /// The reason why the load for the last result failed.
  var failure: Refusal?
  /// Objects that joined the query, or changed, since the last check.
  var newcomers = [ObjectState]()
  /// Whether observers wait for the ends of its loads.
  var isAwaited = false
}

/// A request of one or more loads.
struct LoadRequest {
  enum Content {
    /// Objects by their ids.
    case objects
    /// All members of a to-many that is stored at its other end.
    case members(Property)
  }

  let content: Content
  let fetch: Fetch
  /// The ids of objects or of owners, with the loads that want each.
  var wanted: RequestedIDs
  /// The objects received so far; they are used when the answer is complete.
  var images = [ObjectImage]()
}

/// Ids in the order in which they were requested, each once, with the loads that want them.
struct RequestedIDs {
  private(set) var ids = [ObjectID]()
  private var wanting = [ObjectID: [ObjectLoad]]()

  mutating func add(_ id: ObjectID, _ load: ObjectLoad) {
    guard let known = wanting[id] else {
      ids.append(id)
      wanting[id] = [load]
      return
    }
    if known.last !== load { wanting[id] = known + [load] }
  }

  func contains(_ id: ObjectID) -> Bool { wanting[id] != nil }

  /// Whether a load that has not ended wants one of the ids.
  var isWanted: Bool { wanting.values.contains { $0.contains { !$0.isFinished } } }

  func loads(of id: ObjectID) -> [ObjectLoad] { wanting[id, default: []] }

  /// All loads, the oldest first.
  var loads: [ObjectLoad] {
    var found = [LoadID: ObjectLoad]()
    for loads in wanting.values {
      for load in loads { found[load.id] = load }
    }
    return found.values.sorted { $0.id < $1.id }
  }

  /// The ids in parts that fit into one request each.
  var batches: [RequestedIDs] {
    stride(from: 0, to: ids.count, by: LoadScheduler.batchSize).map { start in
      var part = RequestedIDs()
      part.ids = Array(ids[start..<min(start + LoadScheduler.batchSize, ids.count)])
      for id in part.ids { part.wanting[id] = wanting[id] }
      return part
    }
  }
}
