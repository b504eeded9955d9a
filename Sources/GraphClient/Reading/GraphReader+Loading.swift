import GraphModel
import GraphReplica

/// Filling faults and following relationships. What is asked for in the same turn of the main actor, by however many
/// tasks, goes out together: a request for each family of entities and each thousand objects, never one for each object.
extension GraphReader {
  /// Fills a fault, and with it as many other faults of its kind that the program holds as one request takes. Does
  /// nothing for an object that is none. One that the server does not have `isDeleted` afterwards.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load(_ object: ManagedObject) async throws {
    guard object.isFault else { return }
    try await fill(context.load([object], bringsOthers: true))
  }

  /// Fills the faults among some objects.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load(_ objects: [ManagedObject]) async throws {
    guard objects.contains(where: \.isFault) else { return }
    try await fill(context.load(objects))
  }

  /// Reads what relationships lead to from some objects: a request for each step of a path and each thousand objects that
  /// it starts from or leads to. What comes is kept as long as one of the objects is.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load(_ tree: RelationshipTree, of objects: [ManagedObject]) async throws {
    guard !tree.isEmpty, !objects.isEmpty else { return }
    try await fill(context.load(tree, of: objects))
  }

  /// The same with paths that the compiler checks: `load([\.board.owner, \.tags], of: notes)`.
  public func load<Object: ManagedObject>(
    _ paths: [(ObjectPath<Object, ToLoad>) -> any LoadPath], of objects: [Object]
  ) async throws {
    let tree = RelationshipTree(Object.self, paths)
    try await load(tree, of: objects)
  }

  /// The object that a path of to-ones leads to, with its values. When it is not here, it is read, and with it what the
  /// path leads to from the objects that came together with this one: a loop over a list asks once for each thousand.
  /// - Returns: nil when the path leads to no object.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func load<Object: ManagedObject, Destination: ManagedObject>(
    _ path: (ObjectPath<Object, ToLoad>) -> ObjectPath<Destination, ToLoad>, of object: Object
  ) async throws -> Destination? {
    if let load = context.load(RelationshipTree(Object.self, path), of: object) { try await fill(load) }
    return context.object(at: path, from: object)
  }

  /// All objects that a path leads to, with their values: to-ones, and at its end a to-many. Otherwise as for a path of
  /// to-ones.
  public func load<Object: ManagedObject, Destination: ManagedObject>(
    _ path: (ObjectPath<Object, ToLoad>) -> ToManyPath<Destination, ToLoad>, of object: Object
  ) async throws -> [Destination] {
    if let load = context.load(RelationshipTree(Object.self, path), of: object) { try await fill(load) }
    return context.objects(at: path, from: object)
  }
}
