import GraphModel
import GraphWire

/// Loading: fills faults and follows relationships in few requests, however many objects there are. A request is sent
/// at the end of the event that caused it, so that simultaneous loads share requests.
extension ObjectContext {
  /// Fills faults; other objects are ignored. Nothing is sent before `sendLoads`, or the next event.
  /// - Parameter bringsOthers: fill up the request with other faults of the same kind that the program holds.
  /// - Returns: the load that `.filled` names when it has ended.
  public func load(_ objects: [ManagedObject], bringsOthers: Bool = false) -> LoadID {
    if let parent { return parent.load(objects, bringsOthers: bringsOthers) }
    loads.lastLoad += 1
    let faults = objects.map { localState(of: $0) }.filter(\.isFault)
    loads.ready.append(ObjectLoad(id: loads.lastLoad, faults: faults, bringsOthers: bringsOthers))
    return loads.lastLoad
  }

  /// Follows relationships from objects. The loaded objects are kept as long as the program holds one of `objects`.
  /// - Parameters:
  ///   - reloadsHeld: also reload objects that the context holds, unless a live query keeps them current; otherwise only
  ///     missing objects are read.
  /// - Returns: the load that `.filled` names when it has ended.
  public func load(_ tree: RelationshipTree, of objects: [ManagedObject], reloadsHeld: Bool = true) -> LoadID {
    if let parent { return parent.load(tree, of: objects, reloadsHeld: reloadsHeld) }
    loads.lastLoad += 1
    let roots = objects.map { localState(of: $0) }
    loads.ready.append(
      ObjectLoad(id: loads.lastLoad, query: nil, reloadsHeld: reloadsHeld, roots: roots, owners: objects, tree: tree))
    return loads.lastLoad
  }

  /// Follows relationships from one object and those that arrived with it, where something is missing. A load takes
  /// up to a thousand objects, so that iterating over a list causes one for each thousand.
  /// - Returns: the load that `.filled` names, which may be in progress already; nil if nothing is missing.
  public func load(_ tree: RelationshipTree, of object: ManagedObject) -> LoadID? {
    if let parent { return parent.load(tree, of: object) }
    let first = localState(of: object)
    guard isMissing(tree, of: first) else { return nil }
    if let load = loads.shared[tree], load.sharers.contains(object.id) { return load.id }
    var roots = [object]
    for id in first.batch.map({ Array($0.members(from: object.id)) }) ?? [] {
      guard roots.count < LoadScheduler.batchSize else { break }
      guard id != object.id, let state = state(id), !state.isDeleted, let instance = state.instance,
        isMissing(tree, of: state)
      else { continue }
      roots.append(instance)
    }
    let number = load(tree, of: roots, reloadsHeld: false)
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

  /// Sends the requests of the loads since the last event.
  public func sendLoads() {
    if let parent { return parent.sendLoads() }
    guard revision == nil else { return }
    while let next = nextLoadEvent() { handle(next) }
  }

  // MARK: - Live queries

  /// The load that prefetches for a query's first result, or why it failed.
  public func prefetch(of query: QueryID) -> (load: LoadID?, failure: Refusal?) {
    parent?.prefetch(of: query) ?? (loads.prefetches[query]?.first, loads.prefetches[query]?.failure)
  }

  func restartPrefetch(_ query: QueryID) {
    let old = loads.prefetches[query]?.companions
    loads.prefetches[query]?.companions = RetainedObjects()
    loads.prefetches[query]?.newcomers = []
    startPrefetch(of: query, reloadsHeld: true, replacing: old)
  }

  /// The requests in flight when a connection broke were refused.
  func prefetchMissing(_ query: QueryID) {
    startPrefetch(of: query, reloadsHeld: false, replacing: nil)
  }

  private func startPrefetch(of query: QueryID, reloadsHeld: Bool, replacing old: RetainedObjects?) {
    guard let prefetch = loads.prefetches[query], let result = results[query] else { return }
    loads.lastLoad += 1
    let id = loads.lastLoad
    loads.prefetches[query]?.first = id
    let load = ObjectLoad(
      id: id, query: query, reloadsHeld: reloadsHeld, roots: result.values.sorted { $0.id < $1.id },
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

  private func prefetchNewcomers() {
    for query in loads.prefetches.keys.sorted() {
      guard let prefetch = loads.prefetches[query], !prefetch.newcomers.isEmpty else { continue }
      loads.prefetches[query]?.newcomers = []
      loads.lastLoad += 1
      loads.ready.append(
        ObjectLoad(
          id: loads.lastLoad, query: query, reloadsHeld: false, roots: prefetch.newcomers, tree: prefetch.tree,
          companions: prefetch.companions))
    }
  }

  // MARK: - Requests

  /// The next event of the loads for the replica; nil if there is none, or all have to wait.
  func nextLoadEvent() -> ReplicaEvent? {
    prefetchNewcomers()
    while !loads.ready.isEmpty {
      let ready = loads.ready
      loads.ready = []
      request(for: ready)
    }
    if !loads.continuable.isEmpty { return .more(loads.continuable.removeFirst()) }
    while loads.inFlightCount < LoadScheduler.maximumAtOnce, !loads.waiting.isEmpty {
      let number = loads.waiting.removeFirst()
      guard let request = loads.requests[number] else { continue }
      loads.inFlightCount += 1
      return .ask(number, .fetch(request.fetch))
    }
    return nil
  }

  /// Makes the requests of all these loads' levels together.
  private func request(for ready: [ObjectLoad]) {
    var needs = LoadRequestBuilder(context: self)
    for load in ready { needs.add(load) }
    needs.addOthers(for: ready)
    for root in needs.objects.keys.sorted() {
      guard let wanted = needs.objects[root] else { continue }
      for part in wanted.batches {
        let number = enqueue(
          .objects, root, Self.isOne(of: part.ids, .one, GraphPredicate.Path(end: .identifier)), part)
        for id in part.ids { loads.requestsByObject[id] = number }
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
    for load in ready where load.pendingRequests.isEmpty { advanceLoad(load) }
  }

  private static func isOne(
    of ids: [ObjectID], _ quantifier: GraphPredicate.Quantifier, _ path: GraphPredicate.Path
  ) -> GraphPredicate {
    .comparison(GraphPredicate.Comparison(quantifier, path, .in, .list(ids.map { .object($0) })))
  }

  @discardableResult
  private func enqueue(
    _ content: LoadRequest.Content, _ entity: EntityNumber, _ condition: GraphPredicate, _ wanted: RequestedIDs
  ) -> RequestID {
    loads.lastRequest += 1
    let number = loads.lastRequest
    loads.requests[number] = LoadRequest(
      content: content, fetch: Fetch(entity: entity, predicate: condition.text(in: model), at: revision), wanted: wanted
    )
    for load in wanted.loads { load.pendingRequests.insert(number) }
    loads.waiting.append(number)
    return number
  }

  // MARK: - Answers

  /// Handles the answer to a load's request; false for any other action.
  func handleLoadAnswer(_ action: ReplicaAction) -> Bool {
    switch action {
    case .chunk(let number, let chunk) where loads.requests[number] != nil:
      loads.requests[number]?.images += chunk.objects
      if let end = chunk.end { completeRequest(number, at: end.at.revision) } else { loads.continuable.append(number) }
      return true
    case .refused(let number, let refusal) where loads.requests[number] != nil:
      for load in removeRequest(number)?.wanted.loads ?? [] { finishLoad(load, refusal) }
      return true
    default: return false
    }
  }

  private func removeRequest(_ number: RequestID) -> LoadRequest? {
    guard let request = loads.requests.removeValue(forKey: number) else { return nil }
    loads.inFlightCount -= 1
    if case .objects = request.content {
      for id in request.wanted.ids where loads.requestsByObject[id] == number { loads.requestsByObject[id] = nil }
    }
    return request
  }

  private func completeRequest(_ number: RequestID, at revision: Revision) {
    guard let request = removeRequest(number) else { return }
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
        recordMissing(id, at: revision, request.wanted.loads(of: id))
      }
    case .members(let property):
      let holders = all.filter { !$0.isFinished }.map(\.companions)
      for owner in request.wanted.ids {
        state(owner)?.loadedMembers[property.number] = LoadedMembers(holders)
      }
    }
    for load in all where !load.isFinished {
      load.pendingRequests.remove(number)
      if load.pendingRequests.isEmpty { advanceLoad(load) }
    }
  }

  /// Handles an object that the server does not have. It may not have been held even as a fault, if an edit names an
  /// object that other clients deleted. Its deletion is kept with the loaded objects; otherwise each load along that
  /// edit would request it again.
  private func recordMissing(_ id: ObjectID, at revision: Revision, _ wanting: [ObjectLoad]) {
    guard let state = stateOrFault(id), state.stored?.revision ?? 0 <= revision else { return }
    for load in wanting { load.companions.hold(state) }
    guard !state.isDeleted else { return }
    tombstones.record(id, at: revision)
    recordDeletion(of: state)
    for load in wanting { load.deleted.append(id) }
  }

  // MARK: - Levels

  /// Continues a load whose level is complete: with the next level, or the end.
  private func advanceLoad(_ load: ObjectLoad) {
    if !load.faults.isEmpty {
      load.faults = []
      return load.tree.isEmpty ? finishLoad(load, nil) : loads.ready.append(load)
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
    if next.isEmpty { finishLoad(load, nil) } else { loads.ready.append(load) }
  }

  private func finishLoad(_ load: ObjectLoad, _ refusal: Refusal?) {
    guard !load.isFinished else { return }
    load.isFinished = true
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
