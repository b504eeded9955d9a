// Tests: FaultTests.swift, PrefetchTests.swift
import GraphModel

/// Faults: objects of which the context knows only the id.
///
/// A related object that the context does not hold is a fault, so that a reference never looks as if it were missing.
/// A load, a query or a fetch fills it; the instance stays the same.
extension ManagedObject {
  /// Whether the context knows only the object's id.
  ///
  /// Reading never waits; load the object to fill it. The members of generated classes report a read of a fault
  /// (`ObjectContext.unloadedWasRead`); values by number or name read as the model's defaults or null, relationships as
  /// empty. An edit of a fault is made without knowledge of its value, and conflicts with any earlier change by another
  /// client.
  public var isFault: Bool {
    state.registerRead()
    return state.isFault
  }

  /// Whether the context holds all objects at the other end of a relationship with their values.
  ///
  /// A to-many that is stored at its other end is loaded if all members were loaded and are still kept. Objects that
  /// join later arrive only by a query or another load.
  public func isLoaded(_ property: PropertyNumber) -> Bool {
    // A property that the entity lacks needs no load.
    guard let property = entity.property(property) else { return true }
    state.registerRead(of: property, asksWhetherLoaded: true, in: context)
    return context.isLoaded(property, of: state)
  }

  /// The value of a property, for the members of generated classes: a read of a fault is reported.
  public func loadedValue(_ property: PropertyNumber) -> Value {
    if state.isFault { context.reportRead(property, ofFault: state) }
    return value(property)
  }

  /// The object at the other end of a to-one, for the members of generated classes: a read of a fault is reported. The
  /// object itself may be a fault.
  public func loadedObject<Destination: ManagedObject>(
    _ property: PropertyNumber, _: Destination.Type
  ) -> Destination? {
    loadedValue(property).objectID.flatMap { context.fault($0) as? Destination }
  }

  /// Fills the object if it is a fault, together with other held faults of its kind: a loop over faults sends one
  /// request for each thousand. If the server does not have the object, `isDeleted` is true afterwards.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public nonisolated(nonsending) func load() async throws {
    if isFault { try await context.wait(for: context.load([self], bringsOthers: true)) }
  }
}

/// An object that loads along its own relationships. A protocol, because a path begins at the object's class.
public protocol PathLoading: ManagedObject {}

extension ManagedObject: PathLoading {}

extension PathLoading {
  /// The object that a path of to-ones leads to, with its values: `try await note.load(\.board)`. An object that is not
  /// held is loaded, together with the same relationship of the objects that arrived with this one.
  /// - Returns: nil when the path leads to no object.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  @discardableResult
  public nonisolated(nonsending) func load<Destination: ManagedObject>(
    _ path: (ObjectPath<Self, ToOneLoad>) -> ObjectPath<Destination, ToOneLoad>
  ) async throws -> Destination? {
    let tree = RelationshipTree(Self.self, path)
    if let load = context.load(tree, of: self) { try await context.wait(for: load) }
    return context.object(at: path, from: self)
  }
}
