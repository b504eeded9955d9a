import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The messages between a client and its server for each call: `>` to the server, `<` from it. A call that begins to
/// send more or other messages changes its transcript.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ClientTranscriptTests {
  /// A client behind a proxy that records.
  private func serve(
    _ body: @MainActor (ServedGraph, GraphClient, _ messages: () -> [String]) async throws -> Void
  ) async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: nil)
      defer { proxy.stop() }
      let client = try await graph.connect(to: proxy.address)
      #expect(proxy.takeMessages() == ["> hello", "< welcome"])
      try await body(graph, client) { proxy.takeMessages() }
      await client.close()
    }
  }

  /// Makes requests until the client has also sent a message.
  private func wait(for message: String, _ messages: () -> [String], _ client: GraphClient) async throws {
    var seen = [String]()
    while !seen.contains(message) {
      _ = try await client.count(of: Project.self)
      seen += messages()
    }
    #expect(seen.count { $0 == message } == 1)
  }

  @Test func saves() async throws {
    try await serve { graph, client, messages in
      let project = graph.insert("a", into: client)
      #expect(messages() == [], "an edit is local")
      try await client.save()
      #expect(messages() == ["> commit", "< committed"])
      try await client.save()
      #expect(messages() == [], "nothing has changed")
      project["title"] = .string("b")
      client.context.delete(graph.insert("c", into: client))
      try await client.save()
      #expect(messages() == ["> commit", "< committed"])
      project["year"] = .null
      await #expect(throws: (any Error).self) { try await client.save() }
      #expect(messages() == ["> commit", "< refused"])
    }
  }

  @Test func fetches() async throws {
    try await serve { graph, client, messages in
      _ = graph.insert("a", into: client)
      _ = graph.insert("b", into: client)
      try await client.save()
      _ = messages()
      let all = try await client.fetch(Project.self)
      #expect(messages() == ["> fetch", "< chunk"])
      _ = try await client.fetchOne(Project.self)
      #expect(messages() == ["> fetch", "< chunk"])
      _ = try await client.count(of: Project.self)
      #expect(messages() == ["> fetch", "< chunk"])
      _ = try await client.exists(Project.self)
      #expect(messages() == ["> fetch", "< chunk"])
      for try await page in try client.pages(of: Project.self, size: 1) { #expect(page.objects.count == 1) }
      #expect(
        messages() == ["> fetch", "< chunk", "> fetch", "< chunk"], "the first page knows that there is a second")
      let faults = try await client.faults(of: Project.self)
      #expect(messages() == ["> fetch", "< chunk"])
      try await client.load(faults)
      #expect(messages() == [], "the context holds the objects")
      withExtendedLifetime(all) {}
    }
  }

  @Test func liveLoop() async throws {
    try await serve { graph, client, messages in
      let writer = try await graph.connect()
      for try await projects in client.live(Project.self, sort: [\.title]) {
        // The end of the first result may arrive after its objects.
        let news = messages().filter { $0 != "< advance" }
        #expect(news == (projects.isEmpty ? ["> subscribe", "< subscribed", "< chunk"] : ["< delta"]))
        if projects.count == 2 { break }
        _ = try await writer.commit([graph.insertion("p\(projects.count)")], policy: .error)
      }
      // The end of the loop is sent beside other requests.
      try await wait(for: "> unsubscribe", messages, client)
      await writer.close()
    }
  }

  @Test func abandonedStream() async throws {
    try await serve { graph, client, messages in
      let changes = (1...3_000).map { graph.insertion("p\($0)", number: UInt64($0)) }
      _ = try await client.commit(changes, policy: .error)
      _ = messages()
      for try await _ in client.images(of: graph.project) { break }
      try await wait(for: "> cancel", messages, client)
    }
  }

  @Test func undo() async throws {
    try await serve { graph, client, messages in
      try await client.undoable("Add") { _ = graph.insert("a", into: client) }
      // Beside these the client asks what can be undone next.
      func withoutStates() -> [String] { messages().filter { !$0.hasSuffix("undoState") } }
      #expect(withoutStates() == ["> commit", "< committed"])
      try await client.undo()
      #expect(withoutStates() == ["> undo", "< committed"])
      try await client.redo()
      #expect(withoutStates() == ["> undo", "< committed"])
    }
  }
}
