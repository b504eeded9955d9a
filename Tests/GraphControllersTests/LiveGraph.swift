import GraphControllers
import GraphModel
import GraphReplica
import GraphWire
import Testing

/// A context and its server in one: tests insert, change and delete books, and the queries that follow them receive
/// each commit.
final class LiveGraph: ContextOwner {
  static let source = """
    {"format": 1, "name": "Library", "version": 1, "entities": [
      {"name": "Author", "attributes": [{"name": "name", "type": "string", "default": ""}], "relationships": [
        {"name": "books", "destination": "Book", "inverse": "author", "toMany": true}]},
      {"name": "Book", "attributes": [
        {"name": "title", "type": "string", "default": "", "fullText": true},
        {"name": "shelf", "type": "string", "default": "a"},
        {"name": "rank", "type": "integer", "default": 0}], "relationships": [
        {"name": "author", "destination": "Author", "inverse": "books"}]}]}
    """

  /// The numbers of a book's properties, from the model; generated code would contain them. 0 means that there is none.
  static let (shelf, rank): (PropertyNumber, PropertyNumber) = {
    let book = try? Model(parsing: source.utf8).entity(named: "Book")
    return (book?.property(named: "shelf")?.number ?? 0, book?.property(named: "rank")?.number ?? 0)
  }()

  let model: Model
  let context: ObjectContext
  /// False holds back results until `answer`.
  var answers = true
  private(set) var revision: Revision = 0
  private(set) var stored = [ObjectID: ObjectImage]()
  private(set) var subscriptions = 0
  /// The number of live queries.
  var followed: Int { queries.count }
  private var queries = [(number: UInt64, request: UInt64, subscribe: Subscribe)]()
  private var unanswered = [(request: UInt64, subscribe: Subscribe)]()
  /// The fetches of loads, which wait for `answerFetches`.
  private var fetches = [(request: UInt64, fetch: Fetch)]()

  init() throws {
    model = try Model(parsing: Self.source.utf8)
    context = ObjectContext(
      model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash))
    context.owner = self
    context.handle(.connected)
    perform()
  }

  enum Step {
    case set(UInt64, [String: Value], of: String = "Book")
    case delete(UInt64, of: String = "Book")
  }

  func entity(_ name: String) throws -> Entity { try #require(model.entity(named: name)) }

  func id(_ number: UInt64, of name: String = "Book") throws -> ObjectID {
    ObjectID(key: UniqueID(high: name == "Book" ? 1 : 2, low: number), entity: try entity(name).number)
  }

  func property(_ name: String, of entity: String = "Book") throws -> PropertyNumber {
    try #require(try self.entity(entity).property(named: name)).number
  }

  /// Books in the order of their ranks unless the test requests another.
  func request(_ predicate: String = "", sort: String = "rank", section: String? = nil) throws -> ResultsRequest {
    let book = try entity("Book")
    return ResultsRequest(
      entity: book.number,
      predicate: predicate.isEmpty ? .always : try GraphPredicate(parsing: predicate, entity: book, model: model),
      sort: sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: book, model: model),
      section: try section.flatMap { try [SortKey](parsing: $0, entity: book, model: model).first?.path })
  }

  // MARK: - Commits

  /// Sets the named properties, inserts missing objects, and sends the commit to each query that it touches.
  func commit(_ steps: [Step]) throws {
    let before = stored
    revision += 1
    var touched = [ObjectID]()
    for step in steps {
      let id: ObjectID
      switch step {
      case .set(let number, let values, let name):
        id = try self.id(number, of: name)
        let entity = try entity(name)
        var image =
          stored[id]
          ?? ObjectImage(
            id: id, revision: 0, values: entity.storedProperties.map { $0.attribute?.defaultValue ?? .null })
        for (name, value) in values { image[try #require(entity.property(named: name))] = value }
        image.revision = revision
        stored[id] = image
      case .delete(let number, let name):
        id = try self.id(number, of: name)
        stored[id] = nil
      }
      if !touched.contains(id) { touched.append(id) }
    }
    for query in queries {
      let changes = try touched.compactMap { try change($0, before[$0], query.subscribe) }
      guard !changes.isEmpty else { continue }
      let commit = CommitRecord(
        revision: revision, time: 100 * revision, author: "bob",
        transaction: TransactionID(replica: .zero, sequence: 0), fingerprint: UInt64(revision), changes: [])
      receive(.delta(Delta(query: query.number, commit: commit, changes: changes)))
    }
    if queries.count > 1 { receive(.advance(revision: revision, fingerprint: UInt64(revision))) }
  }

  private func change(_ id: ObjectID, _ before: ObjectImage?, _ subscribe: Subscribe) throws -> Delta.Change? {
    let after = stored[id]
    let wasIn = try before.map { try matches($0, subscribe) } ?? false
    let isIn = try after.map { try matches($0, subscribe) } ?? false
    switch (wasIn, isIn) {
    case (false, false): return nil
    case (false, true): return Delta.Change(kind: .inserted, id: id, object: after)
    case (true, false): return Delta.Change(kind: .removed, id: id, deleted: after == nil)
    case (true, true):
      guard let before, let after, let entity = model.entity(id.entity) else { return nil }
      let edits = entity.storedProperties.filter { before[$0] != after[$0] }
        .map { Edit($0.number, .set(after[$0])) }
      return Delta.Change(kind: .updated, id: id, previous: before.revision, edits: edits)
    }
  }

  private func matches(_ image: ObjectImage, _ subscribe: Subscribe) throws -> Bool {
    guard image.id.entity == subscribe.entity, let entity = model.entity(subscribe.entity) else { return false }
    let predicate =
      subscribe.predicate.isEmpty
      ? GraphPredicate.always : try GraphPredicate(parsing: subscribe.predicate, entity: entity, model: model)
    return PredicateEvaluator(predicate, model: model).matches(image)
  }

  // MARK: - The server

  /// Answers at once.
  func contextHasWork() { perform() }

  nonisolated(nonsending) func fill(_ load: LoadID) async throws {}

  /// Performs the requests of the context.
  func perform() {
    for action in context.takeActions() {
      guard case .send(let message) = action else { continue }
      switch message.body {
      case .hello:
        let head = Token(store: UniqueID(high: 7, low: 7), revision: revision, fingerprint: 0)
        receive(
          .welcome(
            Welcome(
              model: model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
              heartbeatMilliseconds: 15_000, principal: "ann", role: .editor)), message.request)
      case .subscribe(let subscribe):
        subscriptions += 1
        unanswered.append((message.request, subscribe))
        if answers { answer() }
      case .fetch(let fetch): fetches.append((message.request, fetch))
      case .unsubscribe(let number): queries.removeAll { $0.number == number }
      default: break
      }
    }
  }

  /// Brings the first results that were held back.
  func answer() {
    let waiting = unanswered
    unanswered = []
    for (request, subscribe) in waiting {
      let number = UInt64(subscriptions) * 100 + request
      queries.append((number, request, subscribe))
      receive(.subscribed(query: number, resumed: false), request)
      load(request, subscribe)
    }
    receive(.advance(revision: revision, fingerprint: UInt64(revision)))
  }

  private func load(_ request: UInt64, _ subscribe: Subscribe) {
    let images = stored.values.filter { (try? matches($0, subscribe)) == true }.sorted { $0.id < $1.id }
    let at = Token(store: UniqueID(high: 7, low: 7), revision: revision, fingerprint: UInt64(revision))
    receive(.chunk(Chunk(objects: images, end: (at: at, count: UInt64(images.count)))), request)
  }

  /// Answers the oldest fetches of loads, or refuses them.
  func answerFetches(atMost count: Int = .max, refusal: Refusal? = nil) {
    let waiting = fetches.prefix(count)
    fetches.removeFirst(waiting.count)
    for (request, fetch) in waiting {
      if let refusal {
        receive(.refused(refusal), request)
      } else {
        load(request, Subscribe(entity: fetch.entity, predicate: fetch.predicate))
      }
    }
  }

  /// Changes the stored objects without sending a commit, then reloads all queries, as after a gap in history.
  func reset(_ steps: [Step]) throws {
    let followed = queries
    queries = []
    try commit(steps)
    queries = followed
    for query in followed {
      receive(.reset(query: query.number, reason: ""))
      receive(.subscribed(query: query.number, resumed: false), query.request)
      load(query.request, query.subscribe)
    }
    receive(.advance(revision: revision, fingerprint: UInt64(revision)))
  }

  /// Refuses the results that were held back, or the queries that are followed.
  func refuse(_ message: String) {
    let refusal = Refusal(.limit, message)
    let requests = unanswered.map(\.request) + queries.map(\.request)
    (unanswered, queries) = ([], [])
    for request in requests { receive(.refused(refusal), request) }
  }

  /// Refuses the results that were held back.
  func refuseUnanswered(_ message: String) {
    let waiting = unanswered
    unanswered = []
    for (request, _) in waiting { receive(.refused(Refusal(.limit, message)), request) }
  }

  private func receive(_ body: ToClient.Body, _ request: UInt64 = 0) {
    context.handle(.received(ToClient(request, body)))
    perform()
  }
}
