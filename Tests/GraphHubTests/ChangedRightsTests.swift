import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHub

/// Rights that change while sessions are open, and the effects on their queries, reads and presences. The notes of
/// these tests have no scopes, so a role on one scope shows none of them.
@Suite struct ChangedRightsTests {
  private let ann = Principal(id: "user:a", name: "ann")
  private let bob = Principal(id: "user:b", name: "bob")
  private let board = UniqueID(high: 4, low: 4)

  private func script(_ limits: HubLimits = HubLimits()) throws -> HubTranscript {
    var script = try HubTranscript(head: 5, limits: limits)
    script.hub = Hub(model: script.model, head: script.token(5), limits: limits, authenticates: true)
    return script
  }

  /// A role on the complete store.
  private func all(_ role: Role, _ generation: Int64, since: Revision? = nil) -> GrantedAccess {
    GrantedAccess(Rights(user: ann.id, role: role), generation: generation, since: since)
  }

  /// A role on one scope.
  private func part(_ generation: Int64, since: Revision? = nil) -> GrantedAccess {
    GrantedAccess(Rights(user: ann.id, grants: [Grant(.editor, on: board)]), generation: generation, since: since)
  }

  private func open(
    _ script: inout HubTranscript, _ session: SessionID, _ principal: Principal, _ access: GrantedAccess
  ) throws {
    _ = try script.handle(.opened(session, of: .network))
    let hello = Hello(
      model: script.model.hash, replica: UniqueID(high: 1, low: session), author: "x", credential: "t")
    _ = try script.send(.hello(hello), session)
    let identity = ClientIdentity.user(principal, token: session, access: access)
    let lines = try script.handle(.authenticated(.success(identity), session: session))
    #expect(lines.last == "\(session) < welcome")
  }

  private func change(_ script: inout HubTranscript, _ access: GrantedAccess) throws -> [String] {
    try script.handle(.rightsChanged([ann.id: access]))
  }

  @Test func roleThatShowsTheSameObjectsLeavesQueriesAlone() throws {
    var script = try script()
    try open(&script, 1, ann, all(.reader, 1, since: 0))
    try open(&script, 2, bob, GrantedAccess(.reader, of: bob))
    try script.follow(1, "", ticket: 1, at: 5)
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #2 for 1"])
    #expect(try change(&script, all(.editor, 2)) == ["1 < rights editor", "record access 2 of user:a at 5"])
    #expect(script.hub.tokensInUse == [1: 2, 2: 0])
    #expect(try change(&script, all(.editor, 2, since: 5)) == [], "the rights are known")
    #expect(try script.save(1, sequence: 1) == ["commit #3"])
    #expect(try script.committed(3, script.record(6)).contains("1 < delta 1 of 6"))
  }

  @Test func lostSightRefusesReadsAndLoadsQueriesAgain() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    try script.follow(1, "", ticket: 1, at: 5)
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #2 for 1"])
    #expect(
      try change(&script, part(2)) == [
        "1 < rights editor", "cancel #2", "1 < refused: unavailable", "record references", "1 < reset 1", "1 < query 3",
        "read #3 for 1", "record access 2 of user:a at 5",
      ])
    #expect(try script.finishRead(3, at: 5) == ["1 < last chunk at 5", "1 < advance 5"])
    // The object has no scope, so the session does not see it.
    #expect(try !script.committed(9, script.record(6)).contains { $0.hasPrefix("1 < delta") })
    // The client has sent this before it learned the new number.
    let ended = try script.send(.unsubscribe(query: 1), 1)
    #expect(ended.contains("1 < query 1 ended") && ended.contains("record no references"), "\(ended)")
    #expect(script.hub.counts.registrations == 0 && script.hub.openReads == 0)
  }

  /// The answer to a transaction whose outcome arrives after the rights have changed.
  private func answer(_ result: WriteResult, after access: GrantedAccess) throws -> ToClient.Body? {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    _ = try change(&script, access)
    var answers = [ToClient.Body]()
    for action in script.hub.handle(.committed([(StoreRequestID(1), result)])) {
      guard case .send(let bytes, _) = action else { continue }
      var decoder = FrameDecoder()
      decoder.append(bytes)
      while let frame = try decoder.next() {
        let body = try ToClient(binary: frame).body
        switch body {
        case .committed, .refused: answers.append(body)
        default: break
        }
      }
    }
    #expect(answers.count == 1)
    return answers.first
  }

  /// The store has judged the write with the rights of its request.
  @Test func answerToAnEarlierCommitNamesNothingThatIsNoLongerVisible() throws {
    let record = try HubTranscript(head: 5).record(6)
    let changed = try #require(record.changes.first?.id)
    let untouched = ObjectID(key: UniqueID(high: 9, low: 1), entity: changed.entity)
    let conflicts = [changed, untouched].map { id in
      Conflict(
        kind: .changed, id: id, property: 1, mine: .string("mine"), theirs: .string("theirs"), author: "carol",
        revision: 5)
    }
    let result = CommitResult(revision: 6, fingerprint: record.fingerprint, identities: [], conflicts: conflicts)
    let refusal = Refusal(.conflict, "carol has changed it", conflicts: conflicts)
    for (access, shown) in [(all(.reader, 2), conflicts), (part(2), [])] {
      let committed = try answer(WriteResult(outcome: .committed(result), record: record), after: access)
      guard case .committed(let committed, _, _, _)? = committed else {
        Issue.record("the transaction is committed")
        continue
      }
      #expect(committed.conflicts == shown)
      let refused = try answer(WriteResult(outcome: .refused(refusal), record: nil), after: access)
      guard case .refused(let refused)? = refused else {
        Issue.record("the transaction is refused")
        continue
      }
      #expect(refused.code == .conflict && refused.conflicts == shown)
      #expect(refused.message.contains("carol") != shown.isEmpty)
    }
  }

  @Test func gainedSightLetsReadsFinish() throws {
    var script = try script()
    try open(&script, 1, ann, part(1, since: 0))
    try script.follow(1, "", ticket: 1, at: 5)
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #2 for 1"])
    #expect(
      try change(&script, all(.reader, 2)) == [
        "1 < rights reader", "1 < reset 2", "1 < query 3", "read #3 for 1", "record access 2 of user:a at 5",
        "record no references",
      ])
    #expect(try script.finishRead(2, at: 5) == ["1 < last chunk at 5"])
    #expect(try script.finishRead(3, at: 5) == ["1 < last chunk at 5", "1 < advance 5"])
    #expect(try script.committed(9, script.record(6)).contains("1 < delta 3 of 6"))
  }

  @Test func queryThatIsLoadingBeginsAgain() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    #expect(
      try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: "")), 1)
        == ["1 < query 1", "read #1 for 1"])
    let lines = try change(&script, part(2))
    #expect(lines.contains("cancel #1") && lines.contains("1 < reset 1") && lines.contains("1 < query 3"))
    #expect(lines.contains("read #2 for 1"), "\(lines)")
    // The answer of the former read arrives late.
    #expect(try script.finishRead(1, at: 5) == [])
    #expect(try script.finishRead(2, at: 5) == ["1 < last chunk at 5", "1 < advance 5"])
  }

  /// Its client learns from the first answer whether the store knows its state, so that answer waits for the check.
  @Test func queryWhoseTokenIsCheckedIsAnsweredAfterTheCheck() throws {
    for isKnown in [true, false] {
      var script = try script()
      try open(&script, 1, ann, all(.editor, 1, since: 0))
      let old = Subscribe(entity: script.note.number, predicate: "", since: script.token(4))
      #expect(try script.send(.subscribe(old), 1) == ["recognize #1: 4"])
      let lines = try change(&script, part(2))
      #expect(lines == ["1 < rights editor", "record references", "record access 2 of user:a at 5"])
      #expect(script.hub.counts.registrations == 1)
      var known = [Bool]()
      for action in script.hub.handle(.recognized(StoreRequestID(1), isKnown)) {
        guard case .send(let bytes, _) = action else { continue }
        var decoder = FrameDecoder()
        decoder.append(bytes)
        while let frame = try decoder.next() {
          guard case .subscribed(_, resumed: false, let value) = try ToClient(binary: frame).body else { continue }
          known.append(value)
        }
      }
      #expect(known == [isKnown])
      #expect(try script.finishRead(2, at: 5) == ["1 < last chunk at 5", "1 < advance 5"])
    }
  }

  @Test func windowIsReadAgain() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    var window = Subscribe(entity: script.note.number, predicate: "")
    window.window = Subscribe.Window(sort: "number", offset: 0, limit: 10)
    let first = try script.send(.subscribe(window), 1)
    #expect(first.contains("collect #1 for 1"), "\(first)")
    let lines = try change(&script, part(2))
    #expect(lines.contains { $0.hasPrefix("1 < reset ") } && lines.contains("collect #2 for 1"), "\(lines)")
    #expect(lines.contains("cancel #1"), "an order without windows is not read: \(lines)")
    #expect(script.hub.counts.registrations == 1)
    _ = try script.handle(.closed(1))
    #expect(script.hub.counts.registrations == 0)
  }

  @Test func presencesThatAreNoLongerShownLeave() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    try open(&script, 2, bob, GrantedAccess(.editor, of: bob))
    for session in [1, 2] as [SessionID] { _ = try script.send(.presence([7]), session) }
    let lines = try change(&script, part(2)).filter { $0.contains("presence") }
    #expect(lines.count == 1 && lines[0].hasPrefix("1 < presence(session: 2"), "\(lines)")
    #expect(lines[0].contains("left: true"))
    #expect(try script.send(.presence([8]), 2) == [])
    #expect(try script.send(.presence([8]), 1).count == 1)
  }

  @Test func sessionWithoutARoleEnds() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    let none = GrantedAccess(Rights(user: ann.id, grants: []), generation: 2, since: nil)
    #expect(try change(&script, none).prefix(2) == ["1 < goodbye: notAllowed", "close 1"])
  }

  /// A number is free again for a session that has ended its query, although it names a former query of the session.
  @Test func numberThatIsUsedAgainIsThatOfTheNewQuery() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    try open(&script, 2, bob, GrantedAccess(.editor, of: bob))
    try script.follow(1, "", ticket: 1, at: 5)
    try script.follow(2, "", ticket: 2, at: 5)
    #expect(try change(&script, part(2)).contains("1 < query 3"))
    #expect(try script.send(.unsubscribe(query: 1), 1).contains("1 < query 1 ended"))
    _ = try change(&script, all(.editor, 3))
    let again = try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: "")), 1)
    #expect(again.contains("1 < query 1"), "\(again)")
    #expect(script.hub.counts.registrations == 2)
    _ = try script.send(.unsubscribe(query: 1), 1)
    #expect(script.hub.counts.registrations == 1)
  }

  /// Each change arrives while the previous result is read, with another user's commit in between.
  @Test func thousandChangesUnderLoadLeaveOneQuery() throws {
    var script = try script()
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    try open(&script, 2, bob, GrantedAccess(.editor, of: bob))
    try script.follow(1, "", ticket: 1, at: 5)
    try script.follow(2, "", ticket: 2, at: 5)
    var (read, query) = ("", "")
    for number in 0..<1_000 {
      let generation = Int64(number) + 2
      let lines = try change(&script, number % 2 == 0 ? part(generation) : all(.editor, generation))
      #expect(!lines.contains { $0.hasPrefix("1 < goodbye") }, "change \(number): \(lines)")
      read = try #require(lines.last { $0.hasPrefix("read #") })
      query = try #require(lines.last { $0.hasPrefix("1 < query ") })
      let sent = try script.committed(9_999, script.record(6 + Revision(number)))
      #expect(sent == ["2 < delta 1 of \(6 + number)"], "a query that loads gets no delta")
    }
    #expect(script.hub.counts.registrations == 2 && script.hub.openReads == 1)
    let ticket = try #require(UInt64(read.dropFirst("read #".count).prefix { $0.isNumber }))
    #expect(try script.finishRead(ticket, at: 1_005) == ["1 < last chunk at 1005", "1 < advance 1005"])
    let last = String(query.dropFirst("1 < query ".count))
    let sent = try script.committed(9_999, script.record(1_006))
    #expect(sent.contains("1 < delta \(last) of 1006") && sent.contains { $0.hasPrefix("2 < delta ") }, "\(sent)")
  }

  /// A session keeps the former numbers of its queries, and not without limit.
  @Test func sessionWithTooManyFormerNumbersEnds() throws {
    var limits = HubLimits()
    limits.renumberedQueries = 2
    var script = try script(limits)
    try open(&script, 1, ann, all(.editor, 1, since: 0))
    try script.follow(1, "", ticket: 1, at: 5)
    #expect(try change(&script, part(2)).contains("1 < query 3"))
    #expect(try change(&script, all(.editor, 3)).contains { $0.hasPrefix("1 < query ") })
    let lines = try change(&script, part(4))
    #expect(lines.contains("1 < goodbye: unavailable") && lines.contains("close 1"), "\(lines)")
    #expect(script.hub.counts.registrations == 0)
  }
}
