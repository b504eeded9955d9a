import GraphModel
import GraphWire

/// Loading: faults are filled and relationships followed in few requests, however many objects there are. A request goes
/// out at the end of the event that it belongs to, so that what is asked for at the same time is asked for together.
extension ObjectContext {
  /// Fills faults; objects that are none are passed over. Nothing is asked before `sendLoads`, or the next event.
  /// - Parameter bringsOthers: when there is room left in a request, it also fills other faults of the same kind that
  ///   somebody holds.
  /// - Returns: what `.filled` names when they are here.
  public func load(_ objects: [ManagedObject], bringsOthers: Bool = false) -> LoadID {
    if let parent { return parent.load(objects, bringsOthers: bringsOthers) }
    loads.lastLoad += 1
    let faults = objects.map { own($0) }.filter(\.isFault)
    loads.ready.append(ObjectLoad(id: loads.lastLoad, faults: faults, bringsOthers: bringsOthers))
    return loads.lastLoad
  }

  /// Follows relationships from objects. What comes is kept as long as one of the objects is held by somebody.
  /// - Parameters:
  ///   - isAnew: objects that the context holds already are read again, unless a live query keeps them; else only what is
  ///     missing is read.
  /// - Returns: what `.filled` names when all of it is here.
  public func load(_ tree: RelationshipTree, of objects: [ManagedObject], isAnew: Bool = true) -> LoadID {
    if let parent { return parent.load(tree, of: objects, isAnew: isAnew) }
    loads.lastLoad += 1
    let roots = objects.map { own($0) }
    loads.ready.append(
      ObjectLoad(id: loads.lastLoad, query: nil, isAnew: isAnew, roots: roots, owners: objects, tree: tree))
    return loads.lastLoad
  }

  /// Follows relationships from one object where something is missing, and from up to a thousand of those that came
  /// together with it: whoever walks along a list asks once for each thousand.
  /// - Returns: what `.filled` names, which may be a load that goes on already; nil when nothing is missing.
  public func load(_ tree: RelationshipTree, of object: ManagedObject) -> LoadID? {
    if let parent { return parent.load(tree, of: object) }
    let first = own(object)
    guard isMissing(tree, of: first) else { return nil }
    if let load = loads.shared[tree], load.sharers.contains(object.id) { return load.id }
    var roots = [object]
    for id in first.batch.map({ Array($0.members(from: object.id)) }) ?? [] {
      guard roots.count < ObjectLoads.batchSize else { break }
      guard id != object.id, let state = state(id), !state.isDeleted, let face = state.face,
        isMissing(tree, of: state)
      else { continue }
      roots.append(face)
    }
    let number = load(tree, of: roots, isAnew: false)
    loads.ready.last?.sharers = Set(roots.map(\.id))
    loads.shared[tree] = loads.ready.last
    return number
  }

  private func isMissing(_ tree: RelationshipTree, of state: ObjectState) -> Bool {
    tree.branches.contains { branch in
      guard let property = state.entity.property(branch.property) else { return false }
      if !isLoaded(property, of: state) { return true }
      guard !branch.tree.isEmpty else { return false }
      return related(to: state, through: property)
        .contains { id in self.state(id).map { isMissing(branch.tree, of: $0) } ?? false }
    }
  }

  /// Asks for what was loaded since the last event.
  public func sendLoads() {
    if let parent { return parent.sendLoads() }
    guard revision == nil else { return }
    while let next = nextLoadEvent() { handle(next) }
  }

  // MARK: - Live queries

  /// How far the objects are that are loaded along with a query's first result: the load that is under way, or why it
  /// failed.
  public func prefetch(of query: QueryID) -> (load: LoadID?, failure: Refusal?) {
    parent?.prefetch(of: query) ?? (loads.prefetches[query]?.first, loads.prefetches[query]?.failure)
  }

  func prefetchAnew(_ query: QueryID) {
    let old = loads.prefetches[query]?.companions
    loads.prefetches[query]?.companions = Companions()
    loads.prefetches[query]?.newcomers = []
    start(query, isAnew: true, instead: old)
  }

  /// What was under way when a connection broke was refused.
  func prefetchWhatIsMissing(_ query: QueryID) {
    start(query, isAnew: false, instead: nil)
  }

  private func start(_ query: QueryID, isAnew: Bool, instead old: Companions?) {
    guard let prefetch = loads.prefetches[query], let result = results[query] else { return }
    loads.lastLoad += 1
    let id = loads.lastLoad
    loads.prefetches[query]?.first = id
    let load = ObjectLoad(
      id: id, query: query, isAnew: isAnew, roots: result.values.sorted { $0.id < $1.id },
      tree: prefetch.tree, companions: prefetch.companions)
    load.predecessor = old
    loads.ready.append(load)
  }

  func prefetch(_ update: CommitUpdate) {
    for (query, changes) in update.changes where loads.prefetches[query] != nil {
      let states = changes.compactMap { $0.kind == .removed ? nil : results[query]?[$0.id] }
      loads.prefetches[query]?.newcomers += states
    }
  }

  private func startNewcomers() {
    for query in loads.prefetches.keys.sorted() {
      guard let prefetch = loads.prefetches[query], !prefetch.newcomers.isEmpty else { continue }
      loads.prefetches[query]?.newcomers = []
      loads.lastLoad += 1
      loads.ready.append(
        ObjectLoad(
          id: loads.lastLoad, query: query, isAnew: false, roots: prefetch.newcomers, tree: prefetch.tree,
          companions: prefetch.companions))
    }
  }

  // MARK: - Requests

  /// What a load wants the replica to do next; nil when it has to wait, or there is none.
  func nextLoadEvent() -> ReplicaEvent? {
    startNewcomers()
    while !loads.ready.isEmpty {
      let ready = loads.ready
      loads.ready = []
      request(for: ready)
    }
    if !loads.mores.isEmpty { return .more(loads.mores.removeFirst()) }
    while loads.underWay < ObjectLoads.maximumAtOnce, !loads.waiting.isEmpty {
      let number = loads.waiting.removeFirst()
      guard let request = loads.requests[number] else { continue }
      loads.underWay += 1
      return .ask(number, .fetch(request.fetch))
    }
    return nil
  }

  /// Makes the requests of all these loads' levels together.
  private func request(for ready: [ObjectLoad]) {
    var needs = LoadNeeds(context: self)
    for load in ready { needs.add(load) }
    needs.addOthers(for: ready)
    for root in needs.objects.keys.sorted() {
      guard let wanted = needs.objects[root] else { continue }
      for part in wanted.batches {
        let number = enqueue(
          .objects, root, Self.isOne(of: part.ids, .one, GraphPredicate.Path(end: .identifier)), part)
        for id in part.ids { loads.asked[id] = number }
      }
    }
    for number in needs.members.keys.sorted() {
      guard let wanted = needs.members[number], let property = model.property(number),
        let inverse = property.relationship.flatMap({ model.property($0.inverse) })
      else { continue }
      for part in wanted.batches {
        let condition =
          inverse.relationship?.isToMany == true
          ? Self.isOne(of: part.ids, .any, GraphPredicate.Path(hops: [inverse.number], end: .identifier))
          : Self.isOne(of: part.ids, .one, .property(inverse.number))
        enqueue(.members(property), inverse.owner, condition, part)
      }
    }
    for load in ready where load.waitsFor.isEmpty { goOn(load) }
  }

  private static func isOne(
    of ids: [ObjectID], _ quantifier: GraphPredicate.Quantifier, _ path: GraphPredicate.Path
  ) -> GraphPredicate {
    .comparison(GraphPredicate.Comparison(quantifier, path, .in, .list(ids.map { .object($0) })))
  }

  @discardableResult
  private func enqueue(
    _ content: LoadRequest.Content, _ entity: EntityNumber, _ condition: GraphPredicate, _ wanted: Wanted
  ) -> RequestID {
    loads.lastRequest += 1
    let number = loads.lastRequest
    loads.requests[number] = LoadRequest(
      content: content, fetch: Fetch(entity: entity, predicate: condition.text(in: model), at: revision), wanted: wanted
    )
    for load in wanted.loads { load.waitsFor.insert(number) }
    loads.waiting.append(number)
    return number
  }

  // MARK: - Answers

  /// Takes what answers a request of a load; false for anything else.
  func isForLoads(_ action: ReplicaAction) -> Bool {
    switch action {
    case .chunk(let number, let chunk) where loads.requests[number] != nil:
      loads.requests[number]?.images += chunk.objects
      if let end = chunk.end { finish(number, at: end.at.revision) } else { loads.mores.append(number) }
      return true
    case .refused(let number, let refusal) where loads.requests[number] != nil:
      for load in take(number)?.wanted.loads ?? [] { end(load, refusal) }
      return true
    default: return false
    }
  }

  private func take(_ number: RequestID) -> LoadRequest? {
    guard let request = loads.requests.removeValue(forKey: number) else { return nil }
    loads.underWay -= 1
    if case .objects = request.content {
      for id in request.wanted.ids where loads.asked[id] == number { loads.asked[id] = nil }
    }
    return request
  }

  private func finish(_ number: RequestID, at revision: Revision) {
    guard let request = take(number) else { return }
    let all = request.wanted.loads
    let batch = FetchBatch()
    for image in request.images {
      let before = state(image.id)?.stored?.revision
      guard let state = register(image, in: batch) else { continue }
      var wanting = all
      if case .objects = request.content { wanting = request.wanted.loads(of: image.id) }
      for load in wanting {
        load.companions.hold(state)
        if before != state.stored?.revision { load.refreshed.append(image.id) }
      }
    }
    switch request.content {
    case .objects:
      let found = Set(request.images.map(\.id))
      for id in request.wanted.ids where !found.contains(id) {
        lose(id, at: revision, request.wanted.loads(of: id))
      }
    case .members(let property):
      let holders = all.filter { !$0.isOver }.map(\.companions)
      for owner in request.wanted.ids {
        state(owner)?.loadedMembers[property.number] = LoadedMembers(holders)
      }
    }
    for load in all where !load.isOver {
      load.waitsFor.remove(number)
      if load.waitsFor.isEmpty { goOn(load) }
    }
  }

  /// The server does not have it. Nobody may have held even a fault of it, where an edit names what others have deleted:
  /// that it is gone is kept with what was loaded, or whoever follows the edit would ask for it again and again.
  private func lose(_ id: ObjectID, at revision: Revision, _ wanting: [ObjectLoad]) {
    guard let state = stateOrFault(id), state.stored?.revision ?? 0 <= revision else { return }
    for load in wanting { load.companions.hold(state) }
    guard !state.isDeleted else { return }
    burials.note(id, at: revision)
    bury(state)
    for load in wanting { load.deleted.append(id) }
  }

  // MARK: - Levels

  /// All that this level asked for is here: to the next one, or to the end.
  private func goOn(_ load: ObjectLoad) {
    if !load.faults.isEmpty {
      load.faults = []
      return load.tree.isEmpty ? end(load, nil) : loads.ready.append(load)
    }
    var next = [(tree: RelationshipTree, objects: [ObjectState])]()
    for (tree, objects) in load.level {
      for branch in tree.branches where !branch.tree.isEmpty {
        var reached = [ObjectState]()
        var seen = Set<ObjectID>()
        for object in objects {
          guard let property = object.entity.property(branch.property) else { continue }
          for id in related(to: object, through: property) where seen.insert(id).inserted {
            if let state = state(id), !state.isDeleted, !state.isFault { reached.append(state) }
          }
        }
        if !reached.isEmpty { next.append((branch.tree, reached)) }
      }
    }
    load.level = next
    if next.isEmpty { end(load, nil) } else { loads.ready.append(load) }
  }

  private func end(_ load: ObjectLoad, _ refusal: Refusal?) {
    guard !load.isOver else { return }
    load.isOver = true
    load.predecessor = nil
    if loads.shared[load.tree] === load { loads.shared[load.tree] = nil }
    if let query = load.query {
      if loads.prefetches[query]?.first == load.id {
        loads.prefetches[query]?.failure = refusal
        loads.prefetches[query]?.first = nil
      }
    } else if refusal == nil, !load.tree.isEmpty {
      for owner in load.owners { owner.companions[load.tree] = load.companions }
    }
    actions.append(.filled(load.id, refusal))
    guard !load.refreshed.isEmpty || !load.deleted.isEmpty else { return }
    var change = ObjectsDidChange()
    change.refreshed = load.refreshed
    change.deleted = load.deleted
    if let query = load.query, results[query] != nil { change.queries = [query] }
    post(change)
  }
}
