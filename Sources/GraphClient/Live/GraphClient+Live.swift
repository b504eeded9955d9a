// Tests: LiveSequenceTests.swift, LiveResultsTests.swift, LiveQueryTests.swift
import GraphControllers
import GraphModel
import GraphReplica

/// Live queries as sequences of snapshots, as observable results, and as handles.
extension GraphClient {
  // MARK: - Sequences

  /// Follows the objects of a class that satisfy a predicate: `for try await notes in client.live(Note.self, where: {
  /// $0.number > 3 }, sort: [\.number]) { show(notes) }`.
  /// - Parameters:
  ///   - sort: the most significant key first; a path sorts ascending. Ids break ties.
  ///   - section: the path whose value the objects of a section share, with the order of the sections.
  ///   - offset: the number of objects to skip; with a limit only.
  ///   - limit: the maximum number of objects, from 1 to 1,000, of a long result. It sorts by the object's own
  ///     properties, and has no sections. Nil for all of them.
  ///   - prefetch: relationships to load with the objects, beside those of `sort`. Each snapshot has them.
  /// - Returns: snapshots. `.now` in the predicate is the time of this call.
  public func live<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [],
    section: ((ObjectPath<Object, ExactlyOne>) -> any SortOrderKey)? = nil, offset: Int = 0, limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) -> LiveSequence<Object> {
    LiveSequence(
      request(type, GraphPredicate(type, where: predicate), sort, section, offset, limit, prefetch), of: self)
  }

  /// Follows the objects of a class for which an attribute is true: `client.live(Note.self, where: { $0.pinned })`.
  public func live<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [],
    section: ((ObjectPath<Object, ExactlyOne>) -> any SortOrderKey)? = nil, offset: Int = 0, limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) -> LiveSequence<Object> {
    live(
      type, where: { attribute($0).isTrue }, sort: sort, section: section, offset: offset, limit: limit,
      prefetch: prefetch)
  }

  // MARK: - Observable results

  /// The objects of a class that satisfy a predicate, as an observable object that stays current. It is empty until the
  /// first result has arrived. The parameters are those of `live`.
  public func liveResults<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [],
    section: ((ObjectPath<Object, ExactlyOne>) -> any SortOrderKey)? = nil, offset: Int = 0, limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) -> LiveResults<Object> {
    LiveResults(
      request(type, GraphPredicate(type, where: predicate), sort, section, offset, limit, prefetch), of: self)
  }

  /// The objects of a class for which an attribute is true, as an observable object that stays current.
  public func liveResults<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [],
    section: ((ObjectPath<Object, ExactlyOne>) -> any SortOrderKey)? = nil, offset: Int = 0, limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) -> LiveResults<Object> {
    liveResults(
      type, where: { attribute($0).isTrue }, sort: sort, section: section, offset: offset, limit: limit,
      prefetch: prefetch)
  }

  // MARK: - Handles

  /// Follows the objects of a class that satisfy a predicate; returns when the first result has arrived.
  /// - Parameter prefetch: relationships to load with its objects, and with those that join it later.
  /// - Throws: `Refusal`; `CancellationError` if the task is cancelled.
  public func subscribe<Object: ManagedObject>(
    to type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> LiveQueryHandle {
    LiveQueryHandle(try await follow(type, where: predicate, prefetch: prefetch), of: self)
  }

  /// Follows a part of the objects of a class that satisfy a predicate, in an order. Returns when its first rows have
  /// arrived.
  /// - Parameters:
  ///   - sort: over the object's own properties; ids break ties.
  ///   - offset: the number of rows to skip.
  ///   - limit: the maximum number of rows, from 1 to 1,000.
  ///   - prefetch: relationships to load with its objects, and with those that join it later.
  /// - Throws: `Refusal`: `limit` for too many rows, or for a query that the server can't keep in order; `malformed`
  ///   for an order over relationships. `CancellationError` if the task is cancelled.
  public func subscribe<Object: ManagedObject>(
    to type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey], offset: Int = 0, limit: Int,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> LiveQueryHandle {
    let query = try await follow(
      try entity(of: type), where: GraphPredicate(type, where: predicate), sort: [SortKey](type, by: sort),
      offset: offset, limit: limit, prefetch: RelationshipTree(type, prefetch))
    return LiveQueryHandle(query, of: self)
  }

  /// Follows the objects of a class for which an attribute is true; returns when the first result has arrived.
  public func subscribe<Object: ManagedObject, Cardinality: SingleCardinality>(
    to type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> LiveQueryHandle {
    try await subscribe(to: type, where: { attribute($0).isTrue }, prefetch: prefetch)
  }

  /// Follows a part of the objects of a class for which an attribute is true, in an order.
  public func subscribe<Object: ManagedObject, Cardinality: SingleCardinality>(
    to type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey], offset: Int = 0, limit: Int,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> LiveQueryHandle {
    try await subscribe(
      to: type, where: { attribute($0).isTrue }, sort: sort, offset: offset, limit: limit, prefetch: prefetch)
  }

  /// Follows a query of an entity that is known only at run time; returns when its first result has arrived.
  /// - Parameter prefetch: relationships to load with its objects, and with those that join it later. Observers
  ///   receive such an object immediately, and the objects that were loaded for it as `refreshed`.
  /// - Throws: `Refusal`; `CancellationError` if the task is cancelled.
  public func subscribe(
    to entity: Entity, where predicate: GraphPredicate = .always, prefetch: RelationshipTree = .none
  ) async throws -> LiveQueryHandle {
    LiveQueryHandle(try await follow(entity, where: predicate, prefetch: prefetch), of: self)
  }

  /// Follows a part of a query's ordered result, of an entity that is known only at run time. Returns when its first
  /// rows have arrived.
  /// - Parameters:
  ///   - sort: over the object's own properties; ids break ties.
  ///   - offset: the number of rows to skip.
  ///   - limit: the maximum number of rows, from 1 to 1,000.
  ///   - prefetch: relationships to load with its objects, and with those that join it later.
  /// - Throws: as the form for a class.
  public func subscribe(
    to entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey], offset: Int = 0, limit: Int,
    prefetch: RelationshipTree = .none
  ) async throws -> LiveQueryHandle {
    let query = try await follow(
      entity, where: predicate, sort: sort, offset: offset, limit: limit, prefetch: prefetch)
    return LiveQueryHandle(query, of: self)
  }

  // MARK: - Requests

  private func request<Object: ManagedObject>(
    _ type: Object.Type, _ predicate: GraphPredicate, _ sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey],
    _ section: ((ObjectPath<Object, ExactlyOne>) -> any SortOrderKey)?, _ offset: Int, _ limit: Int?,
    _ prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath]
  ) -> ResultsRequest {
    precondition(limit == nil || section == nil, "a query with a limit has no sections")
    precondition(limit != nil || offset == 0, "a query with an offset needs a limit")
    guard let entity = context.model.entity(named: type.entityName) else {
      preconditionFailure("the model \(context.model.name) has no entity \(type.entityName)")
    }
    let sectionKey = section.map { [SortKey](type, by: [$0]) }?.first
    let order = [sectionKey].compactMap(\.self) + [SortKey](type, by: sort)
    let loaded = RelationshipTree(type, prefetch)
    var request = ResultsRequest(
      entity: entity.number, predicate: predicate.bound(now: Self.now), sort: order, section: sectionKey?.path,
      // The order reads the objects at the ends of its paths.
      prefetch: order.reduce(loaded) { $0.adding($1.path.relationships) })
    request.window = limit.map { ResultsWindow(offset: offset, limit: $0) }
    return request
  }
}

extension GraphPredicate.Path {
  /// The relationships that the path follows, with the to-many that it counts.
  fileprivate var relationships: [PropertyNumber] {
    switch end {
    case .property, .identifier: hops
    case .count(let members), .aggregate(_, let members, _): hops + [members]
    }
  }
}
