import GraphModel
import GraphReplica
import GraphWire

/// Fetches and live queries whose conditions the compiler checks: `{ $0.color == .yellow && $0.tags.count > 2 }`.
extension GraphClient {
  /// Reads the objects of a class that satisfy a predicate into the context.
  /// - Parameter sort: the first key counts most: `[\.created.descending, \.name.localized.ascending]`.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, Here>) -> TypedPredicate,
    sort: [(ObjectPath<Object, Here>) -> TypedSortKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    let (predicate, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    return try await fetch(type, where: predicate, sort: order, limit: limit)
  }

  /// Reads all objects of a class into the context, or the first of them.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, sort: [(ObjectPath<Object, Here>) -> TypedSortKey], limit: Int? = nil
  ) async throws -> [Object] {
    let order = [SortKey](type, sort)
    return try await fetch(type, where: .always, sort: order, limit: limit)
  }

  /// Follows the objects of a class that satisfy a predicate; returns when the first result is there.
  public func follow<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, Here>) -> TypedPredicate = { _ in .always }
  ) async throws -> QueryID {
    guard let entity = context.model.entity(named: type.entityName) else {
      throw Refusal(.malformed, "the model has no entity \(type.entityName)")
    }
    let condition = GraphPredicate(type, where: predicate)
    return try await follow(entity, where: condition)
  }
}
