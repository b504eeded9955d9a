import GraphModel
import GraphReplica

/// Live queries whose conditions and orders the compiler checks: `{ $0.color == .yellow && $0.tags.count > 2 }`.
extension GraphClient {
  /// Follows the objects of a class that satisfy a predicate; returns when the first result is there.
  public func follow<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, Here>) -> TypedPredicate = { _ in .always },
    prefetching: [(ObjectPath<Object, ToLoad>) -> any LoadPath] = []
  ) async throws -> QueryID {
    let (condition, tree) = (GraphPredicate(type, where: predicate), RelationshipTree(type, prefetching))
    return try await follow(try entity(of: type), where: condition, prefetching: tree)
  }
}
