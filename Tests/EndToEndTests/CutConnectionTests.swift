import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// One session through the typed interface, repeated with the connection cut after its first frame, its second, and so
/// on to its last. Each time the client ends in the state that it has without a cut.
@Suite struct CutConnectionTests {
  /// The state of a client and of the daemon at the end of the session.
  private struct ObservedState: Equatable {
    var notes = [String]()
    var pink = [String]()
    /// Each commit of history: what it did.
    var history = [String]()
  }

  @Test @MainActor func cutBetweenAnyTwoFramesHasNoEffect() async throws {
    let (expected, wasCut) = try await Self.run(cutAfter: nil)
    #expect(!wasCut)
    #expect(expected.notes == ["1 one pink 5.0"])
    #expect(expected.pink == ["1 one pink 5.0"])
    #expect(expected.history == ["inserted 2", "inserted 1", "updated 1", "removed 1"])
    var cut = 1
    while true {
      let (seen, wasCut) = try await Self.run(cutAfter: cut)
      #expect(seen == expected, "cut after frame \(cut)")
      // The number of frames varies by a few from run to run; the test ends with the first cut that is not reached.
      guard wasCut, cut < 1_000 else { break }
      cut += 1
    }
    #expect((16..<1_000).contains(cut), "the session has \(cut - 1) frames")
  }

  /// A handler of the new connection may send at once: its message follows the client's own requests.
  @Test @MainActor func clientIsUsableInsideConnectionCallback() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let client = try await Self.connect(to: daemon.socket)
    let notes = try await client.follow(try #require(client.context.model.entity(named: "Note")))
    var reported = 0
    client.stateDidChange = { [unowned client] state in
      guard state == .connected else { return }
      reported += 1
      client.showPresence([1])
    }
    daemon.kill()
    try daemon.start()
    let board = Board(in: client.context)
    board.name = "B"
    let note = Note(in: client.context)
    (note.text, note.board) = ("one", board)
    try await client.save()
    #expect(reported > 0 && client.context.result(of: notes).map(\.id) == [note.id])
    client.stateDidChange = nil
    await client.close()
    #expect(daemon.stop() == 0)
  }

  /// Each run has its own daemon, so that numbers and revisions are the same in all runs.
  @MainActor
  private static func run(cutAfter: Int?) async throws -> (ObservedState, wasCut: Bool) {
    let daemon = try Daemon()
    try daemon.start()
    let proxy = try CuttingProxy(to: daemon.socket, cutAfter: cutAfter)
    defer { proxy.stop() }
    var seen = try await session(through: proxy.address)
    let log = try daemon.run("log", "--json").json().arrayValue ?? []
    seen.history = log.reversed().map { commit in
      let changes = commit["changes"]?.arrayValue ?? []
      return "\(changes.first?["kind"]?.stringValue ?? "nothing") \(changes.count)"
    }
    #expect(daemon.stop() == 0)
    return (seen, proxy.wasCut)
  }

  @MainActor
  private static func session(through address: ServerAddress) async throws -> ObservedState {
    let client = try await connect(to: address)
    let model = client.context.model
    let entity = try #require(model.entity(named: "Note"))
    var revisions = [Revision]()
    let token = client.context.observe { if $0.revision > 0 { revisions.append($0.revision) } }
    let all = try await client.follow(entity)
    let pink = try await client.follow(
      entity, where: try GraphPredicate(parsing: "color == \"pink\"", entity: entity, model: model))

    let board = Board(in: client.context)
    board.name = "B"
    let one = Note(in: client.context)
    one.text = "one"
    one.board = board
    try await client.save()
    let two = Note(in: client.context)
    two.text = "two"
    two.color = .pink
    two.board = board
    try await client.save()
    one.x = 5
    one.color = .pink
    try await client.save()
    client.context.delete(two)
    try await client.save()

    var seen = ObservedState()
    try await until(client, "the pink notes are as the saves left them") {
      seen.pink = lines(of: pink, client)
      return seen.pink == ["1 one pink 5.0"]
    }
    client.unfollow(pink)
    // Answered after the end of the query, so this answer is the session's last frame.
    try await until(client, "a status is answered") { (try? await client.status()) != nil }
    try await until(client, "all notes are as the saves left them") {
      seen.notes = lines(of: all, client)
      return seen.notes == ["1 one pink 5.0"]
    }
    #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 < $1 }, "seen in this order: \(revisions)")
    token.cancel()
    await client.close()
    return seen
  }

  /// The first connection is not retried: the caller gets the reason and connects again.
  @MainActor
  private static func connect(to address: ServerAddress) async throws -> GraphClient {
    var options = GraphClient.Options(author: "ann@test")
    options.firstPauseMilliseconds = 2
    options.lastPauseMilliseconds = 10
    func attempt() async throws -> GraphClient {
      try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options)
    }
    do {
      return try await attempt()
    } catch {
      return try await attempt()
    }
  }

  @MainActor
  private static func lines(of query: QueryID, _ client: GraphClient) -> [String] {
    client.context.result(of: query).compactMap { $0 as? Note }.sorted { $0.number < $1.number }.map {
      "\($0.number) \($0.text) \($0.color.rawValue) \($0.x)"
    }
  }

  /// Evaluates the condition after each event of the client, and after each change of its connection.
  @MainActor
  private static func until(_ client: GraphClient, _ what: String, _ condition: () async -> Bool) async throws {
    let (events, happened) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let token = client.context.observe { _ in happened.yield() }
    client.stateDidChange = { _ in happened.yield() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 20) { happened.finish() }
    defer {
      token.cancel()
      client.stateDidChange = nil
    }
    if await condition() { return }
    for await _ in events where await condition() { return }
    Issue.record("it never comes that \(what)")
  }
}
