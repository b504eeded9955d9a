import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Calls on a client's context, which take effect without a call of the client.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ContextCallTests {
  /// Returns when a condition holds, which an observer checks after each change of the context.
  private func wait(_ context: ObjectContext, until isReached: () -> Bool) async {
    let (events, changed) = AsyncStream.makeStream(of: Void.self)
    let token = context.observe { _ in changed.yield() }
    defer { token.cancel() }
    if isReached() { return }
    for await _ in events where isReached() { return }
  }

  @Test func followedQueryOfContextArrives() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      let context = client.context
      let query = context.follow(entity: graph.project)
      await wait(context) { context.isLoaded(query) }
      #expect(context.result(of: query).map { $0["title"] } == [.string("one")])
      context.unfollow(query)
      _ = try await client.status()
      let other = try await graph.connect()
      #expect(try await other.status().registrations == 0)
      await other.close()
      await client.close()
    }
  }

  @Test func saveOfContextReachesServer() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let query = try await bob.follow(Project.self)
      _ = graph.insert("one", into: ann)
      #expect(ann.context.save() != nil)
      await wait(bob.context) { !bob.context.result(of: query).isEmpty }
      #expect(bob.context.result(of: query).map { $0["title"] } == [.string("one")])
      await bob.close()
      await ann.close()
    }
  }

  @Test func contextHasItsClient() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let project = graph.insert("one", into: client)
      let child = client.context.makeChild()
      #expect(project.context.client === client && child.client === client)
      child.object(for: project)?["title"] = .string("two")
      child.saveIntoParent()
      let saved = try #require(try await child.client?.save())
      let past = client.graph(at: saved.committed.revision)
      #expect(past.context.client === client)
      #expect(try await past.object(Project.self, project.id)?.title == "two")
      #expect(ObjectContext(model: graph.model, replica: client.context.replica).client == nil)
      await client.close()
    }
  }

  @Test func loadedFaultOfContextIsFilled() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let committed = try await ann.commit([graph.insertion("one")], policy: .error).committed
      let id = try #require(committed.identities.first?.permanent)
      let past = bob.graph(at: committed.revision)
      for context in [bob.context, past.context] {
        let fault = try #require(context.fault(id))
        #expect(fault.isFault)
        _ = context.load([fault])
        await wait(context) { !fault.isFault }
        #expect(fault["title"] == .string("one"))
      }
      #expect(past.context.owner === past)
      await bob.close()
      await ann.close()
    }
  }

  @Test func refusalOfTooLargeSaveReachesItsClosure() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let project = graph.insert("one", into: client)
      // More than a frame can have.
      project["title"] = .string(String(repeating: "many words ", count: 2_000_000))
      let outcome = await withCheckedContinuation { (answer: CheckedContinuation<Result<SaveResult, Refusal>, Never>) in
        #expect(client.save { answer.resume(returning: $0) })
      }
      #expect(throws: Refusal.self) { try outcome.get() }
      #expect(project.isInserted && client.context.hasChanges)
      await client.close()
    }
  }
}
