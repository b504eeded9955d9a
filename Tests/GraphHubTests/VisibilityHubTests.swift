import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHub

/// Live queries of sessions that see a part of the graph, and the rights of sessions.
@Suite struct VisibilityHubTests {
  /// One live query of a class, with the result that its deltas add up to.
  private struct Followed {
    let number: UInt64
    let session: SessionID
    let entity: Entity
    let predicate: GraphPredicate
    let visibility: Visibility?
    var result: [ObjectID: ObjectImage]

    mutating func apply(_ change: LiveQueryChange) {
      switch change {
      case .inserted(let image):
        #expect(result.updateValue(image, forKey: image.id) == nil, "an insert of an object in the result")
      case .updated(let image, let edits, let previous):
        let before = result[image.id]
        #expect(before?.revision == previous)
        for edit in edits {
          guard let before, let property = entity.property(edit.property) else { continue }
          #expect(edit.applied(to: before[property]) == image[property], "an edit leads to another value")
        }
        result[image.id] = image
      case .removed(let image, _): #expect(result.removeValue(forKey: image.id) != nil)
      }
    }
  }

  /// Deltas of random queries and classes add up to the reduced graph's answer, after every commit. A query reloads
  /// where a commit's effect on it is not known.
  @Test(arguments: SeedSweep.seeds(5))
  func deltasAddUpToTheReducedGraph(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try ScopedGraph.model(sharesTags: seed % 2 == 1))
    store.store.recordReferences(true)
    for _ in 0..<40 { _ = try ScopedGraph.step(store, &random) }
    let boards = try store.all("Board").map(\.id)
    var table = QueryTable(model: store.model, commitSteps: 10_000_000)
    var predicates = RandomPredicate(model: store.model, seed: seed)
    var followed = [Followed]()
    func fresh(_ all: [ObjectImage], _ query: Followed) -> [ObjectID: ObjectImage] {
      let graph = ReducedGraph(all, seenBy: query.visibility, model: store.model)
      return Dictionary(
        uniqueKeysWithValues: graph.all(query.entity, where: query.predicate).map { ($0.id, $0) })
    }
    var everything = try ScopedGraph.everything(in: store)
    for session in 1...24 as ClosedRange<SessionID> {
      let picked = random.pick(store.model.entities)
      let entity = try #require(picked)
      let text = session % 3 == 0 ? "" : predicates.text(for: entity)
      let predicate =
        text.isEmpty
        ? GraphPredicate.always
        : try GraphPredicate(parsing: text, entity: entity, model: store.model).bound(now: store.now)
      let visibility = Visibility(ScopedGraph.rights(boards, &random), model: store.model)
      if visibility == nil { continue }
      let query = LiveQuery(entity: entity.number, predicate: predicate)
      let number = table.register(query, through: nil, seenBy: visibility, for: session)
      table.sendWatches(to: store)
      var entry = Followed(
        number: number, session: session, entity: entity, predicate: predicate, visibility: visibility, result: [:])
      entry.result = fresh(everything, entry)
      followed.append(entry)
    }
    var reported = 0
    for step in 0..<80 {
      guard let record = try ScopedGraph.step(store, &random) else { continue }
      everything = try ScopedGraph.everything(in: store)
      let effects = table.effects(of: record)
      let unknown = effects.stopped + table.unknown(to: record)
      for index in followed.indices {
        let query = followed[index]
        if unknown.contains(query.number) {
          followed[index].result = fresh(everything, query)
          continue
        }
        let changes = effects.known.filter { $0.number == query.number }.flatMap(\.changes)
        reported += changes.count
        for change in changes { followed[index].apply(change) }
        #expect(
          followed[index].result == fresh(everything, query),
          "seed \(seed), step \(step): \(query.entity.name) where \(query.predicate.text(in: store.model))")
        // A session that catches up receives the same.
        #expect(table.effects(of: record, on: query.number) == changes, "seed \(seed), step \(step)")
      }
    }
    #expect(reported > 0)
    for query in followed { table.unregister(query.number, for: query.session) }
    #expect(table.classes.isEmpty && table.bases.isEmpty && table.dependents.isEmpty && table.registrations == 0)
  }

  @Test func equalQueriesOfAClassShareAnEntryAndClassesShareTheirBase() throws {
    let model = try ScopedGraph.model()
    let tag = try #require(model.entity(named: "Tag"))
    var table = QueryTable(model: model, commitSteps: 1_000)
    let query = LiveQuery(entity: tag.number)
    let scoped = Visibility(Rights(user: "a", grants: []), model: model)
    let reader = Visibility(Rights(user: "b", role: .reader), model: model)
    let other = Visibility(Rights(user: "b", role: .reader), model: model)
    let first = table.register(query, through: nil, seenBy: reader, for: 1)
    #expect(table.register(query, through: nil, seenBy: other, for: 2) == first)
    let second = table.register(query, through: nil, seenBy: scoped, for: 3)
    let whole = table.register(query, through: nil, for: 4)
    #expect(Set([first, second, whole]).count == 3 && table.bases.count == 1 && table.classes.count == 2)
    let pending = table.removePendingWatches()
    guard pending.count == 1, case .recordReferences(true) = pending[0] else {
      Issue.record("the writer records references once: \(pending)")
      return
    }
    table.unregister(first, for: 1)
    table.unregister(first, for: 2)
    table.unregister(second, for: 3)
    #expect(table.bases.isEmpty && table.classes.isEmpty && table[whole] != nil)
    guard case .recordReferences(false)? = table.removePendingWatches().last else {
      Issue.record("the writer stops recording references")
      return
    }
  }

  /// Both ends of the path are visible, and the object between is not.
  @Test func queryWithAPathIsNotChangedThroughAnInvisibleObject() throws {
    let store = try TestStore(try ScopedGraph.model())
    store.store.recordReferences(true)
    let boards = [try store.insert("Board"), try store.insert("Board")]
    let ends = try (0..<2).map { _ in try store.insert("Note", ["board": .object(boards[0])]) }
    let middle = try store.insert("Note", ["board": .object(boards[1]), "next": .object(ends[0])])
    _ = try store.insert("Note", ["board": .object(boards[0]), "next": .object(middle)])
    let rights = Rights(user: "a", grants: [Grant(.reader, on: boards[0].key)])
    let note = try store.entity("Note")
    let predicate = try GraphPredicate(parsing: "next.next.text == \"b\"", entity: note, model: store.model)
    let query = LiveQuery(entity: note.number, predicate: predicate)
    var table = QueryTable(model: store.model, commitSteps: 1_000_000)
    let visibility = Visibility(rights, model: store.model)
    let partial = table.register(query, through: nil, seenBy: visibility, for: 1)
    let whole = table.register(query, through: nil, for: 2)
    table.sendWatches(to: store)
    // The end of the path changes, then the invisible object refers to another one.
    for change in [
      try store.update(ends[0], "Note.text", .string("b")), try store.update(middle, "Note.next", .object(ends[1])),
    ] {
      let record = try #require(try store.commit([change]).record)
      let effects = table.effects(of: record)
      #expect(effects.known.map(\.number) == [whole] && effects.stopped.isEmpty && table.unknown(to: record).isEmpty)
      #expect(table.effects(of: record, on: partial) == [])
    }
    // When the object becomes visible, so do the references to it, and the result is read again.
    let move = try store.update(middle, "Note.board", .object(boards[0]))
    let record = try #require(try store.commit([move]).record)
    #expect(table.effects(of: record).stopped == [partial])
  }

  /// The stored reference must not decide whether an object is in the result.
  @Test func comparisonOfAReferenceDecidesOnWhatIsVisible() throws {
    let store = try TestStore(try ScopedGraph.model())
    store.store.recordReferences(true)
    let boards = [try store.insert("Board"), try store.insert("Board")]
    let hidden = try store.insert("Note", ["board": .object(boards[1])])
    let shown = try store.insert("Note", ["board": .object(boards[0]), "next": .object(hidden)])
    let rights = Rights(user: "a", grants: [Grant(.reader, on: boards[0].key)])
    let visibility = Visibility(rights, model: store.model)
    let note = try store.entity("Note")
    var table = QueryTable(model: store.model, commitSteps: 1_000_000)
    func register(_ text: String) throws -> UInt64 {
      let predicate = try GraphPredicate(parsing: text, entity: note, model: store.model)
      return table.register(
        LiveQuery(entity: note.number, predicate: predicate), through: nil, seenBy: visibility, for: 1)
    }
    let numbers = try ["next == '\(hidden)'", "next == NULL", "next != NULL", "board == '\(boards[0])'"].map(register)
    var record = try #require(try store.commit([try store.update(shown, "Note.text", .string("x"))]).record)
    // The id of a board is enough.
    #expect(record.referenced?.map(\.id) == [hidden])
    let effects = table.effects(of: record)
    #expect(effects.stopped.isEmpty && effects.known.map(\.number) == [numbers[1], numbers[3]])
    for number in numbers {
      let changes = effects.known.filter { $0.number == number }.flatMap(\.changes)
      #expect(table.effects(of: record, on: number) == changes)
    }
    // A record from history does not say what is visible.
    record.referenced = nil
    for number in numbers.prefix(3) { #expect(table.effects(of: record, on: number) == nil) }
    // A commit of which none of them reads anything.
    let remark = try #require(try store.commit([try store.insertion("Remark")]).record)
    let later = table.effects(of: remark)
    #expect(later.stopped.isEmpty && later.known.isEmpty)
    // The reference of the unchanged note appears.
    let move = try store.update(hidden, "Note.board", .object(boards[0]))
    #expect(table.effects(of: try #require(try store.commit([move]).record)).stopped == numbers)
  }

  /// A query with paths reloads only if a reference appears or disappears because of what a commit makes visible.
  @Test func commitsThatTouchPathsOfAClassAreEvaluated() throws {
    let store = try TestStore(try ScopedGraph.model())
    store.store.recordReferences(true)
    let mine = try store.insert("Board", ["title": .string("a")])
    let other = try store.insert("Board", ["title": .string("a")])
    let note = try store.insert("Note", ["board": .object(mine)])
    let foreign = try store.insert("Note", ["board": .object(other)])
    let rights = Rights(user: "a", grants: [Grant(.reader, on: mine.key)])
    let visibility = Visibility(rights, model: store.model)
    var table = QueryTable(model: store.model, commitSteps: 1_000_000)
    func register(_ name: String, _ text: String) throws -> UInt64 {
      let entity = try store.entity(name)
      let predicate = try GraphPredicate(parsing: text, entity: entity, model: store.model)
      return table.register(
        LiveQuery(entity: entity.number, predicate: predicate), through: nil, seenBy: visibility, for: 1)
    }
    let byTitle = try register("Note", "board.title == 'a'")
    let byNotes = try register("Board", "ANY notes.x > 2")
    table.sendWatches(to: store)
    var reloads = 0
    func effects(_ change: Change) throws -> [UInt64: [LiveQueryChange]] {
      let record = try #require(try store.commit([change]).record)
      let effects = table.effects(of: record)
      reloads += effects.stopped.count + table.unknown(to: record).count
      return Dictionary(uniqueKeysWithValues: effects.known.map { ($0.number, $0.changes) })
    }
    // The class sees neither the other board nor its notes.
    #expect(try effects(try store.update(foreign, "Note.x", .integer(7))).isEmpty)
    #expect(try effects(try store.update(other, "Board.title", .string("b"))).isEmpty)
    #expect(try effects(try store.insertion("Note", ["board": .object(other), "x": .integer(5)])).isEmpty)
    // Edits of visible objects.
    #expect(try effects(try store.update(note, "Note.text", .string("x"))).keys.sorted() == [byTitle])
    let joins = try effects(try store.update(note, "Note.x", .integer(3)))
    #expect(joins.keys.sorted() == [byTitle, byNotes])
    guard case .inserted(let image)? = joins[byNotes]?.first else {
      Issue.record("the board joins the query over its notes: \(joins)")
      return
    }
    #expect(image.id == mine)
    let leaves = try effects(try store.update(mine, "Board.title", .string("c")))
    guard case .removed(let left, deleted: false)? = leaves[byTitle]?.first else {
      Issue.record("the note leaves the query over its board: \(leaves)")
      return
    }
    #expect(left.id == note && reloads == 0)
    // The note, and the reference to it, disappear.
    _ = try effects(try store.update(note, "Note.board", .object(other)))
    #expect(reloads > 0)
  }

  // MARK: - Sessions

  private let ann = Principal(id: "user:a", name: "ann")

  private func script(head: Revision = 0) throws -> HubTranscript {
    var script = try HubTranscript(head: head)
    script.hub = Hub(model: script.model, head: script.token(head), authenticates: true)
    return script
  }

  /// Opens a session with a token of a user.
  private func open(
    _ script: inout HubTranscript, _ session: SessionID, _ principal: Principal, _ access: GrantedAccess
  ) throws -> [String] {
    _ = try script.handle(.opened(session, of: .network))
    let hello = Hello(
      model: script.model.hash, replica: UniqueID(high: 1, low: session), author: "x", credential: "t")
    _ = try script.send(.hello(hello), session)
    let identity = ClientIdentity.user(principal, token: session, access: access)
    return try script.handle(.authenticated(.success(identity), session: session))
  }

  @Test func userWithoutARoleIsRefused() throws {
    var script = try script()
    let nothing = GrantedAccess(Rights(user: ann.id, grants: []))
    #expect(try open(&script, 1, ann, nothing) == ["1 < goodbye: notAllowed", "close 1"])
  }

  @Test func newGrantsReachTheSessionsOfTheUserAndAreRecorded() throws {
    var script = try script(head: 5)
    let bob = Principal(id: "user:b", name: "bob")
    var access = GrantedAccess(.reader, of: ann)
    access.generation = 3
    #expect(try open(&script, 1, ann, access) == ["1 < welcome"])
    #expect(try open(&script, 2, bob, GrantedAccess(.reader, of: bob)) == ["2 < welcome"])
    #expect(script.hub.tokensInUse == [1: 3, 2: 0])
    (access.generation, access.since) = (4, nil)
    #expect(
      try open(&script, 3, ann, access)
        == ["1 < rights reader", "record access 4 of user:a at 5", "3 < welcome"])
    for session in [1, 2] as [SessionID] { #expect(try script.send(.ping, session) == ["\(session) < pong 5"]) }
    // A login whose grants were read before the change.
    access.generation = 3
    #expect(try open(&script, 4, ann, access) == ["4 < goodbye: unavailable", "close 4"])
    #expect(try script.send(.ping, 3) == ["3 < pong 5"])
  }

  /// Its client would take the result for one of a revision after its rights had ended.
  @Test func endedSessionReceivesNoAdvance() throws {
    var script = try script(head: 5)
    #expect(try open(&script, 1, ann, GrantedAccess(.reader, of: ann)) == ["1 < welcome"])
    let subscribe = Subscribe(entity: script.note.number, predicate: "")
    #expect(try script.send(.subscribe(subscribe), 1) == ["1 < query 1", "read #1 for 1"])
    // The store is ahead of the hub.
    #expect(try script.finishRead(1, at: 6) == ["1 < last chunk at 6"])
    #expect(
      try script.handle(.tokensEnded([1: Refusal(.notAllowed, "revoked")])) == ["1 < goodbye: notAllowed", "close 1"])
    #expect(try script.committed(9, try script.record(6)) == [])
  }

  @Test func stateFromBeforeAChangeOfGrantsIsNotResumed() throws {
    var script = try script(head: 5)
    var access = GrantedAccess(.editor, of: ann)
    access.since = 5
    _ = try open(&script, 1, ann, access)
    let old = Subscribe(entity: script.note.number, predicate: "", since: script.token(5))
    #expect(try script.send(.subscribe(old), 1) == ["1 < query 1", "read #1 for 1"])
    // A state of later commits was read with the present grants.
    access.since = 4
    _ = try open(&script, 2, ann, access)
    #expect(try script.send(.subscribe(old), 2).first == "2 < query 1 resumed")
  }

  @Test func stateFromBeforeAChangeOfRulesIsNotResumed() throws {
    var script = try script(head: 5)
    script.hub = Hub(model: script.model, head: script.token(5), authenticates: true, accessRulesSince: 5)
    let old = Subscribe(entity: script.note.number, predicate: "", since: script.token(5))
    _ = try open(&script, 1, ann, GrantedAccess(.editor, of: ann))
    #expect(try script.send(.subscribe(old), 1) == ["1 < query 1", "read #1 for 1"])
    // No rule hides anything from the machine's owner.
    try script.open(2)
    #expect(try script.send(.subscribe(old), 2).first == "2 < query 1 resumed")
    // A state of a later commit was read with the present rules.
    _ = try script.committed(9, try script.record(6))
    _ = try open(&script, 3, ann, GrantedAccess(.editor, of: ann))
    let new = Subscribe(entity: script.note.number, predicate: "", since: script.token(6))
    #expect(try script.send(.subscribe(new), 3).first?.hasSuffix("resumed") == true)
  }

  @Test func statusAndResetsCountNothingForAUserOfOneBoard() throws {
    var script = try script()
    let bob = Principal(id: "user:b", name: "bob")
    let board = Grant(.reader, on: UniqueID(high: 4, low: 4))
    _ = try open(&script, 1, ann, GrantedAccess(Rights(user: ann.id, grants: [board])))
    _ = try open(&script, 2, bob, GrantedAccess(.reader, of: bob))
    var status = ServerStatus()
    (status.size, status.commitLogSize) = (4_711, 4_712)
    status.counters = [.init(property: 1, next: 4_713)]
    for (session, isShown) in [(1, false), (2, true)] as [(SessionID, Bool)] {
      #expect(try script.send(.status, session) == ["statistics #\(session)"])
      let answer = try script.handle(.statistics(StoreRequestID(session), status)).joined()
      for number in ["4711", "4712", "4713"] { #expect(answer.contains(number) == isShown, "\(answer)") }
    }
    try script.follow(1, "", ticket: 3, at: 0)
    try script.follow(2, "", ticket: 4, at: 0)
    var record = try script.record(1)
    (record.changes, record.summary) = ([], ChangeSummary(count: 4_711, entities: [script.note.number]))
    _ = try script.committed(9, record)
    #expect(script.reasons.map { $0.contains("4711") } == [false, true])
  }

  /// Users with a role learn nothing of the machine; its owner does.
  @Test func pathsOfTheMachineAreForItsOwner() throws {
    var script = try script()
    _ = try open(&script, 1, ann, GrantedAccess(.owner, of: ann))
    try script.open(2)
    var status = ServerStatus()
    (status.location, status.process, status.failure) = ("/srv/notes", 4_711, "/srv/notes/graph.sqlite was moved")
    let failure = StoreFailure(.full, "/srv/notes can't be written", advice: "Free some space.")
    for (session, isShown) in [(1, false), (2, true)] as [(SessionID, Bool)] {
      #expect(try script.send(.status, session) == ["statistics #\(3 * session - 2)"])
      #expect(try script.save(session, sequence: 1) == ["commit #\(3 * session - 1)"])
      _ = try script.send(.fetch(Fetch(entity: script.note.number)), session)
      var hub = script.hub
      let answers = [
        hub.handle(.statistics(StoreRequestID(3 * session - 2), status)),
        hub.handle(.commitFailed([StoreRequestID(3 * session - 1)], failure)),
        hub.handle(.readFinished(StoreRequestID(3 * session), .failure(failure.refusal))),
      ].joined()
      script.hub = hub
      let text = try answers.compactMap { action -> String? in
        guard case .send(let frame, session) = action else { return nil }
        var reader = BinaryReader(Array(frame.dropFirst(ProtocolLimits.headerSize)))
        switch try ToClient(from: &reader).body {
        case .status(let status): return "\(status.location) \(status.process) \(status.failure)"
        case .refused(let refusal): return "\(refusal.code): \(refusal.message)"
        case let other: return "\(other)"
        }
      }
      #expect(text.count == 3 && text.dropFirst().allSatisfy { $0.hasPrefix("unavailable: ") })
      for answer in text { #expect(answer.contains("/srv/notes") == isShown, "\(answer)") }
      #expect(text[0].contains("4711") == isShown && text[0].contains("its owner") != text[0].contains("graph.sqlite"))
    }
  }

  @Test func presenceIsShownToSessionsThatSeeAtLeastAsMuch() throws {
    var script = try script()
    let (eve, link) = (Principal(id: "user:e", name: "eve"), Principal(id: "user:l", name: "link"))
    let board = Grant(.editor, on: UniqueID(high: 4, low: 4))
    _ = try open(&script, 1, ann, GrantedAccess(.editor, of: ann))
    _ = try open(&script, 2, link, GrantedAccess(Rights(user: link.id, grants: [board])))
    _ = try open(&script, 3, eve, GrantedAccess(Rights(user: eve.id, grants: [board])))
    func receivers(_ session: SessionID) throws -> [Character] {
      try script.send(.presence([1]), session).compactMap(\.first)
    }
    #expect(try receivers(1) == [])
    #expect(try receivers(2) == ["1"])
    #expect(try receivers(3) == ["1", "2"])
    // The presence of the first session may name objects that the others do not see.
    #expect(try receivers(1) == [])
    #expect(try receivers(2) == ["1", "3"])
  }
}

extension QueryTable {
  /// Passes the queries with paths to the writer.
  fileprivate mutating func sendWatches(to store: TestStore) {
    for case .watch(let query, let number, let visibility) in removePendingWatches() {
      store.store.watch(query, number: number, seenBy: visibility)
    }
  }
}
