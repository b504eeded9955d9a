import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// The limits of one user on all connections together, each below, at and above its number.
@Suite struct UserLimitTests {
  /// A hub with accounts, and sessions of its users.
  private struct Scene {
    var script: HubTranscript

    init(_ change: (inout UserLimits) -> Void = { _ in }, hub: (inout HubLimits) -> Void = { _ in }) throws {
      script = try HubTranscript()
      var limits = HubLimits()
      hub(&limits)
      change(&limits.user)
      script.hub = Hub(model: script.model, head: script.token(0), limits: limits, authenticates: true)
    }

    /// The lines of a login of a user.
    mutating func open(_ session: SessionID, _ user: String) throws -> [String] {
      _ = try script.handle(.opened(session, of: .network))
      let hello = Hello(
        model: script.model.hash, replica: UniqueID(high: 1, low: session), author: "eve", credential: "t")
      _ = try script.send(.hello(hello), session)
      let principal = Principal(id: "user:\(user)", name: user)
      let identity = ClientIdentity.user(
        principal, token: session, access: GrantedAccess(.editor, of: principal))
      return try script.handle(.authenticated(.success(identity), session: session))
    }

    mutating func open(_ sessions: ClosedRange<SessionID>, _ user: String) throws {
      for session in sessions { #expect(try open(session, user) == ["\(session) < welcome"]) }
    }

    mutating func fetch(_ session: SessionID) throws -> [String] {
      try script.send(.fetch(Fetch(entity: script.note.number)), session)
    }

    mutating func follow(_ session: SessionID, _ predicate: String = "") throws -> [String] {
      try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: predicate)), session)
    }

    /// Closes sessions, after which the hub counts nothing.
    mutating func close(_ sessions: ClosedRange<SessionID>) throws {
      for session in sessions { _ = try script.handle(.closed(session)) }
      #expect(!script.hub.hasUsers)
      #expect(script.hub.counts.registrations == 0 && script.hub.openReads == 0)
    }
  }

  @Test func connectionsOfUserAreLimited() throws {
    var scene = try Scene { $0.connections = 2 }
    try scene.open(1...2, "ann")
    #expect(scene.script.hub.user(of: 2) == "user:ann")
    #expect(try scene.open(3, "ann") == ["3 < goodbye: limit", "close 3"])
    // Another user has connections of its own.
    try scene.open(4...5, "ben")
    // A connection counts until it has closed.
    #expect(try scene.script.send(.close(code: "", message: ""), 1) == ["1 < goodbye: unavailable", "close 1"])
    #expect(try scene.open(6, "ann") == ["6 < goodbye: limit", "close 6"])
    _ = try scene.script.handle(.closed(1))
    #expect(try scene.open(7, "ann") == ["7 < welcome"])
    try scene.close(2...7)
  }

  @Test func ownerHasNoLimitOfConnections() throws {
    var script = try HubTranscript()
    var limits = HubLimits()
    (limits.user.connections, limits.user.reads, limits.user.queries, limits.user.presences) = (1, 1, 1, 1)
    script.hub = Hub(model: script.model, head: script.token(0), limits: limits, authenticates: true)
    for session in SessionID(1)...3 {
      try script.open(session)
      #expect(script.hub.user(of: session) == nil)
      let fetch = ToServer.Body.fetch(Fetch(entity: script.note.number))
      for _ in 0..<2 { #expect(try script.send(fetch, session).count == 1) }
    }
    #expect(!script.hub.hasUsers)
  }

  @Test func readsOfUserBeyondTheLimitWait() throws {
    var scene = try Scene { $0.reads = 2 }
    try scene.open(1...3, "ann")
    try scene.open(4...4, "ben")
    #expect(try scene.fetch(1) == ["read #1 for 1"])
    #expect(try scene.fetch(2) == ["read #2 for 2"])
    #expect(try scene.fetch(3) == [])
    #expect(try scene.fetch(1) == [])
    #expect(try scene.fetch(4) == ["read #3 for 4"])
    // The longest waiting read continues, on any connection.
    #expect(try scene.script.finishRead(1, at: 0).contains("read #4 for 3"))
    // A connection that closes makes room as well.
    #expect(try scene.script.handle(.closed(3)).contains("read #5 for 1"))
    try scene.close(1...4)
  }

  @Test func liveQueriesOfUserAreLimited() throws {
    var scene = try Scene { $0.queries = 2 }
    try scene.open(1...2, "ann")
    try scene.open(3...3, "ben")
    #expect(try scene.follow(1).contains("1 < query 1"))
    #expect(try scene.follow(2).contains("2 < query 1"))
    #expect(try scene.follow(2) == ["2 < refused: limit"])
    #expect(try scene.follow(3).contains("3 < query 1"))
    _ = try scene.script.send(.unsubscribe(query: 1), 1)
    #expect(try scene.follow(2).contains { $0.hasPrefix("2 < query") })
    #expect(try scene.follow(1) == ["1 < refused: limit"])
    _ = try scene.script.handle(.closed(2))
    #expect(try scene.follow(1).contains { $0.hasPrefix("1 < query") })
    try scene.close(1...3)
  }

  @Test func stepsOfLiveQueriesAreLimited() throws {
    let model = try Fixtures.stickies()
    let predicate = "text CONTAINS \"milk\""
    let parsed = try GraphPredicate(parsing: predicate, entity: try #require(model.entity(named: "Note")), model: model)
    for (count, limit) in [(2, 3 * parsed.evaluationSteps - 1), (3, 3 * parsed.evaluationSteps)] {
      var scene = try Scene { $0.querySteps = limit }
      try scene.open(1...4, "ann")
      for session in SessionID(1)...4 {
        let lines = try scene.follow(session, predicate)
        #expect((lines == ["\(session) < refused: limit"]) == (session > count), "\(lines)")
      }
      try scene.close(1...4)
    }
  }

  @Test func commitsOfUserPauseItsConnections() throws {
    var scene = try Scene { $0.commits = 2 }
    try scene.open(1...3, "ann")
    try scene.open(4...4, "ben")
    #expect(try scene.script.save(1, sequence: 1) == ["commit #1"])
    #expect(try scene.script.save(2, sequence: 1) == ["commit #2", "pause reading from 2"])
    // A message that was sent before is not lost; it commits, and its connection pauses as well.
    #expect(try scene.script.save(3, sequence: 1) == ["commit #3", "pause reading from 3"])
    #expect(try scene.script.save(4, sequence: 1) == ["commit #4"])
    let answered = try scene.script.committed(1, try scene.script.record(1))
    #expect(answered.contains("1 < committed 1") && !answered.contains { $0.hasPrefix("read on") }, "\(answered)")
    // Below the limit again, both continue.
    let next = try scene.script.committed(2, try scene.script.record(2))
    #expect(next.filter { $0.hasPrefix("read on") } == ["read on from 2", "read on from 3"], "\(next)")
    try scene.close(1...4)
  }

  @Test func bytesOfCommitsOfUserPauseItsConnections() throws {
    let probe = Transaction(id: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1), changes: [])
    var scene = try Scene { $0.commitBytes = 2 * probe.approximateSize }
    try scene.open(1...2, "ann")
    #expect(try scene.script.save(1, sequence: 1) == ["commit #1"])
    #expect(try scene.script.save(2, sequence: 1) == ["commit #2", "pause reading from 2"])
    // The end of a connection makes room.
    #expect(try scene.script.handle(.closed(1)).contains("read on from 2"))
    try scene.close(2...2)
  }

  @Test func presencesOfUserFollowInTheNextSecond() throws {
    var scene = try Scene { $0.presences = 3 }
    try scene.open(1...2, "ann")
    try scene.open(3...3, "ben")
    _ = try scene.script.send(.presence([3]), 3)
    func receivers(_ lines: [String]) -> [String] { lines.map { String($0.prefix(1)) } }
    #expect(receivers(try scene.script.send(.presence([1]), 1)) == ["3"])
    #expect(receivers(try scene.script.send(.presence([1]), 2)) == ["1", "3"])
    #expect(receivers(try scene.script.send(.presence([2]), 1)) == ["2", "3"])
    // Beyond the limit, only the newest of each connection is kept.
    #expect(try scene.script.send(.presence([3]), 1) == [])
    #expect(try scene.script.send(.presence([4]), 1) == [])
    #expect(receivers(try scene.script.send(.presence([4]), 3)) == ["1", "2"])
    #expect(receivers(try scene.script.handle(.tick(1_000))) == ["2", "3"])
    #expect(try scene.script.handle(.tick(2_000)) == [])
    try scene.close(1...3)
  }

  @Test func incompleteMessagesOfOneUserEndNoOther() throws {
    var scene = try Scene(hub: { ($0.unfinishedBytes, $0.guaranteedBacklog) = (1_000, 100) })
    try scene.open(1...1, "ben")
    try scene.open(2...4, "ann")
    // Ben's is the oldest.
    #expect(try scene.script.handle(.receivedPart(bytes: 300, from: 1)) == [])
    #expect(try scene.script.handle(.receivedPart(bytes: 300, from: 3)) == [])
    #expect(try scene.script.handle(.receivedPart(bytes: 300, from: 2)) == [])
    #expect(try scene.script.handle(.receivedPart(bytes: 101, from: 4)) == ["2 < goodbye: unavailable", "close 2"])
    try scene.close(1...4)
  }

  @Test func backlogOfUserDelaysOnlyItsConnections() throws {
    // The limit counts what exceeds the 64 KiB that each connection may have.
    var scene = try Scene { $0.backlog = 100 << 10 }
    try scene.open(1...3, "ann")
    try scene.open(4...4, "ben")
    for session in SessionID(1)...4 {
      _ = try scene.follow(session)
      _ = try scene.script.finishRead(UInt64(session), at: 0)
    }
    // None of them reads: each commit adds some 40 KiB for each.
    var received = [SessionID: Int]()
    for revision in Revision(1)...4 {
      let record = try scene.script.record(revision, text: String(repeating: "x", count: 40 << 10))
      for line in try scene.script.committed(UInt64(1_000 + revision), record) where line.contains("< delta") {
        received[SessionID(line.prefix(1)) ?? 0, default: 0] += 1
      }
    }
    #expect(received[4] == 4)
    let others = (1...3).map { received[$0, default: 0] }
    #expect(others.allSatisfy { (2..<4).contains($0) }, "\(received)")
    try scene.close(1...4)
  }
}
