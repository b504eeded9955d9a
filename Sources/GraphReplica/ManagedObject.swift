// Tests: ReplicaTests.swift, TransientTests.swift
import GraphModel

/// A local instance of an object of the served graph.
///
/// Reads are local; the context keeps writes and sends them as one transaction when it saves. Each context has one
/// instance per id. A context and its objects belong to one actor; neither is `Sendable`, so that the compiler
/// enforces this. An object is `Observable`: each change notifies the front ends that have read it.
///
/// Objects are equal if they are the same object of the same context, as in Core Data, and can be members of a set. As
/// `Identifiable` they have their `id`, which changes once: when the save that inserts the object is answered.
open class ManagedObject {
  /// The name of the entity that the class represents. Generated classes override it.
  open class var entityName: String { "" }

  /// The context that the object belongs to; it must outlive the object.
  public unowned let context: ObjectContext
  /// Replaced if the object turns out to be one that the context already held.
  var state: ObjectState { didSet { oldValue.observed?.signalChange() } }
  /// The identity that the instance was hashed by and keeps; nil before the first hash.
  var hashedIdentity: ObjectIdentity?
  /// Objects that were loaded from this object and others, kept until none of those is held.
  var companions = [RelationshipTree: RetainedObjects]()

  /// Called only by the context, which makes one instance for each id.
  public required init(state: ObjectStateToken, context: ObjectContext) {
    self.state = state.state
    self.context = context
  }

  /// Inserts a new object into a context: `Note(in: client.context)`.
  ///
  /// Its attributes have the model's defaults, and its id is temporary until the server has allocated a permanent one.
  /// A context of the past refuses the object, which then counts as deleted. An abstract entity, and a class that the
  /// context was not made with, such as one of another model, are programming errors: they trap.
  public convenience init(in context: ObjectContext) {
    self.init(state: ObjectStateToken(state: context.insertedState(of: Self.self)), context: context)
    state.instance = self
  }

  /// The object's id; permanent once the save that inserts it has been answered.
  public var id: ObjectID { state.id }

  /// The concrete entity.
  public var entity: Entity { state.entity }

  /// The revision of the object's last change; 0 before the first save.
  public var revision: Revision {
    state.registerRead()
    return state.revision
  }

  /// Whether the object was inserted here and the server has not confirmed it.
  public var isInserted: Bool {
    state.registerRead()
    return state.isInserted
  }

  /// Whether the object was deleted, here or by another client, or discarded by `rollback`.
  ///
  /// Edits then have no effect: they are not recorded, no save sends them, and `hasChanges` does not count them. The
  /// client logs each of them at the level `debug`. A program that keeps objects looks at this property, which is
  /// observable, before it edits them.
  public var isDeleted: Bool {
    state.registerRead()
    return state.isDeleted
  }

  /// Whether the object is inserted, deleted or edited here, and not confirmed.
  public var hasChanges: Bool {
    state.registerRead()
    if context.isDeletedInParent(state) { return false }
    return state.isInserted || !state.edits.isEmpty || context.isUnconfirmedDelete(state)
  }

  /// The value of a property by its number; null if the entity does not have it. A to-many that is stored at its
  /// other end has the members that this context holds.
  public func value(_ property: PropertyNumber) -> Value {
    guard let property = entity.property(property) else { return .null }
    state.registerRead(of: property, in: context)
    return context.value(property, of: state)
  }

  /// Sets a property by its number; the edit stays in this context until `save`.
  ///
  /// The server validates the value, not the context. A property that the entity does not have is ignored, and so is
  /// a value that a transient attribute can't hold. A transient attribute's value lasts as long as this context holds
  /// the object, and is never saved.
  public func setValue(_ value: Value, for property: PropertyNumber) {
    if let property = entity.property(property) { context.set(value, property, of: state) }
  }

  /// The value of a property by its name.
  public subscript(name: String) -> Value {
    get {
      guard let property = entity.property(named: name) else { return .null }
      state.registerRead(of: property, in: context)
      return context.value(property, of: state)
    }
    set {
      if let property = entity.property(named: name) { context.set(newValue, property, of: state) }
    }
  }

  /// The object at the other end of a to-one. It is a fault if this context does not hold it, nil if there is none.
  public func object<Destination: ManagedObject>(_ property: PropertyNumber, _: Destination.Type) -> Destination? {
    value(property).objectID.flatMap { context.fault($0) as? Destination }
  }

  /// The objects at the other end of a to-many.
  ///
  /// If this end stores the relationship, these are all of them, faults included. If the other end does, they are
  /// those that this context holds, which are all of them when `isLoaded` is true. An ordered relationship is in
  /// order, unsaved moves included.
  public func objects<Destination: ManagedObject>(_ property: PropertyNumber, _: Destination.Type) -> [Destination] {
    guard let property = entity.property(property) else { return [] }
    state.registerRead(of: property, in: context)
    return context.related(to: state, through: property).compactMap { context.fault($0) as? Destination }
  }

  /// Adds to a relationship from either end; the edit stays in this context until `save`.
  public func add(_ other: ManagedObject, to property: PropertyNumber) {
    if let property = entity.property(property) {
      context.connect(state, context.localState(of: other), through: property)
    }
  }

  /// Inserts an object into an ordered relationship directly after `other`; nil is the beginning.
  ///
  /// An object that is already a member moves. The edit stays in this context until `save`. It does not conflict with
  /// inserts and moves by other clients: all of them are kept, and the server's order applies to every client. If
  /// `other` is not a member by then, the object goes to the end.
  public func insert(_ object: ManagedObject, into property: PropertyNumber, after other: ManagedObject?) {
    if let property = entity.property(property) {
      context.insert(
        context.localState(of: object), into: state, property, after: other.map { context.localState(of: $0) })
    }
  }

  /// Moves a member of an ordered relationship directly after `other`; nil is the beginning.
  ///
  /// Like `insert`, except that an object that is not a member is ignored.
  public func move(_ object: ManagedObject, in property: PropertyNumber, after other: ManagedObject?) {
    guard let known = entity.property(property), context.related(to: state, through: known).contains(object.id) else {
      return
    }
    insert(object, into: property, after: other)
  }

  /// Removes from a relationship from either end; the edit stays in this context until `save`.
  public func remove(_ other: ManagedObject, from property: PropertyNumber) {
    if let property = entity.property(property) {
      context.disconnect(state, context.localState(of: other), through: property)
    }
  }
}

/// The state that a context passes to a managed object's initializer; only a context can make one.
public struct ObjectStateToken {
  let state: ObjectState
}
