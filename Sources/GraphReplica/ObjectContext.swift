import GraphModel
import GraphWire

/// A local graph of managed objects that follows the served one: identity map, unsaved edits, pending transactions,
/// live queries. Stands for the server's root context as a managed object stands for the server's object.
///
/// Pure like the replica that it owns: everything that is to be done comes out of `takeActions`. It belongs to one
/// actor; a client runs it (`GraphClient`), and so does the simulation.
public final class ObjectContext {
  /// The model of the served graph.
  public let model: Model
  /// The protocol's half.
  public internal(set) var replica: Replica
  /// Classes for entities; without an entry an object is a plain `ManagedObject`.
  private let classes: [EntityNumber: ManagedObject.Type]
  /// What a child context reads through to; nil for the context of a client.
  public let parent: ObjectContext?
  /// The revision that all objects are of, in a context of the past, which can't be edited; nil in any other.
  public let revision: Revision?
  /// Called with each attempt to edit a context of the past. Without it an attempt is a programmer's error, and traps.
  public var editWasRefused: ((EditOfThePast) -> Void)?
  /// Child contexts that somebody holds.
  var children = [WeakContext]()

  private var states = [ObjectID: WeakState]()
  private var sweepAt = 1_024
  /// States with something unsaved or on its way are held here.
  var dirty = [ObjectID: ObjectState]()
  var results = [QueryID: [ObjectID: ObjectState]]()
  var actions = [ReplicaAction]()
  private var lastTemporary: UInt64 = 0
  var lastQuery: QueryID = 0
  /// What windows show.
  var windows = [QueryID: HeldWindow]()
  var lastSequence: UInt64 = 0
  /// The stack that saves without a group of their own belong to; without one each of them is a step by itself, in the
  /// scope zero.
  public var undoScope: UndoScope?
  /// Saves that are not answered; the first is under way.
  var queuedSaves = [QueuedSave]()
  var burials = Burials()
  /// What is being loaded.
  var loads = ObjectLoads()
  /// Events that are being handled, one inside the other.
  private var depth = 0
  let edition = Edition()
  var referrers = ReferrerIndex(.seen)
  var storedReferrers = ReferrerIndex(.stored)
  /// Called once for each commit that is merged, and for each result that is loaded.
  private var observers = [(identity: ObservationToken.Identity, body: (ObjectsDidChange) -> Void)]()

  private struct WeakState {
    weak var state: ObjectState?
  }

  /// An empty context over a replica without a connection.
  /// - Parameter classes: for each entity that has one, the class of its objects.
  public init(model: Model, replica: Replica, classes: [ManagedObject.Type] = []) {
    self.model = model
    self.replica = replica
    self.replica.schema = model
    parent = nil
    revision = nil
    var byNumber = [EntityNumber: ManagedObject.Type]()
    for type in classes {
      if let entity = model.entity(named: type.entityName) { byNumber[entity.number] = type }
    }
    self.classes = byNumber
  }

  /// A child; its replica is never used.
  init(on parent: ObjectContext) {
    (model, replica, classes) = (parent.model, parent.replica, parent.classes)
    self.parent = parent
    revision = parent.revision
  }

  /// An empty context of the past, for objects of the same classes; its replica is never used.
  init(at revision: Revision, like other: ObjectContext) {
    (model, replica, classes) = (other.model, other.replica, other.classes)
    parent = nil
    self.revision = revision
  }

  // MARK: - Identity

  /// The face of an object that the context holds with its values; nil when it holds none, or only a fault.
  public func object(_ id: ObjectID) -> ManagedObject? {
    if parent != nil, state(id) == nil, parent?.object(id) == nil { return nil }
    guard let state = parent == nil ? state(id) : stateOrFault(id), !state.isDeleted, !state.isFault else { return nil }
    return face(of: state)
  }

  func state(_ id: ObjectID) -> ObjectState? { states[id]?.state }

  func face(of state: ObjectState) -> ManagedObject {
    if let face = state.face { return face }
    let type = classes[state.entity.number] ?? ManagedObject.self
    let face = type.init(state: ObjectStateToken(state: state), context: self)
    state.face = face
    return face
  }

  /// Takes an object as the server has it; an older image than the one that is held changes nothing.
  /// - Returns: nil for one that is known to have been deleted since.
  @discardableResult
  func register(_ image: ObjectImage) -> ObjectState? {
    guard !burials.outlived(image) else { return nil }
    if let state = states[image.id]?.state {
      if dirty[image.id] == nil { state.isDeleted = false }
      if state.stored?.revision ?? -1 < image.revision { merge(image, into: state) }
      return state
    }
    guard let entity = model.entity(image.id.entity) else { return nil }
    let state = ObjectState(id: image.id, entity: entity, stored: image)
    keep(state)
    return state
  }

  func keep(_ state: ObjectState) {
    states[state.id] = WeakState(state: state)
    state.edition = edition
    edition.advance(state.id)
    guard states.count > sweepAt else { return }
    states = states.filter { $0.value.state != nil }
    sweepAt = max(1_024, 2 * states.count)
  }

  func forget(_ id: ObjectID) {
    states[id] = nil
    edition.advance(id)
  }

  /// The objects that the context holds, in the order of their ids.
  var held: [ObjectState] { unsortedStates.sorted { $0.id < $1.id } }

  /// The same in no order.
  var unsortedStates: [ObjectState] { states.values.compactMap(\.state) }

  /// Objects that came with a fetch.
  /// - Parameter batch: what else came with it, where it came in several parts.
  public func register(_ images: [ObjectImage], in batch: FetchBatch = FetchBatch()) -> [ManagedObject] {
    if let parent { return parent.register(images, in: batch).compactMap { fault($0.id) } }
    return images.compactMap { register($0, in: batch).map { face(of: $0) } }
  }

  func register(_ image: ObjectImage, in batch: FetchBatch) -> ObjectState? {
    guard let state = register(image) else { return nil }
    batch.add(state.id)
    state.batch = batch
    return state
  }

  func temporaryID(_ entity: Entity) -> ObjectID {
    if let parent { return parent.temporaryID(entity) }
    lastTemporary += 1
    return .temporary(lastTemporary, entity: entity.number)
  }

  // MARK: - Events and actions

  /// Feeds the replica below and merges what comes of it.
  public func handle(_ event: ReplicaEvent) {
    if let parent { return parent.handle(event) }
    perform(event)
    // What is loaded is asked for behind everything else that the event says to the server.
    while depth == 0, let next = nextLoadEvent() { perform(next) }
  }

  private func perform(_ event: ReplicaEvent) {
    var produced = [ReplicaAction]()
    replica.handle(event, into: &produced)
    // The server wants requests in the order of their numbers: observers of what follows may make further ones.
    actions += produced.filter(\.isForTheConnection)
    depth += 1
    for action in produced where !action.isForTheConnection && !isForLoads(action) {
      merge(action)
      actions.append(action)
    }
    depth -= 1
  }

  /// What is to be done or told since the last call, in order.
  public func takeActions() -> [ReplicaAction] {
    if let parent { return parent.takeActions() }
    defer { actions = [] }
    return actions
  }

  // MARK: - Live queries

  /// Follows a query; its result is empty until the first one has come.
  /// - Parameters:
  ///   - prefetching: what is loaded along with its objects, and with those that join it later.
  ///   - most: the query is refused, with `limit`, when its first result, or one that comes anew, has more objects; the
  ///     rest of them is not waited for. Nil for any number.
  public func follow(
    entity: Entity, predicate: GraphPredicate = .always, prefetching: RelationshipTree = .none, atMost most: Int? = nil
  ) -> QueryID {
    if let parent { return parent.follow(entity: entity, predicate: predicate, prefetching: prefetching, atMost: most) }
    lastQuery += 1
    if refusesEdit("nothing can be followed") { return lastQuery }
    results[lastQuery] = [:]
    if !prefetching.isEmpty { loads.prefetches[lastQuery] = QueryPrefetch(tree: prefetching) }
    handle(
      .subscribe(
        lastQuery,
        Subscribe(entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: model)), atMost: most
      ))
    return lastQuery
  }

  /// Ends a live query; its objects stay as long as somebody holds them, and follow nothing any more.
  public func unfollow(_ query: QueryID) {
    if let parent { return parent.unfollow(query) }
    results[query] = nil
    windows[query] = nil
    loads.prefetches[query] = nil
    handle(.unsubscribe(query))
  }

  /// The objects of a live query as they are now, in the given order.
  public func result(of query: QueryID, sort: [SortKey] = []) -> [ManagedObject] {
    if let parent { return parent.result(of: query, sort: sort).compactMap { fault($0.id) } }
    let held = HeldObjects(context: self)
    return SortOrder(sort, model: model).sorted((results[query] ?? [:]).values.compactMap(\.stored), in: held)
      .compactMap { results[query]?[$0.id].map { face(of: $0) } }
  }

  /// The ids of a live query's objects as the server has them.
  public func storedResult(of query: QueryID) -> [ObjectID: ObjectImage] {
    parent?.storedResult(of: query) ?? (results[query] ?? [:]).compactMapValues(\.stored)
  }

  // MARK: - Observation

  /// Calls `body` after each merged commit, on the context's own actor, until the token goes.
  public func observe(_ body: @escaping (ObjectsDidChange) -> Void) -> ObservationToken {
    let token = ObservationToken()
    observers.append((token.identity, body))
    token.context = self
    return token
  }

  /// Calls `body` when a property of one object changes.
  public func observe(
    _ object: ManagedObject, _ property: PropertyNumber, _ body: @escaping (ManagedObject) -> Void
  ) -> ObservationToken {
    observe { [weak object] change in
      guard let object, change.touches(object.id, property) else { return }
      body(object)
    }
  }

  func remove(_ identity: ObservationToken.Identity) { observers.removeAll { $0.identity === identity } }

  func post(_ change: ObjectsDidChange) {
    for observer in observers { observer.body(change) }
    for child in children { child.context?.post(change) }
  }
}

/// The objects of a context as the server has them, for paths that orders and predicates follow: what the context does
/// not hold ends a path.
struct HeldObjects: ImageSource {
  let context: ObjectContext

  func image(of id: ObjectID) -> ObjectImage? { context.state(id)?.stored }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    context.storedReferrers.referrers(to: id, through: property, in: context).filter { image(of: $0) != nil }
  }
}

/// Keeps an observation alive: when the token goes, so does the observation.
public final class ObservationToken {
  fileprivate(set) weak var context: ObjectContext?
  let identity = Identity()

  final class Identity {}

  /// Ends the observation before the token goes.
  public func cancel() { context?.remove(identity) }

  deinit { context?.remove(identity) }
}

/// What one merged commit, or one loaded result, did to the local graph.
public struct ObjectsDidChange: Sendable {
  /// The commit; 0 for a result that was loaded.
  public var revision: Revision = 0
  /// The state of the graph that a loaded result shows; 0 for a commit.
  public var loadedRevision: Revision = 0
  /// Who committed; empty for a result that was loaded.
  public var author = ""
  /// When; 0 for a result that was loaded.
  public var time: Timestamp = 0
  /// Objects that came to a query and that the context had no image of before.
  public var inserted = [ObjectID]()
  /// With the properties that changed.
  public var updated = [ObjectID: Set<PropertyNumber>]()
  /// Objects that are gone altogether.
  public var deleted = [ObjectID]()
  /// Objects whose values came anew, without word of what changed.
  public var refreshed = [ObjectID]()
  /// Objects that left a query without being deleted.
  public var departed = [ObjectID]()
  /// The live queries whose results this changed.
  public var queries = Set<QueryID>()
  /// Of these, the ones whose whole result came anew: what is told of objects does not say who is in it.
  public var loaded = Set<QueryID>()
  /// Live queries that the server does not follow, or no more: their results are gone.
  public var refused = [QueryID: Refusal]()
  /// Of these, what happened to the rows of those that are windows.
  public var windows = [QueryID: WindowDifference]()

  /// Whether the property may have changed: it did, the object came anew, or it is gone.
  public func touches(_ id: ObjectID, _ property: PropertyNumber) -> Bool {
    updated[id]?.contains(property) == true || refreshed.contains(id) || deleted.contains(id)
  }
}
