// Tests: FetchingTests.swift, LoadWaitersTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// The graph as it was at a revision. Reads work as in the present: fetches with predicates and orders, faults,
/// relationships. Its objects belong to a context of their own, which can't be edited.
public final class PastGraph: GraphReader, ContextOwner, LoadOwner {
  /// The revision of all objects.
  public let revision: Revision
  /// The context of the objects. An edit in it traps, unless its `editWasRefused` is set.
  public let context: ObjectContext
  let client: GraphClient
  var loadWaiters = LoadWaiters()
  /// The answers to the fetches of loads.
  private var answers = [RequestID: ReplyStream]()

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

  /// Waits for a load of the context; all loads of the same turn of the actor are sent together. The server stops
  /// reading for a load when the tasks of all callers that wait for it are cancelled.
  /// - Throws: `Refusal`; `CancellationError` if the task is cancelled.
  package func fill(_ load: LoadID) async throws {
    guard client.state != .closed else { throw Refusal(.unavailable, "the connection is closed") }
    try await wait(for: load)
  }

  func sendCollectedLoads() {
    client.spawn {
      self.loadWaiters.endCollection()
      self.perform()
    }
  }

  /// Sends the fetches that loads need, at the end of the turn of the actor.
  package func contextHasWork() { client.spawn(for: self) { $0.perform() } }

  private func perform() {
    if let ending = client.ending { refuseFetches(ending) } else { sendFetches() }
    for case .filled(let load, let refusal) in context.takeActions() {
      loadWaiters.finish(load, refusal)
    }
  }

  private func sendFetches() {
    let (fetches, cancelled) = context.takePastRequests()
    // An answer that has just arrived completely has no stream here.
    for number in cancelled { answers.removeValue(forKey: number)?.cancel() }
    for (number, fetch) in fetches {
      let answer = client.stream(fetch)
      answers[number] = answer
      client.spawn { await self.receive(answer, to: number) }
    }
  }

  /// Refuses all fetches of loads: a closed client starts no task that could receive the answers.
  private func refuseFetches(_ refusal: Refusal) {
    // A refused fetch makes room for others.
    while case let fetches = context.takePastRequests().fetches, !fetches.isEmpty {
      for (number, _) in fetches { context.refusePast(number, refusal) }
    }
  }

  private func receive(_ answer: ReplyStream, to number: RequestID) async {
    do {
      while let chunk = try await answer.nextWholeChunk() { context.receivePastChunk(chunk, of: number) }
    } catch {
      // Without effect for a fetch that was cancelled.
      context.refusePast(number, error as? Refusal ?? Refusal(.unavailable, "\(error)"))
    }
    answers[number] = nil
    perform()
  }
}
