// Tests: TypedFetchTests.swift, FetchingTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// One object, the number of objects, and whether there is any. A count and `exists` transfer no values.
extension GraphReader {
  // MARK: - One object

  /// Reads the first object of an order into the context; nil if no object satisfies the predicate.
  /// - Parameter prefetch: relationships to load with it.
  /// - Throws: `Refusal`.
  public func fetchOne<Object: ManagedObject>(
    _ type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [],
    prefetch: RelationshipTree = .none
  ) async throws -> Object? {
    try await fetch(type, where: predicate, sort: sort, limit: 1, prefetch: prefetch).first
  }

  /// Reads the first object of an order into the context, with a predicate and an order in their text forms.
  public func fetchOne<Object: ManagedObject>(
    _ type: Object.Type, where text: String, sort: String = "",
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> Object? {
    try await fetch(type, where: text, sort: sort, limit: 1, prefetch: prefetch).first
  }

  /// Reads the object of an id into the context; nil if there is none.
  /// - Throws: `Refusal`.
  public func fetchOne<Object: ManagedObject>(
    _ type: Object.Type, id: ObjectID,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> Object? {
    let tree = RelationshipTree(type, prefetch)
    return try await fetchOne(type, where: .identifiers([id]), prefetch: tree)
  }

  /// Reads the first object that satisfies a predicate into the context: `fetchOne(Person.self, where: { $0.number
  /// == 7 })`.
  /// - Parameters:
  ///   - sort: the most significant key first; without one the first object is the one of the smallest id.
  ///   - prefetch: relationships to load with it: `[\.board.owner, \.tags]`.
  public func fetchOne<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [],
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> Object? {
    try await fetch(type, where: predicate, sort: sort, limit: 1, prefetch: prefetch).first
  }

  /// Reads the first object of an order into the context: `fetchOne(Person.self, sort: [\.hired.descending])`.
  public func fetchOne<Object: ManagedObject>(
    _ type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey],
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> Object? {
    try await fetch(type, sort: sort, limit: 1, prefetch: prefetch).first
  }

  /// Reads the object of the smallest id into the context, and the objects that paths lead to from it.
  public func fetchOne<Object: ManagedObject>(
    _ type: Object.Type, prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath]
  ) async throws -> Object? {
    try await fetch(type, limit: 1, prefetch: prefetch).first
  }

  // MARK: - Numbers

  /// The number of objects, with a predicate in its text form; empty for all of them.
  public func count<Object: ManagedObject>(of type: Object.Type, where text: String = "") async throws -> Int {
    let entity = try entity(of: type)
    return try await count(entity, try predicate(text, entity))
  }

  /// The number of objects of a class that satisfy a predicate.
  public func count<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) async throws -> Int {
    let condition = GraphPredicate(type, where: predicate)
    return try await count(try entity(of: type), condition)
  }

  private func count(_ entity: Entity, _ predicate: GraphPredicate) async throws -> Int {
    var fetch = wireFetch(entity, predicate)
    fetch.result = .count
    return try await count(fetch)
  }

  // MARK: - Existence

  /// Whether there is an object, with a predicate in its text form; empty for any object of the class.
  public func exists<Object: ManagedObject>(_ type: Object.Type, where text: String = "") async throws -> Bool {
    let entity = try entity(of: type)
    return try await exists(entity, try predicate(text, entity))
  }

  /// Whether an object of a class satisfies a predicate. The server stops at the first one.
  public func exists<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) async throws -> Bool {
    let condition = GraphPredicate(type, where: predicate)
    return try await exists(try entity(of: type), condition)
  }

  private func exists(_ entity: Entity, _ predicate: GraphPredicate) async throws -> Bool {
    var fetch = wireFetch(entity, predicate, [], 1)
    fetch.result = .identifiers
    var isFound = false
    for try await chunk in stream(fetch) { isFound = isFound || !chunk.isEmpty }
    return isFound
  }
}
