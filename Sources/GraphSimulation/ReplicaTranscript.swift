import GraphModel
import GraphReplica
import GraphWire

/// The form in which a replica's events and actions are recorded, for replicas in other languages: one line of JSON for
/// each event, with messages in hexadecimal digits. The first line of a transcript describes the replica.
///
/// Tests/WebTests replays transcripts with the browser's replica, and a test replays them with this one.
enum ReplicaTranscript {
  /// The first line of a transcript: the replica of a context that demands the context's model.
  static func head(of context: ObjectContext) -> String {
    record([
      ("id", hex(context.replica.id.bytes)), ("author", .string(context.replica.author)),
      ("model", hex(context.model.hash.bytes)),
    ]).text
  }

  /// The line of an event.
  /// - Parameter deadline: when the replica's next tick is due after the event.
  static func line(_ event: ReplicaEvent, _ actions: [ReplicaAction], deadline: Int64?) -> String {
    var members: [(String, JSON)] = [("event", json(of: event)), ("actions", .array(actions.map { json(of: $0) }))]
    if let deadline { members.append(("deadline", .integer(deadline))) }
    return record(members).text
  }

  // MARK: - Events

  private static func json(of event: ReplicaEvent) -> JSON {
    switch event {
    case .connected: record("connected")
    case .credential(let credential): record("credential", ("credential", .string(credential)))
    case .received(let message): record("received", ("message", hex(message.binary)))
    case .disconnected: record("disconnected")
    case .save(let transaction): record("save", ("transaction", hex(transaction.binary)))
    case .undo(let undo): record("undo", ("undo", hex(undo.binary)))
    case .restore(let restore): record("restore", ("restore", hex(restore.binary)))
    case .subscribe(let query, let subscribe, let most):
      record(
        "subscribe", ("query", number(query)), ("subscribe", hex(subscribe.binary)),
        ("atMost", most.map { .integer(Int64($0)) } ?? .null))
    case .unsubscribe(let query): record("unsubscribe", ("query", number(query)))
    case .moveWindow(let query, let offset, let limit):
      record("moveWindow", ("query", number(query)), ("offset", number(offset)), ("limit", number(limit)))
    case .request(let request, let body):
      record("request", ("request", number(request)), ("message", hex(ToServer(0, body).binary)))
    case .more(let request): record("more", ("request", number(request)))
    case .cancel(let request): record("cancel", ("request", number(request)))
    case .renew(let id): record("renew", ("id", hex(id.bytes)))
    case .presence(let state): record("presence", ("state", hex(state)))
    case .tick(let milliseconds): record("tick", ("milliseconds", .integer(milliseconds)))
    }
  }

  // MARK: - Actions

  private static func json(of action: ReplicaAction) -> JSON {
    switch action {
    case .send(let message): record("send", ("message", hex(message.binary)))
    case .disconnect(let refusal): record("disconnect", ("refusal", hex(refusal.binary)))
    // The rest of the welcome is in the event.
    case .welcomed(let welcome): record("welcomed", ("head", hex(welcome.head.binary)))
    case .copied: record("copied")
    case .rejected(let refusal): record("rejected", ("refusal", hex(refusal.binary)))
    case .saved(let id, .success(let saved)):
      record("saved", ("id", hex(id.binary)), ("message", hex(message(of: saved).binary)))
    case .saved(let id, .failure(let refusal)):
      record("saved", ("id", hex(id.binary)), ("refusal", hex(refusal.binary)))
    case .incomplete(let query, let damage):
      record("incomplete", ("query", number(query)), ("damage", hex(damage.binary)))
    case .loaded(let query, let objects, let at):
      record(
        "loaded", ("query", number(query)), ("objects", hex(Chunk(objects: objects).binary)), ("at", hex(at.binary)))
    case .loadedWindow(let query, let rows, let at):
      record(
        "loadedWindow", ("query", number(query)), ("offset", number(rows.offset)), ("limit", number(rows.limit)),
        ("rows", hex(WindowMoved(query: 0, rows: rows.rows, objects: rows.objects, total: rows.total, at: at).binary)))
    case .resumed(let query, let since): record("resumed", ("query", number(query)), ("since", .integer(since)))
    case .diverged: record("diverged")
    case .outdated(let transaction): record("outdated", ("transaction", hex(transaction.binary)))
    case .changed(let update): json(of: update)
    case .refusedQuery(let query, let refusal):
      record("refusedQuery", ("query", number(query)), ("refusal", hex(refusal.binary)))
    case .reply(let request, let body, let isLast):
      record(
        "reply", ("request", number(request)), ("message", hex(ToClient(0, body).binary)), ("isLast", .bool(isLast)))
    case .refused(let request, let refusal):
      record("refused", ("request", number(request)), ("refusal", hex(refusal.binary)))
    case .presence(let session, let author, let state, let left):
      record(
        "presence",
        ("message", hex(ToClient(0, .presence(session: session, author: author, state: state, left: left)).binary)))
    case .rights(let grants): record("rights", ("message", hex(ToClient(0, .rights(grants)).binary)))
    case .silence(let isSilent): record("silence", ("isSilent", .bool(isSilent)))
    case .filled: preconditionFailure("a context fills loads, a replica does not: \(action)")
    }
  }

  private static func message(of saved: SaveResult) -> ToClient {
    ToClient(
      0,
      .committed(
        saved.committed, objects: saved.objects, isComplete: saved.isComplete, deleted: saved.deleted))
  }

  private static func json(of update: CommitUpdate) -> JSON {
    record(
      "changed", ("revision", .integer(update.revision)), ("time", .integer(update.time)),
      ("author", .string(update.author)),
      (
        "changes",
        .array(
          update.changes.map { query, changes in
            record([("query", number(query)), ("changes", .array(changes.map { hex($0.binary) }))])
          })
      ),
      (
        "totals",
        .array(
          update.totals.sorted { $0.key < $1.key }.map { query, total in .array([number(query), number(total)]) })
      ))
  }

  // MARK: - JSON

  private static func record(_ type: String, _ members: (String, JSON)...) -> JSON {
    record([("type", .string(type))] + members)
  }

  private static func record(_ members: [(String, JSON)]) -> JSON {
    .object(members.map { JSON.Member($0.0, $0.1) })
  }

  /// A number of this side, which counts from 1.
  private static func number(_ number: UInt64) -> JSON { .integer(Int64(clamping: number)) }

  private static func hex(_ bytes: [UInt8]) -> JSON {
    let digits = Array("0123456789abcdef".utf8)
    var text = [UInt8]()
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return .string(String(decoding: text, as: UTF8.self))
  }
}
