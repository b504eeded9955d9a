import GraphModel
import GraphReplica
import GraphWire

/// The graph as it was at a revision. Reads work as in the present: fetches with predicates and orders, faults,
/// relationships. Its objects belong to a context of their own, which can't be edited.
@MainActor
public final class PastGraph: GraphReader {
  /// The revision of all objects.
  public let revision: Revision
  /// The context of the objects. An edit in it traps, unless its `editWasRefused` is set.
  public let context: ObjectContext
  private let client: GraphClient
  private var filling = [LoadID: [CheckedContinuation<Void, any Error>]]()
  /// Whether loads are being collected, to be sent together.
  private var isCollecting = false

  init(client: GraphClient, revision: Revision) {
    self.client = client
    self.revision = revision
    context = client.context.makePast(at: revision)
  }

  // MARK: - Fetching

  /// The objects of a fetch, chunk by chunk, as they were.
  public func chunks(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], limit: Int?
  ) -> ReplyStream {
    client.images(of: entity, where: predicate, sort: sort, limit: limit, at: revision)
  }

  /// The number of objects at the revision.
  public func count<Object: ManagedObject>(of type: Object.Type, where text: String = "") async throws -> Int {
    let entity = try entity(of: type)
    var fetch = client.wireFetch(entity, try predicate(text, entity), at: revision)
    fetch.result = .count
    return try await client.count(fetch)
  }

  /// The object of an id as it was; nil if it did not exist.
  public func object<Object: ManagedObject>(_ type: Object.Type, _ id: ObjectID) async throws -> Object? {
    try await fetch(type, where: .identifiers([id])).first
  }

  // MARK: - Requests

  /// Waits for a load of the context; all loads of the same turn of the main actor are sent together.
  /// - Throws: `Refusal`.
  public func fill(_ load: LoadID) async throws {
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
      while let chunk = try await stream.nextWholeChunk() { context.receivePastChunk(chunk, of: number) }
    } catch {
      context.refusePast(number, error as? Refusal ?? Refusal(.unavailable, "\(error)"))
    }
    perform()
  }
}

extension GraphClient {
  /// The graph as it was at a revision, read-only. It sends nothing before the first read.
  public func graph(at revision: Revision) -> PastGraph { PastGraph(client: self, revision: revision) }

  /// The newest commit at or before a time, and the head. Before the first commit it is revision 0, the empty graph.
  /// - Throws: `Refusal`, `pruned` where history no longer reaches back so far.
  public func revision(at time: Timestamp) async throws -> RevisionAtTime {
    guard case .revisionAt(let found)? = try await ask(.revisionAt(time)).nextAnswer() else {
      throw Refusal(.unavailable, "the server did not say which revision it was")
    }
    return found
  }

  /// The token of a state in history, to follow commits or watch queries from.
  /// - Throws: `Refusal`, `pruned` where history no longer reaches back so far.
  public func token(of revision: Revision) async throws -> Token {
    guard let entity = context.model.entities.first(where: { $0.root == $0.number }) else {
      throw Refusal(.malformed, "the model has no entity")
    }
    // A fetch of an object that never exists returns nothing but the token of the state that was read.
    let nobody = ObjectID(key: UniqueID(high: 1, low: 1), entity: entity.number)
    let stream = stream(wireFetch(entity, .identifiers([nobody]), at: revision))
    while try await stream.nextWholeChunk() != nil {}
    guard let token = stream.token else { throw Refusal(.unavailable, "the server's answer has no end") }
    return token
  }
}
