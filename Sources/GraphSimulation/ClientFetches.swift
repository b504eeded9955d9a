import GraphModel
import GraphReplica
import GraphWire

/// Fetches that are not live: pages, counts, ids, rows, groups and fetch request templates. Each answer names its
/// revision and is compared with the recorded graph of that revision.
final class ClientFetches {
  /// The contents of an answer to a fetch.
  struct FetchedAnswer: Equatable {
    var objects = [ObjectImage]()
    var rows = [[Value]]()
    var count = 0
    /// The cursor of the next page.
    var next: FetchCursor?
  }

  /// A fetch in progress.
  struct PendingFetch {
    let event: CoverageEvent
    var fetch: Fetch
    /// Computes the expected answer from the graph of its revision and the cursor of the previous page.
    let expected: (RecordedGraph, FetchCursor?) -> FetchedAnswer
    var behind: FetchCursor?
    var page = 1
    var answer = FetchedAnswer()
  }

  /// A fetch with its complete answer.
  struct CompletedFetch {
    let request: PendingFetch
    let revision: Revision
  }

  unowned let client: ClientNode
  private var pending = [RequestID: PendingFetch]()
  private var finished = [CompletedFetch]()

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the fetches, because the process has died.
  func restart() { (pending, finished) = ([:], []) }

  /// Takes the finished fetches, to be checked.
  func removeFinished() -> [CompletedFetch] {
    defer { finished = [] }
    return finished
  }

  /// Describes a fetch that has not ended; nil if there is none.
  var unfinished: String? { pending.isEmpty ? nil : "client \(client.number) still waits for what it asked" }

  func request(_ random: inout SeededRandom) -> String {
    // Rows and cursors contain names and values of the client's version, so they are not compared for older clients.
    let form = random.below(!client.version.isOlder ? 12 : 6)
    let pending =
      switch form {
      case 0...1: countFetch(&random)
      case 2...3: identifierFetch(&random)
      case 4...5: templateFetch(&random)
      case 6...8: rowFetch(&random)
      default: pageFetch(&random)
      }
    guard let pending else { return "nothing to ask" }
    request(pending)
    return "ask \(pending.event)"
  }

  private func request(_ pending: PendingFetch) {
    let requestID = client.newRequestID()
    self.pending[requestID] = pending
    client.context.handle(.request(requestID, .fetch(pending.fetch)))
  }

  // MARK: - Random fetches

  private func randomQuery(
    _ random: inout SeededRandom
  ) -> (entity: Entity, predicate: GraphPredicate, sort: [SortKey])? {
    guard let (name, text) = SimulationModel.randomQuery(&random), let entity = client.model.entity(named: name),
      let predicate = client.version.predicate(text, of: entity)
    else { return nil }
    let orders = SimulationModel.orders.filter { $0.entity == name }.map(\.sort) + ["", "-id"]
    guard let order = random.pick(orders).flatMap(client.version.inClientVersion),
      let sort = order.isEmpty ? [] : try? [SortKey](parsing: order, entity: entity, model: client.model)
    else { return nil }
    return (entity, predicate, sort)
  }

  private func text(_ predicate: GraphPredicate) -> String {
    predicate == .always ? "" : predicate.text(in: client.model)
  }

  private func countFetch(_ random: inout SeededRandom) -> PendingFetch? {
    guard let (entity, predicate, _) = randomQuery(&random) else { return nil }
    let fetch = Fetch(entity: entity.number, predicate: text(predicate), result: .count)
    return PendingFetch(event: .fetchedCount, fetch: fetch) { graph, _ in
      FetchedAnswer(count: graph.objects(of: entity, predicate).count)
    }
  }

  private func identifierFetch(_ random: inout SeededRandom) -> PendingFetch? {
    guard let (entity, predicate, sort) = randomQuery(&random) else { return nil }
    let (limit, offset) = (1 + random.below(20), random.below(4))
    let fetch = Fetch(
      entity: entity.number, predicate: text(predicate), sort: sort.text(in: client.model), limit: UInt64(limit),
      offset: UInt64(offset), result: .identifiers)
    return PendingFetch(event: .fetchedIdentifiers, fetch: fetch) { graph, _ in
      let sorted = SortOrder(sort, model: graph.model)
        .sorted(Array(graph.objects(of: entity, predicate).values), in: graph)
      let part = sorted.dropFirst(offset).prefix(limit).map(\.identifier)
      return FetchedAnswer(objects: part, count: part.count)
    }
  }

  private func rowFetch(_ random: inout SeededRandom) -> PendingFetch? {
    guard let pending = random.pick(ExpectedRowFetch.all), let entity = client.model.entity(named: pending.entity),
      let text = random.pick(SimulationModel.queries.filter { $0.entity == pending.entity }.map(\.predicate)),
      let predicate = client.version.predicate(text, of: entity)
    else { return nil }
    let (limit, offset) = random.chance(30) ? (1 + random.below(3), random.below(2)) : (0, 0)
    let fetch = Fetch(
      entity: entity.number, predicate: self.text(predicate), sort: pending.sort, limit: UInt64(limit),
      offset: UInt64(offset), result: .rows, properties: pending.properties, distinct: pending.isDistinct,
      groupBy: pending.groups)
    return PendingFetch(event: pending.event, fetch: fetch) { graph, _ in
      let objects = graph.objects(of: entity, predicate).values.sorted { $0.id < $1.id }
      let rows = Array(pending.rows(objects, graph).dropFirst(offset).prefix(limit == 0 ? .max : limit))
      return FetchedAnswer(rows: rows, count: rows.count)
    }
  }

  /// A fetch of several pages, between which commits may occur.
  private func pageFetch(_ random: inout SeededRandom) -> PendingFetch? {
    guard let (entity, predicate, sort) = randomQuery(&random) else { return nil }
    let limit = 1 + random.below(5)
    let fetch = Fetch(
      entity: entity.number, predicate: text(predicate), sort: sort.text(in: client.model), limit: UInt64(limit))
    return PendingFetch(event: .fetchedPage, fetch: fetch) { graph, behind in
      let order = SortOrder(sort, model: graph.model)
      let all = order.sorted(Array(graph.objects(of: entity, predicate).values), in: graph)
      let rest = all.filter { image in
        guard let behind else { return true }
        return order.precedes(behind.values, behind.id, order.values(of: image, in: graph), image.id)
      }
      let page = Array(rest.prefix(limit))
      var next: FetchCursor?
      if rest.count > limit, let last = page.last {
        next = try? FetchCursor(behind: last, of: entity.number, sort: sort, model: graph.model, in: graph)
      }
      return FetchedAnswer(objects: page, count: page.count, next: next)
    }
  }

  // MARK: - Answers

  /// - Returns: false if the chunk belongs to another request.
  func receive(_ chunk: Chunk, of requestID: RequestID) -> Bool {
    guard var pending = self.pending.removeValue(forKey: requestID) else { return false }
    pending.answer.objects += chunk.objects
    pending.answer.rows += chunk.rows
    guard let end = chunk.end else {
      self.pending[requestID] = pending
      client.context.handle(.more(requestID))
      return true
    }
    pending.answer.count = Int(end.count)
    // Groups and distinct rows have no cursor, and the further pages of a template are not requested.
    if pending.event == .fetchedPage || pending.event == .fetchedNextPage, !chunk.next.isEmpty {
      pending.answer.next = try? FetchCursor(bytes: chunk.next)
      if pending.answer.next == nil { client.fail("client \(client.number) has received an invalid cursor") }
    }
    finished.append(CompletedFetch(request: pending, revision: end.at.revision))
    guard let next = pending.answer.next, pending.page < 6 else { return true }
    var following = PendingFetch(
      event: .fetchedNextPage, fetch: pending.fetch, expected: pending.expected, behind: next)
    following.fetch.after = chunk.next
    following.page = pending.page + 1
    request(following)
    return true
  }

  /// - Returns: false if the refusal belongs to another request.
  func refuse(_ refusal: Refusal, of requestID: RequestID) -> Bool {
    guard let pending = self.pending.removeValue(forKey: requestID) else { return false }
    // A lost connection ends its requests.
    if refusal.code != .unavailable {
      client.fail("client \(client.number) can't ask \(pending.event): \(refusal.message)")
    }
    return true
  }
}
