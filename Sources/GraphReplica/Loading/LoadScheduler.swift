// Tests: PrefetchTests.swift, FaultTests.swift, CancelledLoadTests.swift
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
  var prefetches = [QueryID: QueryPrefetch]()
  /// All loads that have not ended.
  private(set) var unfinished = [LoadID: ObjectLoad]()
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
  /// Requests that were sent and that no load wants any longer.
  private var cancelled = [RequestID]()
  /// The newest load of each tree that an object began for others as well.
  private var shared = [RelationshipTree: ObjectLoad]()
  var visibility = VisibilityCheck()

  init(context: ObjectContext) { self.context = context }

  // MARK: - Loads

  /// Begins to fill faults.
  func load(faults: [ObjectState], bringsOthers: Bool) -> LoadID {
    lastLoad += 1
    begin(ObjectLoad(id: lastLoad, faults: faults, bringsOthers: bringsOthers))
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
    begin(load)
    return lastLoad
  }

  /// Begins to read held objects again, to find those that are no longer visible.
  func load(again ids: [ObjectID]) -> LoadID {
    lastLoad += 1
    begin(ObjectLoad(id: lastLoad, again: ids))
    return lastLoad
  }

  private func begin(_ load: ObjectLoad) {
    unfinished[load.id] = load
    ready.append(load)
  }

  /// The load in progress that an object shares with others; nil if there is none.
  func sharedLoad(of tree: RelationshipTree, for id: ObjectID) -> LoadID? {
    guard let load = shared[tree], load.sharers.contains(id) else { return nil }
    return load.id
  }

  // MARK: - Live queries

  /// Ends the loads of a query that has ended.
  /// - Parameter refusal: the reason that the callers that wait for them receive.
  func removePrefetch(of query: QueryID, _ refusal: Refusal) {
    // Only a query that prefetches has loads.
    if prefetches.removeValue(forKey: query) == nil { return }
    for load in unfinished.values.filter({ $0.query == query }).sorted(by: { $0.id < $1.id }) { cancel(load, refusal) }
  }

  /// Prefetches for a query's new result, if the query prefetches.
  func restartPrefetch(of query: QueryID) {
    guard var prefetch = prefetches[query] else { return }
    let old = prefetch.companions
    (prefetch.companions, prefetch.newcomers) = (RetainedObjects(), [])
    prefetches[query] = prefetch
    startPrefetch(of: query, reloadsHeld: true, replacing: old)
  }

  /// Prefetches the objects that a resumed query misses, because the connection was lost with the requests in flight.
  func prefetchMissing(of query: QueryID) {
    startPrefetch(of: query, reloadsHeld: false, replacing: nil)
  }

  private func startPrefetch(of query: QueryID, reloadsHeld: Bool, replacing old: RetainedObjects?) {
    // The query does not prefetch, or an observer has ended it.
    guard var prefetch = prefetches[query], let result = context.results[query] else { return }
    lastLoad += 1
    let load = ObjectLoad(
      id: lastLoad, query: query, reloadsHeld: reloadsHeld, roots: result.values.sorted { $0.id < $1.id },
      tree: prefetch.tree, companions: prefetch.companions)
    for interrupted in prefetch.interrupted {
      load.replace(interrupted)
      unfinished[interrupted.id] = nil
    }
    if let old { load.predecessors.append(old) }
    (prefetch.first, prefetch.interrupted, prefetch.failure) = (load.id, [], nil)
    prefetches[query] = prefetch
    begin(load)
  }

  private func prefetchNewcomers() {
    for query in prefetches.keys.sorted() {
      guard var prefetch = prefetches[query], !prefetch.newcomers.isEmpty else { continue }
      let newcomers = prefetch.newcomers
      prefetch.newcomers = []
      prefetches[query] = prefetch
      lastLoad += 1
      begin(
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
    if !cancelled.isEmpty { return .cancel(cancelled.removeFirst()) }
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
    // An observer of one load's end may cancel another.
    for load in loads where load.pendingRequests.isEmpty && !load.isFinished { advance(load) }
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
      for load in removeRequest(number).wanted.loads {
        if context.replica.state.isWelcomed || !interrupt(load) { finish(load, refusal) }
      }
      return true
    default: return false
    }
  }

  /// Interrupts a query's load that has no connection. It ends with the load that begins when the query is followed
  /// again, or with the query.
  /// - Returns: false for a load of no query.
  private func interrupt(_ load: ObjectLoad) -> Bool {
    guard let query = load.query, !load.isFinished, prefetches[query] != nil else { return false }
    prefetches.modify(query) { prefetch in
      // Another of its requests may have been refused.
      if !prefetch.interrupted.contains(where: { $0 === load }) { prefetch.interrupted.append(load) }
    }
    postChanges(of: load)
    return true
  }

  private func removeRequest(_ number: RequestID) -> LoadRequest {
    guard let request = requests.removeValue(forKey: number) else {
      preconditionFailure("a request that is answered is open: \(number)")
    }
    assert(inFlightCount > 0, "a request that is answered was sent")
    inFlightCount -= 1
    forgetObjects(of: request, number)
    return request
  }

  private func forgetObjects(of request: LoadRequest, _ number: RequestID) {
    if case .objects = request.content {
      for id in request.wanted.ids where requestsByObject[id] == number { requestsByObject[id] = nil }
    }
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

  // MARK: - Cancelling

  /// Ends a load that its callers no longer wait for. A live query's load ends with its query.
  func cancel(_ id: LoadID) {
    // It may have ended in the meantime.
    if let load = unfinished[id], load.query == nil { cancel(load, Self.cancellation) }
  }

  /// The error of a load that was cancelled.
  static let cancellation = Refusal(.cancelled, "the load was cancelled")

  /// Ends a load, and cancels its requests that no other load wants.
  private func cancel(_ load: ObjectLoad, _ refusal: Refusal) {
    ready.removeAll { $0 === load }
    finish(load, refusal)
    for number in load.pendingRequests.sorted() {
      // An observer may cancel while the answer to a request is being used.
      if let request = requests[number], !request.wanted.isWanted { remove(unwanted: request, number) }
    }
  }

  private func remove(unwanted request: LoadRequest, _ number: RequestID) {
    requests[number] = nil
    forgetObjects(of: request, number)
    if let index = waiting.firstIndex(of: number) {
      waiting.remove(at: index)
    } else {
      assert(inFlightCount > 0, "a request that does not wait was sent")
      inFlightCount -= 1
      continuable.removeAll { $0 == number }
      cancelled.append(number)
    }
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
    unfinished[load.id] = nil
    load.predecessors = []
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
    if !load.readsAgain { context.actions += (load.replaced + [load.id]).map { .filled($0, refusal) } }
    postChanges(of: load, failure: refusal)
  }

  /// Notifies observers of the objects that a load has changed since the last call, and of its end.
  private func postChanges(of load: ObjectLoad, failure: Refusal? = nil) {
    var change = ObjectsDidChange()
    if let query = load.query, load.isFinished, prefetches[query]?.isAwaited == true {
      change.prefetched = [query]
      change.failedPrefetches[query] = failure
    }
    if load.refreshed.isEmpty, load.deleted.isEmpty, change.prefetched.isEmpty { return }
    (change.refreshed, change.deleted) = (load.refreshed, load.deleted)
    (load.refreshed, load.deleted) = ([], [])
    // A query whose objects are all as they were shows nothing new.
    let isChanged = !change.refreshed.isEmpty || !change.deleted.isEmpty
    if isChanged, let query = load.query, context.results[query] != nil { change.queries = [query] }
    context.post(change)
  }
}
