// Tests: FetchingTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Fetches: objects, faults, counts, ids, and values of objects or of groups of them.
extension GraphClient: GraphReader {
  // MARK: - Objects

  /// Reads objects chunk by chunk: beyond what the caller keeps, at most one chunk is held.
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

  /// The number of objects, with a predicate in its text form; empty for all of them.
  public func count<Object: ManagedObject>(of type: Object.Type, where text: String = "") async throws -> Int {
    let entity = try entity(of: type)
    return try await count(of: entity, where: try predicate(text, entity))
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
    of type: Object.Type, where text: String = "", sort: String = "", limit: Int? = nil
  ) async throws -> [ObjectID] {
    let entity = try entity(of: type)
    return try await identifiers(
      of: entity, where: try predicate(text, entity), sort: try order(sort, entity), limit: limit)
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

  /// Reads values of objects, or of groups of them, all at once.
  public func rows<Object: ManagedObject>(
    of type: Object.Type, _ properties: String, where text: String = "", groupBy groups: String = "",
    distinct: Bool = false, sort: String = "", limit: Int? = nil
  ) async throws -> [FetchedRow] {
    let entity = try entity(of: type)
    var all = [FetchedRow]()
    let rows = rows(
      of: entity, properties, where: try predicate(text, entity), groupBy: groups, distinct: distinct, sort: sort,
      limit: limit)
    for try await chunk in rows { all += chunk }
    return all
  }

  // MARK: - Pages

  /// Reads objects page by page. Each page is a request of its own, made on demand, and continues after the last
  /// object of the previous one. Inserts and deletes of other clients in between neither repeat nor skip other
  /// objects.
  public func pages<Object: ManagedObject>(
    of type: Object.Type, where text: String = "", sort: String = "", size: Int
  ) throws -> PageSequence<Object> {
    let entity = try entity(of: type)
    return pages(of: entity, where: try predicate(text, entity), sort: try order(sort, entity), size: size)
  }

  func pages<Object: ManagedObject>(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], size: Int
  ) -> PageSequence<Object> {
    precondition(size > 0, "a page needs at least one object")
    return PageSequence { [self] cursor in
      let stream = images(of: entity, where: predicate, sort: sort, limit: size, after: cursor)
      var objects = [Object]()
      let batch = FetchBatch()
      for try await chunk in stream { objects += context.register(chunk, in: batch).compactMap { $0 as? Object } }
      return Page(objects: objects, next: stream.next, at: stream.token)
    }
  }

  /// Reads objects page by page without the context.
  public func pages(
    of entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey] = [], size: Int
  ) -> PageSequence<ObjectImage> {
    precondition(size > 0, "a page needs at least one object")
    return PageSequence { [self] cursor in
      let stream = images(of: entity, where: predicate, sort: sort, limit: size, after: cursor)
      var objects = [ObjectImage]()
      for try await chunk in stream { objects += chunk }
      return Page(objects: objects, next: stream.next, at: stream.token)
    }
  }

  // MARK: - As it travels

  /// The objects of any fetch.
  public func stream(_ fetch: Fetch) -> ReplyStream { openReply(to: .fetch(fetch)) }

  /// The rows of any fetch whose result is rows.
  public func rows(_ fetch: Fetch) -> RowStream { RowStream(stream(fetch)) }

  /// The count of any fetch whose result is a count.
  public func count(_ fetch: Fetch) async throws -> Int {
    Int(clamping: try await lastChunk(of: stream(fetch)).count)
  }

  /// How the server executes a fetch. It runs the fetch, and returns none of its objects.
  public func explain(_ fetch: Fetch) async throws -> FetchExplanation {
    var fetch = fetch
    fetch.explain = true
    guard let explanation = try await lastChunk(of: stream(fetch)).chunk.explanation else {
      throw Refusal(.unavailable, "the server sent no explanation")
    }
    return explanation
  }

  /// A fetch in its wire form.
  public func wireFetch(
    _ entity: Entity, _ predicate: GraphPredicate = .always, _ sort: [SortKey] = [], _ limit: Int? = nil,
    _ offset: Int = 0, _ after: FetchCursor? = nil, at revision: Revision? = nil
  ) -> Fetch {
    var fetch = Fetch(
      entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: context.model),
      sort: sort.text(in: context.model), offset: UInt64(offset), at: revision)
    if let limit { fetch.limit = UInt64(limit) }
    if let after { fetch.after = after.bytes }
    return fetch
  }

  private func lastChunk(of stream: ReplyStream) async throws -> (chunk: Chunk, count: UInt64) {
    while let chunk = try await stream.nextWholeChunk() {
      if let end = chunk.end { return (chunk, end.count) }
    }
    throw ReplyStream.incomplete
  }

  // MARK: - Predicates that the compiler checks

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
    sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    let (predicate, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    return try await faults(of: type, where: predicate, sort: order, limit: limit)
  }

  /// Waits for a load of the context; all loads of the same turn of the main actor are sent together.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func fill(_ load: LoadID) async throws {
    guard state != .closed else { throw Refusal(.unavailable, "the connection is closed") }
    try await withCheckedThrowingContinuation { continuation in
      // Otherwise another caller of this turn has begun to collect.
      let beginsCollection = loadWaiters.add(continuation, for: load)
      if beginsCollection {
        Task { [self] in
          loadWaiters.endCollection()
          context.sendLoads()
          perform()
        }
      }
    }
  }
}
