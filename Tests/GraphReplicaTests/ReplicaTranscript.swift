import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A context with its replica, and its actions as lines: `> commit 1` is a message to the server, all other lines are
/// for the owner.
final class ReplicaTranscript {
  let context: ObjectContext
  let model: Model
  let note: Entity
  let store = UniqueID(high: 7, low: 7)
  private(set) var changes = [ObjectsDidChange]()
  private var token: ObservationToken?

  /// - Parameters:
  ///   - entity: the name of the entity in the transcript.
  ///   - lastSequence: the highest sequence number that was sent under the replica's id.
  init(_ model: Model? = nil, entity: String = "Note", lastSequence: UInt64 = 0) throws {
    let model = try model ?? Fixtures.stickies()
    self.model = model
    note = try #require(model.entity(named: entity))
    context = ObjectContext(
      model: model,
      replica: Replica(
        id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash, lastSequence: lastSequence))
    token = context.observe { [unowned self] in changes.append($0) }
  }

  func token(_ revision: Revision) -> Token {
    Token(store: store, revision: revision, fingerprint: UInt64(revision) * 1_000)
  }

  func number(_ name: String) throws -> PropertyNumber { try #require(note.property(named: name)).number }

  // MARK: - Events

  func handle(_ event: ReplicaEvent) -> [String] {
    context.handle(event)
    return lines()
  }

  /// The actions since the last call.
  func lines() -> [String] { context.takeActions().map { line($0) } }

  func receive(_ body: ToClient.Body, _ request: UInt64 = 0) -> [String] { handle(.received(ToClient(request, body))) }

  /// Connects, and returns the lines after the welcome.
  /// - Parameters:
  ///   - sequence: the highest one of this replica that the server knows.
  ///   - rules: the fingerprint of the server's rules.
  func connect(head: Revision = 0, sequence: UInt64 = 0, rights: Rights? = nil, rules: UInt64 = 0) -> [String] {
    #expect(handle(.connected) == ["> hello"])
    var welcome = Welcome(
      model: model, head: token(head), session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
      heartbeatMilliseconds: 15_000, lastSequence: sequence, principal: "ann", role: .editor, rights: rights)
    welcome.rules = rules
    return receive(.welcome(welcome), 1)
  }

  func id(_ number: UInt64) -> ObjectID { ObjectID(key: UniqueID(high: 1, low: number), entity: note.number) }

  func image(_ number: UInt64, _ revision: Revision, _ values: [String: Value] = [:]) throws -> ObjectImage {
    var image = ObjectImage(
      id: id(number), revision: revision,
      values: note.storedProperties.map { $0.attribute?.defaultValue ?? .null })
    for (name, value) in values { image[try #require(note.property(named: name))] = value }
    return image
  }

  func delta(_ query: UInt64, _ revision: Revision, _ changes: [Delta.Change]) -> ToClient.Body {
    .delta(
      Delta(
        query: query,
        commit: CommitRecord(
          revision: revision, time: 0, author: "bob", transaction: TransactionID(replica: .zero, sequence: 0),
          fingerprint: token(revision).fingerprint, changes: []), changes: changes))
  }

  func update(_ number: UInt64, _ edits: [Edit], previous: Revision) -> Delta.Change {
    Delta.Change(kind: .updated, id: id(number), previous: previous, edits: edits)
  }

  func committed(
    _ revision: Revision, _ identities: [CommitResult.IDAssignment] = [], objects: [ObjectImage] = [],
    deleted: [ObjectID] = []
  ) -> ToClient.Body {
    .committed(
      CommitResult(
        revision: revision, fingerprint: token(revision).fingerprint, identities: identities, conflicts: []),
      objects: objects, isComplete: true, deleted: deleted)
  }

  func last(_ objects: [ObjectImage], at revision: Revision) -> ToClient.Body {
    .chunk(Chunk(objects: objects, end: (at: token(revision), count: UInt64(objects.count))))
  }

  // MARK: - Actions

  private func line(_ action: ReplicaAction) -> String {
    switch action {
    case .send(let message): "> \(describe(message.body))"
    case .welcomed: "welcomed"
    case .saved(let id, .success(let saved)): "saved \(id.sequence) as \(saved.committed.revision)"
    case .saved(let id, .failure(let refusal)): "\(id.sequence) was refused: \(refusal.code.rawValue)"
    case .incomplete(let query, let damage): "query \(query) lacks \(damage.objects.map(\.key.low))"
    case .loaded(let query, let objects, let at): "query \(query) has \(objects.count) at \(at.revision)"
    case .loadedWindow(let query, let rows, let at):
      "window \(query) shows \(rows.rows.map(\.key.low)) of \(rows.total) from \(rows.offset) at \(at.revision)"
    case .resumed(let query, let since): "query \(query) goes on from \(since)"
    case .changed(let update): "revision \(update.revision) changes \(update.changes.map(\.query))"
    case .diverged: "diverged"
    case .disconnect(let refusal): "disconnect: \(refusal.code.rawValue)"
    case .filled(let load, let refusal): "load \(load) " + (refusal.map { "failed: \($0.code.rawValue)" } ?? "is here")
    case .rejected(let refusal): "rejected: \(refusal.code.rawValue)"
    case .refused(let request, let refusal): "request \(request) was refused: \(refusal.code.rawValue)"
    default: "\(action)"
    }
  }

  /// A predicate with the low halves of its ids; of more than four only how many there are.
  private func short(_ predicate: String) -> String {
    let parts = predicate.split(separator: "{", maxSplits: 1)
    guard parts.count == 2 else { return predicate }
    let ids = parts[1].split(separator: "\"").compactMap { UniqueID(String($0)) }.map { String($0.low) }
    return parts[0] + (ids.count > 4 ? "\(ids.count) ids" : "{\(ids.joined(separator: ", "))}")
  }

  private func describe(_ body: ToServer.Body) -> String {
    switch body {
    case .hello: "hello"
    case .commit(let transaction):
      "commit \(transaction.id.sequence): " + transaction.changes.map { "\($0.kind)" }.joined(separator: ", ")
    case .subscribe(let subscribe): "follow" + (subscribe.since.map { " since \($0.revision)" } ?? "")
    case .unsubscribe(let query): "unfollow \(query)"
    case .moveWindow(let query, let offset, let limit): "move \(query) to \(offset)+\(limit)"
    case .more(let request): "more of \(request)"
    case .ping: "ping"
    case .undo: "undo"
    case .undoState: "undo state"
    case .revisionAt: "revision at"
    case .changes(.follow(let follow)): "commits behind \(follow.since.revision)"
    case .fetch(let fetch): "fetch \(model.entity(fetch.entity)?.name ?? "?"): \(short(fetch.predicate))"
    default: "\(body)"
    }
  }
}
