// Tests: TypedFetchTests.swift
import GraphModel
import GraphReplica

/// Fetches whose predicate is one attribute that is true or false: `client.fetch(Note.self, where: { $0.pinned })`.
extension GraphReader {
  /// Reads the objects of a class for which an attribute is true into the context.
  /// - Parameters:
  ///   - sort: the most significant key first.
  ///   - prefetch: relationships to load with them: `[\.board.owner, \.tags]`.
  /// - Throws: `Refusal`.
  public func fetch<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> [Object] {
    try await fetch(type, where: { attribute($0).isTrue }, sort: sort, limit: limit, prefetch: prefetch)
  }

  /// Reads the first object for which an attribute is true into the context; nil if there is none.
  public func fetchOne<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [],
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> Object? {
    try await fetchOne(type, where: { attribute($0).isTrue }, sort: sort, prefetch: prefetch)
  }

  /// The number of objects of a class for which an attribute is true.
  public func count<Object: ManagedObject, Cardinality: SingleCardinality>(
    of type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>
  ) async throws -> Int {
    try await count(of: type, where: { attribute($0).isTrue })
  }

  /// Whether an attribute is true for an object of a class. The server stops at the first one.
  public func exists<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>
  ) async throws -> Bool {
    try await exists(type, where: { attribute($0).isTrue })
  }

  /// Reads values of the objects of a class for which an attribute is true.
  public func rows<Object: ManagedObject, Cardinality: SingleCardinality, each Output>(
    of type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], distinct: Bool = false, limit: Int? = nil,
    @RowBuilder columns: (ObjectPath<Object, ExactlyOne>) -> TypedRow<repeat each Output>
  ) async throws -> [(repeat each Output)] {
    try await rows(
      of: type, where: { attribute($0).isTrue }, sort: sort, distinct: distinct, limit: limit, columns: columns)
  }

  /// Reads aggregates of groups of the objects for which an attribute is true.
  public func groups<Object: ManagedObject, Cardinality: SingleCardinality, each Output>(
    of type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any GroupOrderKey] = [], limit: Int? = nil,
    @RowBuilder columns: (ObjectPath<Object, ExactlyOne>) -> TypedRow<repeat each Output>
  ) async throws -> [(repeat each Output)] {
    try await groups(of: type, where: { attribute($0).isTrue }, sort: sort, limit: limit, columns: columns)
  }

  /// Reads rows of the objects of a class for which an attribute is true as values of a `Decodable` type.
  public func fetch<Object: ManagedObject, Row: Decodable, Cardinality: SingleCardinality>(
    _ type: Object.Type, _ columns: String, as row: Row.Type,
    where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    groupBy groups: String = "", distinct: Bool = false, sort: String = "", limit: Int? = nil
  ) async throws -> [Row] {
    try await fetch(
      type, columns, as: row, where: { attribute($0).isTrue }, groupBy: groups, distinct: distinct, sort: sort,
      limit: limit)
  }
}
