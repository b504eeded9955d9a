import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The connection of a client: made, refused, lost and closed.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct GraphClientTests {
  @Test func connectedClientHasWelcomeOfServer() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      #expect(client.state == .connected)
      #expect(client.ending == nil)
      #expect(client.welcome?.model == graph.model.hash)
      #expect(client.welcome?.server == "tests")
      #expect(client.welcome?.head.revision == 0)
      let other = try await graph.connect()
      // A client's own session is not counted.
      #expect(try await other.status().sessions == 1)
      await other.close()
      await client.close()
    }
  }

  @Test func connectionFailureNamesAddressAndCause() async throws {
    let directory = try TemporaryDirectory()
    let address = ServerAddress.unix(path: directory.path + "/socket")
    let failure = await #expect(throws: ConnectFailure.self) {
      _ = try await GraphClient.connect(
        to: address, model: try Fixtures.company(), options: GraphClient.Options(author: "ann"))
    }
    #expect(failure?.address == address)
    #expect(failure?.description == "no server answers at \(address) (No such file or directory)")
    #expect(failure?.cause == "No such file or directory")
  }

  @Test func firstConnectionThatServerClosesIsNotRetried() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: 1, isLast: true)
      defer { proxy.stop() }
      let refusal = await #expect(throws: Refusal.self) { _ = try await graph.connect(to: proxy.address) }
      #expect(refusal?.code == .unavailable)
      #expect(refusal?.message == "the server closed the connection")
    }
  }

  @Test func clientOfAnotherModelIsRefused() async throws {
    try await ServedGraph.serve { graph in
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await GraphClient.connect(
          to: graph.address, model: try Fixtures.stickies(), options: GraphClient.Options(author: "ann"))
      }
      #expect(refusal?.code == .notAllowed)
      #expect(refusal?.message.contains("use a client with the server's model") == true)
    }
  }

  @Test func requestsOfClosedClientAreRefused() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      await client.close()
      #expect(client.state == .closed)
      #expect(client.ending == Refusal(.unavailable, "the client was closed"))
      let read = await #expect(throws: Refusal.self) { _ = try await client.count(of: graph.project) }
      #expect(read?.message == "the connection is closed")
      let write = await #expect(throws: Refusal.self) {
        _ = try await client.commit([graph.insertion("one")], policy: .error)
      }
      #expect(write?.message == "the connection is closed; nothing was sent")
      let query = await #expect(throws: Refusal.self) { _ = try await client.follow(graph.project) }
      #expect(query?.message == "the connection is closed")
    }
  }

  @Test func clientThatDoesNotReconnectIsClosedWithItsServer() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect { $0.reconnects = false }
      try await graph.stop()
      await client.wait { $0 == .closed }
      #expect(client.ending?.code == .unavailable)
    }
  }

  @Test func clientReconnectsToRestartedServer() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.stop()
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      try await graph.start()
      await client.wait { $0 == .connected }
      #expect(try await client.count(of: graph.project) == 0)
      #expect(client.ending == nil)
      await client.close()
    }
  }

  @Test func presenceOfOtherSessionIsReportedUntilItEnds() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let (events, reported) = AsyncStream.makeStream(of: Presence.self)
      ann.presenceDidChange = { reported.yield($0) }
      ann.showPresence([1])
      // Answered after the presence is known to the server.
      _ = try await ann.status()
      bob.showPresence([7])
      var iterator = events.makeAsyncIterator()
      let shown = try #require(await iterator.next())
      #expect(shown.author == "bob" && shown.state == [7])
      await bob.close()
      let left = try #require(await iterator.next())
      #expect(left.session == shown.session && left.state == nil)
      await ann.close()
    }
  }
}
