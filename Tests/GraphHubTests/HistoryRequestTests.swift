import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Requests for history in the hub, and readers that wait for the next commit.
@Suite struct HistoryRequestTests {
  private let id = ObjectID(key: UniqueID(high: 5, low: 5), entity: 1)

  private func transaction(_ session: SessionID, _ sequence: UInt64) -> TransactionID {
    TransactionID(replica: UniqueID(high: 1, low: session), sequence: sequence)
  }

  private func follow(_ token: Token) -> ToServer.Body {
    .changes(.follow(FollowRequest(since: token, waits: true)))
  }

  @Test func restoreIsSentToWriterWithAuthor() throws {
    var script = try HubTranscript()
    try script.open(1)
    let foreign = RestoreRequest(transaction(2, 1), .everything, at: 3)
    #expect(try script.send(.restore(foreign), 1) == ["1 < refused: notAllowed"])
    let request = RestoreRequest(transaction(1, 1), .contents(id), at: 3)
    var hub = script.hub
    let actions = hub.handle(.received(ToServer(100, .restore(request)), from: 1))
    guard case .commit(_, .restore(let asked, let author, _))? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(asked == request)
    #expect(author == "author 1")
  }

  @Test func historyRequestsWaitForEarlierCommits() throws {
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.send(.restore(RestoreRequest(transaction(1, 1), .contents(id))), 1) == ["commit #1"])
    #expect(try script.send(.why(id, 3), 1) == [])
    #expect(try script.send(.changes(.differences(DifferenceRequest(from: 0))), 1) == [])
    let lines = try script.committed(1, script.record(1))
    #expect(lines == ["1 < committed 1", "read #2 for 1", "read #3 for 1"])
  }

  @Test func currentFollowerIsAnsweredByNextCommit() throws {
    var script = try HubTranscript(head: 3)
    try script.open(1)
    try script.open(2)
    #expect(try script.send(follow(script.token(3)), 1) == [])
    // It delays no other request, and continues.
    #expect(try script.send(.ping, 1) == ["1 < pong 3"])
    #expect(try script.save(2, sequence: 1) == ["commit #1"])
    #expect(try script.committed(1, script.record(4)) == ["2 < committed 4", "read #2 for 1"])
    #expect(try script.finishRead(2, at: 4) == ["1 < last chunk at 4"])
  }

  @Test func laggingOrNonWaitingFollowerIsAnsweredImmediately() throws {
    var script = try HubTranscript(head: 3)
    try script.open(1)
    #expect(try script.send(follow(script.token(2)), 1) == ["read #1 for 1"])
    let impatient = FollowRequest(since: script.token(3))
    #expect(try script.send(.changes(.follow(impatient)), 1) == ["read #2 for 1"])
    // Only the store can refuse the same revision of another history.
    let other = Token(store: script.store, revision: 3, fingerprint: 1)
    #expect(try script.send(follow(other), 1) == ["read #3 for 1"])
  }

  @Test func waitingFollowersAreLimitedAndEndWithSession() throws {
    var limits = HubLimits()
    limits.waitingFollowers = 2
    var script = try HubTranscript(head: 3, limits: limits)
    try script.open(1)
    try script.open(2)
    for _ in 0..<2 { #expect(try script.send(follow(script.token(3)), 1) == []) }
    #expect(try script.send(follow(script.token(3)), 1) == ["1 < refused: limit"])
    #expect(try script.handle(.closed(1)) == [])
    #expect(try script.save(2, sequence: 1) == ["commit #1"])
    #expect(try script.committed(1, script.record(4)) == ["2 < committed 4"])
  }
}
