import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A hub, and its actions as lines to read: `1 < delta 2 of 5` is a message to session 1, all else is for the server.
struct HubTranscript {
  var hub: Hub
  let model: Model
  let note: Entity
  let store = UniqueID(high: 7, low: 7)
  /// The reasons for which queries have been restarted.
  private(set) var reasons = [String]()
  /// The lines for the audit log, which are no lines of the transcript.
  private(set) var audits = [AuditEvent]()
  /// The replicas that history knows.
  var replicas = [UniqueID: KnownReplica]()
  /// Whether each lookup of a replica is answered at once, without a line.
  var answersLookups = true
  private var lastRequest: UInt64 = 0
  /// The sort of each order that is being read.
  private var sorts = [StoreRequestID: [SortKey]]()

  init(head: Revision = 0, limits: HubLimits = HubLimits()) throws {
    model = try Fixtures.stickies()
    note = try #require(model.entity(named: "Note"))
    hub = Hub(
      model: model, head: Token(store: store, revision: head, fingerprint: Self.fingerprint(head)), limits: limits)
  }

  static func fingerprint(_ revision: Revision) -> UInt64 { UInt64(revision) * 1_000 }

  func token(_ revision: Revision) -> Token {
    Token(store: store, revision: revision, fingerprint: Self.fingerprint(revision))
  }

  func property(_ name: String) throws -> PropertyNumber { try #require(note.property(named: name)).number }

  // MARK: - Events

  mutating func handle(_ event: HubEvent) throws -> [String] {
    var lines = [String]()
    for action in hub.handle(event) {
      // Only the tests of hello look at the lookup itself.
      if case .findReplica(let replica, let session) = action, answersLookups {
        lines += try handle(.foundReplica(.success(replicas[replica]), session: session))
        continue
      }
      if case .audit(let event, _) = action {
        audits.append(event)
        continue
      }
      if case .collect(let ticket, let fetch, _, _) = action { sorts[ticket] = fetch.sort }
      lines += try Self.lines(action)
      if case .send(let bytes, _) = action { reasons += try Self.reasons(bytes) }
    }
    return lines
  }

  /// A session that has been welcomed; its replica has the session's number.
  mutating func open(_ session: SessionID) throws {
    #expect(try handle(.opened(session)) == [])
    let hello = Hello(model: model.hash, replica: UniqueID(high: 1, low: session), author: "author \(session)")
    #expect(try send(.hello(hello), session) == ["\(session) < welcome"])
  }

  mutating func send(_ body: ToServer.Body, _ session: SessionID) throws -> [String] {
    lastRequest += 1
    return try handle(.received(ToServer(lastRequest, body), from: session))
  }

  mutating func save(_ session: SessionID, sequence: UInt64) throws -> [String] {
    let id = TransactionID(replica: UniqueID(high: 1, low: session), sequence: sequence)
    return try send(.commit(Transaction(id: id, changes: [])), session)
  }

  /// Follows the matching notes from a first result at the head; other tests check those lines.
  mutating func follow(_ session: SessionID, _ predicate: String, ticket: UInt64, at revision: Revision) throws {
    _ = try send(.subscribe(Subscribe(entity: note.number, predicate: predicate)), session)
    _ = try finishRead(ticket, at: revision)
  }

  /// A reader's thread has read everything of the state `revision`; nothing of it was sent but the last chunk is.
  mutating func finishRead(_ ticket: UInt64, at revision: Revision) throws -> [String] {
    var encoder = ChunkEncoder(request: lastRequest)
    let end = ReadCompletion(at: token(revision), lastFrame: encoder.finish(at: token(revision)))
    return try handle(.readFinished(StoreRequestID(ticket), .success(end)))
  }

  /// A reader's thread has read objects of an order.
  mutating func collected(_ ticket: UInt64, _ images: [ObjectImage]) throws -> [String] {
    let order = SortOrder(try #require(sorts[StoreRequestID(ticket)]), model: model)
    let objects = images.map { SortedObject(image: $0, key: order.values(of: $0)) }
    return try handle(.collected(StoreRequestID(ticket), objects))
  }

  /// The writer answers with a commit that inserts a note.
  mutating func committed(_ ticket: UInt64, _ record: CommitRecord) throws -> [String] {
    let outcome = Outcome.committed(
      CommitResult(revision: record.revision, fingerprint: record.fingerprint, identities: [], conflicts: []))
    return try handle(.committed([(StoreRequestID(ticket), WriteResult(outcome: outcome, record: record))]))
  }

  func record(_ revision: Revision, text: String = "note", color: String = "yellow") throws -> CommitRecord {
    var image = ObjectImage(
      id: ObjectID(key: UniqueID(high: 1, low: UInt64(revision)), entity: note.number), revision: revision,
      values: note.storedProperties.map { $0.attribute?.defaultValue ?? .null })
    image[try #require(note.property(named: "text"))] = .string(text)
    image[try #require(note.property(named: "color"))] = .string(color)
    return CommitRecord(
      revision: revision, time: 0, author: "carol", transaction: TransactionID(replica: .zero, sequence: 0),
      fingerprint: Self.fingerprint(revision),
      changes: [ObjectChange(kind: .inserted, id: image.id, before: nil, after: image)])
  }

  // MARK: - Actions

  private static func lines(_ action: HubAction) throws -> [String] {
    switch action {
    case .send(let bytes, let session): try messages(bytes).map { "\(session) < \($0)" }
    case .broadcast(let bytes, let sessions):
      try sessions.flatMap { session in try messages(bytes).map { "\(session) < \($0)" } }
    case .commit(let ticket, _): ["commit #\(ticket.number)"]
    case .keepRows(let ticket, let rows, _): ["keep \(rows.count) rows as #\(ticket.number)"]
    case .dropRows(let ticket): ["drop the rows #\(ticket.number)"]
    case .assignRows(let rows, let ticket): ["the rows #\(rows.number) are those of #\(ticket.number)"]
    case .cancelBatch(let ticket): ["end the batch #\(ticket.number)"]
    case .read(let ticket, _, let session, _): ["read #\(ticket.number) for \(session)"]
    case .collect(let ticket, _, _, let session): ["collect #\(ticket.number) for \(session)"]
    case .continueOrder(let ticket): ["continue the order #\(ticket.number)"]
    case .discard: ["discard an order"]
    case .continueRead(let ticket): ["continue #\(ticket.number)"]
    case .cancelRead(let ticket): ["cancel #\(ticket.number)"]
    case .history(let ticket, let after, let through): ["history #\(ticket.number) after \(after) through \(through)"]
    case .watch(_, let number, _): ["watch \(number)"]
    case .unwatch(let number): ["unwatch \(number)"]
    case .recordReferences(let isWanted): [isWanted ? "record references" : "record no references"]
    case .recordAccess(let principal, let generation, let revision):
      ["record access \(generation) of \(principal) at \(revision)"]
    case .authenticate(let credential, let session): ["authenticate \(session) by \(credential ?? "nothing")"]
    case .findReplica(_, let session): ["find the replica of \(session)"]
    case .recognize(let ticket, let token): ["recognize #\(ticket.number): \(token.revision)"]
    case .statistics(let ticket): ["statistics #\(ticket.number)"]
    case .findHead: ["find the head"]
    case .makeBrowserCode(let ticket, let user): ["make a code #\(ticket.number) for \(user)"]
    case .pauseReading(let session): ["pause reading from \(session)"]
    case .resumeReading(let session): ["read on from \(session)"]
    case .close(let session): ["close \(session)"]
    case .audit(let event, let session): ["audit \(session): \(event.kind.rawValue)"]
    case .report(let failure, let session): ["report of \(session): \(failure.name)"]
    case .finished: ["finished"]
    }
  }

  private static func messages(_ bytes: [UInt8]) throws -> [String] {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    var lines = [String]()
    while let body = try decoder.next() {
      var reader = BinaryReader(body)
      lines.append(describe(try ToClient(from: &reader).body))
    }
    #expect(decoder.isAtBoundary)
    return lines
  }

  private static func reasons(_ bytes: [UInt8]) throws -> [String] {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    var reasons = [String]()
    while let body = try decoder.next() {
      var reader = BinaryReader(body)
      if case .reset(_, let reason) = try ToClient(from: &reader).body { reasons.append(reason) }
    }
    return reasons
  }

  /// A change of a window's row, by the low half of its id.
  private static func describe(_ change: Delta.Change) -> String {
    let sign =
      switch change.kind {
      case .inserted: "+"
      case .updated: "~"
      case .removed: "-"
      }
    return sign + "\(change.id.key.low)" + (change.place.map { " at \($0)" } ?? "")
  }

  private static func describe(_ body: ToClient.Body) -> String {
    switch body {
    case .welcome: "welcome"
    case .refused(let refusal):
      "refused: \(refusal.code.rawValue)" + (refusal.isOutcomeUnknown ? ", outcome unknown" : "")
    case .committed(let committed, _, _, _): "committed \(committed.revision)"
    case .subscribed(let query, let resumed, _): resumed ? "query \(query) resumed" : "query \(query)"
    case .unsubscribed(let query): "query \(query) ended"
    case .delta(let delta) where delta.total != nil || delta.changes.contains { $0.place != nil }:
      "delta \(delta.query) of \(delta.revision): "
        + (delta.changes.map { describe($0) } + (delta.total.map { ["\($0) in all"] } ?? [])).joined(separator: ", ")
    case .delta(let delta): "delta \(delta.query) of \(delta.revision)"
    case .chunk(let chunk) where chunk.total != nil:
      "rows \(chunk.objects.map(\.id.key.low)) of \(chunk.total ?? 0) at \(chunk.end?.at.revision ?? 0)"
        + (chunk.damage.isEmpty ? "" : " without \(chunk.damage.objects.map(\.key.low))")
    case .chunk(let chunk) where chunk.end != nil: "last chunk at \(chunk.end?.at.revision ?? 0)"
    case .windowMoved(let moved):
      "query \(moved.query) shows \(moved.rows.map(\.key.low)) of \(moved.total) at \(moved.at.revision), "
        + "new \(moved.objects.map(\.id.key.low))"
    case .advance(let revision, _): "advance \(revision)"
    case .reset(let query, _): "reset \(query)"
    case .pong(let head): "pong \(head.revision)"
    case .close(let code, _): "goodbye: \(code)"
    case .browserCode(let code): "code \(code.code)"
    case .progress(let progress): "\(progress.done) of \(progress.total)"
    case .rights(let grants): "rights \(grants.map(\.role).joined(separator: ", "))"
    default: "\(body)"
    }
  }
}
