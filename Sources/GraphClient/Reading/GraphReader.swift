import GraphModel
import GraphReplica

/// Who has a context and fills it from the server: a ``GraphClient`` with the present, a ``PastGraph`` with the graph as it
/// was. Whatever only reads can be written for both.
@MainActor
public protocol GraphReader: AnyObject {
  /// Holds the objects.
  var context: ObjectContext { get }

  /// The objects of a fetch, chunk by chunk, as they come and before the context knows them.
  func chunks(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], limit: Int?
  ) -> ReplyStream

  /// Waits for a load of the context, which is sent when whoever else wants something in this turn has said so.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  func fill(_ load: LoadID) async throws
}

extension GraphReader {
  /// Reads objects into the context.
  /// - Parameter prefetching: what is read along with them; `load(_:of:)` says how.
  /// - Throws: `Refusal`; of the past `notFound` where the revision never was or is not there yet, `pruned` where it is no
  ///   longer kept.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    prefetching: RelationshipTree = .none
  ) async throws -> [Object] {
    var objects = [Object]()
    let batch = FetchBatch()
    for try await chunk in chunks(of: try entity(of: type), where: predicate, sort: sort, limit: limit) {
      objects += context.register(chunk, in: batch).compactMap { $0 as? Object }
    }
    try await load(prefetching, of: objects)
    return objects
  }

  /// Reads objects with a predicate and an order in their text forms.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where text: String, sort: String = "", limit: Int? = nil
  ) async throws -> [Object] {
    let entity = try entity(of: type)
    return try await fetch(type, where: try predicate(text, entity), sort: try order(sort, entity), limit: limit)
  }

  /// Reads the objects of a fetch request that the model names: `fetch(Project.overdue(now: now, client: "Acme"))`.
  /// - Throws: `Refusal`; `PredicateSyntaxError` for a value that is none of its place.
  public func fetch<Object: ManagedObject>(
    _ named: NamedFetch<Object>, prefetching: RelationshipTree = .none
  ) async throws -> [Object] {
    let request = try named.request(in: context.model)
    return try await fetch(
      Object.self, where: request.predicate, sort: request.sort, limit: request.limit, prefetching: prefetching)
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
