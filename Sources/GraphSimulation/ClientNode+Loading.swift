import GraphModel
import GraphReplica

/// A user touches faults and follows relationships from what is on the screen.
extension ClientNode {
  /// A load that is not over, with the objects that it began at; they are held, and what comes stays with them.
  struct PendingLoad {
    let objects: [ManagedObject]
    /// Nothing for faults.
    var paths = [[Property]]()
    /// Nothing else happens until it is over, so that all of it can be compared.
    var isAtRest = false
    /// Objects that were held already are read again.
    var isAnew = true
    /// Requests for objects that had been sent before it.
    var requestsBefore = 0
    /// The replica has found meanwhile that the store does not know its past: what was gone may be there.
    var isOfTwoPasts = false
  }

  /// What a load has brought: objects as they came, and ids that stand for nothing.
  struct FinishedLoad {
    let load: PendingLoad
    var images = [ObjectImage]()
    var missing = [ObjectID]()
    /// Faults that should have been filled.
    var unfilled = [ObjectID]()
    /// Requests that were sent for it.
    var requests = 0
    /// It came while the client held what a restore had taken back.
    var isAstray = false
  }

  /// By entity, what to follow from its objects.
  static let trees = [
    "Folder": ["items", "items.labels", "items.tasks,items.parent"],
    "Item": ["folder,labels", "tasks", "cover.items", "folder.items"],
    "Thing": ["parent.children", "children"],
    "Label": ["items.folder", "coverOf", "near.nearOf"],
    "Crew": ["members", "members.folder"],
  ]

  func touchFaults(_ random: inout SeededRandom) -> String {
    var ids = [ObjectID]()
    for object in objects("Thing").shuffled(using: &random).prefix(12) {
      for property in object.entity.storedProperties where property.relationship != nil {
        ids += object.value(property.number).objectIDs
      }
    }
    if random.chance(30) { ids += gone.suffix(6) }
    let faults = ids.filter { !$0.isTemporary }.shuffled(using: &random)
      .compactMap { context.fault($0) }.filter(\.isFault).prefix(1 + random.below(6))
    guard !faults.isEmpty else { return "no faults" }
    let load = context.load(Array(faults), bringsOthers: random.chance(50))
    loads[load] = PendingLoad(objects: Array(faults))
    context.sendLoads()
    return "touch \(faults.count) faults"
  }

  func prefetch(_ random: inout SeededRandom) -> String {
    let name = random.pick(["Folder", "Item", "Thing", "Label", "Crew"]) ?? "Item"
    let roots = objects(name).filter { !$0.isInserted }.shuffled(using: &random).prefix(1 + random.below(4))
    guard !roots.isEmpty, let text = random.pick(Self.trees[name] ?? []) else { return "nothing to prefetch" }
    return load(text, name, Array(roots), isAnew: random.chance(50))
  }

  /// When everything has come to rest: all objects of one kind at once.
  func prefetchAtRest(_ random: inout SeededRandom) -> String {
    let name = random.pick(["Folder", "Item", "Thing", "Label", "Crew"]) ?? "Item"
    let roots = objects(name).filter { !$0.isInserted }
    guard !roots.isEmpty, let text = random.pick(Self.trees[name] ?? []) else { return "nothing to prefetch" }
    defer { perform() }
    return load(text, name, roots, isAnew: true, isAtRest: true)
  }

  private func load(
    _ text: String, _ name: String, _ roots: [ManagedObject], isAnew: Bool, isAtRest: Bool = false
  ) -> String {
    guard let entity = model.entity(named: name),
      let tree = try? RelationshipTree(parsing: text, entity: entity, model: model)
    else { return "no tree" }
    var pending = PendingLoad(objects: roots, isAtRest: isAtRest, isAnew: isAnew, requestsBefore: fetchesSent)
    pending.paths = text.split(separator: ",").map { path in
      var place: Entity? = entity
      return path.split(separator: ".").compactMap { name in
        let property = place?.property(named: String(name))
        place = property?.relationship.flatMap { model.entity($0.destination) }
        return property
      }
    }
    loads[context.load(tree, of: roots, isAnew: isAnew)] = pending
    context.sendLoads()
    return "prefetch \(text) of \(roots.count) of \(name)"
  }

  // MARK: - What came

  func finish(_ load: LoadID, _ refusal: Refusal?) {
    guard let pending = loads.removeValue(forKey: load) else { return }
    // The connection is lost: whoever needs it touches it again.
    guard refusal == nil else { return }
    var finished = FinishedLoad(load: pending)
    finished.requests = fetchesSent - pending.requestsBefore
    finished.isAstray = isAstray
    var reached = pending.objects
    for path in pending.paths {
      var level = pending.objects
      for property in path {
        level = level.filter { !$0.isDeleted }.flatMap { $0.objects(property.number, ManagedObject.self) }
        reached += level
      }
    }
    // What is on its way to the server is read as if it had arrived.
    let isSettled = context.replica.pendingTransactions.isEmpty && !context.hasChanges
    for object in reached {
      if object.isDeleted {
        if isSettled { finished.missing.append(object.id) }
      } else if object.isFault {
        // Of a tree, something that joined while it was loaded.
        if !pending.isOfTwoPasts, pending.paths.isEmpty || pending.isAtRest { finished.unfilled.append(object.id) }
      } else if isSettled, pending.isAnew {
        let values = object.entity.storedProperties.map { object.value($0.number) }
        finished.images.append(ObjectImage(id: object.id, revision: object.revision, values: values))
      }
    }
    finishedLoads.append(finished)
  }
}
