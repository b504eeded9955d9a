import GraphModel
import GraphReplica
import GraphTesting
import GraphWire

/// A context with people, together with its server, without a socket or a store. It isolates the client's work for a
/// result and for a commit.
final class ServedPeople {
  private static let store = UniqueID(high: 7, low: 7)
  /// The maximum number of objects that the server sends at once.
  private static let chunk = 1_000

  let model: Model
  let entity: Entity
  var context: ObjectContext { connection.context }
  private let connection: ScriptedContext
  private var images: [ObjectImage]
  private var revision: Revision = 1
  private var query: UInt64 = 0
  private let score: Property

  init(_ count: Int) throws {
    model = try Model(parsing: Staff.source.utf8)
    guard let person = model.entity(named: "Person"), let score = person.property(named: "score") else {
      throw BenchmarkError(description: "there are no people")
    }
    (entity, self.score) = (person, score)
    // The order of ids is unrelated to any other order.
    images = (0..<count).map { number in
      var image = ObjectImage(
        id: ObjectID(
          key: UniqueID(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number)), entity: person.number),
        revision: 1, values: Array(repeating: .null, count: person.slotCount))
      for (name, value) in Staff.values(ofPerson: number, teams: max(1, count / 20)) {
        if let property = person.property(named: name) { image[property] = value }
      }
      return image
    }
    connection = ScriptedContext(model: model, author: "bench")
    connection.answer = { [unowned self] in answer($0) }
    connection.connect()
  }

  /// Returns all people in an order, each with its sort values.
  func sorted(by order: SortOrder) -> [(values: [Value], id: ObjectID)] {
    images.map { (order.values(of: $0), $0.id) }.sorted { order.precedes($0.0, $0.1, $1.0, $1.1) }
  }

  private var head: Token { Token(store: Self.store, revision: revision, fingerprint: UInt64(revision)) }

  /// Answers the context's requests.
  private func answer(_ message: ToServer) {
    switch message.body {
    case .hello:
      let welcome = Welcome(
        model: model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
        heartbeatMilliseconds: 15_000, principal: Principal(author: "bench"), role: .owner)
      connection.receive(.welcome(welcome), answering: message.request)
    case .subscribe:
      query = message.request
      connection.receive(.subscribed(query: query, resumed: false), answering: message.request)
      load(message.request)
    default: break
    }
  }

  private func load(_ request: UInt64) {
    for start in stride(from: 0, to: images.count, by: Self.chunk) {
      let part = Array(images[start..<min(start + Self.chunk, images.count)])
      let isLast = start + Self.chunk >= images.count
      let chunk = Chunk(objects: part, end: isLast ? (at: head, count: UInt64(images.count)) : nil)
      connection.receive(.chunk(chunk), answering: request)
    }
    connection.receive(.advance(revision: revision, fingerprint: UInt64(revision)))
  }

  /// Follows all people without a controller.
  func follow() { connection.follow(entity) }

  /// Commits another client's change of one person's score.
  func commit(_ number: Int) {
    let index = number * 7_919 % images.count
    let before = images[index].revision
    revision += 1
    let value = Value.double(Double(number * 104_729 % 100_003) / 1_000)
    (images[index].revision, images[index][score]) = (revision, value)
    let record = CommitRecord(
      revision: revision, time: revision, author: "somebody",
      transaction: TransactionID(replica: .zero, sequence: 0), fingerprint: UInt64(revision), changes: [])
    let change = Delta.Change(
      kind: .updated, id: images[index].id, previous: before, edits: [Edit(score.number, .set(value))])
    connection.receive(.delta(Delta(query: query, commit: record, changes: [change])))
    connection.receive(.advance(revision: revision, fingerprint: UInt64(revision)))
  }
}
