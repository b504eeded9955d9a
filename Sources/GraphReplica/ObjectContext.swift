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

  private var states = [ObjectID: WeakState]()
  private var sweepAt = 1_024
  /// States with something unsaved or on its way are held here.
  var dirty = [ObjectID: ObjectState]()
  var results = [QueryID: [ObjectID: ObjectState]]()
  var actions = [ReplicaAction]()
  private var lastTemporary: UInt64 = 0
  private var lastQuery: QueryID = 0
  var lastSequence: UInt64 = 0
  /// The stack that saves without a group of their own belong to; without one each of them is a step by itself, in the
  /// scope zero.
  public var undoScope: UndoScope?
  /// Saves that are not answered; the first is under way.
  var queuedSaves = [QueuedSave]()
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
    var byNumber = [EntityNumber: ManagedObject.Type]()
    for type in classes {
      if let entity = model.entity(named: type.entityName) { byNumber[entity.number] = type }
    }
    self.classes = byNumber
  }

  // MARK: - Identity

  /// The face of an object that the context holds; nil when it holds none.
  public func object(_ id: ObjectID) -> ManagedObject? {
    guard let state = state(id), !state.isDeleted else { return nil }
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
  @discardableResult
  func register(_ image: ObjectImage) -> ObjectState? {
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
    guard states.count > sweepAt else { return }
    states = states.filter { $0.value.state != nil }
    sweepAt = max(1_024, 2 * states.count)
  }

  func forget(_ id: ObjectID) { states[id] = nil }

  /// The objects that the context holds, in the order of their ids.
  var held: [ObjectState] {
    states.values.compactMap(\.state).sorted { $0.id < $1.id }
  }

  /// Objects that came with a fetch.
  public func register(_ images: [ObjectImage]) -> [ManagedObject] {
    images.compactMap { register($0).map { face(of: $0) } }
  }

  func temporaryID(_ entity: Entity) -> ObjectID {
    lastTemporary += 1
    return .temporary(lastTemporary, entity: entity.number)
  }

  // MARK: - Events and actions

  /// Feeds the replica below and merges what comes of it.
  public func handle(_ event: ReplicaEvent) {
    var produced = [ReplicaAction]()
    replica.handle(event, into: &produced)
    for action in produced {
      merge(action)
      actions.append(action)
    }
  }

  /// What is to be done or told since the last call, in order.
  public func takeActions() -> [ReplicaAction] {
    defer { actions = [] }
    return actions
  }

  // MARK: - Live queries

  /// Follows a query; its result is empty until the first one has come.
  public func follow(entity: Entity, predicate: GraphPredicate = .always) -> QueryID {
    lastQuery += 1
    results[lastQuery] = [:]
    handle(
      .subscribe(
        lastQuery,
        Subscribe(entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: model))))
    return lastQuery
  }

  /// Ends a live query; its objects stay as long as somebody holds them, and follow nothing any more.
  public func unfollow(_ query: QueryID) {
    results[query] = nil
    handle(.unsubscribe(query))
  }

  /// The objects of a live query as they are now, in the given order.
  public func result(of query: QueryID, sort: [SortKey] = []) -> [ManagedObject] {
    let held = HeldObjects(context: self)
    return SortOrder(sort, model: model).sorted((results[query] ?? [:]).values.compactMap(\.stored), in: held)
      .compactMap { results[query]?[$0.id].map { face(of: $0) } }
  }

  /// The ids of a live query's objects as the server has them.
  public func storedResult(of query: QueryID) -> [ObjectID: ObjectImage] {
    (results[query] ?? [:]).compactMapValues(\.stored)
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
  }
}

/// The objects of a context as the server has them, for paths that orders and predicates follow: what the context does
/// not hold ends a path.
struct HeldObjects: ImageSource {
  let context: ObjectContext

  func image(of id: ObjectID) -> ObjectImage? { context.state(id)?.stored }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    context.held.filter { state in
      state.entity.property(property.number) != nil && state.stored?[property].objectIDs.contains(id) == true
    }.map(\.id)
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
  /// 0 for a result that was loaded.
  public var revision: Revision = 0
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

  /// Whether the property may have changed: it did, the object came anew, or it is gone.
  public func touches(_ id: ObjectID, _ property: PropertyNumber) -> Bool {
    updated[id]?.contains(property) == true || refreshed.contains(id) || deleted.contains(id)
  }
}
