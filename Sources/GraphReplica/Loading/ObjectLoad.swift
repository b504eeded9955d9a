import GraphModel
import GraphWire

/// A load goes from objects along a tree of relationships, a level at a time: everything that one level asks for, of all
/// its objects, goes out as one request for each family of entities and each thousand ids. When all of it is answered the
/// next level begins, from what came. A load without a tree fills faults.
final class ObjectLoad {
  let id: LoadID
  /// The query that it prefetches for.
  let query: QueryID?
  /// Whether objects are read again that the context holds and no query keeps as the server has them.
  let isAnew: Bool
  let roots: [ObjectState]
  /// Whose companions they are who come; of a query it is the query.
  let owners: [ManagedObject]
  /// The roots, when others may wait for it as well.
  var sharers = Set<ObjectID>()
  let tree: RelationshipTree
  let companions: Companions
  /// Where the load stands: from these objects along these branches.
  var level: [(tree: RelationshipTree, objects: [ObjectState])]
  /// Objects that are filled before the first level; empty when they are.
  var faults: [ObjectID]
  /// Other faults of the same kind that somebody holds may come along.
  let bringsOthers: Bool
  /// What was held before it, until it is over.
  var predecessor: Companions?
  var waitsFor = Set<RequestID>()
  /// What came anew, and what turned out to be gone.
  var refreshed = [ObjectID]()
  var deleted = [ObjectID]()
  /// Refused, or told to its owner.
  var isOver = false

  init(
    id: LoadID, query: QueryID?, isAnew: Bool, roots: [ObjectState], owners: [ManagedObject] = [],
    tree: RelationshipTree, companions: Companions = Companions()
  ) {
    self.owners = owners
    (self.id, self.query, self.isAnew, self.roots, self.tree) = (id, query, isAnew, roots, tree)
    self.companions = companions
    level = [(tree, roots)]
    faults = roots.filter(\.isFault).map(\.id)
    bringsOthers = false
  }

  init(id: LoadID, faults: [ObjectState], bringsOthers: Bool) {
    (self.id, query, isAnew, roots, tree) = (id, nil, false, faults, .none)
    companions = Companions()
    owners = []
    level = []
    self.faults = faults.map(\.id)
    self.bringsOthers = bringsOthers
  }
}

/// A live query's tree: what is loaded for its objects, and kept as long as it is followed.
struct QueryPrefetch {
  let tree: RelationshipTree
  var companions = Companions()
  /// The load that the first result, or a new one, began.
  var first: LoadID?
  /// Why the last load of it failed.
  var failure: Refusal?
  /// Objects that came to the query, or changed, since it was looked at last.
  var newcomers = [ObjectState]()
}

/// A request of a load, and who waits for it.
struct LoadRequest {
  enum Content {
    /// Objects by their ids.
    case objects
    /// All members of a to-many that is stored at its other end.
    case members(Property)
  }

  let content: Content
  let fetch: Fetch
  /// Who wants which of the objects, or of the owners.
  var wanted: Wanted
  /// An answer counts when all of it is here.
  var images = [ObjectImage]()
}

/// Ids in the order in which they were asked for, each once, and by whom.
struct Wanted {
  private(set) var ids = [ObjectID]()
  private var wanting = [ObjectID: [ObjectLoad]]()

  mutating func add(_ id: ObjectID, _ load: ObjectLoad) {
    guard let known = wanting[id] else {
      ids.append(id)
      wanting[id] = [load]
      return
    }
    if known.last !== load { wanting[id]?.append(load) }
  }

  func contains(_ id: ObjectID) -> Bool { wanting[id] != nil }

  func loads(of id: ObjectID) -> [ObjectLoad] { wanting[id] ?? [] }

  /// Everyone, the oldest first.
  var loads: [ObjectLoad] {
    var found = [LoadID: ObjectLoad]()
    for loads in wanting.values {
      for load in loads { found[load.id] = load }
    }
    return found.values.sorted { $0.id < $1.id }
  }

  /// In parts that fit into a request.
  var batches: [Wanted] {
    stride(from: 0, to: ids.count, by: ObjectLoads.batchSize).map { start in
      var part = Wanted()
      part.ids = Array(ids[start..<min(start + ObjectLoads.batchSize, ids.count)])
      for id in part.ids { part.wanting[id] = wanting[id] }
      return part
    }
  }
}

/// All that a context is loading.
struct ObjectLoads {
  /// Ids in one request.
  static let batchSize = 1_000
  /// Requests at a time: half of what a server reads at once for a connection.
  static let maximumAtOnce = 8
  /// Far from the numbers of an owner's questions.
  static let firstRequest: RequestID = 1 << 48

  var lastLoad: LoadID = 0
  var lastRequest = firstRequest
  var prefetches = [QueryID: QueryPrefetch]()
  /// Loads whose level is to be asked for.
  var ready = [ObjectLoad]()
  var requests = [RequestID: LoadRequest]()
  var waiting = [RequestID]()
  var underWay = 0
  /// Objects that a request names whose answer is not here.
  var asked = [ObjectID: RequestID]()
  /// Requests whose next chunk can be taken.
  var mores = [RequestID]()
  /// The newest load of each tree that an object began for others as well.
  var shared = [RelationshipTree: ObjectLoad]()
}
