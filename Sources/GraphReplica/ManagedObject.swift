import GraphModel

/// A local stand-in for an object of the served graph. Reads are local; writes are kept by the context and travel as
/// one transaction when it saves. One face per id and context.
///
/// A context and its objects belong together on one actor; neither is `Sendable`, and the compiler holds them there.
open class ManagedObject {
  /// The name of the entity that the class stands for. Generated classes override it.
  open class var entityName: String { "" }

  /// The context that the object belongs to; it must outlive the object.
  public unowned let context: ObjectContext
  /// Another one when the object turns out to be one that the context held already.
  var state: ObjectState
  /// What was loaded for it and others; it goes when none of them is held any more.
  var companions = [RelationshipTree: Companions]()

  /// Called by the context alone, which makes one face for each id.
  public required init(state: ObjectStateToken, context: ObjectContext) {
    self.state = state.state
    self.context = context
  }

  /// Permanent from the moment that the save is answered.
  public var id: ObjectID { state.id }

  /// The concrete entity.
  public var entity: Entity { state.entity }

  /// The revision of the object's last change; 0 before the first save.
  public var revision: Revision { state.revision }

  /// Made here and not confirmed by the server yet.
  public var isInserted: Bool { state.isInserted }

  /// Deleted, here or by someone else, or taken back by `rollback`: edits of it change nothing.
  public var isDeleted: Bool { state.isDeleted }

  /// Whether it is new, deleted or edited here, and not confirmed.
  public var hasChanges: Bool { state.isInserted || state.isDeleted || !state.edits.isEmpty }

  /// The value of a property by its number; null for one that the entity does not have. A to-many that is stored at
  /// its other end has those that this context holds.
  public func value(_ property: PropertyNumber) -> Value {
    entity.property(property).map { context.value($0, of: state) } ?? .null
  }

  /// Sets a property by its number, until `save` in this context only. Not checked here: the server validates. A
  /// property that the entity does not have is passed over, and so is a value that a transient attribute can't hold. A
  /// transient attribute's value stays in this context for as long as it holds the object, and is never saved.
  public func setValue(_ value: Value, for property: PropertyNumber) {
    guard let property = entity.property(property) else { return }
    context.set(value, property, of: state)
  }

  /// The value of a property by its name.
  public subscript(name: String) -> Value {
    get { entity.property(named: name).map { context.value($0, of: state) } ?? .null }
    set {
      guard let property = entity.property(named: name) else { return }
      context.set(newValue, property, of: state)
    }
  }

  /// The object at the other end of a to-one: a fault when this context does not hold it, nil when there is none.
  public func object<Destination: ManagedObject>(_ property: PropertyNumber, _: Destination.Type) -> Destination? {
    value(property).objectID.flatMap { context.fault($0) as? Destination }
  }

  /// The objects at the other end of a to-many: where this end stores them all of them, faults among them; where the other
  /// end does, those that this context holds, which are all when `isLoaded` says so. Of an ordered one, in order, with
  /// what was moved here and is not saved yet.
  public func objects<Destination: ManagedObject>(_ property: PropertyNumber, _: Destination.Type) -> [Destination] {
    guard let property = entity.property(property) else { return [] }
    return context.related(to: state, through: property).compactMap { context.fault($0) as? Destination }
  }

  /// Adds to a relationship from whichever end, until `save` in this context only.
  public func add(_ other: ManagedObject, to property: PropertyNumber) {
    guard let property = entity.property(property) else { return }
    context.connect(state, context.own(other), through: property)
  }

  /// Puts an object into an ordered relationship right behind `other`, or at the beginning for nil; one that is a member
  /// already moves. Until `save` in this context only. Nobody else's inserts and moves conflict with it: all of them stay,
  /// and the server's order is everybody's. When `other` is no member by then, the object goes to the end.
  public func insert(_ object: ManagedObject, into property: PropertyNumber, after other: ManagedObject?) {
    guard let property = entity.property(property) else { return }
    context.insert(context.own(object), into: state, property, after: other.map { context.own($0) })
  }

  /// Moves a member of an ordered relationship right behind `other`, or to the beginning for nil, as `insert` does; an
  /// object that is no member is passed over.
  public func move(_ object: ManagedObject, in property: PropertyNumber, after other: ManagedObject?) {
    guard let known = entity.property(property), context.related(to: state, through: known).contains(object.id) else {
      return
    }
    insert(object, into: property, after: other)
  }

  /// Takes out of a relationship from whichever end, until `save` in this context only.
  public func remove(_ other: ManagedObject, from property: PropertyNumber) {
    guard let property = entity.property(property) else { return }
    context.disconnect(state, context.own(other), through: property)
  }
}

/// What a context hands a managed object to stand on; nobody else can make one.
public struct ObjectStateToken {
  let state: ObjectState
}
