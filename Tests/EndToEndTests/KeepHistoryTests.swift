import Foundation
import GraphModel
import GraphWire
import Testing

/// `stickiesd --keep-history` prunes history beside connected clients, and beside one that is disconnected.
@Suite struct KeepHistoryTests {
  private static let flags = ["--keep-history", "3", "--minimum-retention", "0s", "--prune-every", "1s"]

  /// Repeats the request until history begins this number of commits before the head, and the log reports it.
  private static func expectPruned(_ scene: DaemonFixture, keeping count: Int64 = 3) async throws -> Revision {
    let asker = try await scene.client()
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      guard case .status(let status) = try await asker.reply(to: asker.send(.status)) else {
        Issue.record("status has another answer")
        return 0
      }
      if status.oldest == status.head.revision - count, scene.daemon.errorText.contains("history was pruned") {
        return status.oldest
      }
      guard ContinuousClock.now < deadline else {
        Issue.record("the oldest is \(status.oldest) of \(status.head.revision): \(scene.daemon.errorText)")
        return 0
      }
    }
  }

  @Test func historyIsPrunedUnderLiveClients() async throws {
    let scene = try await DaemonFixture(serving: Self.flags)
    let board = try await scene.board()
    let absent = try await scene.client()
    let begun = try await absent.follow(scene.entity.number).at
    absent.close()
    let writer = try await scene.client()
    for number in 1...12 {
      let note = try scene.insertion([("text", .string("\(number)")), ("board", .object(board))])
      #expect(try await writer.commit([note]).revision != nil)
    }
    let oldest = try await Self.expectPruned(scene)
    #expect(oldest == 10)
    try await scene.expectUndisturbed()

    // The past below it is refused with a reason; at the oldest revision it is answered.
    await #expect {
      _ = try await writer.fetch(Fetch(entity: scene.entity.number, at: oldest - 1))
    } throws: {
      ($0 as? Refusal)?.code == .pruned
    }
    #expect(try await writer.fetch(Fetch(entity: scene.entity.number, at: oldest)).objects.count == 9)

    // The daemon answers from memory even after history was pruned.
    let returned = try await scene.client()
    let request = try await returned.send(.subscribe(Subscribe(entity: scene.entity.number, since: begun)))
    guard case .subscribed(_, let resumed, _) = try await returned.reply(to: request) else {
      Issue.record("the query is not taken")
      return
    }
    #expect(resumed)
    let newest = try await writer.fetch(Fetch(entity: scene.entity.number)).at
    for client in [writer, returned] { client.close() }
    scene.bystander.close()

    // A restarted daemon has only the history on disk.
    #expect(scene.daemon.stop() == 0)
    try scene.daemon.start(Self.flags)
    for (token, isResumed) in [(begun, false), (newest, true)] {
      let client = try await scene.client()
      let request = try await client.send(.subscribe(Subscribe(entity: scene.entity.number, since: token)))
      guard case .subscribed(_, let resumed, _) = try await client.reply(to: request) else {
        Issue.record("the query is not taken")
        return
      }
      #expect(resumed == isResumed, "since \(token.revision)")
      if !isResumed { #expect(try await client.result(under: request).objects.count == 12) }
      client.close()
    }
    try scene.end()
  }

  @Test func overwrittenValueHasNoTimeAfterItsCommitIsPruned() async throws {
    let scene = try await DaemonFixture(serving: [
      "--keep-history", "1", "--minimum-retention", "0s", "--prune-every", "1s",
    ])
    let board = try await scene.board()
    let (first, second) = (try await scene.client(), try await scene.client())
    let text = try scene.property("text").number
    let made = try await first.commit([scene.insertion([("text", .string("a")), ("board", .object(board))])])
    let (note, base) = (try #require(made.identities.first), try #require(made.revision))
    func edit(_ words: String) -> [Change] {
      [Change(.update, note, base: base, edits: [Edit(text, .set(.string(words)))])]
    }
    let lost = try #require(try await first.commit(edit("x")).revision)
    var winning = second.transaction(edit("y"))
    winning.policy = .objectTrump
    let won = try await second.reply(to: second.send(.commit(winning)))
    #expect(won.revision == lost + 1)
    #expect(try await Self.expectPruned(scene, keeping: 1) == lost)
    let why = try scene.daemon.run("why", "1.text", "--json").json()
    #expect(why["value"] == .string("y"))
    #expect(why["lost"]?[0]?["value"] == .string("x"))
    #expect(why["lost"]?[0]?["revision"]?.integerValue == lost)
    #expect(why["lost"]?[0]?["time"] == .null)
    #expect(try scene.daemon.run("why", "1.text").output.contains("at a time that was pruned"))
    for client in [first, second] { client.close() }
    try scene.end()
  }

  @Test func invalidOptionsAreReported() throws {
    let daemon = try Daemon()
    for (flags, words) in [
      (["--keep-history", "0"], "--keep-history: 0; it must be a number of commits (at least 1), or an age"),
      (["--keep-history", "5x"], "--keep-history: 5x; it must be a number of commits (at least 1), or an age"),
      (["--keep-history", "5", "--minimum-retention", "30"], "--minimum-retention: 30; it must be an age"),
      (["--prune-every", "0s"], "--prune-every: 0s; it must be a time from 1s"),
    ] {
      let ended = #expect(throws: Daemon.DaemonExited.self) { try daemon.start(flags) }
      #expect(ended?.status == 64)
      #expect(ended?.log.contains(words) == true, "\(ended?.log ?? "")")
    }
  }
}
