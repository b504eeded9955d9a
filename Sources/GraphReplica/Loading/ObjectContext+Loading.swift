// Tests: FaultTests.swift, PrefetchTests.swift
import GraphModel
import GraphWire

/// Loading: fills faults and follows relationships in few requests, however many objects there are. A request is sent
/// at the end of the event that caused it, so that simultaneous loads share requests.
extension ObjectContext {
  // MARK: - Faults

  /// The object of an id: as the context holds it, otherwise a fault. Nil for one that is known to be deleted.
  public func fault(_ id: ObjectID) -> ManagedObject? {
    guard let state = stateOrFault(id), !state.isDeleted else { return nil }
    return instance(of: state)
  }

  /// The objects of ids that arrived together, without those known to be deleted. An object that the context does not
  /// hold is a fault.
  public func faults(_ ids: [ObjectID]) -> [ManagedObject] {
    if let parent { return parent.faults(ids).compactMap { fault($0.id) } }
    let batch = FetchBatch()
    return ids.compactMap { id in
      guard let state = stateOrFault(id), !state.isDeleted else { return nil }
      batch.add(id)
      state.batch = batch
      return instance(of: state)
    }
  }

  /// The state of an object, as the context or its parent holds it, otherwise of a fault. Nil for a temporary id that
  /// is not held, and for an entity that the model does not have.
  func stateOrFault(_ id: ObjectID) -> ObjectState? {
    if let state = state(id) { return state }
    if parent != nil { return makeState(onParent: id) }
    guard !id.isTemporary, let entity = model.entity(id.entity) else { return nil }
    let state = ObjectState(id: id, entity: entity, stored: nil)
    add(state)
    return state
  }

  func isLoaded(_ property: Property, of state: ObjectState) -> Bool {
    guard let relationship = property.relationship, !state.isInserted else { return true }
    guard !state.isFault else { return false }
    if let parentState = state.parentState, let parent { return parent.isLoaded(property, of: parentState) }
    if relationship.storage == .inverse { return state.loadedMembers[property.number].map(\.areHeld) == true }
    return state.value(property).objectIDs.allSatisfy { self.state($0).map { !$0.isFault } ?? $0.isTemporary }
  }

  // MARK: - Members

  /// Whether the context knows which objects are members of a to-many.
  ///
  /// It does for an object that was inserted here, for a relationship that is stored at this end, and for members that
  /// were loaded or that a live query of their complete entity contains.
  func knowsMembers(_ property: Property, of state: ObjectState) -> Bool {
    guard let relationship = property.relationship, !state.isInserted, !state.isDeleted else { return true }
    if let parentState = state.parentState, let parent { return parent.knowsMembers(property, of: parentState) }
    if relationship.storage != .inverse { return !state.isFault }
    return state.loadedMembers[property.number].map(\.areHeld) == true || followsAll(of: relationship.destination)
  }

  private func followsAll(of entity: EntityNumber) -> Bool {
    guard let wanted = model.entity(entity)?.family else { return false }
    return results.keys.contains { query in
      guard let followed = replica.queries[query], followed.isLoaded, followed.subscribe.predicate.isEmpty,
        followed.subscribe.window == nil, followed.damage.objects.isEmpty,
        let family = model.entity(followed.subscribe.entity)?.family
      else { return false }
      return Set(family).isSuperset(of: wanted)
    }
  }

  func knowsMembers(of object: ManagedObject, _ number: PropertyNumber) -> Bool {
    guard let property = object.entity.property(number) else { return true }
    object.state.registerRead(of: property, in: self)
    return knowsMembers(property, of: object.state)
  }

  /// Reports a read of members that are not known.
  func checkMembers(of object: ManagedObject, _ number: PropertyNumber) {
    if let property = object.entity.property(number), !knowsMembers(property, of: object.state) {
      report(
        UnloadedReadError(
          id: object.id, entity: object.entity.name, property: property.name, isRelationship: !object.isFault))
    }
  }

  func memberCount(of object: ManagedObject, _ number: PropertyNumber) -> Int {
    guard let property = object.entity.property(number) else { return 0 }
    object.state.registerRead(of: property, in: self)
    return related(to: object.state, through: property).count { hasObject($0) }
  }

  /// Whether `fault` has an object of the id. A stored to-many names a deleted member until its owner is read again.
  private func hasObject(_ id: ObjectID) -> Bool {
    if let state = state(id) { return !state.isDeleted }
    if let parent { return parent.hasObject(id) }
    return !id.isTemporary && model.entity(id.entity) != nil
  }

  /// Whether an object is a member. An object that is loaded and stores the other end knows it itself; otherwise the
  /// members have to be known.
  func contains(_ other: ManagedObject, in object: ManagedObject, _ number: PropertyNumber) -> Bool {
    guard let property = object.entity.property(number), let relationship = property.relationship else { return false }
    object.state.registerRead(of: property, in: self)
    let (state, member) = (object.state, localState(of: other))
    if member.isDeleted { return false }
    if relationship.storage == .inverse, let inverse = model.property(relationship.inverse), !member.isFault {
      return member.value(inverse).objectIDs.contains(state.id)
    }
    if related(to: state, through: property).contains(member.id) { return true }
    checkMembers(of: object, number)
    return false
  }

  /// Records the members of an object that a save has inserted: exactly the members that the save gave it.
  func recordMembers(ofInserted state: ObjectState, _ members: [PropertyNumber: [ObjectState]]) {
    for property in state.entity.relationships where property.relationship?.storage == .inverse {
      let retained = RetainedObjects()
      for member in members[property.number, default: []] { retained.hold(member) }
      // Without an instance nothing keeps the members, and they count as not loaded.
      state.instance?.companions.updateValue(retained, forKey: RelationshipTree([[property.number]]))
      state.loadedMembers[property.number] = LoadedMembers([retained])
    }
  }

  // MARK: - Reads of values that are not loaded

  /// Reports a read of a fault's property, unless an edit has given it a value.
  func reportRead(_ number: PropertyNumber, ofFault state: ObjectState) {
    if let property = state.entity.property(number), property.attribute?.isTransient != true,
      !hasEdit(of: property, state)
    {
      report(
        UnloadedReadError(id: state.id, entity: state.entity.name, property: property.name, isRelationship: false))
    }
  }

  /// Whether an edit in this context, or in one that it reads through, has given the property a value.
  private func hasEdit(of property: Property, _ state: ObjectState) -> Bool {
    if !state.localEdits(of: property).isEmpty { return true }
    guard let parentState = state.parentState else { return false }
    return hasEdit(of: property, parentState)
  }

  private func report(_ error: UnloadedReadError) {
    var context = self
    while context.unloadedWasRead == nil, let parent = context.parent { context = parent }
    guard let report = context.unloadedWasRead else { return assertionFailure(error.description) }
    report(error)
  }

  /// Waits for a load.
  package nonisolated(nonsending) func wait(for load: LoadID) async throws {
    guard let owner else { throw Refusal(.unavailable, "the context has no connection to load by") }
    try await owner.fill(load)
  }

  /// Whether an object that is known as deleted may have been restored. A reference to it, received since, suggests
  /// that.
  func mayBeRestored(_ state: ObjectState) -> Bool { state.isGone && state.sent.isEmpty && dirty[state.id] == nil }

  /// Whether a live query keeps the object as the server has it.
  func isFollowed(_ id: ObjectID) -> Bool { results.values.contains { $0[id] != nil } }

  // MARK: - Paths

  /// The object at the end of a path of to-ones in this context; nil if one of them leads to no object.
  public func object<Object: ManagedObject, Destination: ManagedObject>(
    at path: (ObjectPath<Object, ToOneLoad>) -> ObjectPath<Destination, ToOneLoad>, from object: Object
  ) -> Destination? {
    var place: ManagedObject? = object
    for hop in path(ObjectPath(way: RelationshipPath())).way.hops { place = place?.object(hop, ManagedObject.self) }
    return place as? Destination
  }

  /// The objects at the end of a path of to-ones and a final to-many in this context.
  public func objects<Object: ManagedObject, Destination: ManagedObject>(
    at path: (ObjectPath<Object, ToOneLoad>) -> ToManyPath<Destination, ToOneLoad>, from object: Object
  ) -> [Destination] {
    let path = path(ObjectPath(way: RelationshipPath()))
    var place: ManagedObject = object
    for hop in path.way.hops {
      guard let next = place.object(hop, ManagedObject.self) else { return [] }
      place = next
    }
    return place.objects(path.property, Destination.self)
  }

  // MARK: - Loads

  /// Fills faults; other objects are ignored. The owner sends all loads of a turn together.
  /// - Parameter bringsOthers: fill up the request with other faults of the same kind that the program holds.
  /// - Returns: the load that `.filled` names when it has ended.
  package func load(_ objects: [ManagedObject], bringsOthers: Bool = false) -> LoadID {
    if let parent { return parent.load(objects, bringsOthers: bringsOthers) }
    return start(loads.load(faults: objects.map { localState(of: $0) }.filter(\.isFault), bringsOthers: bringsOthers))
  }

  /// Follows relationships from objects. The loaded objects are kept as long as the program holds one of `objects`.
  /// - Parameters:
  ///   - reloadsHeld: also reload objects that the context holds, unless a live query keeps them current; otherwise
  ///     only missing objects are read.
  /// - Returns: the load that `.filled` names when it has ended.
  package func load(_ tree: RelationshipTree, of objects: [ManagedObject], reloadsHeld: Bool = true) -> LoadID {
    if let parent { return parent.load(tree, of: objects, reloadsHeld: reloadsHeld) }
    return start(loads.load(tree, of: objects.map { localState(of: $0) }, owners: objects, reloadsHeld: reloadsHeld))
  }

  private func start(_ load: LoadID) -> LoadID {
    notifyOwner()
    return load
  }

  /// Loads the missing objects along relationships, from one object and from the objects that arrived with it. A load
  /// takes up to a thousand objects, so that iterating over a list causes one for each thousand.
  /// - Returns: the load that `.filled` names, which may be in progress already; nil if nothing is missing.
  package func load(_ tree: RelationshipTree, of object: ManagedObject) -> LoadID? {
    if let parent { return parent.load(tree, of: object) }
    let first = localState(of: object)
    guard isMissing(tree, of: first) else { return nil }
    if let load = loads.sharedLoad(of: tree, for: object.id) { return load }
    var objects = [object]
    if let batch = first.batch {
      for id in batch.members(from: object.id) where id != object.id {
        guard objects.count < LoadScheduler.batchSize else { break }
        guard let state = state(id), !state.isDeleted, let instance = state.instance, isMissing(tree, of: state) else {
          continue
        }
        objects.append(instance)
      }
    }
    return start(
      loads.load(tree, of: objects.map { localState(of: $0) }, owners: objects, reloadsHeld: false, isShared: true))
  }

  /// Whether the context does not hold all objects that a tree reaches from an object.
  func isMissing(_ tree: RelationshipTree, of state: ObjectState) -> Bool {
    tree.branches.contains { branch in
      // The objects of a level may be of several entities.
      guard let property = state.entity.property(branch.property) else { return false }
      if !isLoaded(property, of: state) { return true }
      guard !branch.tree.isEmpty else { return false }
      return related(to: state, through: property).contains { id in
        guard let other = self.state(id) else { return false }
        return isMissing(branch.tree, of: other)
      }
    }
  }

  /// Ends a load that nothing waits for any longer. Its requests that no other load needs are cancelled at the server.
  package func cancel(_ load: LoadID) {
    if let parent { return parent.cancel(load) }
    loads.cancel(load)
    notifyOwner()
  }

  /// Makes actions of the loads since the last event; the owner calls it before `takeActions`.
  package func sendLoads() {
    if let parent { return parent.sendLoads() }
    // The owner of a context of the past takes its fetches.
    if revision != nil { return }
    while let next = loads.nextEvent() { handle(next) }
  }

  /// The load that prefetches for a query's first result, or why it failed.
  package func prefetch(of query: QueryID) -> (load: LoadID?, failure: Refusal?) {
    if let parent { return parent.prefetch(of: query) }
    guard let prefetch = loads.prefetch(of: query) else { return (nil, nil) }
    return prefetch
  }

  /// A reference that keeps the objects that were prefetched for a live query, also after its end; nil for a query that
  /// does not prefetch.
  package func prefetchedObjects(of query: QueryID) -> AnyObject? {
    if let parent { return parent.prefetchedObjects(of: query) }
    return loads.companions(of: query)
  }

  /// Reports the end of each load that prefetches for a query, as `ObjectsDidChange.prefetched`.
  package func awaitPrefetches(of query: QueryID) {
    if let parent { return parent.awaitPrefetches(of: query) }
    loads.awaitPrefetches(of: query)
  }

  /// Whether relationships that a live query prefetches are being loaded, of one of its objects that satisfies a
  /// condition.
  package func awaitsPrefetch(of query: QueryID, where condition: (ObjectID) -> Bool) -> Bool {
    if let parent { return parent.awaitsPrefetch(of: query, where: condition) }
    return loads.awaitsPrefetch(of: query, where: condition)
  }

  // MARK: - Contexts of the past

  /// The fetches that loads need now, and the numbers of earlier ones that they no longer need. The owner answers each
  /// fetch with `receivePastChunk` or `refusePast` under its number.
  package func takePastRequests() -> (fetches: [(number: RequestID, fetch: Fetch)], cancelled: [RequestID]) {
    var (fetches, cancelled) = ([(number: RequestID, fetch: Fetch)](), [RequestID]())
    while let event = loads.nextEvent() {
      switch event {
      case .request(let number, .fetch(let fetch)): fetches.append((number, fetch))
      case .cancel(let number): cancelled.append(number)
      // Flow control is up to the owner.
      default: break
      }
    }
    return (fetches, cancelled)
  }

  /// Accepts a part of a fetch's answer.
  package func receivePastChunk(_ chunk: Chunk, of number: RequestID) {
    _ = loads.handleAnswer(.reply(number, .chunk(chunk), isLast: chunk.end != nil))
  }

  /// Fails a fetch.
  package func refusePast(_ number: RequestID, _ refusal: Refusal) { _ = loads.handleAnswer(.refused(number, refusal)) }
}
