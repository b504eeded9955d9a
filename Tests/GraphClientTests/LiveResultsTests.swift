import GraphClient
import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import GraphWire
import Synchronization
import Testing

/// Observable results of live queries.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LiveResultsTests {
  @Test func observersReceiveResultAndItsChanges() async throws {
    try await ServedGraph.serve { graph in
      let (reader, writer) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      _ = try await writer.commit([graph.insertion("b")], policy: .error)
      let results = reader.liveResults(Project.self, sort: [\.title], section: \.year)
      #expect(results.isLoading && results.objects.isEmpty && results.failure == nil)
      await wait { !results.isLoading }
      #expect(results.objects.map(\.title) == ["b"])
      #expect(results.revision == 1 && results.snapshot.difference == nil)
      _ = try await writer.commit([graph.insertion("a")], policy: .error)
      await wait { results.objects.count == 2 }
      #expect(results.objects.map(\.title) == ["a", "b"])
      #expect(results.sections.map(\.name) == [.integer(2026)])
      #expect(results.revision == 2 && results.snapshot.difference?.objects.count == 1)
      await writer.close()
      await reader.close()
    }
  }

  @Test func releasedOrClosedResultsAreNotFollowed() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      do {
        let released = client.liveResults(Project.self)
        await wait { !released.isLoading }
        #expect(try await graph.workInProgress().registrations == 1)
        withExtendedLifetime(released) {}
      }
      #expect(try await graph.waitUntilIdle() == .idle)
      let results = client.liveResults(Project.self)
      await wait { !results.isLoading }
      results.close()
      #expect(try await graph.waitUntilIdle() == .idle)
      _ = try await client.commit([graph.insertion("a")], policy: .error)
      #expect(results.objects.isEmpty && results.failure == nil)
      await client.close()
    }
  }

  @Test func failureIsObserved() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("a")], policy: .error)
      let results = client.liveResults(Project.self)
      await wait { !results.isLoading }
      await client.close()
      await wait { results.failure != nil }
      #expect(results.failure == Refusal(.unavailable, "the client was closed"))
      #expect(results.objects.map(\.title) == ["a"], "the last snapshot stays")
      let late = client.liveResults(Project.self)
      #expect(late.failure == results.failure && !late.isLoading)
    }
  }

  @Test func resultsContinueAfterConnectionIsLostWhileTheyLoad() async throws {
    try await ServedGraph.serve { graph in
      try await graph.loseConnectionAtProjects { client in
        let results = client.liveResults(Step.self, section: \.project.title)
        await wait { !results.isLoading }
        #expect(results.failure == nil && results.sections.map(\.name) == [.string("p")])
      }
    }
  }

  @Test func unregisteredClassIsReported() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("a")], policy: .error)
      let plain = try await GraphClient.connect(
        to: graph.address, model: graph.model, options: GraphClient.Options(author: "ann"))
      let results = plain.liveResults(Project.self)
      await wait { !results.isLoading }
      #expect(results.failure?.code == .malformed && results.objects.isEmpty)
      await #expect(throws: Refusal.self) { for try await _ in plain.live(Project.self) {} }
      await plain.close()
      await client.close()
    }
  }
}
