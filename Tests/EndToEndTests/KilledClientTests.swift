import Foundation
import GraphModel
import GraphWire
import Testing

/// Clients that vanish in the middle of a request: the server drops their registrations and keeps their commits, once.
@Suite struct KilledClientTests {
  /// Waits until only the bystander is connected.
  private static func expectOnlyBystander(_ scene: DaemonFixture) async throws {
    let asker = try await scene.client()
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      guard case .status(let status) = try await asker.reply(to: asker.send(.status)) else {
        Issue.record("status has another answer")
        return
      }
      if status.sessions == 1, status.registrations == 1 { return }
      guard ContinuousClock.now < deadline else {
        Issue.record("\(status.sessions) sessions with \(status.registrations) queries are left")
        return
      }
    }
  }

  @Test func clientKilledDuringCommitCommitsAtMostOnce() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    var expected = Set<String>()
    for address in try scene.addresses() {
      for number in 0..<30 {
        let text = "\(address)-\(number)"
        let victim = try await scene.client(address)
        let transaction = Transaction(
          id: TransactionID(replica: victim.replica, sequence: 1),
          changes: [try scene.insertion([("text", .string(text)), ("board", .object(board))])])
        try await victim.send(.commit(transaction))
        victim.close()
        // A client that was disconnected sends the request again under the same id; the result is the same whether or
        // not the first one arrived.
        let successor = try RawClient(address, replica: victim.replica)
        try await successor.hello()
        let first = try await successor.reply(to: successor.send(.commit(transaction)))
        let second = try await successor.reply(to: successor.send(.commit(transaction)))
        #expect(first.revision != nil && first.revision == second.revision)
        #expect(first.identities == second.identities)
        expected.insert(text)
        try await scene.expectUndisturbed()
      }
    }
    let texts = try await scene.client().fetch(Fetch(entity: scene.entity.number)).objects.map {
      $0[try scene.property("text")].stringValue ?? ""
    }
    #expect(texts.count == expected.count, "a commit is there twice")
    #expect(Set(texts) == expected)
    try await Self.expectOnlyBystander(scene)
    try scene.end()
  }

  @Test func clientKilledDuringFirstResultLeavesNothing() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let writer = try await scene.client()
    // Larger than the parts that are sent ahead or kept in memory, so that the rest is in a file.
    let text = String(repeating: "x", count: 4_000)
    for part in 0..<10 {
      let changes = try (1...100).map {
        try scene.insertion(
          [("text", .string("\(part) \(text)")), ("board", .object(board))], temporary: UInt64($0))
      }
      #expect(try await writer.commit(changes).revision != nil)
    }
    for address in try scene.addresses() {
      for taken in [0, 1, 2, 5, 20] {
        for body in [
          ToServer.Body.subscribe(Subscribe(entity: scene.entity.number)), .fetch(Fetch(entity: scene.entity.number)),
        ] {
          let victim = try await scene.client(address)
          let request = try await victim.send(body)
          var chunks = 0
          while chunks < taken {
            guard case .chunk(let chunk) = try await victim.reply(to: request) else { continue }
            #expect(chunk.end == nil, "the result is too small to be cut off")
            chunks += 1
            try await victim.send(.more(of: request))
          }
          victim.close()
        }
      }
    }
    try await scene.expectUndisturbed()
    #expect(scene.held.count == 1_000)
    writer.close()
    try await Self.expectOnlyBystander(scene)
    try scene.end()
  }

  /// Searches that would take hours, each on one of the few threads that read: they end with their client.
  @Test func killedClientsWithSearchesReleaseThreads() async throws {
    let scene = try await DaemonFixture()
    let endless = try await scene.endlessSearch()
    let writer = try await scene.client()
    for _ in 0..<8 {
      let victim = try await scene.client()
      try await victim.send(.fetch(endless))
      // Answered after the fetch has begun, or while it waits for a thread.
      guard case .status = try await victim.reply(to: victim.send(.status)) else {
        Issue.record("status has another answer")
        return
      }
      victim.close()
    }
    #expect(try await writer.fetch(Fetch(entity: scene.entity.number, limit: 1)).objects.count == 1)
    writer.close()
    try await Self.expectOnlyBystander(scene)
    // A fetch that is still running does not delay the shutdown either.
    let last = try await scene.client()
    try await last.send(.fetch(endless))
    _ = try await last.reply(to: last.send(.status))
    try scene.end()
  }

  /// A real process, killed by the system while it writes out a snapshot.
  @Test func processKilledDuringExportDoesNotAffectOthers() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let writer = try await scene.client()
    let changes = try (1...1_000).map {
      try scene.insertion(
        [("text", .string(String(repeating: "y", count: 2_000))), ("board", .object(board))], temporary: UInt64($0))
    }
    #expect(try await writer.commit(changes).revision != nil)
    writer.close()
    for _ in 0..<3 {
      let export = Process()
      export.executableURL = Daemon.binary("stickies")
      export.arguments = ["export", "--server", scene.daemon.socket.description]
      let output = Pipe()
      export.standardOutput = output
      try export.run()
      // The export has begun and can't end: its pipe, which is smaller than the graph, is no longer read.
      #expect(!output.fileHandleForReading.availableData.isEmpty)
      kill(export.processIdentifier, SIGKILL)
      export.waitUntilExit()
      try await scene.expectUndisturbed()
    }
    try await Self.expectOnlyBystander(scene)
    try scene.end()
  }
}
