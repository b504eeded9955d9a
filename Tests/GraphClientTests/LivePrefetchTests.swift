import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

extension Step {
  /// The title of the project; nil if the project is a fault.
  fileprivate var projectTitle: String? {
    object(Step.projectNumber, Project.self).flatMap { $0.isFault ? nil : $0.title }
  }
}

/// Live queries whose snapshots have the relationships that they prefetch, from the first one to the last.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LivePrefetchTests {
  /// Inserts a project and a step of it.
  private func insert(_ title: String, step label: String, _ graph: ServedGraph, by client: GraphClient) async throws {
    let step = try #require(graph.model.entity(named: "Step"))
    let reference = Edit(Step.projectNumber, .set(.object(.temporary(1, entity: graph.project.number))))
    let insertion = Change(
      .insert, .temporary(2, entity: step.number), edits: [reference, Edit(Step.labelNumber, .set(.string(label)))])
    _ = try await client.commit([graph.insertion(title), insertion], policy: .error)
  }

  /// Moves a step to a new project.
  private func move(_ step: ObjectID, to title: String, _ graph: ServedGraph, by client: GraphClient) async throws {
    let head = try await client.status().head.revision
    let reference = Edit(Step.projectNumber, .set(.object(.temporary(1, entity: graph.project.number))))
    _ = try await client.commit(
      [graph.insertion(title), Change(.update, step, base: head, edits: [reference])], policy: .error)
  }

  @Test func everySnapshotHasItsRelationships() async throws {
    try await ServedGraph.serve { graph in
      let (reader, writer) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      try await insert("p", step: "a", graph, by: writer)
      var seen = [[String?]]()
      for try await steps in reader.live(Step.self, sort: [\.label], prefetch: [\.project]) {
        seen.append(steps.map(\.projectTitle))
        switch seen.count {
        // An object joins.
        case 1: try await insert("q", step: "b", graph, by: writer)
        // One refers to another object.
        case 2: try await move(steps[0].id, to: "r", graph, by: writer)
        default: break
        }
        if seen.count == 3 { break }
      }
      #expect(seen == [["p"], ["p", "q"], ["r", "q"]])
      await writer.close()
      await reader.close()
    }
  }

  /// Commits arrive faster than the loop reads, and than projects are loaded.
  @Test func snapshotsOfManyCommitsHaveTheirRelationships() async throws {
    try await ServedGraph.serve { graph in
      let (reader, writer) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      try await insert("p", step: "a", graph, by: writer)
      let commits = Task {
        for number in 0..<50 { try await insert("p\(number)", step: "b\(number)", graph, by: writer) }
      }
      var count = 0
      for try await steps in reader.live(Step.self, sort: [\.label], prefetch: [\.project]) {
        #expect(steps.allSatisfy { $0.projectTitle != nil })
        #expect(steps.count > count)
        count = steps.count
        if count == 51 { break }
      }
      try await commits.value
      await writer.close()
      await reader.close()
    }
  }

  /// The connection is lost after the step has arrived, and before its project: the snapshot follows on the next
  /// connection.
  @Test func snapshotWaitsForNextConnection() async throws {
    try await ServedGraph.serve { graph in
      let writer = try await graph.connect { $0.author = "bob" }
      try await insert("p", step: "a", graph, by: writer)
      let proxy = try CuttingProxy(to: graph.address, cutAfter: nil)
      defer { proxy.stop() }
      let reader = try await graph.connect(to: proxy.address)
      var iterator = reader.live(Step.self, sort: [\.label], prefetch: [\.project]).makeAsyncIterator()
      let results = reader.liveResults(Step.self, sort: [\.label], prefetch: [\.project])
      let first = try await iterator.next()
      #expect(first?.map(\.projectTitle) == ["p"])
      await wait { !results.isLoading }
      proxy.cut(atFetchOf: graph.project.number)
      try await insert("q", step: "b", graph, by: writer)
      let second = try await iterator.next()
      #expect(second?.map(\.projectTitle) == ["p", "q"] && proxy.wasCut)
      await wait { results.objects.count == 2 }
      #expect(results.objects.map(\.projectTitle) == ["p", "q"] && results.failure == nil)
      await reader.close()
      await writer.close()
    }
  }

  @Test func snapshotKeepsItsRelationshipsAfterItsLoop() async throws {
    try await ServedGraph.serve { graph in
      let (reader, writer) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      try await insert("p", step: "a", graph, by: writer)
      var kept: LiveSnapshot<Step>?
      for try await steps in reader.live(Step.self, sort: [\.label], section: \.project.title) {
        kept = steps
        break
      }
      #expect(try await graph.waitUntilIdle() == .idle)
      #expect(kept?.map(\.projectTitle) == ["p"])
      kept = nil
      await writer.close()
      await reader.close()
    }
  }

  /// Objects that the program inserts are one instance, in a snapshot, in observed results, and in the program.
  @Test func insertedObjectEqualsThatOfTheResult() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      var iterator = client.live(Project.self, sort: [\.title]).makeAsyncIterator()
      _ = try await iterator.next()
      let results = client.liveResults(Project.self)
      await wait { !results.isLoading }
      for count in 1...20 {
        let project = graph.insert("project \(count + 10)", into: client)
        try await client.save()
        let snapshot = try #require(try await iterator.next())
        #expect(snapshot.count == count && snapshot.last == project)
        #expect(results.objects.contains(project))
        #expect(client.context.object(project.id) == project)
      }
      await client.close()
    }
  }
}
