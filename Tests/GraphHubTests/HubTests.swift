import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// The server half as a state machine: events in, actions out.
@Suite struct HubTests {
  @Test func deltaPrecedesReplyToAuthor() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.open(2)
    #expect(
      try script.send(.subscribe(Subscribe(entity: script.note.number)), 1) == ["1 < query 1", "read #1 for 1"])
    #expect(try script.finishRead(1, at: 0) == ["1 < last chunk at 0", "1 < advance 0"])
    try script.follow(2, "", ticket: 2, at: 0)
    #expect(try script.save(1, sequence: 1) == ["commit #3"])
    #expect(
      try script.committed(3, script.record(1)) == ["1 < delta 1 of 1", "2 < delta 1 of 1", "1 < committed 1"])
  }

  /// A failing disk may leave it open whether a commit is stored.
  @Test func refusalSaysWhetherOutcomeIsUnknown() throws {
    var script = try HubTranscript()
    try script.open(1)
    let failure = StoreFailure(.inputOutput, "the log can't be written", advice: "Look at the disk.")
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.handle(.commitFailed([StoreRequestID(1)], failure)) == ["1 < refused: unavailable"])
    #expect(try script.save(1, sequence: 2) == ["commit #2"])
    #expect(
      try script.handle(.commitFailed([StoreRequestID(2)], failure.withUnknownOutcome.withUnknownOutcome))
        == ["1 < refused: unavailable, outcome unknown"])
    let message = failure.withUnknownOutcome.withUnknownOutcome.refusal.message
    #expect(message.ranges(of: "may or may not have been committed").count == 1)
  }

  @Test func queriesOfOneSessionAdvanceTogether() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    try script.follow(1, "color == \"pink\"", ticket: 2, at: 0)
    try script.open(2)
    _ = try script.save(2, sequence: 1)
    #expect(
      try script.committed(3, script.record(1, color: "pink"))
        == ["1 < delta 1 of 1", "1 < delta 2 of 1", "1 < advance 1", "2 < committed 1"])
    _ = try script.save(2, sequence: 2)
    #expect(try script.committed(4, script.record(2)) == ["1 < delta 1 of 2", "1 < advance 2", "2 < committed 2"])
  }

  /// After the last chunk, a client applies every advance to the new result, too.
  @Test func commitsDuringLoadFollowLastChunkWithOneAdvance() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    _ = try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: "color == \"pink\"")), 1)
    try script.open(2)
    for revision in 1...2 as ClosedRange<Revision> {
      _ = try script.save(2, sequence: UInt64(revision))
      #expect(
        try script.committed(UInt64(revision) + 2, script.record(revision, color: "pink"))
          == ["1 < delta 1 of \(revision)", "1 < advance \(revision)", "2 < committed \(revision)"])
    }
    // No advance to 1: the first query is at 2 already.
    #expect(
      try script.finishRead(2, at: 0)
        == ["1 < last chunk at 0", "1 < delta 2 of 1", "1 < delta 2 of 2", "1 < advance 2"])
    _ = try script.save(2, sequence: 3)
    #expect(
      try script.committed(5, script.record(3, color: "pink"))
        == ["1 < delta 1 of 3", "1 < delta 2 of 3", "1 < advance 3", "2 < committed 3"])
  }

  @Test func fetchAfterSaveWaitsForItsReply() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.open(2)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == [])
    // The other session does not wait for anything.
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 2) == ["read #2 for 2"])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1", "read #3 for 1"])
  }

  @Test func inconsistentFetchIsRefusedWithoutRead() throws {
    var script = try HubTranscript()
    try script.open(1)
    let note = script.note.number
    for fetch in [
      Fetch(entity: note, properties: "text"), Fetch(entity: note, distinct: true),
      Fetch(entity: note, groupBy: "color"),
      Fetch(entity: note, result: .rows), Fetch(entity: note, result: .rows, properties: "text, nope"),
      Fetch(entity: note, sort: "nope", result: .count), Fetch(entity: note, after: [1, 2, 3]),
    ] {
      #expect(try script.send(.fetch(fetch), 1) == ["1 < refused: malformed"], "\(fetch)")
    }
    #expect(
      try script.send(.fetch(Fetch(entity: note, result: .rows, properties: "color, @count", groupBy: "color")), 1)
        == ["read #1 for 1"])
  }

  /// An empty transaction counts as some 200 bytes.
  @Test func sessionOverDiskBacklogIsPaused() throws {
    var limits = HubLimits()
    limits.sessionCommitBytes = 900
    var script = try HubTranscript(limits: limits)
    try script.open(1)
    for number in 1...4 { #expect(try script.save(1, sequence: UInt64(number)) == ["commit #\(number)"]) }
    #expect(try script.save(1, sequence: 5) == ["commit #5", "pause reading from 1"])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1", "read on from 1"])
  }

  @Test func globalBacklogPausesOnlyWritingSessions() throws {
    var limits = HubLimits()
    limits.totalCommitBytes = 500
    var script = try HubTranscript(limits: limits)
    try script.open(1)
    try script.open(2)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.save(1, sequence: 2) == ["commit #2"])
    #expect(try script.save(2, sequence: 1) == ["commit #3", "pause reading from 2"])
    // Its own commit is answered; no other event would wake the session.
    #expect(try script.committed(3, script.record(1)) == ["2 < committed 1", "read on from 2"])
  }

  @Test func repeatedTransactionIsAnsweredWithoutDelta() throws {
    var script = try HubTranscript(head: 5)
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 5)
    try script.open(2)
    _ = try script.save(2, sequence: 1)
    let first = Outcome.committed(CommitResult(revision: 3, fingerprint: 3_000, identities: [], conflicts: []))
    let again = try script.handle(.committed([(StoreRequestID(2), WriteResult(outcome: first, record: nil))]))
    #expect(again == ["2 < committed 3"])
  }

  /// A later change would be taken for the complete object: it would have the new revision without the values of the
  /// gap.
  @Test func commitsAfterUndeliverableDeltaAreHeldBack() throws {
    for isUnknown in [true, false] {
      var limits = HubLimits()
      if !isUnknown { limits.maximumFrameSize = 2_000 }
      var script = try HubTranscript(limits: limits)
      try script.open(1)
      try script.follow(1, isUnknown ? "board.name == \"a\"" : "", ticket: 1, at: 0)
      try script.open(2)
      try script.follow(2, "", ticket: 2, at: 0)
      if !isUnknown { try script.follow(2, "color == \"pink\"", ticket: 3, at: 0) }
      _ = try script.save(3, sequence: 1)
      var first = try script.record(1, text: String(repeating: "x", count: isUnknown ? 10 : 3_000))
      var second = try script.record(2)
      let image = try #require(second.changes.first?.after)
      if isUnknown {
        first.related = PathQueryEffects(knownThrough: 1, unknown: [1])
        second.related = PathQueryEffects(
          knownThrough: 1, effects: [.init(query: 1, changes: [.inserted(image)])])
      }
      let lines = try script.handle(
        .committed(
          [first, second].map { record in
            (
              StoreRequestID(0),
              WriteResult(
                outcome: .committed(
                  CommitResult(
                    revision: record.revision, fingerprint: record.fingerprint, identities: [], conflicts: [])),
                record: record)
            )
          }))
      #expect(lines.filter { $0.hasPrefix("1 ") } == ["1 < reset 1", "1 < query 1"])
      #expect(
        lines.filter { $0.hasPrefix("2 ") }
          == (isUnknown ? ["2 < delta 2 of 1", "2 < delta 2 of 2"] : ["2 < reset 1", "2 < query 1"]))
    }
  }

  /// A client that is cut off while the query is read again would otherwise resume it from the revision of the advance.
  @Test(arguments: [(true, false), (true, true), (false, false), (false, true)])
  func resetPrecedesAdvanceToCommitThatQueryLacks(isUnknown: Bool, isOneCommit: Bool) throws {
    var limits = HubLimits()
    if !isUnknown { limits.maximumFrameSize = 2_000 }
    var script = try HubTranscript(limits: limits)
    try script.open(1)
    try script.follow(1, isUnknown ? "board.name == \"a\"" : "", ticket: 1, at: 0)
    try script.follow(1, "color == \"pink\"", ticket: 2, at: 0)
    var first = try script.record(1, text: String(repeating: "x", count: isUnknown ? 10 : 3_000))
    var second = try script.record(2, color: "pink")
    if isUnknown {
      first.related = PathQueryEffects(knownThrough: 1, unknown: [1])
      second.related = PathQueryEffects(knownThrough: 1)
    }
    if isOneCommit { first.changes += second.changes }
    let records = isOneCommit ? [first] : [first, second]
    let last = records.count
    #expect(
      try script.handle(.committed(records.map { (StoreRequestID(0), Self.result($0)) }))
        == ["1 < reset 1", "1 < query 1", "read #3 for 1", "1 < delta 2 of \(last)", "1 < advance \(last)"])
    // The new result has everything.
    #expect(
      try script.finishRead(3, at: Revision(last)) == ["1 < last chunk at \(last)", "1 < advance \(last)"])
  }

  /// The result was read after the commit, before the hub received it.
  @Test func resultWithCommitOfTooLargeDeltaIsNotReset() throws {
    var limits = HubLimits()
    limits.maximumFrameSize = 2_000
    var script = try HubTranscript(limits: limits)
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 1)
    let record = try script.record(1, text: String(repeating: "x", count: 3_000))
    #expect(try script.handle(.committed([(StoreRequestID(0), Self.result(record))])) == ["1 < advance 1"])
  }

  @Test func resetContainsItsReason() throws {
    let underWay = "a commit was in progress when the query arrived; its effect on the query is unknown"
    for (related, reason) in [
      (nil, underWay), (PathQueryEffects(knownThrough: 0), underWay),
      (
        PathQueryEffects(knownThrough: 1, unknown: [1]),
        "reading the query again costs less than computing the effect of one commit"
      ),
    ] {
      var script = try HubTranscript()
      try script.open(1)
      try script.follow(1, "board.name == \"a\"", ticket: 1, at: 0)
      var record = try script.record(1)
      record.related = related
      #expect(try script.committed(9, record).filter { $0.hasPrefix("1 ") } == ["1 < reset 1", "1 < query 1"])
      #expect(script.reasons == [reason])
    }
  }

  /// The disk failed after a commit, which the hub did not receive: an idle session catches up as well.
  @Test func commitsUnknownToHubAreReadFromHistory() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "color == \"pink\"", ticket: 1, at: 0)
    try script.open(2)
    #expect(try script.save(2, sequence: 1) == ["commit #2"])
    let lines = try script.committed(2, script.record(2))
    #expect(lines == ["history #3 after 0 through 1", "history #4 after 0 through 1", "2 < committed 2"])
  }

  private let unknownOutcome = StoreFailure(.moved, "the lock was removed", advice: "Put it back.").withUnknownOutcome

  /// No commit follows: an idle session, a new query and a client that waits for the next commit get it nevertheless.
  @Test func commitWithUnknownOutcomeIsFound() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "color == \"pink\"", ticket: 1, at: 0)
    let follow = FollowRequest(since: script.token(0), waits: true)
    #expect(try script.send(.changes(.follow(follow)), 1) == [])
    try script.open(2)
    #expect(try script.handle(.tick(1)) == [])
    #expect(try script.save(2, sequence: 1) == ["commit #2"])
    #expect(
      try script.handle(.commitFailed([StoreRequestID(2)], unknownOutcome))
        == ["2 < refused: unavailable, outcome unknown"])
    // The store shows the commit, so the result is ahead of the hub.
    _ = try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: "")), 2)
    #expect(try script.finishRead(3, at: 1) == ["2 < last chunk at 1"])
    #expect(try script.handle(.tick(2)) == ["find the head"])
    #expect(try script.handle(.tick(3)) == [], "one search at a time")
    #expect(try script.handle(.foundHead(nil)) == [])
    #expect(try script.handle(.tick(4)) == ["find the head"])
    #expect(try script.handle(.foundHead(script.token(0))) == [])
    #expect(try script.handle(.tick(5)) == ["find the head"])
    #expect(
      try script.handle(.foundHead(script.token(1)))
        == ["history #4 after 0 through 1", "history #5 after 0 through 1", "read #6 for 1"])
    let record = try script.record(1, color: "pink")
    #expect(
      try script.handle(.history(StoreRequestID(4), .success([record]))) == ["1 < delta 1 of 1", "1 < advance 1"])
    #expect(try script.handle(.history(StoreRequestID(5), .success([record]))) == ["2 < advance 1"])
    #expect(try script.handle(.tick(6)) == [])
    #expect(try script.save(2, sequence: 2) == ["commit #7"])
    #expect(
      try script.committed(7, script.record(2, color: "pink"))
        == ["1 < delta 1 of 2", "2 < delta 2 of 2", "2 < committed 2"])
  }

  /// The state that was found may have the commit in flight, whose deltas come before its reply.
  @Test func commitInFlightShowsUnknownOutcome() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    #expect(try script.handle(.tick(1)) == [])
    for number in 1...2 as ClosedRange<UInt64> {
      #expect(try script.save(1, sequence: number) == ["commit #\(number + 1)"])
    }
    _ = try script.handle(.commitFailed([StoreRequestID(2)], unknownOutcome))
    #expect(try script.handle(.tick(2)) == ["find the head"])
    #expect(try script.handle(.foundHead(script.token(2))) == [])
    #expect(try script.committed(3, script.record(2)) == ["history #4 after 0 through 1", "1 < committed 2"])
    #expect(try script.handle(.tick(3)) == [], "the commit has shown the gap")
  }

  private static func result(_ record: CommitRecord?) -> WriteResult {
    guard let record else {
      return WriteResult(outcome: .refused(Refusal(.unavailable, "the disk failed")), record: nil)
    }
    let committed = CommitResult(
      revision: record.revision, fingerprint: record.fingerprint, identities: [], conflicts: [])
    return WriteResult(outcome: .committed(committed), record: record)
  }

  /// The refused commit is on disk nevertheless.
  @Test func gapWithinBatchIsReadFromHistory() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    try script.open(2)
    for number in 2...4 as ClosedRange<UInt64> {
      #expect(try script.save(2, sequence: number) == ["commit #\(number)"])
    }
    let results = try [script.record(1), nil, script.record(3)].map(Self.result)
    #expect(
      try script.handle(
        .committed(results.enumerated().map { (StoreRequestID(UInt64($0.offset + 2)), $0.element) }))
        == [
          "1 < delta 1 of 1", "2 < committed 1", "2 < refused: unavailable", "history #5 after 1 through 2",
          "history #6 after 1 through 2", "2 < committed 3",
        ])
  }

  /// The store looked up the outcome of both attempts after a failure.
  @Test func recordOfTwoAttemptsIsPublishedOnce() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    try script.open(2)
    for ticket in 2...3 { #expect(try script.save(2, sequence: 1) == ["commit #\(ticket)"]) }
    let result = Self.result(try script.record(1))
    #expect(
      try script.handle(.committed([(StoreRequestID(2), result), (StoreRequestID(3), result)]))
        == ["1 < delta 1 of 1", "2 < committed 1", "2 < committed 1"])
    _ = try script.save(2, sequence: 2)
    #expect(try script.committed(4, script.record(2)) == ["1 < delta 1 of 2", "2 < committed 2"])
  }

  @Test func slowReaderCatchesUpInOrder() throws {
    var limits = HubLimits()
    (limits.sessionBacklog, limits.resumeBacklog) = (2_000, 500)
    var script = try HubTranscript(limits: limits)
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    try script.open(2)
    // The session receives everything up to this revision.
    _ = try script.handle(.drained(1, bytes: 1 << 20))
    let text = String(repeating: "x", count: 600)
    var reported = [String]()
    for revision in 1...4 {
      _ = try script.save(2, sequence: UInt64(revision))
      reported += try script.committed(UInt64(revision + 1), script.record(Revision(revision), text: text)).filter {
        $0.hasPrefix("1 ")
      }
    }
    // Two of them fit; the others are not even queued.
    #expect(reported == ["1 < delta 1 of 1", "1 < delta 1 of 2"])
    #expect(try script.send(.ping, 1) == ["1 < pong 0"])
    var later = [String]()
    for _ in 0..<4 { later += try script.handle(.drained(1, bytes: 1 << 20)) }
    #expect(later.filter { $0.contains("delta") } == ["1 < delta 1 of 3", "1 < delta 1 of 4"])
    #expect(later.last == "1 < advance 4")
    #expect(try script.send(.ping, 1) == ["1 < pong 4"])
  }

  @Test func resumedSessionReceivesOnlyMissedDeltas() throws {
    var script = try HubTranscript()
    try script.open(2)
    for revision in 1...3 {
      _ = try script.save(2, sequence: UInt64(revision))
      _ = try script.committed(UInt64(revision), script.record(Revision(revision)))
    }
    try script.open(1)
    let since = Subscribe(entity: script.note.number, since: script.token(1))
    #expect(
      try script.send(.subscribe(since), 1)
        == ["1 < query 1 resumed", "1 < delta 1 of 2", "1 < delta 1 of 3", "1 < advance 3"])
  }

  @Test func unknownTokenReloadsQuery() throws {
    var script = try HubTranscript(head: 9)
    try script.open(1)
    let other = Token(store: UniqueID(high: 8, low: 8), revision: 9, fingerprint: 9_000)
    #expect(
      try script.send(.subscribe(Subscribe(entity: script.note.number, since: other)), 1)
        == ["1 < query 1", "read #1 for 1"])
    // The token is older than the ring, so the hub asks the store.
    try script.open(2)
    let old = Subscribe(entity: script.note.number, since: script.token(4))
    #expect(try script.send(.subscribe(old), 2) == ["recognize #2: 4"])
    #expect(
      try script.handle(.recognized(StoreRequestID(2), true)) == [
        "2 < query 1 resumed", "history #3 after 4 through 9",
      ])
    // The token is older than the history that is read: the query gets a new first result.
    #expect(
      try script.handle(.history(StoreRequestID(3), .failure(Refusal(.limit, "too much"))))
        == ["2 < reset 1", "2 < query 1", "read #4 for 2"])
  }

  @Test func resumeBelowFloorReloadsQuery() throws {
    var script = try HubTranscript(head: 9)
    try script.open(1)
    let old = Subscribe(entity: script.note.number, since: script.token(4))
    // The commit of its token is gone: the store does not know it, and nothing is replayed.
    #expect(try script.send(.subscribe(old), 1) == ["recognize #1: 4"])
    #expect(try script.handle(.recognized(StoreRequestID(1), false)) == ["1 < query 1", "read #2 for 1"])
    // Pruning runs between the two requests: the second one, which needs the pruned commits, is refused with that
    // reason.
    try script.open(2)
    #expect(try script.send(.subscribe(old), 2) == ["recognize #3: 4"])
    #expect(
      try script.handle(.recognized(StoreRequestID(3), true)) == [
        "2 < query 1 resumed", "history #4 after 4 through 9",
      ])
    #expect(
      try script.handle(.history(StoreRequestID(4), .failure(.prunedCommit(5, oldest: 7))))
        == ["2 < reset 1", "2 < query 1", "read #5 for 2"])
  }

  @Test func endedSessionReleasesEverything() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.follow(1, "", ticket: 1, at: 0)
    #expect(
      try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: "x > 1")), 1)
        == ["1 < query 2", "read #2 for 1"])
    #expect(try script.save(1, sequence: 1) == ["commit #3"])
    #expect(script.hub.counts == (1, 2))
    #expect(try script.handle(.closed(1)) == ["cancel #2"])
    #expect(script.hub.counts == (0, 0))
    // Its commit is executed without a session that could receive the answer.
    #expect(try script.committed(3, script.record(1)) == [])
  }
}
