import GraphModel
import GraphReplica
import GraphWire

/// The graph as it was at a revision, to be read as the present is: fetches with predicates and orders, faults,
/// relationships. Its objects are those of a context of their own, which can't be edited.
@MainActor
public final class PastGraph {
  /// The revision that everything is of.
  public let revision: Revision
  /// Holds the objects. An edit in it traps, unless its `editWasRefused` is set.
  public let context: ObjectContext
  private let client: GraphClient
  private var filling = [LoadID: [CheckedContinuation<Void, any Error>]]()
  /// Loads are being collected, to be sent together.
  private var isCollecting = false

  init(client: GraphClient, revision: Revision) {
    self.client = client
    self.revision = revision
    context = client.context.makePast(at: revision)
  }

  // MARK: - Fetching

  /// Reads objects into the context.
  /// - Parameter prefetching: what is read along with them.
  /// - Throws: `Refusal`; `notFound` where the revision never was or is not there yet, `pruned` where it is no
  ///   longer kept.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    prefetching: RelationshipTree = .none
  ) async throws -> [Object] {
    var objects = [Object]()
    let batch = FetchBatch()
    let entity = try client.entity(of: type)
    for try await chunk in client.images(of: entity, where: predicate, sort: sort, limit: limit, at: revision) {
      objects += context.register(chunk, in: batch).compactMap { $0 as? Object }
    }
    try await load(prefetching, of: objects)
    return objects
  }

  /// Reads objects with a predicate and an order in their text forms.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where text: String, sort: String = "", limit: Int? = nil
  ) async throws -> [Object] {
    let entity = try client.entity(of: type)
    return try await fetch(
      type, where: try client.predicate(text, entity), sort: try client.order(sort, entity), limit: limit)
  }

  /// Reads the objects of a class that satisfy a predicate which the compiler checks.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, Here>) -> TypedPredicate,
    sort: [(ObjectPath<Object, Here>) -> TypedSortKey] = [], limit: Int? = nil,
    prefetching: [(ObjectPath<Object, ToLoad>) -> any LoadPath] = []
  ) async throws -> [Object] {
    let (predicate, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    let tree = RelationshipTree(type, prefetching)
    return try await fetch(type, where: predicate, sort: order, limit: limit, prefetching: tree)
  }

  /// How many objects there were.
  public func count<Object: ManagedObject>(of type: Object.Type, where text: String = "") async throws -> Int {
    let entity = try client.entity(of: type)
    var fetch = client.wireFetch(entity, try client.predicate(text, entity), at: revision)
    fetch.result = .count
    return try await client.count(fetch)
  }

  /// The object of an id as it was; nil where it was not there.
  public func object<Object: ManagedObject>(_ type: Object.Type, _ id: ObjectID) async throws -> Object? {
    try await fetch(type, where: .identifiers([id])).first
  }

  // MARK: - Following relationships

  /// Fills a fault, and others of its kind as far as one request takes them.
  public func load(_ object: ManagedObject) async throws {
    guard object.isFault else { return }
    try await filled(context.load([object], bringsOthers: true))
  }

  /// Fills the faults among some objects.
  public func load(_ objects: [ManagedObject]) async throws {
    guard objects.contains(where: \.isFault) else { return }
    try await filled(context.load(objects))
  }

  /// Reads what relationships lead to from some objects.
  public func load(_ tree: RelationshipTree, of objects: [ManagedObject]) async throws {
    guard !tree.isEmpty, !objects.isEmpty else { return }
    try await filled(context.load(tree, of: objects))
  }

  /// The object that a path of to-ones leads to, with its values; nil when the path leads to none.
  public func load<Object: ManagedObject, Destination: ManagedObject>(
    _ path: (ObjectPath<Object, ToLoad>) -> ObjectPath<Destination, ToLoad>, of object: Object
  ) async throws -> Destination? {
    if let load = context.load(RelationshipTree(Object.self, path), of: object) { try await filled(load) }
    return context.object(at: path, from: object)
  }

  /// All objects that a path leads to, with their values: to-ones, and at its end a to-many.
  public func load<Object: ManagedObject, Destination: ManagedObject>(
    _ path: (ObjectPath<Object, ToLoad>) -> ToManyPath<Destination, ToLoad>, of object: Object
  ) async throws -> [Destination] {
    if let load = context.load(RelationshipTree(Object.self, path), of: object) { try await filled(load) }
    return context.objects(at: path, from: object)
  }

  // MARK: - Requests

  private func filled(_ load: LoadID) async throws {
    try await withCheckedThrowingContinuation { continuation in
      filling[load, default: []].append(continuation)
      guard !isCollecting else { return }
      isCollecting = true
      Task { [self] in
        isCollecting = false
        perform()
      }
    }
  }

  private func perform() {
    for (number, fetch) in context.takePastFetches() { Task { [self] in await ask(number, fetch) } }
    for case .filled(let load, let refusal) in context.takeActions() {
      for waiting in filling.removeValue(forKey: load) ?? [] {
        if let refusal { waiting.resume(throwing: refusal) } else { waiting.resume() }
      }
    }
  }

  private func ask(_ number: RequestID, _ fetch: Fetch) async {
    do {
      let stream = client.stream(fetch)
      while let chunk = try await stream.nextWholeChunk() { context.takePast(chunk, of: number) }
    } catch {
      context.refusePast(number, error as? Refusal ?? Refusal(.unavailable, "\(error)"))
    }
    perform()
  }
}

extension GraphClient {
  /// The graph as it was at a revision, read-only. Nothing is asked of the server before something is read.
  public func graph(at revision: Revision) -> PastGraph { PastGraph(client: self, revision: revision) }

  /// The newest commit at or before a time, and the head. Before the first commit it is revision 0, the empty graph.
  /// - Throws: `Refusal`, `pruned` where history no longer reaches back so far.
  public func revision(at time: Timestamp) async throws -> DatedRevision {
    guard case .revisionAt(let found)? = try await ask(.revisionAt(time)).nextAnswer() else {
      throw Refusal(.unavailable, "the server did not say which revision it was")
    }
    return found
  }
}
