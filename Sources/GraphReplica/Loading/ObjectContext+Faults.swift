import GraphModel

/// Faults: objects of which the context knows the id and nothing else. What a relationship names and the context does not
/// hold is one, so that a link never looks as if it were missing. It is filled when the object is loaded, or when a query
/// or a fetch brings it; the face stays the same.
extension ManagedObject {
  /// The context knows the object's id only: values read as the model's defaults or null, relationships as empty. Reading
  /// never waits; load the object to fill it. What is edited meanwhile was edited unseen: it conflicts with whatever others
  /// have ever set there.
  public var isFault: Bool { state.isFault }

  /// Whether the context holds all objects at the other end of a relationship with their values. For a to-many that is
  /// stored at its other end: that all of them were loaded, and are kept; objects that join later come only by a query
  /// or another load.
  public func isLoaded(_ property: PropertyNumber) -> Bool {
    entity.property(property).map { context.isLoaded($0, of: state) } ?? true
  }
}

extension ObjectState {
  var isFault: Bool { !isDeleted && (under?.isFault ?? (stored == nil && !isInserted)) }
}

extension ObjectContext {
  /// The object of an id: as the context holds it, else a fault. Nil for one that is known to be deleted.
  public func fault(_ id: ObjectID) -> ManagedObject? {
    guard let state = stateOrFault(id), !state.isDeleted else { return nil }
    return face(of: state)
  }

  /// The objects of ids that came together, as the context holds them, else faults; without those known to be deleted.
  public func faults(_ ids: [ObjectID]) -> [ManagedObject] {
    if let parent { return parent.faults(ids).compactMap { fault($0.id) } }
    let batch = FetchBatch()
    return ids.compactMap { id in
      guard let state = stateOrFault(id), !state.isDeleted else { return nil }
      batch.add(id)
      state.batch = batch
      return face(of: state)
    }
  }

  func stateOrFault(_ id: ObjectID) -> ObjectState? {
    if let state = state(id) { return state }
    if parent != nil { return stateOnParent(id) }
    guard !id.isTemporary, let entity = model.entity(id.entity) else { return nil }
    let state = ObjectState(id: id, entity: entity, stored: nil)
    keep(state)
    return state
  }

  func isLoaded(_ property: Property, of state: ObjectState) -> Bool {
    guard let relationship = property.relationship, !state.isInserted else { return true }
    guard !state.isFault else { return false }
    if let under = state.under, let parent { return parent.isLoaded(property, of: under) }
    if relationship.storage == .inverse { return state.loadedMembers[property.number]?.areHeld ?? false }
    return state.value(property).objectIDs.allSatisfy { self.state($0).map { !$0.isFault } ?? $0.isTemporary }
  }
}

/// Objects that came together, by one fetch or one load: what is loaded for one of them is loaded for all, for who reads
/// one row of a list will read the next.
public final class FetchBatch {
  var members = [ObjectID]()
  /// Of each member, its place.
  private var places = [ObjectID: Int]()

  /// A batch without objects; `ObjectContext.register` adds them.
  public init() {}

  func add(_ id: ObjectID) {
    if places.updateValue(members.count, forKey: id) == nil { members.append(id) }
  }

  /// All of them, from one on and round to it again.
  func members(from id: ObjectID) -> some Sequence<ObjectID> {
    let start = min(places[id] ?? 0, members.count)
    return [members[start...], members[..<start]].joined()
  }
}

/// Keeps objects that were loaded for others, for as long as one of those others is held.
final class Companions {
  private(set) var states = [ObjectID: ObjectState]()

  func hold(_ state: ObjectState) { states[state.id] = state }

  func holds(_ id: ObjectID) -> Bool { states[id] != nil }
}

/// All members of a to-many were loaded, and are here as long as one of these holders is.
struct LoadedMembers {
  private struct Holder {
    weak var companions: Companions?
  }

  private var holders: [Holder]

  init(_ holders: [Companions]) { self.holders = holders.map { Holder(companions: $0) } }

  var areHeld: Bool { holders.contains { $0.companions != nil } }

  mutating func add(_ companions: Companions) {
    holders.removeAll { $0.companions == nil || $0.companions === companions }
    holders.append(Holder(companions: companions))
  }
}
