// Tests: FetchingTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Fetches: objects, faults, counts, ids, and values of objects or of groups of them.
extension GraphClient: GraphReader {
  // MARK: - Objects

  /// Reads objects chunk by chunk: at most one chunk is in memory, in addition to the objects that the caller keeps.
  /// - Parameters:
  ///   - after: the cursor of an earlier page of the same order; can't be combined with `offset`.
  ///   - revision: a revision of the past; nil for the present.
  public func images(
    of entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    offset: Int = 0, after: FetchCursor? = nil, at revision: Revision? = nil
  ) -> ReplyStream {
    stream(wireFetch(entity, predicate, sort, limit, offset, after, at: revision))
  }

  /// The objects of a fetch of the present, chunk by chunk.
  public func chunks(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], limit: Int?
  ) -> ReplyStream {
    images(of: entity, where: predicate, sort: sort, limit: limit)
  }

  // MARK: - Counts and ids

  /// The number of objects.
  public func count(
    of entity: Entity, where predicate: GraphPredicate = .always, at revision: Revision? = nil
  ) async throws -> Int {
    var fetch = wireFetch(entity, predicate, at: revision)
    fetch.result = .count
    return try await count(fetch)
  }

  /// The ids of objects, in order, without their values.
  public func identifiers(
    of entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    offset: Int = 0, after: FetchCursor? = nil, at revision: Revision? = nil
  ) async throws -> [ObjectID] {
    var fetch = wireFetch(entity, predicate, sort, limit, offset, after, at: revision)
    fetch.result = .identifiers
    var ids = [ObjectID]()
    for try await chunk in stream(fetch) { ids += chunk.map(\.id) }
    return ids
  }

  /// The ids of objects, with predicate and order in their text forms.
  public func identifiers<Object: ManagedObject>(
    of type: Object.Type, where text: String = "", sort: String = "", limit: Int? = nil, offset: Int = 0
  ) async throws -> [ObjectID] {
    let entity = try entity(of: type)
    return try await identifiers(
      of: entity, where: try predicate(text, entity), sort: try order(sort, entity), limit: limit, offset: offset)
  }

  // MARK: - Rows

  /// Reads values of objects, or of groups of them, chunk by chunk.
  /// - Parameters:
  ///   - properties: the columns: `name, department.name, salary * 12 AS yearly`; for groups the grouping columns and
  ///     `@count`, `@sum.salary`, `@avg.…`, `@min.…`, `@max.…`.
  ///   - groups: the columns to group by; empty for no groups, or for one group of all objects if a column is an
  ///     aggregate.
  ///   - distinct: return equal rows once.
  ///   - sort: paths as in any order; for groups and distinct rows the names of columns.
  /// - Returns: rows; the server's `Refusal` of an invalid fetch is thrown with the first of them.
  public func rows(
    of entity: Entity, _ properties: String, where predicate: GraphPredicate = .always, groupBy groups: String = "",
    distinct: Bool = false, sort: String = "", limit: Int? = nil, offset: Int = 0, after: FetchCursor? = nil,
    at revision: Revision? = nil
  ) -> RowStream {
    var fetch = wireFetch(entity, predicate, [], limit, offset, after, at: revision)
    (fetch.result, fetch.properties, fetch.groupBy, fetch.distinct) = (.rows, properties, groups, distinct)
    fetch.sort = sort
    return self.rows(fetch)
  }

  // MARK: - Pages

  /// Reads objects page by page. Each page is a separate request on demand, and begins after the last object of the
  /// previous page. Inserts and deletes of other clients in between neither repeat nor skip other objects.
  /// - Parameters:
  ///   - text: a predicate in its text form; empty for all objects.
  ///   - sort: an order in its text form; empty for the order of ids.
  ///   - size: the number of objects of a page; the last page may have fewer.
  ///   - prefetch: relationships to load with each page: `[\.board.owner, \.tags]`.
  public func pages<Object: ManagedObject>(
    of type: Object.Type, where text: String = "", sort: String = "", size: Int,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) throws -> PageSequence<Object> {
    let entity = try entity(of: type)
    let tree = RelationshipTree(type, prefetch)
    return pages(
      of: entity, where: try predicate(text, entity), sort: try order(sort, entity), size: size, prefetch: tree)
  }

  private func pages<Object: ManagedObject>(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], size: Int, prefetch: RelationshipTree = .none
  ) -> PageSequence<Object> {
    precondition(size > 0, "a page needs at least one object")
    // Without a capture list, as `spawn` demands of an async closure.
    return PageSequence { cursor in
      let batch = FetchBatch(readAt: self.context.publishedRevision)
      let stream = self.images(of: entity, where: predicate, sort: sort, limit: size, after: cursor)
      var objects = [Object]()
      for try await chunk in stream { objects += self.context.register(chunk, in: batch).compactMap { $0 as? Object } }
      try await self.load(prefetch, of: objects)
      return Page(objects: objects, next: stream.next, at: stream.token)
    }
  }

  /// Reads objects page by page without the context.
  public func pages(
    of entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey] = [], size: Int
  ) -> PageSequence<ObjectImage> {
    precondition(size > 0, "a page needs at least one object")
    // Without a capture list, as `spawn` demands of an async closure.
    return PageSequence { cursor in
      let stream = self.images(of: entity, where: predicate, sort: sort, limit: size, after: cursor)
      var objects = [ObjectImage]()
      for try await chunk in stream { objects += chunk }
      return Page(objects: objects, next: stream.next, at: stream.token)
    }
  }

  // MARK: - As it travels

  /// The objects of any fetch.
  public func stream(_ fetch: Fetch) -> ReplyStream { openReply(to: .fetch(fetch)) }

  // MARK: - Predicates that the compiler checks

  /// The ids of the objects of a class that satisfy a predicate, in order, without their values.
  public func identifiers<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], limit: Int? = nil, offset: Int = 0
  ) async throws -> [ObjectID] {
    let (condition, order) = (GraphPredicate(type, where: predicate), [SortKey](type, by: sort))
    return try await identifiers(of: try entity(of: type), where: condition, sort: order, limit: limit, offset: offset)
  }

  /// Reads the objects of a class that satisfy a predicate page by page, as the text form does.
  /// - Parameters:
  ///   - size: the number of objects of a page; the last page may have fewer.
  ///   - prefetch: relationships to load with each page: `[\.board.owner, \.tags]`.
  public func pages<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], size: Int,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) throws -> PageSequence<Object> {
    let (condition, order) = (GraphPredicate(type, where: predicate), [SortKey](type, by: sort))
    let tree = RelationshipTree(type, prefetch)
    return pages(of: try entity(of: type), where: condition, sort: order, size: size, prefetch: tree)
  }

  /// Reads the objects of a class for which an attribute is true page by page: `where: { $0.pinned }`.
  public func pages<Object: ManagedObject, Cardinality: SingleCardinality>(
    of type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], size: Int,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) throws -> PageSequence<Object> {
    try pages(of: type, where: { attribute($0).isTrue }, sort: sort, size: size, prefetch: prefetch)
  }

  /// Reads all objects of a class page by page.
  public func pages<Object: ManagedObject>(
    of type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey], size: Int,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) throws -> PageSequence<Object> {
    try pages(of: type, where: { _ in .always }, sort: sort, size: size, prefetch: prefetch)
  }

  /// The ids of the objects of a class for which an attribute is true, in order, without their values.
  public func identifiers<Object: ManagedObject, Cardinality: SingleCardinality>(
    of type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], limit: Int? = nil, offset: Int = 0
  ) async throws -> [ObjectID] {
    try await identifiers(of: type, where: { attribute($0).isTrue }, sort: sort, limit: limit, offset: offset)
  }

  /// The ids of all objects of a class, or of the first of them, in order, without their values.
  public func identifiers<Object: ManagedObject>(
    of type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey], limit: Int? = nil,
    offset: Int = 0
  ) async throws -> [ObjectID] {
    try await identifiers(of: type, where: { _ in .always }, sort: sort, limit: limit, offset: offset)
  }

  // MARK: - Faults

  /// The objects that satisfy a predicate, without their values: one request, which returns ids. Objects that the
  /// context holds are returned as they are, all others as faults.
  public func faults<Object: ManagedObject>(
    of type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    let ids = try await identifiers(of: try entity(of: type), where: predicate, sort: sort, limit: limit)
    return context.faults(ids).compactMap { $0 as? Object }
  }

  /// The same with a predicate and an order that the compiler checks.
  public func faults<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    let (predicate, order) = (GraphPredicate(type, where: predicate), [SortKey](type, by: sort))
    return try await faults(of: type, where: predicate, sort: order, limit: limit)
  }

  /// The same for an attribute that is true: `where: { $0.pinned }`.
  public func faults<Object: ManagedObject, Cardinality: SingleCardinality>(
    of type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    try await faults(of: type, where: { attribute($0).isTrue }, sort: sort, limit: limit)
  }

  /// The same for all objects of a class, or the first of them.
  public func faults<Object: ManagedObject>(
    of type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey], limit: Int? = nil
  ) async throws -> [Object] {
    try await faults(of: type, where: { _ in .always }, sort: sort, limit: limit)
  }

  /// Waits for a load of the context; all loads of the same turn of the actor are sent together. The server stops
  /// reading for a load when the tasks of all callers that wait for it are cancelled.
  /// - Throws: `Refusal`, `unavailable` when there is no connection; `CancellationError` if the task is cancelled.
  package func fill(_ load: LoadID) async throws {
    guard state != .closed else { throw Refusal(.unavailable, "the connection is closed") }
    try await wait(for: load)
  }
}

extension GraphClient: LoadOwner {
  func sendCollectedLoads() {
    mailbox.post { client in
      client.loadWaiters.endCollection()
      client.context.sendLoads()
      client.perform()
    }
  }
}
