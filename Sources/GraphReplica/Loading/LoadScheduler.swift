// Tests: PrefetchTests.swift, FaultTests.swift
import GraphModel
import GraphWire

/// The loads of a context: the requests that they need, and the use of the answers.
///
/// A load is `ready` when its next level has to be requested. Its requests wait until few enough are in flight. When
/// all of them are answered, the load is ready again, or has ended.
final class LoadScheduler {
  /// The most ids in one request.
  static let batchSize = 1_000
  /// The maximum number of simultaneous requests: half of the reads that a server runs in parallel for a connection.
  static let maximumAtOnce = 8
  /// Far above the numbers of an owner's questions.
  static let firstRequest: RequestID = 1 << 48

  unowned let context: ObjectContext
  private var lastLoad: LoadID = 0
  private var lastRequest = firstRequest
  private var prefetches = [QueryID: QueryPrefetch]()
  /// Loads whose level has not been requested yet.
  private var ready = [ObjectLoad]()
  private var requests = [RequestID: LoadRequest]()
  /// Requests that have not been sent.
  private var waiting = [RequestID]()
  private var inFlightCount = 0
  /// Objects that an unanswered request names.
  private var requestsByObject = [ObjectID: RequestID]()
  /// Requests whose next chunk can be requested.
  private var continuable = [RequestID]()
  /// The newest load of each tree that an object began for others as well.
  private var shared = [RelationshipTree: ObjectLoad]()
  var visibility = VisibilityCheck()

  init(context: ObjectContext) { self.context = context }

  // MARK: - Loads

  /// Begins to fill faults.
  func load(faults: [ObjectState], bringsOthers: Bool) -> LoadID {
    lastLoad += 1
    ready.append(ObjectLoad(id: lastLoad, faults: faults, bringsOthers: bringsOthers))
    return lastLoad
  }

  /// Begins to follow relationships.
  /// - Parameters:
  ///   - owners: the objects that keep the loaded ones.
  ///   - isShared: any of the roots finds this load by `sharedLoad`.
  func load(
    _ tree: RelationshipTree, of roots: [ObjectState], owners: [ManagedObject], reloadsHeld: Bool,
    isShared: Bool = false
  ) -> LoadID {
    lastLoad += 1
    let load = ObjectLoad(
      id: lastLoad, query: nil, reloadsHeld: reloadsHeld, roots: roots, owners: owners, tree: tree)
    if isShared {
      load.sharers = Set(owners.map(\.id))
      shared[tree] = load
    }
    ready.append(load)
    return lastLoad
  }

  /// Begins to read held objects again, to find those that are no longer visible.
  func load(again ids: [ObjectID]) -> LoadID {
    lastLoad += 1
    ready.append(ObjectLoad(id: lastLoad, again: ids))
    return lastLoad
  }

  /// The load in progress that an object shares with others; nil if there is none.
  func sharedLoad(of tree: RelationshipTree, for id: ObjectID) -> LoadID? {
    guard let load = shared[tree], load.sharers.contains(id) else { return nil }
    return load.id
  }

  // MARK: - Live queries

  /// Prefetches for a query from its first result on.
  func addPrefetch(_ tree: RelationshipTree, of query: QueryID) {
    if !tree.isEmpty { prefetches[query] = QueryPrefetch(tree: tree) }
  }

  func removePrefetch(of query: QueryID) { prefetches[query] = nil }

  /// The load for a query's first or reloaded result, or why it failed; nil if the query does not prefetch.
  func prefetch(of query: QueryID) -> (load: LoadID?, failure: Refusal?)? {
    prefetches[query].map { ($0.first, $0.failure) }
  }

  /// Prefetches for a query's new result, if the query prefetches.
  func restartPrefetch(of query: QueryID) {
    guard var prefetch = prefetches[query] else { return }
    let old = prefetch.companions
    (prefetch.companions, prefetch.newcomers) = (RetainedObjects(), [])
    prefetches[query] = prefetch
    startPrefetch(of: query, reloadsHeld: true, replacing: old)
  }

  /// Prefetches the objects that a resumed query misses, because the requests in flight were refused when the
  /// connection broke.
  func prefetchMissing(of query: QueryID) {
    startPrefetch(of: query, reloadsHeld: false, replacing: nil)
  }

  private func startPrefetch(of query: QueryID, reloadsHeld: Bool, replacing old: RetainedObjects?) {
    // The query does not prefetch, or an observer has ended it.
    guard var prefetch = prefetches[query], let result = context.results[query] else { return }
    lastLoad += 1
    prefetch.first = lastLoad
    prefetches[query] = prefetch
    let load = ObjectLoad(
      id: lastLoad, query: query, reloadsHeld: reloadsHeld, roots: result.values.sorted { $0.id < $1.id },
      tree: prefetch.tree, companions: prefetch.companions)
    load.predecessor = old
    ready.append(load)
  }

  /// Collects the objects that joined the queries that prefetch, or changed in them.
  func prefetch(for update: CommitUpdate) {
    for (query, changes) in update.changes {
      prefetches.modifyIfPresent(query) { prefetch in
        prefetch.newcomers += changes.compactMap { $0.kind == .removed ? nil : context.results[query]?[$0.id] }
      }
    }
  }

  private func prefetchNewcomers() {
    for query in prefetches.keys.sorted() {
      guard var prefetch = prefetches[query], !prefetch.newcomers.isEmpty else { continue }
      let newcomers = prefetch.newcomers
      prefetch.newcomers = []
      prefetches[query] = prefetch
      lastLoad += 1
      ready.append(
        ObjectLoad(
          id: lastLoad, query: query, reloadsHeld: false, roots: newcomers, tree: prefetch.tree,
          companions: prefetch.companions))
    }
  }

  // MARK: - Requests

  /// The next event of the loads for the replica; nil if there is none, or all have to wait.
  func nextEvent() -> ReplicaEvent? {
    startWaitingCheck()
    prefetchNewcomers()
    while !ready.isEmpty {
      let loads = ready
      ready = []
      request(for: loads)
    }
    if !continuable.isEmpty { return .more(continuable.removeFirst()) }
    while inFlightCount < Self.maximumAtOnce, !waiting.isEmpty {
      let number = waiting.removeFirst()
      guard let request = requests[number] else {
        assertionFailure("a request that waits is not answered")
        continue
      }
      inFlightCount += 1
      return .request(number, .fetch(request.fetch))
    }
    return nil
  }

  /// Makes the requests of all these loads' levels together.
  private func request(for loads: [ObjectLoad]) {
    var builder = LoadRequestBuilder(context: context, scheduler: self)
    for load in loads { builder.add(load) }
    builder.addOthers(for: loads)
    for (root, wanted) in builder.objects.sorted(by: { $0.key < $1.key }) {
      for part in wanted.batches {
        let number = enqueue(
          .objects, root, Self.isOne(of: part.ids, .one, GraphPredicate.Path(end: .identifier)), part)
        for id in part.ids { requestsByObject[id] = number }
      }
    }
    for (number, wanted) in builder.members.sorted(by: { $0.key < $1.key }) {
      guard let property = context.model.property(number),
        let inverse = property.relationship.flatMap({ context.model.property($0.inverse) })
      else {
        assertionFailure("a to-many whose members are loaded has an inverse: \(number)")
        continue
      }
      for part in wanted.batches {
        let condition =
          inverse.relationship?.isToMany == true
          ? Self.isOne(of: part.ids, .any, GraphPredicate.Path(hops: [inverse.number], end: .identifier))
          : Self.isOne(of: part.ids, .one, .property(inverse.number))
        enqueue(.members(property), inverse.owner, condition, part)
      }
    }
    for load in loads where load.pendingRequests.isEmpty { advance(load) }
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
    assert(
      !wanted.ids.isEmpty && wanted.ids.count <= Self.batchSize, "a request names between 1 and \(Self.batchSize) ids")
    lastRequest += 1
    let number = lastRequest
    requests[number] = LoadRequest(
      content: content,
      fetch: Fetch(entity: entity, predicate: condition.text(in: context.model), at: context.revision), wanted: wanted)
    for load in wanted.loads { load.pendingRequests.insert(number) }
    waiting.append(number)
    return number
  }

  /// Whether an unanswered request names the object.
  func hasRequested(_ id: ObjectID) -> Bool { requestsByObject[id] != nil }

  /// Makes a load wait for the unanswered request that names an object.
  /// - Returns: false if there is none.
  func join(_ load: ObjectLoad, toRequestOf id: ObjectID) -> Bool {
    guard let number = requestsByObject[id] else { return false }
    load.pendingRequests.insert(number)
    requests.modify(number) { $0.wanted.add(id, load) }
    return true
  }

  // MARK: - Answers

  /// Handles the answer to a load's request; false for any other action.
  func handleAnswer(_ action: ReplicaAction) -> Bool {
    switch action {
    case .reply(let number, .chunk(let chunk), _) where requests[number] != nil:
      requests.modify(number) { $0.images += chunk.objects }
      if let end = chunk.end { completeRequest(number, at: end.at.revision) } else { continuable.append(number) }
      return true
    case .reply(let number, _, _) where requests[number] != nil:
      for load in removeRequest(number).wanted.loads { finish(load, Replica.unexpectedReply) }
      return true
    case .refused(let number, let refusal) where requests[number] != nil:
      for load in removeRequest(number).wanted.loads { finish(load, refusal) }
      return true
    default: return false
    }
  }

  private func removeRequest(_ number: RequestID) -> LoadRequest {
    guard let request = requests.removeValue(forKey: number) else {
      preconditionFailure("a request that is answered is open: \(number)")
    }
    assert(inFlightCount > 0, "a request that is answered was sent")
    inFlightCount -= 1
    if case .objects = request.content {
      for id in request.wanted.ids where requestsByObject[id] == number { requestsByObject[id] = nil }
    }
    return request
  }

  private func completeRequest(_ number: RequestID, at revision: Revision) {
    let request = removeRequest(number)
    let loads = request.wanted.loads
    let batch = FetchBatch(readAt: revision)
    for image in request.images {
      let before = context.state(image.id)?.stored
      guard let state = context.register(image, in: batch) else { continue }
      var wanting = loads
      if case .objects = request.content { wanting = request.wanted.loads(of: image.id) }
      for load in wanting {
        load.companions.hold(state)
        if before != state.stored { load.refreshed.append(image.id) }
      }
    }
    switch request.content {
    case .objects:
      let found = Set(request.images.map(\.id))
      for id in request.wanted.ids where !found.contains(id) {
        let wanting = request.wanted.loads(of: id)
        // The object may be visible with the present roles.
        if wanting.allSatisfy({ $0.readsAgain && !visibility.isCurrent($0.id) }) { continue }
        recordMissing(id, at: revision, wanting)
      }
    case .members(let property):
      let holders = loads.filter { !$0.isFinished }.map(\.companions)
      for id in request.wanted.ids {
        // The program may have released an owner meanwhile.
        if let owner = context.state(id) { owner.loadedMembers[property.number] = LoadedMembers(holders) }
      }
    }
    for load in loads where !load.isFinished {
      load.pendingRequests.remove(number)
      if load.pendingRequests.isEmpty { advance(load) }
    }
  }

  /// Handles an object that the server does not have. It may not have been held even as a fault, if an edit names an
  /// object that other clients deleted. Its deletion is kept with the loaded objects; otherwise each load along that
  /// edit would request it again.
  private func recordMissing(_ id: ObjectID, at revision: Revision, _ wanting: [ObjectLoad]) {
    guard let state = context.stateOrFault(id) else {
      return assertionFailure("a request names objects with permanent ids and known entities")
    }
    // It may have been inserted after the request was read.
    if let stored = state.stored, stored.revision > revision { return }
    for load in wanting { load.companions.hold(state) }
    // A live query delivers the newest state of its objects.
    if state.isDeleted || context.isFollowed(id) { return }
    context.tombstones.record(id, at: revision)
    context.recordDeletion(of: state)
    for load in wanting { load.deleted.append(id) }
  }

  // MARK: - Levels

  /// Continues a load whose level is complete: with the next level, or the end.
  private func advance(_ load: ObjectLoad) {
    assert(load.pendingRequests.isEmpty, "a level is complete when its requests are answered")
    if !load.faults.isEmpty {
      load.faults = []
      return load.tree.isEmpty ? finish(load, nil) : ready.append(load)
    }
    var next = [(tree: RelationshipTree, objects: [ObjectState])]()
    for (tree, objects) in load.level {
      for branch in tree.branches where !branch.tree.isEmpty {
        var reached = [ObjectState]()
        var seen = Set<ObjectID>()
        for object in objects {
          // The objects of a level may be of several entities.
          guard let property = object.entity.property(branch.property) else { continue }
          for id in context.related(to: object, through: property) where seen.insert(id).inserted {
            if let state = context.state(id), !state.isDeleted, !state.isFault { reached.append(state) }
          }
        }
        if !reached.isEmpty { next.append((branch.tree, reached)) }
      }
    }
    load.level = next
    if next.isEmpty { finish(load, nil) } else { ready.append(load) }
  }

  private func finish(_ load: ObjectLoad, _ refusal: Refusal?) {
    // Another of its requests has been refused.
    if load.isFinished { return }
    load.isFinished = true
    load.predecessor = nil
    if load.readsAgain { visibility.end(load.id, isAnswered: refusal == nil) }
    if shared[load.tree] === load { shared[load.tree] = nil }
    if let query = load.query {
      if var prefetch = prefetches[query], prefetch.first == load.id {
        (prefetch.failure, prefetch.first) = (refusal, nil)
        prefetches[query] = prefetch
      }
    } else if refusal == nil, !load.tree.isEmpty {
      for owner in load.owners { owner.companions[load.tree] = load.companions }
    }
    if !load.readsAgain { context.actions.append(.filled(load.id, refusal)) }
    if load.refreshed.isEmpty, load.deleted.isEmpty { return }
    var change = ObjectsDidChange()
    change.refreshed = load.refreshed
    change.deleted = load.deleted
    if let query = load.query, context.results[query] != nil { change.queries = [query] }
    context.post(change)
  }
}
