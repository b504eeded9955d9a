// Tests: ReplicaTests.swift
import GraphModel
import GraphWire

/// A local graph of managed objects that follows the served one. It has an identity map, unsaved edits, pending
/// transactions and live queries.
///
/// The context represents the root context of the server, just as a managed object represents an object of the server.
/// Like the replica that it owns, it has no I/O: its effects are actions, which its owner (`GraphClient`) takes with
/// `takeActions` and performs. It belongs to one actor.
public final class ObjectContext {
  /// The model of the served graph.
  public let model: Model
  /// The client half of the protocol.
  package internal(set) var replica: Replica
  /// The classes of entities; an entity without an entry uses plain `ManagedObject`.
  private let classes: [EntityNumber: ManagedObject.Type]
  /// The context that a child reads through to; nil for a client's own context.
  public let parent: ObjectContext?
  /// The revision of all objects in a context of the past, which can't be edited; nil in any other.
  public let revision: Revision?
  private(set) var handlers = MisuseHandlers()
  /// Child contexts, held weakly.
  var children = [WeakContext]()

  private var registry = ObjectRegistry()
  /// Keeps alive the states that have unsaved or unanswered changes.
  var dirty = [ObjectID: ObjectState]()
  /// The objects of each live query.
  var results = [QueryID: [ObjectID: ObjectState]]()
  var actions = [ReplicaAction]()
  private var lastTemporary: UInt64 = 0
  var lastQuery: QueryID = 0
  /// The rows of each window.
  var windows = [QueryID: WindowState]()
  var lastSequence: UInt64 = 0
  /// The undo stack of saves without a group. If it is nil, each of those saves is a separate step, in scope zero.
  public var undoScope: UndoScope? {
    didSet { if undoScope !== oldValue { ownerLink.owner?.undoScopeDidChange(from: oldValue) } }
  }
  /// Unanswered saves, oldest first; only the first has been passed to the replica.
  var queuedSaves = [QueuedSave]()
  var tombstones = Tombstones()
  /// Loads in progress.
  private(set) lazy var loads = LoadScheduler(context: self)
  private var ownerLink = OwnerLink()
  /// The nesting depth of events: an observer may cause further ones.
  private var depth = 0
  let changeCounter = ChangeCounter()
  var referrers = ReferrerIndex(.seen)
  var storedReferrers = ReferrerIndex(.stored)
  /// Called once for each merged commit, and for each loaded result.
  private var observers = [(identity: ObservationToken.Identity, body: (ObjectsDidChange) -> Void)]()

  /// An empty context over a replica without a connection.
  /// - Parameter classes: the classes of objects, at most one for each entity.
  package init(model: Model, replica: Replica, classes: [ManagedObject.Type] = []) {
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

  /// An empty context of the graph at an earlier revision, with the same classes. Objects are read, faulted and
  /// reached along relationships like in any context, but nothing is edited, saved or followed live. The owner of a
  /// connection (`PastGraph` of a client) takes its fetches and returns the answers.
  public func makePast(at revision: Revision) -> ObjectContext { ObjectContext(at: revision, like: self) }

  /// A child context; its replica is never used.
  init(on parent: ObjectContext) {
    (model, replica, classes) = (parent.model, parent.replica, parent.classes)
    self.parent = parent
    revision = parent.revision
  }

  /// An empty context of the past with the same classes; its replica is never used.
  init(at revision: Revision, like other: ObjectContext) {
    (model, replica, classes) = (other.model, other.replica, other.classes)
    parent = nil
    self.revision = revision
    handlers.unloadedWasRead = other.handlers.unloadedWasRead
  }

  // MARK: - Misuse

  /// Called for each attempt to edit a context of the past. Without a handler an attempt is a programming error, and
  /// traps.
  public var editWasRefused: ((ReadOnlyContextError) -> Void)? {
    get { handlers.editWasRefused }
    set { handlers.editWasRefused = newValue }
  }

  /// Called for each read of a value that is not loaded, here, in child contexts and in contexts of the past that are
  /// made later. Without a handler such a read is a programming error, and traps in debug builds. Otherwise it returns
  /// the value that the context holds, or the model's default.
  public var unloadedWasRead: ((UnloadedReadError) -> Void)? {
    get { handlers.unloadedWasRead }
    set { handlers.unloadedWasRead = newValue }
  }

  // MARK: - Identity

  /// The instance of an object whose values the context holds. Nil for a fault, a deleted or an unknown object.
  public func object(_ id: ObjectID) -> ManagedObject? {
    if parent != nil, state(id) == nil, parent?.object(id) == nil { return nil }
    guard let state = parent == nil ? state(id) : stateOrFault(id), !state.isDeleted, !state.isFault else { return nil }
    return instance(of: state)
  }

  func state(_ id: ObjectID) -> ObjectState? { registry[id] }

  /// The classes that the context was made with.
  package var registeredClasses: [ManagedObject.Type] { classes.sorted { $0.key < $1.key }.map(\.value) }

  /// The class that the context was made with for an entity; nil if there is none.
  func registeredClass(of entity: Entity) -> ManagedObject.Type? { classes[entity.number] }

  func instance(of state: ObjectState) -> ManagedObject {
    if let instance = state.instance { return instance }
    let type = classes[state.entity.number] ?? ManagedObject.self
    let instance = type.init(state: ObjectStateToken(state: state), context: self)
    state.instance = instance
    return instance
  }

  /// Registers an object's image from the server; an image older than the held one is ignored.
  /// - Parameter revision: the image was read at this revision or a later one.
  /// - Returns: nil for an object that is known to have been deleted since.
  @discardableResult
  func register(_ image: ObjectImage, readAt revision: Revision = 0) -> ObjectState? {
    if tombstones.isDeleted(since: image) {
      tombstones.remove(image.id, readAt: revision)
      if tombstones.isDeleted(since: image) { return nil }
    }
    if let state = state(image.id) {
      if dirty[image.id] == nil { state.isDeleted = false }
      if let stored = state.stored, stored.revision >= image.revision { return state }
      merge(image, into: state)
      return state
    }
    guard let entity = model.entity(image.id.entity) else { return nil }
    let state = ObjectState(id: image.id, entity: entity, stored: image)
    add(state)
    return state
  }

  func add(_ state: ObjectState) {
    registry.add(state)
    state.changeCounter = changeCounter
    changeCounter.passObservers(to: state)
    changeCounter.advance(state.id)
    changeCounter.signalMembers(of: state.entity)
    if !state.isFault { changeCounter.signalLoad(of: state.entity) }
  }

  func remove(_ id: ObjectID) {
    registry.remove(id)
    changeCounter.advance(id)
  }

  /// All held objects, in the order of their ids.
  var heldStates: [ObjectState] { unsortedStates.sorted { $0.id < $1.id } }

  /// All held objects, in no order.
  var unsortedStates: [ObjectState] { registry.all }

  /// The newest revision that the queries have published; the answers to later requests are at least as new. It is 0 in
  /// a context of the past.
  package var publishedRevision: Revision {
    if let parent { return parent.publishedRevision }
    return revision == nil ? replica.publishedRevision : 0
  }

  /// Registers the objects of a fetch.
  /// - Parameter batch: collects the objects of one fetch, if they arrive in several parts.
  package func register(_ images: [ObjectImage], in batch: FetchBatch = FetchBatch()) -> [ManagedObject] {
    if let parent { return parent.register(images, in: batch).compactMap { fault($0.id) } }
    return images.compactMap { register($0, in: batch).map { instance(of: $0) } }
  }

  func register(_ image: ObjectImage, in batch: FetchBatch) -> ObjectState? {
    guard let state = register(image, readAt: batch.revision) else { return nil }
    // A live query delivers the newest state of its objects.
    if state.stored != image, !results.values.contains(where: { $0[image.id] != nil }) {
      replaceReferences(of: state, by: image)
    }
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

  /// Passes an event to the replica, and merges the resulting actions.
  package func handle(_ event: ReplicaEvent) {
    if let parent { return parent.handle(event) }
    process(event)
    // Load requests are sent after everything else that the event sends to the server.
    while depth == 0, let next = loads.nextEvent() { process(next) }
  }

  private func process(_ event: ReplicaEvent) {
    var produced = [ReplicaAction]()
    replica.handle(event, into: &produced)
    ownerLink.replicaDidHandle?(event, produced, replica.deadline)
    // Observers may send further requests, and the server requires ascending request numbers: queue these first.
    actions += produced.filter(\.isForTheConnection)
    depth += 1
    for action in produced where !loads.handleAnswer(action) {
      merge(action)
      if !action.isForTheConnection { actions.append(action) }
    }
    depth -= 1
  }

  /// Removes and returns the actions since the last call, in order.
  package func takeActions() -> [ReplicaAction] {
    if let parent { return parent.takeActions() }
    defer { actions = [] }
    ownerLink.isNotified = false
    return actions
  }

  /// The object that performs the actions of this context, held weakly. A client sets itself. A child has its parent's
  /// owner.
  package var owner: (any ContextOwner)? {
    get { if let parent { parent.owner } else { ownerLink.owner } }
    set {
      if let parent { return parent.owner = newValue }
      (ownerLink.owner, ownerLink.isNotified) = (newValue, false)
    }
  }

  /// Called with each event that the replica has handled, its actions, and when its next tick is due. A simulation
  /// records them.
  package var replicaDidHandle: ((ReplicaEvent, [ReplicaAction], Int64?) -> Void)? {
    get { ownerLink.replicaDidHandle }
    set { ownerLink.replicaDidHandle = newValue }
  }

  /// Notifies the owner that there are actions or loads, unless it has been notified and has not taken any since.
  func notifyOwner() {
    if let owner = ownerLink.owner, !ownerLink.isNotified {
      ownerLink.isNotified = true
      owner.contextHasWork()
    }
  }

  // MARK: - Observation

  /// Calls `body` after each merged commit and each loaded result, until the token is released. It runs on the
  /// context's actor.
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
      if let object, change.touches(object.id, property) { body(object) }
    }
  }

  /// A tracker of all later changes of objects in this context. In a child it includes the contexts that the child
  /// reads through.
  package func trackChanges() -> ChangeTracker {
    let tracker = ChangeTracker()
    var context: ObjectContext? = self
    while let here = context {
      here.changeCounter.add(tracker)
      context = here.parent
    }
    return tracker
  }

  func remove(_ identity: ObservationToken.Identity) { observers.removeAll { $0.identity === identity } }

  func post(_ change: ObjectsDidChange) {
    for observer in observers { observer.body(change) }
    for child in children { child.context?.post(change) }
  }
}

/// The server's versions of a context's objects, for the paths of sort orders and predicates. An object that the
/// context does not hold ends a path.
struct StoredImages: ImageSource {
  let context: ObjectContext

  func image(of id: ObjectID) -> ObjectImage? { context.state(id)?.stored }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    context.storedReferrers.referrers(to: id, through: property, in: context).filter { image(of: $0) != nil }
  }
}

/// Keeps an observation active until the token is released.
public final class ObservationToken {
  fileprivate(set) weak var context: ObjectContext?
  let identity = Identity()

  final class Identity {}

  /// Ends the observation before the token is released.
  public func cancel() { context?.remove(identity) }

  deinit { context?.remove(identity) }
}

/// The changes that one merged commit, or one loaded result, made to the local graph.
public struct ObjectsDidChange: Sendable {
  /// The commit's revision; 0 for a loaded result.
  public var revision: Revision = 0
  /// The revision of a loaded result; 0 for a commit.
  public var loadedRevision: Revision = 0
  /// The commit's author; empty for a loaded result.
  public var author = ""
  /// The commit's time, in microseconds since 1970; 0 for a loaded result.
  package var time: Timestamp = 0
  /// Objects that entered a query and that the context had no image of before.
  public var inserted = [ObjectID]()
  /// Updated objects, with the properties that changed.
  public var updated = [ObjectID: Set<PropertyNumber>]()
  /// Deleted objects.
  public var deleted = [ObjectID]()
  /// Objects whose complete values arrived, without a list of the changed properties.
  public var refreshed = [ObjectID]()
  /// Objects that left a query without being deleted.
  public var departed = [ObjectID]()
  /// The ids that the server has assigned to objects which a replica had made without it, by their earlier ids.
  public var identified = [ObjectID: ObjectID]()
  /// The live queries whose results changed.
  package var queries = Set<QueryID>()
  /// The queries among them that were reloaded: the lists of objects do not describe their membership.
  package var loaded = Set<QueryID>()
  /// Live queries with loads of their relationships that have ended; listed for sources that wait for them.
  package var prefetched = Set<QueryID>()
  /// Why such a load failed.
  package var failedPrefetches = [QueryID: Refusal]()
  /// Live queries that the server refused or stopped following; their results are removed.
  package var refused = [QueryID: Refusal]()
  /// The row changes of the windows among `queries`.
  package var windows = [QueryID: WindowDifference]()

  /// Whether the property may have changed: it was updated, or the object was reloaded or deleted.
  public func touches(_ id: ObjectID, _ property: PropertyNumber) -> Bool {
    updated[id]?.contains(property) == true || refreshed.contains(id) || deleted.contains(id)
  }
}
