// Tests: FetchingTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// The graph as it was at a revision. Reads work as in the present: fetches with predicates and orders, faults,
/// relationships. Its objects belong to a context of their own, which can't be edited.
public final class PastGraph: GraphReader, ContextOwner {
  /// The revision of all objects.
  public let revision: Revision
  /// The context of the objects. An edit in it traps, unless its `editWasRefused` is set.
  public let context: ObjectContext
  private let client: GraphClient
  private var loadWaiters = LoadWaiters()

  init(client: GraphClient, revision: Revision) {
    self.client = client
    self.revision = revision
    context = client.context.makePast(at: revision)
    context.owner = self
  }

  // MARK: - Fetching

  /// The objects of a fetch, chunk by chunk, as they were.
  public func chunks(
    of entity: Entity, where predicate: GraphPredicate, sort: [SortKey], limit: Int?
  ) -> ReplyStream {
    client.images(of: entity, where: predicate, sort: sort, limit: limit, at: revision)
  }

  /// The answer of any fetch, as of the revision.
  public func stream(_ fetch: Fetch) -> ReplyStream {
    var fetch = fetch
    fetch.at = revision
    return client.stream(fetch)
  }

  /// The object of an id as it was; nil if it did not exist.
  public func object<Object: ManagedObject>(_ type: Object.Type, _ id: ObjectID) async throws -> Object? {
    try await fetch(type, where: .identifiers([id])).first
  }

  // MARK: - Requests

  /// Waits for a load of the context; all loads of the same turn of the actor are sent together.
  /// - Throws: `Refusal`.
  public func fill(_ load: LoadID) async throws {
    guard client.state != .closed else { throw Refusal(.unavailable, "the connection is closed") }
    try await withCheckedThrowingContinuation { continuation in
      // Otherwise another caller of this turn has begun to collect.
      let beginsCollection = loadWaiters.add(continuation, for: load)
      if beginsCollection {
        client.spawn { [self] in
          loadWaiters.endCollection()
          perform()
        }
      }
    }
  }

  /// Sends the fetches that loads need, at the end of the turn of the actor.
  package func contextHasWork() { client.spawn { [weak self] in self?.perform() } }

  private func perform() {
    for (number, fetch) in context.takePastFetches() { client.spawn { [self] in await ask(number, fetch) } }
    for case .filled(let load, let refusal) in context.takeActions() {
      loadWaiters.finish(load, refusal)
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
