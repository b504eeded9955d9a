import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphStore
import GraphTesting
import GraphWire
import Testing

/// Live queries and watches of a client.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LiveQueryTests {
  /// Returns when the titles of a query's result are as expected.
  private func wait(_ client: GraphClient, _ query: QueryID, for titles: [String]) async {
    let (events, changed) = AsyncStream.makeStream(of: Void.self)
    let token = client.context.observe { _ in changed.yield() }
    defer { token.cancel() }
    func isReached() -> Bool {
      client.context.result(of: query).compactMap { $0["title"].stringValue }.sorted() == titles
    }
    if isReached() { return }
    for await _ in events where isReached() { return }
  }

  @Test func followedQueryReceivesCommitsOfOtherClients() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      _ = try await ann.commit([graph.insertion("one")], policy: .error)
      let query = try await ann.follow(Project.self)
      #expect(ann.context.result(of: query).map { $0["title"] } == [.string("one")])
      let committed = try await bob.commit([graph.insertion("two")], policy: .error).committed
      await wait(ann, query, for: ["one", "two"])
      let two = try #require(committed.identities.first?.permanent)
      _ = try await bob.commit([Change(.delete, two, base: committed.revision)], policy: .error)
      await wait(ann, query, for: ["one"])
      await bob.close()
      await ann.close()
    }
  }

  /// The store finds a moved file after a commit and before its answer. No other commit follows.
  @Test(arguments: [false, true]) func commitWithUnknownOutcomeIsShown(isLogged: Bool) async throws {
    try await ServedGraph.serve(store: { options, directory in
      // The files are compared before each answer only.
      options.monotonicNanoseconds = { 1 }
      options.comparedNanoseconds = 0
      if isLogged { options.commitLog = SQLiteStore.localLog(in: directory) }
    }) { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let query = try await ann.follow(Project.self)
      let lock = graph.directory.path + "/lock"
      try FileManager.default.moveItem(atPath: lock, toPath: lock + ".away")
      let refusal = await #expect(throws: Refusal.self) {
        try await bob.commit([graph.insertion("one")], policy: .error)
      }
      #expect(refusal?.isOutcomeUnknown == true)
      try FileManager.default.moveItem(atPath: lock + ".away", toPath: lock)
      await wait(ann, query, for: ["one"])
      let late = try await bob.follow(Project.self)
      await wait(bob, late, for: ["one"])
      await bob.close()
      await ann.close()
    }
  }

  @Test func unfollowedQueryEndsAtServer() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let other = try await graph.connect()
      let query = try await client.follow(Project.self)
      // A client's own queries are not counted.
      #expect(try await other.status().registrations == 1)
      client.unfollow(query)
      // The server handles the requests of a connection in order.
      _ = try await client.status()
      #expect(try await other.status().registrations == 0)
      await other.close()
      await client.close()
    }
  }

  @Test func entityOfRunTimeIsFollowedByHandle() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      for name in ["a", "b"] { _ = try await client.commit([graph.insertion(name)], policy: .error) }
      let sort = try [SortKey](parsing: "-title", entity: graph.project, model: graph.model)
      let all = try await client.subscribe(to: graph.project, prefetch: RelationshipTree(Project.self, [\.steps]))
      #expect(all.objects(sort: sort).map { $0["title"] } == [.string("b"), .string("a")])
      let first = try await client.subscribe(to: graph.project, sort: sort, limit: 1)
      #expect(first.window?.total == 2 && first.objects().map { $0["title"] } == [.string("b")])
      all.close()
      first.close()
      await client.close()
    }
  }

  @Test func queryEndsWithItsHandle() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("b")], policy: .error)
      do {
        let handle = try await client.subscribe(to: Project.self, where: { $0.year == 2026 })
        #expect(handle.objects(as: Project.self, sort: [\.title]).map(\.title) == ["b"])
        #expect(handle.window == nil)
        #expect(try await graph.workInProgress().registrations == 1)
        withExtendedLifetime(handle) {}
      }
      #expect(try await graph.waitUntilIdle() == .idle)
      let window = try await client.subscribe(to: Project.self, sort: [\.title], limit: 1)
      #expect(window.window?.total == 1)
      window.close()
      window.close()
      #expect(client.context.result(of: window.id).isEmpty)
      // The server keeps the order of a window for a while, and no query.
      _ = try await client.status()
      #expect(try await graph.workInProgress().registrations == 0)
      await client.close()
    }
  }

  @Test func changeSaysWhatItMeansForAHandle() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let window = try await client.subscribe(to: Project.self, sort: [\.title], limit: 2)
      let others = try await client.subscribe(to: Project.self, where: { $0.year == 1 })
      let (changes, sink) = AsyncStream.makeStream(of: ObjectsDidChange.self)
      let token = client.context.observe { sink.yield($0) }
      _ = try await client.commit([graph.insertion("a")], policy: .error)
      var following = changes.makeAsyncIterator()
      let change = try #require(await following.next())
      #expect(change.affects(window) && !change.affects(others))
      #expect(change.difference(of: window)?.total == 1 && change.difference(of: others) == nil)
      #expect(!change.isReload(of: window) && change.refusal(of: window) == nil)
      withExtendedLifetime(token) {}
      await client.close()
    }
  }

  @Test func cancelledTaskFollowsNothing() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let following = Task { _ = try await client.subscribe(to: Project.self) }
      await Task.yield()
      following.cancel()
      // The first result may have arrived before.
      if case .failure(let error) = await following.result { #expect(error is CancellationError, "\(error)") }
      #expect(try await graph.waitUntilIdle() == .idle)
      await client.close()
    }
  }

  @Test func followedQueryMissesNoCommitWhileServerRestarts() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let query = try await ann.follow(Project.self)
      _ = try await bob.commit([graph.insertion("one")], policy: .error)
      try await graph.stop()
      await bob.wait { if case .reconnecting = $0 { true } else { false } }
      let insertion = graph.insertion("two")
      let saved = Task { try await bob.commit([insertion], policy: .error) }
      try await graph.start()
      #expect(try await saved.value.committed.revision == 2)
      await wait(ann, query, for: ["one", "two"])
      await bob.close()
      await ann.close()
    }
  }

  @Test func watchEndsWhenClientIsClosed() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let (events, reported) = AsyncStream.makeStream(of: GraphClient.WatchEvent.self)
      client.watch([(graph.project, .always)]) { reported.yield($0) }
      var iterator = events.makeAsyncIterator()
      guard case .loaded(_, let images, let at)? = await iterator.next() else {
        Issue.record("the watch has no first result")
        return
      }
      #expect(images.isEmpty && at.revision == 0)
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      guard case .changed(let update)? = await iterator.next() else {
        Issue.record("the watch missed a commit")
        return
      }
      #expect(update.revision == 1 && update.author == "ann" && update.changes.count == 1)
      await client.close()
      guard case .ended(let refusal)? = await iterator.next() else {
        Issue.record("the watch of a closed client did not end")
        return
      }
      #expect(refusal == Refusal(.unavailable, "the client was closed"))
    }
  }

  @Test func subscriptionWaitsForReconnectionWhileItLoads() async throws {
    try await ServedGraph.serve { graph in
      try await graph.loseConnectionAtProjects { client in
        let query = try await client.subscribe(to: Step.self, prefetch: [\.project])
        let step = try #require(query.objects(as: Step.self).first)
        #expect(step.object(Step.projectNumber, Project.self).map(\.title) == "p")
        query.close()
      }
    }
  }

  @Test func refusedWatchEndsWithRefusal() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: nil)
      defer { proxy.stop() }
      proxy.refuse([graph.project.number: Refusal(.limit, "too many live queries")])
      let client = try await graph.connect(to: proxy.address)
      let ending = await withCheckedContinuation { (ended: CheckedContinuation<Refusal, Never>) in
        client.watch([(graph.project, .always)]) {
          if case .ended(let refusal) = $0 { ended.resume(returning: refusal) }
        }
      }
      #expect(ending.code == .limit)
      let refusal = await #expect(throws: Refusal.self) { _ = try await client.follow(graph.project) }
      #expect(refusal?.code == .limit)
      await client.close()
    }
  }

  @Test func windowFollowsItsPartOfOrder() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit(
        ["a", "b", "c"].enumerated().map { graph.insertion($1, number: UInt64($0 + 1)) }, policy: .error)
      let sort = try [SortKey](parsing: "-title", entity: graph.project, model: graph.model)
      let loaded = await withCheckedContinuation { (answer: CheckedContinuation<WindowRows, Never>) in
        client.watch(graph.project, where: .always, sort: sort, offset: 1, limit: 1) { event in
          if case .loadedWindow(_, let rows, _) = event { answer.resume(returning: rows) }
        }
      }
      #expect(loaded.objects.map { $0[graph.title] } == [.string("b")])
      await client.close()
    }
  }
}
