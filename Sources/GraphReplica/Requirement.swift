import GraphModel

/// What a save demands of an object: that no other client has changed it since it was read here. If one has, the whole save
/// is refused as a conflict, under every merge policy.
///
/// A merge policy decides which of two values stays, and two equal values are no conflict. A requirement protects a value
/// that was calculated from what was read: a counter, a ticket, a lease.
public struct Requirement {
  let object: ManagedObject
  /// Empty for the object as a whole; 0 for a name that the entity does not have, which the server refuses.
  let properties: [PropertyNumber]

  /// The object is as it was read: when the unsaved edits of it were begun, or else at the save.
  /// - Parameters:
  ///   - object: one that was saved before. Of a new object nothing is required.
  ///   - properties: the names of those that the save depends on, which the object stores itself; none for all of them.
  public static func unchanged(_ object: ManagedObject, _ properties: String...) -> Requirement {
    Requirement(
      object: object, properties: properties.map { object.entity.property(named: $0)?.number ?? 0 })
  }
}

extension Requirement {
  /// The requirement with the revision at which its object was read, as the save that is being made says it.
  func precondition() -> (state: ObjectState, condition: Precondition)? {
    let state = object.state
    if state.isInserted { return nil }
    let read = state.edits.isEmpty && !state.isDeleted ? state.revision : state.base
    return (state, Precondition(revision: read, properties: properties))
  }
}
