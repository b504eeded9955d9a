import GraphModel
import GraphReplica

/// Live queries, counts, ids and pages whose predicates and orders the compiler checks. Example: `{ $0.color ==
/// .yellow && $0.tags.count > 2 }`.
extension GraphClient {
  /// The number of objects of a class that satisfy a predicate.
  public func count<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) async throws -> Int {
    let condition = GraphPredicate(type, where: predicate)
    return try await count(of: try entity(of: type), where: condition)
  }

  /// The ids of the objects of a class that satisfy a predicate, in order, without their values.
  public func identifiers<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey] = [], limit: Int? = nil
  ) async throws -> [ObjectID] {
    let (condition, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    return try await identifiers(of: try entity(of: type), where: condition, sort: order, limit: limit)
  }

  /// Reads the objects of a class that satisfy a predicate page by page, as the text form does.
  public func pages<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey] = [], size: Int
  ) throws -> PageSequence<Object> {
    let (condition, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    return pages(of: try entity(of: type), where: condition, sort: order, size: size)
  }

  /// Follows the objects of a class that satisfy a predicate; returns when the first result has arrived.
  public func follow<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    prefetching: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> QueryID {
    let (condition, tree) = (GraphPredicate(type, where: predicate), RelationshipTree(type, prefetching))
    return try await follow(try entity(of: type), where: condition, prefetching: tree)
  }

  /// Follows a part of the objects of a class that satisfy a predicate, in an order. Returns when its first rows have
  /// arrived, for `context.window(of:)`.
  /// - Parameters:
  ///   - sort: over the object's own properties; ids break ties.
  ///   - offset: the number of rows to skip.
  ///   - limit: the maximum number of rows, from 1 to 1,000.
  ///   - prefetching: relationships to load with its objects, and with those that join it later.
  /// - Throws: `Refusal`: `limit` for too many rows, or for a query that the server can't keep in order; `malformed`
  ///   for an order over relationships.
  public func follow<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey], offset: Int = 0, limit: Int,
    prefetching: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> QueryID {
    let (condition, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    let tree = RelationshipTree(type, prefetching)
    return try await follow(
      try entity(of: type), where: condition, sort: order, offset: offset, limit: limit, prefetching: tree)
  }
}
