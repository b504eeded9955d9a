import GraphModel

/// Faults: objects of which the context knows only the id.
///
/// A related object that the context does not hold is a fault, so that a reference never looks as if it were missing.
/// A load, a query or a fetch fills it; the instance stays the same.
extension ManagedObject {
  /// Whether the context knows only the object's id.
  ///
  /// Values of a fault read as the model's defaults or null, its relationships as empty. Reading never waits; load
  /// the object to fill it. An edit of a fault is made without knowledge of its value, and conflicts with any earlier
  /// change by another client.
  public var isFault: Bool { state.isFault }

  /// Whether the context holds all objects at the other end of a relationship with their values.
  ///
  /// A to-many that is stored at its other end is loaded if all members were loaded and are still kept. Objects that
  /// join later arrive only by a query or another load.
  public func isLoaded(_ property: PropertyNumber) -> Bool {
    entity.property(property).map { context.isLoaded($0, of: state) } ?? true
  }
}

extension ObjectState {
  var isFault: Bool { !isDeleted && (parentState?.isFault ?? (stored == nil && !isInserted)) }
}

extension ObjectContext {
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
    if relationship.storage == .inverse { return state.loadedMembers[property.number]?.areHeld ?? false }
    return state.value(property).objectIDs.allSatisfy { self.state($0).map { !$0.isFault } ?? $0.isTemporary }
  }
}

/// Objects that arrived together, in one fetch or load. A load for one of them covers all of them, since a program
/// that reads one row of a list will read the next.
public final class FetchBatch {
  var members = [ObjectID]()
  /// The index of each member.
  private var places = [ObjectID: Int]()

  /// An empty batch; `ObjectContext.register` adds objects.
  public init() {}

  func add(_ id: ObjectID) {
    if places.updateValue(members.count, forKey: id) == nil { members.append(id) }
  }

  /// All members, beginning at one of them and wrapping around.
  func members(from id: ObjectID) -> some Sequence<ObjectID> {
    let start = min(places[id] ?? 0, members.count)
    return [members[start...], members[..<start]].joined()
  }
}

/// Keeps objects that were loaded for others, as long as one of those others is held.
final class RetainedObjects {
  private(set) var states = [ObjectID: ObjectState]()

  func hold(_ state: ObjectState) { states[state.id] = state }

  func holds(_ id: ObjectID) -> Bool { states[id] != nil }
}

/// A to-many whose members were all loaded. They are held as long as one of the holders exists.
struct LoadedMembers {
  private struct Holder {
    weak var companions: RetainedObjects?
  }

  private var holders: [Holder]

  init(_ holders: [RetainedObjects]) { self.holders = holders.map { Holder(companions: $0) } }

  var areHeld: Bool { holders.contains { $0.companions != nil } }

  mutating func add(_ companions: RetainedObjects) {
    holders.removeAll { $0.companions == nil || $0.companions === companions }
    holders.append(Holder(companions: companions))
  }
}
