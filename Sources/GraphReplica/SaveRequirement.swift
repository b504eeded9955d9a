import GraphModel

/// A condition of a save: no other client has changed an object since it was read here. If one has, the complete save
/// is refused as a conflict, under every merge policy.
///
/// A merge policy decides which of two values wins, and two equal values do not conflict. A requirement protects a
/// value that was calculated from values that were read: a counter, a ticket, a lease.
public struct SaveRequirement {
  let object: ManagedObject
  /// Empty for the complete object; 0 for a name that the entity does not have. The server refuses 0.
  let properties: [PropertyNumber]

  /// Stands for a name that the entity does not have.
  private static let unknownProperty: PropertyNumber = 0

  /// Requires an object to be as it was read. It was read when its unsaved edits were begun, or at the save if it has
  /// none.
  /// - Parameters:
  ///   - object: a saved object; a new object has no requirement.
  ///   - properties: the names of the properties that the save depends on, which the object stores itself; none for
  ///     all of them.
  public static func unchanged(_ object: ManagedObject, _ properties: String...) -> SaveRequirement {
    SaveRequirement(
      object: object,
      properties: properties.map { name in
        guard let property = object.entity.property(named: name) else { return unknownProperty }
        return property.number
      })
  }
}

extension SaveRequirement {
  /// The precondition, with the revision at which the object was read; nil for a new object.
  func precondition() -> (state: ObjectState, condition: Precondition)? {
    let state = object.state
    if state.isInserted { return nil }
    let read = state.edits.isEmpty && !state.isDeleted ? state.revision : state.base
    // Read in another past, and not since: any change in this one counts.
    return (state, Precondition(revision: read < 0 ? ObjectContext.oldestBase : read, properties: properties))
  }
}
