// Tests: FaultTests.swift, PrefetchTests.swift
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
    // A property that the entity does not have has nothing to load.
    guard let property = entity.property(property) else { return true }
    return context.isLoaded(property, of: state)
  }
}
