import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import GraphWire
import Testing

/// Live queries as sequences of snapshots.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LiveSequenceTests {
  /// A client that follows, and one that commits.
  private static func serve(
    _ body: @MainActor (ServedGraph, _ reader: GraphClient, _ writer: GraphClient) async throws -> Void
  ) async throws {
    try await ServedGraph.serve { graph in
      let (reader, writer) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      try await body(graph, reader, writer)
      await writer.close()
      await reader.close()
    }
  }

  /// Inserts projects, and returns their ids in the order of their names.
  @discardableResult
  private func insert(_ names: [String], _ graph: ServedGraph, by client: GraphClient) async throws -> [ObjectID] {
    let changes = names.enumerated().map { graph.insertion($1, number: UInt64($0 + 1)) }
    let identities = try await client.commit(changes, policy: .error).committed.identities
    return identities.sorted { $0.temporary.key.low < $1.temporary.key.low }.map(\.permanent)
  }

  private func rename(_ id: ObjectID, _ title: String, _ graph: ServedGraph, by client: GraphClient) async throws {
    let head = try await client.status().head.revision
    let change = Change(.update, id, base: head, edits: [Edit(graph.title.number, .set(.string(title)))])
    _ = try await client.commit([change], policy: .error)
  }

  /// Also through a copy of the iterator.
  @Test func concurrentReadersReceiveOneSnapshotEach() async throws {
    try await Self.serve { graph, reader, writer in
      var iterator = reader.live(Project.self, sort: [\.title]).makeAsyncIterator()
      #expect(try await iterator.next()?.map(\.title) == [])
      var copy = iterator
      let tasks = [
        Task { try await iterator.next()?.map(\.title) }, Task { try await copy.next()?.map(\.title) },
        Task { try await iterator.next()?.map(\.title) },
      ]
      try await insert(["a"], graph, by: writer)
      #expect(try await tasks[0].value == ["a"])
      try await insert(["b"], graph, by: writer)
      #expect(try await tasks[1].value == ["a", "b"])
      tasks[2].cancel()
      #expect(try await tasks[2].value == nil)
    }
  }

  /// A task that is cancelled while another one has the turn leaves the loop to it.
  @Test func cancelledReaderGivesUpItsTurn() async throws {
    try await Self.serve { graph, reader, writer in
      var iterator = reader.live(Project.self, sort: [\.title]).makeAsyncIterator()
      #expect(try await iterator.next()?.count == 0)
      let first = Task { try await iterator.next()?.count }
      let second = Task { try await iterator.next()?.count }
      second.cancel()
      #expect(try await second.value == nil)
      try await insert(["a"], graph, by: writer)
      #expect(try await first.value == 1)
      try await insert(["b"], graph, by: writer)
      #expect(try await iterator.next()?.count == 2)
    }
  }

  @Test func loopReceivesSnapshotForEachChange() async throws {
    try await Self.serve { graph, reader, writer in
      let ids = try await insert(["b", "c"], graph, by: writer)
      var seen = [[String]]()
      for try await projects in reader.live(Project.self, sort: [\.title]) {
        seen.append(projects.map(\.title))
        #expect(projects.count == seen.last?.count)
        #expect(projects.revision == Revision(seen.count))
        #expect(projects.totalCount == projects.count)
        switch seen.count {
        case 1:
          #expect(projects.difference == nil)
          try await insert(["a"], graph, by: writer)
        case 2:
          #expect(projects.difference?.author == "bob")
          #expect(projects.difference?.date.map { abs($0.timeIntervalSinceNow) < 60 } == true)
          guard case .inserted(_, let position)? = projects.difference?.objects.first else {
            Issue.record("the difference lacks the insertion")
            return
          }
          #expect(position.offset == 0)
          try await rename(ids[0], "d", graph, by: writer)
        case 3:
          guard case .moved(ids[0], let from, let to, _)? = projects.difference?.objects.first else {
            Issue.record("the difference lacks the move")
            return
          }
          #expect((from.offset, to.offset) == (1, 2))
          _ = try await writer.commit([Change(.delete, ids[1], base: 0)], policy: .error)
        default: break
        }
        if seen.count == 4 { break }
      }
      #expect(seen == [["b", "c"], ["a", "b", "c"], ["a", "c", "d"], ["a", "d"]])
    }
  }

  @Test func queryEndsWithItsLoop() async throws {
    try await Self.serve { graph, reader, _ in
      for try await _ in reader.live(Project.self) {
        #expect(try await graph.workInProgress().registrations == 1)
        break
      }
      #expect(try await graph.waitUntilIdle() == .idle)
    }
  }

  @Test func queryEndsWithItsTask() async throws {
    try await Self.serve { graph, reader, _ in
      let (snapshots, received) = AsyncStream.makeStream(of: Int.self)
      let loop = Task {
        for try await projects in reader.live(Project.self) { received.yield(projects.count) }
        received.finish()
      }
      var iterator = snapshots.makeAsyncIterator()
      #expect(await iterator.next() == 0)
      loop.cancel()
      // The loop ends without an error.
      try await loop.value
      #expect(await iterator.next() == nil)
      #expect(try await graph.waitUntilIdle() == .idle)
    }
  }

  @Test func queryEndsWithItsIterator() async throws {
    try await Self.serve { graph, reader, _ in
      do {
        var iterator = reader.live(Project.self).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.isEmpty == true)
        #expect(try await graph.workInProgress().registrations == 1)
        withExtendedLifetime(iterator) {}
      }
      #expect(try await graph.waitUntilIdle() == .idle)
      // A sequence that is never read starts no query.
      _ = reader.live(Project.self).makeAsyncIterator()
      #expect(try await graph.workInProgress() == .idle)
    }
  }

  /// A busy reader receives the commits that it has missed as one difference, and does not delay the server.
  @Test func slowReaderReceivesNewestSnapshot() async throws {
    try await Self.serve { graph, reader, writer in
      let ids = try await insert(["a", "b"], graph, by: writer)
      var iterator = reader.live(Project.self, sort: [\.title.descending]).makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.map(\.title) == ["b", "a"])
      for number in 0..<100 { try await insert(["c\(number)"], graph, by: writer) }
      for number in 0..<100 { try await rename(ids[0], "a\(number)", graph, by: writer) }
      _ = try await writer.commit([Change(.delete, ids[1], base: 0)], policy: .error)
      // The reader's connection has all of it before its own answer.
      let head = try await writer.status().head.revision
      _ = try await reader.status()
      var newest = try #require(try await iterator.next())
      var differences = [try #require(newest.difference)]
      while newest.revision < head {
        newest = try #require(try await iterator.next())
        differences.append(try #require(newest.difference))
      }
      #expect(newest.count == 101)
      #expect(newest.last?.title == "a99")
      // Far fewer than 201.
      #expect(differences.count < 10, "\(differences.count) snapshots")
      let inserted = differences.flatMap(\.objects).count { if case .inserted = $0 { true } else { false } }
      #expect(inserted == 100)
      // A snapshot keeps its objects and their order.
      #expect(first.map(\.id) == [ids[1], ids[0]])
      #expect(first[0].isDeleted && !first[1].isDeleted)
    }
  }

  @Test func sectionsGroupObjects() async throws {
    try await Self.serve { graph, reader, writer in
      try await insert(["b", "a", "c"], graph, by: writer)
      let old = Change(
        .insert, .temporary(1, entity: graph.project.number),
        edits: [Edit(graph.title.number, .set(.string("z"))), Edit(graph.year.number, .set(.integer(1999)))])
      _ = try await writer.commit([old], policy: .error)
      for try await projects in reader.live(Project.self, sort: [\.title], section: \.year.descending) {
        #expect(projects.sections.map(\.name) == [.integer(2026), .integer(1999)])
        #expect(projects.sections.map { $0.map(\.title) } == [["a", "b", "c"], ["z"]])
        #expect(projects.sections.map(\.offset) == [0, 3])
        #expect(projects.map(\.title) == ["a", "b", "c", "z"])
        #expect(projects[2].title == "c" && projects.sections[1][0].title == "z")
        break
      }
    }
  }

  /// The projects are no part of the query, and the reader does not hold them.
  @Test func orderLoadsObjectsThatItReads() async throws {
    try await Self.serve { graph, reader, writer in
      let ids = try await insert(["p", "q"], graph, by: writer)
      let step = try #require(graph.model.entity(named: "Step"))
      let changes = zip(ids + [ids[0]], ["a", "b", "c"]).enumerated().map { number, part in
        Change(
          .insert, .temporary(UInt64(number + 1), entity: step.number),
          edits: [
            Edit(Step.projectNumber, .set(.object(part.0))), Edit(Step.labelNumber, .set(.string(part.1))),
          ])
      }
      _ = try await writer.commit(changes, policy: .error)
      let expected = [["a", "c"], ["b"]]
      for try await steps in reader.live(Step.self, sort: [\.label], section: \.project.title) {
        #expect(steps.sections.map(\.name) == [.string("p"), .string("q")])
        #expect(steps.sections.map { $0.map { $0["label"].stringValue } } == expected)
        #expect(steps.difference == nil)
        break
      }
      let other = try await graph.connect()
      let results = other.liveResults(Step.self, sort: [\.label], section: \.project.title)
      await wait(until: { !results.isLoading })
      #expect(results.sections.map(\.name) == [.string("p"), .string("q")])
      #expect(results.failure == nil)
      await other.close()
    }
  }

  @Test func limitFollowsPartOfResult() async throws {
    try await Self.serve { graph, reader, writer in
      try await insert(["a", "b", "c", "d"], graph, by: writer)
      var iterator = reader.live(Project.self, sort: [\.title], offset: 1, limit: 2).makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.map(\.title) == ["b", "c"] && first.totalCount == 4)
      try await insert(["aa"], graph, by: writer)
      let second = try #require(try await iterator.next())
      #expect(second.map(\.title) == ["aa", "b"] && second.totalCount == 5)
      // The rows stay.
      try await insert(["e"], graph, by: writer)
      let third = try #require(try await iterator.next())
      #expect(third.map(\.title) == ["aa", "b"] && third.totalCount == 6 && third.difference?.isEmpty == true)
    }
  }

  @Test func predicateSelectsObjects() async throws {
    try await Self.serve { graph, reader, writer in
      try await insert(["a", "b"], graph, by: writer)
      for try await projects in reader.live(Project.self, where: { $0.title == "b" && $0.year > 2_000 }) {
        #expect(projects.map(\.title) == ["b"])
        break
      }
    }
  }

  @Test func objectDeletedHereStaysUntilItIsSaved() async throws {
    try await Self.serve { graph, reader, writer in
      try await insert(["a", "b"], graph, by: writer)
      var iterator = reader.live(Project.self, sort: [\.title]).makeAsyncIterator()
      let first = try #require(try await iterator.next())
      reader.context.delete(first[0])
      try await insert(["c"], graph, by: writer)
      let second = try #require(try await iterator.next())
      #expect(second.count == 3 && second[0].isDeleted)
      try await reader.save()
      let third = try #require(try await iterator.next())
      #expect(third.map(\.title) == ["b", "c"])
    }
  }

  @Test func refusalEndsLoop() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: nil)
      defer { proxy.stop() }
      proxy.refuse([graph.project.number: Refusal(.limit, "too many live queries")])
      let client = try await graph.connect(to: proxy.address)
      let refusal = await #expect(throws: Refusal.self) { for try await _ in client.live(Project.self) {} }
      #expect(refusal?.code == .limit)
      await client.close()
    }
  }

  @Test func closedClientEndsLoop() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let (snapshots, received) = AsyncStream.makeStream(of: Int.self)
      let loop = Task { for try await projects in client.live(Project.self) { received.yield(projects.count) } }
      var iterator = snapshots.makeAsyncIterator()
      #expect(await iterator.next() == 0)
      await client.close()
      await #expect(throws: Refusal(.unavailable, "the client was closed")) { try await loop.value }
      await #expect(throws: Refusal(.unavailable, "the client was closed")) {
        for try await _ in client.live(Project.self) {}
      }
    }
  }

  @Test func loopContinuesAfterServerRestart() async throws {
    try await Self.serve { graph, reader, writer in
      var iterator = reader.live(Project.self, sort: [\.title]).makeAsyncIterator()
      let first = try await iterator.next()
      #expect(first?.isEmpty == true)
      try await graph.stop()
      await reader.wait { if case .reconnecting = $0 { true } else { false } }
      let insertion = graph.insertion("one")
      let saved = Task { try await writer.commit([insertion], policy: .error) }
      try await graph.start()
      _ = try await saved.value
      let snapshot = try #require(try await iterator.next())
      #expect(snapshot.map(\.title) == ["one"])
      #expect(snapshot.difference?.objects.count == 1)
    }
  }

  /// The connection is lost after the steps have arrived, and before the projects that their sections read.
  @Test func loopContinuesAfterConnectionIsLostWhileItLoads() async throws {
    try await ServedGraph.serve { graph in
      try await graph.loseConnectionAtProjects { client in
        for try await steps in client.live(Step.self, section: \.project.title) {
          #expect(steps.sections.map(\.name) == [.string("p")])
          break
        }
      }
    }
  }

  @Test func thousandLoopsLeaveNothing() async throws {
    try await Self.serve { graph, reader, writer in
      try await insert(["a"], graph, by: writer)
      for _ in 0..<1_000 {
        for try await projects in reader.live(Project.self) {
          #expect(projects.count == 1)
          break
        }
      }
      #expect(try await reader.count(of: graph.project) == 1)
      #expect(try await graph.waitUntilIdle() == .idle)
    }
  }
}
