import GraphModel
import GraphReplica

/// The user fires faults and prefetches relationships of visible objects.
final class ClientLoads {
  /// A load in progress, with the objects at which it began. They and the loaded objects are retained.
  struct PendingLoad {
    let objects: [ManagedObject]
    /// The relationship paths to prefetch; empty for faults.
    var paths = [[Property]]()
    /// Whether nothing else happens until the load ends, so that its result can be compared completely.
    var isAtRest = false
    /// Whether objects that are held already are loaded again.
    var isReload = true
    /// The number of fetches sent before the load.
    var requestsBefore = 0
    /// Whether the replica has meanwhile detected a restored store: an object that was deleted may exist again.
    var spansRestore = false
  }

  /// The result of a load: the loaded objects, and the ids without an object.
  struct CompletedLoad {
    let load: PendingLoad
    var images = [ObjectImage]()
    var missing = [ObjectID]()
    /// Faults that should have been fulfilled.
    var unfilled = [ObjectID]()
    /// The number of requests sent for the load.
    var requests = 0
    /// Whether the client held state from before a restore when the load ended.
    var isStale = false
  }

  /// Relationship paths to prefetch, by entity.
  static let trees = [
    "Folder": ["items", "items.labels", "items.tasks,items.parent"],
    "Item": ["folder,labels", "tasks", "cover.items", "folder.items"],
    "Thing": ["parent.children", "children"],
    "Label": ["items.folder", "coverOf", "near.nearOf"],
    "Crew": ["members", "members.folder"],
  ]

  private unowned let client: ClientNode
  private var pending = [LoadID: PendingLoad]()
  private var finished = [CompletedLoad]()
  /// The queries that prefetch relationships.
  private var prefetching = Set<QueryID>()

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the loads, because the process has died.
  func restart() { (pending, finished, prefetching) = ([:], [], []) }

  /// Records that the client has detected a restored store.
  func spanRestore() {
    for load in pending.keys { pending.modifyIfPresent(load) { $0.spansRestore = true } }
  }

  /// Takes the finished loads, to be checked.
  func removeFinished() -> [CompletedLoad] {
    defer { finished = [] }
    return finished
  }

  /// Records that a query prefetches relationships.
  func record(prefetching query: QueryID) { prefetching.insert(query) }

  /// Describes a load that has not ended; nil if there is none.
  func unfinished() -> String? {
    if !pending.isEmpty { return "client \(client.number) still loads" }
    for query in client.queries where prefetching.contains(query.id) {
      guard client.context.prefetch(of: query.id).load == nil else {
        return "client \(client.number) still prefetches"
      }
      client.events.record(.queryPrefetched)
    }
    return nil
  }

  func touchFaults(_ random: inout SeededRandom) -> String {
    var ids = [ObjectID]()
    for object in client.objects("Thing").shuffled(using: &random).prefix(12) {
      for property in object.entity.storedProperties where property.relationship != nil {
        ids += object.value(property.number).objectIDs
      }
    }
    if random.chance(30) { ids += client.past.deletedObjects.suffix(6) }
    let faults = ids.filter { !$0.isTemporary }.shuffled(using: &random)
      .compactMap { client.context.fault($0) }.filter(\.isFault).prefix(1 + random.below(6))
    guard !faults.isEmpty else { return "no faults" }
    let load = client.context.load(Array(faults), bringsOthers: random.chance(50))
    pending[load] = PendingLoad(objects: Array(faults))
    client.context.sendLoads()
    return "touch \(faults.count) faults"
  }

  func prefetch(_ random: inout SeededRandom) -> String {
    let name = random.element(of: ["Folder", "Item", "Thing", "Label", "Crew"])
    let roots = client.objects(name).filter { !$0.isInserted }.shuffled(using: &random).prefix(1 + random.below(4))
    guard !roots.isEmpty, let text = random.pick(Self.trees[name, default: []]) else { return "nothing to prefetch" }
    return load(text, name, Array(roots), isReload: random.chance(50))
  }

  /// Prefetches from all objects of one entity at a quiet moment.
  func prefetchAtRest(_ random: inout SeededRandom) -> String {
    let name = random.element(of: ["Folder", "Item", "Thing", "Label", "Crew"])
    let roots = client.objects(name).filter { !$0.isInserted }
    guard !roots.isEmpty, let text = random.pick(Self.trees[name, default: []]) else { return "nothing to prefetch" }
    defer { client.perform() }
    return load(text, name, roots, isReload: true, isAtRest: true)
  }

  private func load(
    _ text: String, _ name: String, _ roots: [ManagedObject], isReload: Bool, isAtRest: Bool = false
  ) -> String {
    guard let entity = client.model.entity(named: name),
      let tree = try? RelationshipTree(parsing: text, entity: entity, model: client.model)
    else { return "no tree" }
    var pending = PendingLoad(
      objects: roots, isAtRest: isAtRest, isReload: isReload, requestsBefore: client.link.fetchesSent)
    pending.paths = text.split(separator: ",").map { path in
      var place: Entity? = entity
      return path.split(separator: ".").compactMap { name in
        let property = place?.property(named: String(name))
        place = property?.relationship.flatMap { client.model.entity($0.destination) }
        return property
      }
    }
    self.pending[client.context.load(tree, of: roots, reloadsHeld: isReload)] = pending
    client.context.sendLoads()
    return "prefetch \(text) of \(roots.count) of \(name)"
  }

  // MARK: - Results

  func finish(_ load: LoadID, _ refusal: Refusal?) {
    guard let pending = self.pending.removeValue(forKey: load) else { return }
    let wasCutOff = refusal != nil
    // A later access loads the objects again.
    if wasCutOff { return }
    var finished = CompletedLoad(load: pending)
    finished.requests = client.link.fetchesSent - pending.requestsBefore
    finished.isStale = client.restores.isStale
    var reached = pending.objects
    for path in pending.paths {
      var level = pending.objects
      for property in path {
        level = level.filter { !$0.isDeleted }.flatMap { $0.objects(property.number, ManagedObject.self) }
        reached += level
      }
    }
    // Edits that are not saved or not acknowledged yet would count as loaded values.
    let isSettled = client.context.replica.pendingTransactions.isEmpty && !client.context.hasChanges
    for object in reached {
      if object.isDeleted {
        if isSettled { finished.missing.append(object.id) }
      } else if object.isFault {
        // An object that joined the tree during the load may still be a fault.
        if !pending.spansRestore, pending.paths.isEmpty || pending.isAtRest { finished.unfilled.append(object.id) }
      } else if isSettled, pending.isReload {
        let values = object.entity.storedProperties.map { object.value($0.number) }
        finished.images.append(ObjectImage(id: object.id, revision: object.revision, values: values))
      }
    }
    self.finished.append(finished)
  }
}
