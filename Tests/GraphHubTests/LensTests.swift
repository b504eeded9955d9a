import GraphHub
import GraphModel
import GraphWire
import Testing

/// Two sessions with two versions of a model on one hub: session 1 has the older version, session 2 the served one.
@Suite struct LensTests {
  private static let first = """
    {"name": "Member", "attributes": [
      {"name": "name", "type": "string"}, {"name": "phone", "type": "string", "optional": true},
      {"name": "visits", "type": "integer", "default": 0}]}
    """
  private static let second = """
    {"name": "Guest", "attributes": [{"name": "host", "type": "string"}]},
    {"name": "Member", "attributes": [
      {"name": "active", "type": "bool", "default": true}, {"name": "fullName", "renamed": "name", "type": "string"},
      {"name": "phone", "type": "string", "optional": true}, {"name": "visits", "type": "double", "default": 0}]}
    """

  private static func model(_ version: Int, _ entities: String) throws -> Model {
    try Model(parsing: #"{"format": 1, "name": "Club", "version": \#(version), "entities": [\#(entities)]}"#.utf8)
  }

  /// A hub with both sessions, and the messages to each.
  private struct Script {
    let old: Model
    let new: Model
    var hub: Hub
    private var lastRequest: UInt64 = 0

    init(_ entities: String = LensTests.second) throws {
      old = try LensTests.model(1, LensTests.first)
      new = try LensTests.model(2, entities)
      hub = Hub(model: new, older: [old], head: Self.token(0))
    }

    static func token(_ revision: Revision) -> Token {
      Token(store: UniqueID(high: 7, low: 7), revision: revision, fingerprint: UInt64(revision))
    }

    mutating func send(_ body: ToServer.Body, _ session: SessionID) -> [HubAction] {
      lastRequest += 1
      return hub.handle(.received(ToServer(lastRequest, body), from: session)).flatMap { action in
        guard case .findReplica(_, let session) = action else { return [action] }
        return hub.handle(.foundReplica(.success(nil), session: session))
      }
    }

    mutating func open(_ session: SessionID, _ model: Model) throws -> ToClient.Body {
      #expect(hub.handle(.opened(session)).isEmpty)
      let actions = send(
        .hello(Hello(model: model.hash, replica: UniqueID(high: 1, low: session), author: "author \(session)")), session
      )
      return try #require(try LensTests.messages(actions, session).first)
    }

    /// Both of them, following all members.
    mutating func openBoth() throws {
      for (session, model) in [(1, old), (2, new)] as [(SessionID, Model)] {
        guard case .welcome(let welcome) = try open(session, model) else { throw Refusal(.notAllowed, "no welcome") }
        #expect(welcome.model == model.hash)
        #expect(welcome.entities.map(\.name) == model.entities.map(\.name))
        let entity = try #require(model.entity(named: "Member"))
        let actions = send(.subscribe(Subscribe(entity: entity.number)), session)
        let ticket = try #require(
          actions.compactMap { if case .read(let ticket, _, _, _) = $0 { ticket } else { nil } }.first)
        _ = hub.handle(.readFinished(ticket, .success(ReadCompletion(at: Self.token(0), lastFrame: []))))
      }
    }

    /// A member as the store has it.
    func image(_ revision: Revision, _ values: [String: Value]) throws -> ObjectImage {
      let entity = try #require(new.entity(named: "Member"))
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: 1), entity: entity.number), revision: revision,
        values: entity.initialValues)
      for (name, value) in values { image[try #require(entity.property(named: name))] = value }
      return image
    }

    mutating func committed(_ ticket: UInt64, _ change: ObjectChange, _ revision: Revision) -> [HubAction] {
      let record = CommitRecord(
        revision: revision, time: 0, author: "carol", transaction: TransactionID(replica: .zero, sequence: 0),
        fingerprint: UInt64(revision), changes: [change])
      let outcome = Outcome.committed(
        CommitResult(revision: revision, fingerprint: UInt64(revision), identities: [], conflicts: []))
      return hub.handle(.committed([(StoreRequestID(ticket), WriteResult(outcome: outcome, record: record))]))
    }
  }

  private static func messages(_ actions: [HubAction], _ session: SessionID) throws -> [ToClient.Body] {
    var bodies = [ToClient.Body]()
    for action in actions {
      let bytes: [UInt8]
      switch action {
      case .send(let frame, session): bytes = frame
      case .broadcast(let frame, let ids) where ids.contains(session): bytes = frame
      default: continue
      }
      var decoder = FrameDecoder()
      decoder.append(bytes)
      while let body = try decoder.next() {
        var reader = BinaryReader(body)
        bodies.append(try ToClient(from: &reader).body)
      }
    }
    return bodies
  }

  private static func deltas(_ actions: [HubAction], _ session: SessionID) throws -> [Delta] {
    try messages(actions, session).compactMap { if case .delta(let delta) = $0 { delta } else { nil } }
  }

  private func number(_ name: String, _ model: Model) throws -> PropertyNumber {
    try #require(model.entity(named: "Member")?.property(named: name)).number
  }

  // MARK: - Hello

  @Test func eachVersionIsWelcomedWithItsDictionary() throws {
    var script = try Script()
    try script.openBoth()
    guard case .model(let source, let hash)? = try Self.messages(script.send(.model, 1), 1).first else {
      Issue.record("the older client got no model")
      return
    }
    #expect(source == script.old.source && hash == script.old.hash)
  }

  @Test func helloWithoutLensIsRefusedWithDifferences() throws {
    var script = try Script(
      Self.second.replacing(
        #""name": "phone", "type": "string", "optional": true"#, with: #""name": "phone", "type": "string""#))
    guard case .close(let code, let message) = try script.open(1, script.old) else {
      Issue.record("the older client was not refused")
      return
    }
    #expect(code == "notAllowed")
    #expect(message.contains("(Club 1), the server's is") && message.contains("(Club 2)"))
    #expect(message.contains("a client of version 1 can't handle these changes: Member.phone is required now"))
    // A client with an unknown model is refused with that reason.
    let stranger = try Self.model(1, #"{"name": "Other", "attributes": [{"name": "a", "type": "string"}]}"#)
    guard case .close(_, let words) = try script.open(2, stranger) else { throw Refusal(.notAllowed, "") }
    #expect(!words.contains("version") && words.contains("use a client with the server's model"))
  }

  // MARK: - Commits, in both directions

  @Test func commitOfOlderClientIsTranslatedForStore() throws {
    var script = try Script()
    try script.openBoth()
    let member = try #require(script.old.entity(named: "Member")).number
    let edits = [
      Edit(try number("name", script.old), .set(.string("Ann"))),
      Edit(try number("visits", script.old), .set(.integer(3))),
    ]
    let transaction = Transaction(
      id: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1),
      changes: [Change(.insert, .temporary(1, entity: member), edits: edits)])
    let actions = script.send(.commit(transaction), 1)
    guard case .commit(_, .transaction(let stored, _, _))? = actions.first else {
      Issue.record("nothing went to the store")
      return
    }
    #expect(stored.changes.first?.id.entity == script.new.entity(named: "Member")?.number)
    #expect(
      stored.changes.first?.edits == [
        Edit(try number("fullName", script.new), .set(.string("Ann"))),
        Edit(try number("visits", script.new), .set(.double(3))),
      ])
    #expect(
      stored.unseen == [
        try number("active", script.new),
        try #require(script.new.entity(named: "Guest")?.property(named: "host")).number,
      ])
  }

  @Test func deltaIsTranslatedForEachSession() throws {
    var script = try Script()
    try script.openBoth()
    let image = try script.image(1, ["fullName": .string("Ann"), "visits": .double(2.5)])
    let actions = script.committed(90, ObjectChange(kind: .inserted, id: image.id, before: nil, after: image), 1)
    let (older, newer) = (try Self.deltas(actions, 1), try Self.deltas(actions, 2))
    #expect(newer.first?.changes.first?.object == image)
    let seen = try #require(older.first?.changes.first?.object)
    let entity = try #require(script.old.entity(named: "Member"))
    #expect(
      seen.values == entity.storedProperties.map { ["name": .string("Ann"), "visits": .integer(2)][$0.name] ?? .null })
    #expect(seen.id.entity == entity.number && older.first?.query != newer.first?.query)
  }

  @Test func changeHiddenByLensSendsNoDelta() throws {
    var script = try Script()
    try script.openBoth()
    let before = try script.image(1, ["fullName": .string("Ann")])
    _ = script.committed(90, ObjectChange(kind: .inserted, id: before.id, before: nil, after: before), 1)
    let after = try script.image(2, ["fullName": .string("Ann"), "active": .bool(false)])
    let edit = Edit(try number("active", script.new), .set(.bool(false)))
    let actions = script.committed(
      91, ObjectChange(kind: .updated, id: before.id, before: before, after: after, edits: [edit]), 2)
    #expect(try Self.deltas(actions, 2).count == 1)
    #expect(try Self.messages(actions, 1).isEmpty)
    // A change of a property that the older version has is sent.
    let renamed = try script.image(3, ["fullName": .string("Bea"), "active": .bool(false)])
    let name = Edit(try number("fullName", script.new), .set(.string("Bea")))
    let reported = try Self.deltas(
      script.committed(
        92, ObjectChange(kind: .updated, id: before.id, before: after, after: renamed, edits: [name]), 3), 1)
    #expect(reported.first?.changes.first?.edits == [Edit(try number("name", script.old), .set(.string("Bea")))])
  }

  @Test func refusalUsesOlderPropertyName() throws {
    var script = try Script()
    try script.openBoth()
    let transaction = Transaction(id: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1), changes: [])
    guard case .commit(let ticket, _)? = script.send(.commit(transaction), 1).first else {
      Issue.record("nothing went to the store")
      return
    }
    let refusal = Refusal(violations: [
      Violation(
        id: .temporary(1, entity: 2), property: try number("fullName", script.new), rule: "required",
        message: "Member.fullName is required")
    ])
    let actions = script.hub.handle(.committed([(ticket, WriteResult(outcome: .refused(refusal), record: nil))]))
    guard case .refused(let reported)? = try Self.messages(actions, 1).first else {
      Issue.record("the author was not notified")
      return
    }
    #expect(reported.message == "Member.name is required")
    #expect(reported.violations.first?.property == (try number("name", script.old)))
  }

  // MARK: - Reads

  @Test func fetchIsTranslatedAndAnsweredThroughLens() throws {
    var script = try Script()
    try script.openBoth()
    let member = try #require(script.old.entity(named: "Member")).number
    let actions = script.send(
      .fetch(Fetch(entity: member, predicate: "name == 'Ann' AND visits > 1", sort: "-name")), 1)
    guard case .read(_, .translated(.objects(let fetch), through: let lens), 1, _)? = actions.first else {
      Issue.record("nothing was read through a lens")
      return
    }
    #expect(lens.old.hash == script.old.hash)
    #expect(fetch.entity == script.new.entity(named: "Member")?.number)
    #expect(fetch.predicate.text(in: script.new) == #"fullName == "Ann" AND integer(visits) > 1"#)
    #expect(fetch.sort.text(in: script.new) == "-fullName")
    guard
      case .refused(let refusal)? = try Self.messages(
        script.send(.fetch(Fetch(entity: member, predicate: "active == TRUE")), 1), 1
      ).first
    else {
      Issue.record("the older client was asked about what it does not have")
      return
    }
    #expect(refusal.code == .malformed && refusal.message.contains("column 1"))
    guard case .refused(let whole)? = try Self.messages(script.send(.exportGraph, 1), 1).first else {
      Issue.record("a whole graph went out through a lens")
      return
    }
    #expect(whole.code == .notAllowed && whole.message.contains("use a client of Club version 2"))
  }
}
