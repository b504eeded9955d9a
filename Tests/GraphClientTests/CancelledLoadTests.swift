import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// Loads, prefetches and queues whose callers are cancelled: the callers continue at once, and the server stops.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct CancelledLoadTests {
  /// A client of 3,000 projects, whose complete answer has several chunks, through a proxy that records fetches.
  @MainActor private struct Fixture {
    let graph: ServedGraph
    let client: GraphClient
    let proxy: CuttingProxy

    /// Runs a body in a task, and cancels the task when a fetch of an entity has been sent.
    func cancel(
      atFetchOf entity: String = "Project", _ body: @escaping @MainActor () async throws -> Void
    ) async throws -> Result<Void, any Error> {
      let number = try #require(graph.model.entity(named: entity)).number
      _ = proxy.takeFetches()
      let task = Task { try await body() }
      while !proxy.takeFetches().contains(where: { $0.entity == number }) { await Task.yield() }
      task.cancel()
      return await task.result
    }

    /// The next fetch runs, and neither side has work left of the others.
    func expectIdle() async throws {
      #expect(try await client.count(of: graph.project) == 3_000)
      #expect(try await graph.waitUntilIdle() == .idle)
      #expect(client.replies.isEmpty && client.loadingQueries.isEmpty && client.runningQueries.count == 0)
    }
  }

  private static func serve(_ body: @MainActor (Fixture) async throws -> Void) async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: nil)
      defer { proxy.stop() }
      let client = try await graph.connect(to: proxy.address)
      try await graph.insertMany(3_000, by: client)
      try await body(Fixture(graph: graph, client: client, proxy: proxy))
      await client.close()
    }
  }

  private static func expectCancelled(_ result: Result<Void, any Error>) {
    #expect(throws: CancellationError.self) { try result.get() }
  }

  private static func head(_ client: GraphClient) async throws -> Revision {
    try #require(try await client.log(limit: 1).first).revision
  }

  // MARK: - Loads

  @Test func cancelledLoadStops() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      let faults: [Project] = try await client.faults(of: Project.self)
      Self.expectCancelled(try await fixture.cancel { try await client.load(faults) })
      try await fixture.expectIdle()
      #expect(faults.contains { $0.isFault })
      // A later load is not affected.
      try await client.load(faults)
      #expect(faults.allSatisfy { !$0.isFault })
    }
  }

  @Test func loadOfOtherCallerContinues() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      let faults: [Project] = try await client.faults(of: Project.self)
      let other = Task { try await client.load(faults) }
      Self.expectCancelled(try await fixture.cancel { try await client.load(faults) })
      try await other.value
      #expect(faults.allSatisfy { !$0.isFault })
      try await fixture.expectIdle()
    }
  }

  @Test func loadInCancelledTaskSendsNothing() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      let projects = try await client.fetch(Project.self)
      let past = client.graph(at: try await Self.head(client))
      _ = fixture.proxy.takeFetches()
      for reader in [client, past] as [any GraphReader] {
        let load = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          let tree = RelationshipTree(Project.self, [\.steps])
          try await reader.load(tree, of: reader.context.faults(projects.map(\.id)))
        }
        Self.expectCancelled(await load.result)
      }
      try await fixture.expectIdle()
      // That of the count.
      #expect(fixture.proxy.takeFetches().count == 1)
    }
  }

  @Test func cancelledLoadOfThePastStops() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      let past = client.graph(at: try await Self.head(client))
      let faults = past.context.faults(try await client.identifiers(of: fixture.graph.project))
      Self.expectCancelled(try await fixture.cancel { try await past.load(faults) })
      try await fixture.expectIdle()
      #expect(faults.contains { $0.isFault })
    }
  }

  // MARK: - Prefetches

  @Test func cancelledPrefetchOfFetchStops() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      Self.expectCancelled(
        try await fixture.cancel(atFetchOf: "Step") { _ = try await client.fetch(Project.self, prefetch: [\.steps]) })
      try await fixture.expectIdle()
    }
  }

  @Test func cancelledPrefetchOfPageStops() async throws {
    try await Self.serve { fixture in
      let pages = try fixture.client.pages(of: Project.self, size: 1_000, prefetch: [\.steps])
      Self.expectCancelled(try await fixture.cancel(atFetchOf: "Step") { _ = try await pages.nextPage() })
      // The page was not delivered, so the next call reads it.
      #expect(try await pages.nextPage()?.objects.count == 1_000)
      try await fixture.expectIdle()
    }
  }

  @Test func cancelledPrefetchOfSubscriptionStops() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      Self.expectCancelled(
        try await fixture.cancel(atFetchOf: "Step") {
          _ = try await client.subscribe(to: Project.self, prefetch: [\.steps])
        })
      try await fixture.expectIdle()
    }
  }

  @Test func cancelledPrefetchOfLiveQueryEndsLoop() async throws {
    try await Self.serve { fixture in
      let client = fixture.client
      let result = try await fixture.cancel(atFetchOf: "Step") {
        for try await _ in client.live(Project.self, prefetch: [\.steps]) { Issue.record("a snapshot too early") }
      }
      #expect(throws: Never.self) { try result.get() }
      try await fixture.expectIdle()
    }
  }

  // MARK: - Queues

  @Test func cancelledCallLeavesQueueOfPages() async throws {
    struct Failure: Error {}
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    var reads = 0
    let pages = PageSequence<Int> { _ in
      reads += 1
      if reads == 1 {
        for await _ in gate { break }
        throw Failure()
      }
      return Page(objects: [reads], next: nil, at: nil)
    }
    let first = Task { try await pages.nextPage()?.objects }
    while reads == 0 { await Task.yield() }
    let second = Task { try await pages.nextPage()?.objects }
    let third = Task { try await pages.nextPage()?.objects }
    for _ in 0..<10 { await Task.yield() }
    second.cancel()
    // While the first one still reads.
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(reads == 1)
    opening.yield()
    await #expect(throws: Failure.self) { try await first.value }
    #expect(try await third.value == [2])
  }

  @Test func cancelledCallLeavesQueueOfBackgroundContext() async throws {
    try await ServedGraph.serve { graph in
      let context = try await FixtureModel.makeBackgroundContext(
        to: graph.address, options: GraphClient.Options(author: "ann"))
      let (started, start) = AsyncStream.makeStream(of: Void.self)
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let first = Task {
        try await context.perform { _ in
          start.yield()
          for await _ in gate { break }
        }
      }
      for await _ in started { break }
      let second = Task { try await context.perform { _ in Issue.record("the body of a cancelled call runs") } }
      let third = Task { try await context.perform { _ in 3 } }
      for _ in 0..<10 { await Task.yield() }
      second.cancel()
      // While the first body still runs.
      await #expect(throws: CancellationError.self) { try await second.value }
      opening.yield()
      try await first.value
      #expect(try await third.value == 3)
      await context.close()
    }
  }
}
