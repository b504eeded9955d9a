// Tests: FetchingTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// An owner of a context that fills it from the server. A ``GraphClient`` fills it with the present, a ``PastGraph``
/// with the graph as it was. Code that only reads can be written for both.
public protocol GraphReader: AnyObject {
  /// The context of the objects.
  var context: ObjectContext { get }

  /// The objects of a fetch, chunk by chunk, before they are registered with the context.
  func chunks(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], limit: Int?
  ) -> ReplyStream

  /// The answer of any fetch, read at the reader's state.
  func stream(_ fetch: Fetch) -> ReplyStream
}

extension GraphReader {
  /// Reads objects into the context.
  /// - Parameter prefetch: relationships to load with them, as `load(_:of:)` does.
  /// - Throws: `Refusal`; for the past `notFound` if the revision never existed or does not exist yet, `pruned` if it
  ///   is no longer kept.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    prefetch: RelationshipTree = .none
  ) async throws -> [Object] {
    let batch = FetchBatch(readAt: context.publishedRevision)
    let chunks = chunks(of: try entity(of: type), where: predicate, sort: sort, limit: limit)
    let objects: [Object] = try await registered(chunks, in: batch)
    try await load(prefetch, of: objects)
    return objects
  }

  /// Reads the objects that can be read into the context, and names the damaged ones, which are missing.
  public func fetchReadable<Object: ManagedObject>(
    _ type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil
  ) async throws -> (objects: [Object], damage: DamageNotice) {
    let batch = FetchBatch(readAt: context.publishedRevision)
    let chunks = chunks(of: try entity(of: type), where: predicate, sort: sort, limit: limit)
    chunks.omitsDamage = true
    return (try await registered(chunks, in: batch), chunks.damage)
  }

  private func registered<Object: ManagedObject>(
    _ chunks: ReplyStream, in batch: FetchBatch
  ) async throws -> [Object] {
    var objects = [Object]()
    for try await chunk in chunks { objects += context.register(chunk, in: batch).compactMap { $0 as? Object } }
    return objects
  }

  /// Reads objects with a predicate and an order in their text forms.
  /// - Parameter prefetch: relationships to load with them: `[\.board.owner, \.tags]`.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where text: String, sort: String = "", limit: Int? = nil,
    prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath] = []
  ) async throws -> [Object] {
    let entity = try entity(of: type)
    let tree = RelationshipTree(type, prefetch)
    return try await fetch(
      type, where: try predicate(text, entity), sort: try order(sort, entity), limit: limit, prefetch: tree)
  }

  /// Reads the objects of a named fetch request of the model. Example: `fetch(Project.overdue(now: now, client:
  /// "Acme"))`.
  /// - Throws: `Refusal`; `PredicateSyntaxError` for a value that is missing, or of the wrong type.
  public func fetch<Object: ManagedObject>(
    _ named: NamedFetch<Object>, prefetch: RelationshipTree = .none
  ) async throws -> [Object] {
    let request = try named.request(in: context.model)
    return try await fetch(
      Object.self, where: request.predicate, sort: request.sort, limit: request.limit, prefetch: prefetch)
  }

  /// Reads the objects of a named fetch request of the model, and the objects that paths lead to from them.
  /// - Throws: as the form without paths.
  public func fetch<Object: ManagedObject>(
    _ named: NamedFetch<Object>, prefetch: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath]
  ) async throws -> [Object] {
    let tree = RelationshipTree(Object.self, prefetch)
    return try await fetch(named, prefetch: tree)
  }

  // MARK: - Names

  func entity<Object: ManagedObject>(of type: Object.Type) throws -> Entity {
    guard let entity = context.model.entity(named: type.entityName) else {
      throw Refusal(.malformed, "the model has no entity \(type.entityName)")
    }
    return entity
  }

  func predicate(_ text: String, _ entity: Entity) throws -> GraphPredicate {
    text.isEmpty ? .always : try GraphPredicate(parsing: text, entity: entity, model: context.model)
  }

  func order(_ text: String, _ entity: Entity) throws -> [SortKey] {
    text.isEmpty ? [] : try [SortKey](parsing: text, entity: entity, model: context.model)
  }
}
