// Tests: FetchingClientTests.swift
import GraphModel
import GraphReplica

/// Fetches whose predicates the compiler checks: `{ $0.color == .yellow && $0.tags.count > 2 }`.
extension GraphReader {
  /// Reads the objects of a class that satisfy a predicate into the context.
  /// - Parameters:
  ///   - sort: the most significant key first: `[\.created.descending, \.name.localized.ascending]`.
  ///   - prefetch: relationships to load with them: `[\.board.owner, \.tags]`.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> [Object] {
    let (predicate, order) = (GraphPredicate(type, where: predicate), [SortKey](type, by: sort))
    let tree = RelationshipTree(type, prefetch)
    return try await fetch(type, where: predicate, sort: order, limit: limit, prefetch: tree)
  }

  /// Reads all objects of a class into the context, or the first of them.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey], limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> [Object] {
    let (order, tree) = ([SortKey](type, by: sort), RelationshipTree(type, prefetch))
    return try await fetch(type, where: .always, sort: order, limit: limit, prefetch: tree)
  }

  /// Reads all objects of a class into the context, and the objects that paths lead to from them.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, limit: Int? = nil, prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath]
  ) async throws -> [Object] {
    let tree = RelationshipTree(type, prefetch)
    return try await fetch(type, where: .always, sort: [], limit: limit, prefetch: tree)
  }
}
