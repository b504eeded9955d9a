// Tests: LoadWaitersTests.swift
import GraphModel
import GraphReplica

/// Fills faults and follows relationships. All loads of the same turn of the main actor, from any number of tasks,
/// share requests: one for each family of entities and each thousand objects, never one for each object.
extension GraphReader {
  /// Fills a fault, together with as many other held faults of its kind as fit into one request.
  ///
  /// Does nothing for an object that is not a fault. If the server does not have the object, `isDeleted` is true
  /// afterwards.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load(_ object: ManagedObject) async throws {
    if object.isFault { try await context.wait(for: context.load([object], bringsOthers: true)) }
  }

  /// Fills the faults among some objects.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load(_ objects: [ManagedObject]) async throws {
    if objects.contains(where: \.isFault) { try await context.wait(for: context.load(objects)) }
  }

  /// Loads the objects that relationships lead to. Each step of a path takes a request for each thousand objects that
  /// it starts from or leads to. The loaded objects are kept as long as one of `objects` is held.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load(_ tree: RelationshipTree, of objects: [ManagedObject]) async throws {
    if !tree.isEmpty, !objects.isEmpty { try await context.wait(for: context.load(tree, of: objects)) }
  }

  /// Loads along paths that the compiler checks: `load([\.board.owner, \.tags], of: notes)`.
  public func load<Object: ManagedObject>(
    _ paths: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath], of objects: [Object]
  ) async throws {
    let tree = RelationshipTree(Object.self, paths)
    try await load(tree, of: objects)
  }

  /// The object that a path of to-ones leads to, with its values.
  ///
  /// An object that is not held is loaded. The request also loads the destinations of the objects that arrived with
  /// `object`, so a loop over a list sends one request for each thousand objects.
  /// - Returns: nil when the path leads to no object.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  @discardableResult
  public func load<Object: ManagedObject, Destination: ManagedObject>(
    _ path: (ObjectPath<Object, ToOneLoad>) -> ObjectPath<Destination, ToOneLoad>, of object: Object
  ) async throws -> Destination? {
    if let load = context.load(RelationshipTree(Object.self, path), of: object) { try await context.wait(for: load) }
    return context.object(at: path, from: object)
  }

  /// All objects that a path of to-ones and a final to-many leads to, with their values. They are loaded like the
  /// object of a path of to-ones.
  @discardableResult
  public func load<Object: ManagedObject, Destination: ManagedObject>(
    _ path: (ObjectPath<Object, ToOneLoad>) -> ToManyPath<Destination, ToOneLoad>, of object: Object
  ) async throws -> [Destination] {
    if let load = context.load(RelationshipTree(Object.self, path), of: object) { try await context.wait(for: load) }
    return context.objects(at: path, from: object)
  }
}
