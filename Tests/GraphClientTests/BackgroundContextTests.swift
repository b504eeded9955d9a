import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// Contexts with actors of their own, beside a client on the main actor and without one.
@Suite(.timeLimit(.minutes(1))) struct BackgroundContextTests {
  private static func connect(_ author: String, to address: ServerAddress) async throws -> BackgroundContext {
    try await FixtureModel.makeBackgroundContext(to: address, options: GraphClient.Options(author: author))
  }

  /// Inserts a project of 2026, and saves it.
  private static func insert(_ title: String, in context: BackgroundContext) async throws -> ObjectID {
    try await context.perform { client in
      let project = Project(in: client.context)
      project["title"] = .string(title)
      project["year"] = .integer(2026)
      try await client.save()
      return project.id
    }
  }

  @MainActor @Test func commitOfBackgroundContextArrivesAtMainOne() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      var snapshots = client.live(Project.self, sort: [\.title]).makeAsyncIterator()
      let first = try await snapshots.next()
      #expect(first?.isEmpty == true)

      let background = try await client.makeBackgroundContext()
      let id = try await Self.insert("one", in: background)
      let second = try #require(try await snapshots.next())
      #expect(second.map(\.id) == [id] && second.map(\.title) == ["one"])
      #expect(try await client.log(limit: 1).map(\.author) == ["ann"])

      // And the other way round.
      second[0]["title"] = .string("two")
      try await client.save()
      #expect(try await background.perform { try await $0.fetchOne(Project.self, id: id)?.title } == "two")
      await background.close()
      await client.close()
    }
  }

  @Test func conflictOfTwoBackgroundContextsIsReported() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (
        try await Self.connect("ann", to: graph.address), try await Self.connect("bob", to: graph.address)
      )
      let id = try await Self.insert("one", in: ann)
      for (context, year) in [(ann, Int64(2027)), (bob, 2028)] {
        try await context.perform { client in
          let project = try #require(try await client.fetchOne(Project.self, id: id))
          project["year"] = .integer(year)
        }
      }
      try await ann.perform { _ = try await $0.save() }
      let refusal = await #expect(throws: Refusal.self) { try await bob.perform { _ = try await $0.save() } }
      #expect(refusal?.code == .conflict)
      #expect(refusal?.conflicts.map(\.author) == ["ann"])

      // The edit is unsaved again, and another body decides.
      try await bob.perform { client in
        #expect(client.context.hasChanges)
        try await client.save(policy: .objectTrump)
      }
      #expect(try await ann.perform { try await $0.fetchOne(Project.self, id: id)?["year"] } == .integer(2028))
      await ann.close()
      await bob.close()
    }
  }

  @Test func bodiesOfOneContextDoNotMix() async throws {
    try await ServedGraph.serve { graph in
      let context = try await Self.connect("ann", to: graph.address)
      let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<10 {
          group.addTask {
            try await context.perform { client in
              for year in 2026..<2028 {
                let project = Project(in: client.context)
                project["title"] = .string("\(number)")
                project["year"] = .integer(Int64(year))
                // Another body that ran now would add its objects to this save.
                _ = try await client.status()
              }
              return try await client.save()?.committed.identities.count ?? 0
            }
          }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(inserted == Array(repeating: 2, count: 10))
      await context.close()
    }
  }

  @Test func failedBodyLeavesContextUsable() async throws {
    struct Failure: Error {}
    try await ServedGraph.serve { graph in
      let context = try await Self.connect("ann", to: graph.address)
      await #expect(throws: Failure.self) { try await context.perform { _ in throw Failure() } }
      _ = try await Self.insert("one", in: context)
      #expect(try await context.perform { try await $0.count(of: Project.self) } == 1)
      await context.close()
    }
  }

  /// A context that is released is closed: the server has no session of it.
  @Test func releasedContextIsClosed() async throws {
    try await ServedGraph.serve { graph in
      func statesOfReleasedContext() async throws -> AsyncStream<GraphClient.State> {
        let context = try await Self.connect("ann", to: graph.address)
        _ = try await Self.insert("one", in: context)
        return context.states
      }
      var last: GraphClient.State?
      for await state in try await statesOfReleasedContext() { last = state }
      #expect(last == .closed)

      let witness = try await Self.connect("bob", to: graph.address)
      while try await witness.perform({ try await $0.status().sessions }) > 0 { await Task.yield() }
      #expect(try await witness.perform { try await $0.count(of: Project.self) } == 1)
      await witness.close()
    }
  }

  @Test func closedContextRefusesRequests() async throws {
    try await ServedGraph.serve { graph in
      let context = try await Self.connect("ann", to: graph.address)
      await context.close()
      let refusal = await #expect(throws: Refusal.self) { try await Self.insert("one", in: context) }
      #expect(refusal?.code == .unavailable)
      // Nothing is left to close.
      await context.close()
    }
  }
}
