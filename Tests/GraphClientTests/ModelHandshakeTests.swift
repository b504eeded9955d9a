import GraphClient
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A client that uses the model of the server.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ModelHandshakeTests {
  @Test func clientWithoutModelUsesModelOfServer() async throws {
    try await ServedGraph.serve { graph in
      let client = try await GraphClient.connect(to: graph.address, options: GraphClient.Options(author: "ann"))
      #expect(client.context.model.hash == graph.model.hash)
      #expect(client.state == .connected && client.welcome?.model == graph.model.hash)
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      #expect(try await client.count(of: graph.project) == 1)
      await client.close()
    }
  }

  @Test func clientWithoutModelReconnects() async throws {
    try await ServedGraph.serve { graph in
      let client = try await GraphClient.connect(to: graph.address, options: GraphClient.Options(author: "ann"))
      try await graph.stop()
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      try await graph.start()
      await client.wait { $0 == .connected }
      #expect(try await client.count(of: graph.project) == 0)
      await client.close()
    }
  }

  @Test(arguments: [1, 2, 3]) func handshakeFailsWithItsConnection(cut: Int) async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: cut, isLast: true)
      defer { proxy.stop() }
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await GraphClient.connect(to: proxy.address, options: GraphClient.Options(author: "ann"))
      }
      #expect(refusal?.code == .unavailable)
    }
  }

  @Test func connectionFailureNamesAddress() async throws {
    let directory = try TemporaryDirectory()
    let address = ServerAddress.unix(path: directory.path + "/socket")
    let failure = await #expect(throws: ConnectFailure.self) {
      _ = try await GraphClient.connect(to: address, options: GraphClient.Options(author: "ann"))
    }
    #expect(failure?.address == address)
  }
}
