import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import Testing

/// Fetches of objects, rows, ids and pages, and of the past.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct FetchingTests {
  /// Serves five projects, of 2026, to one client.
  private func serveFive(_ body: @MainActor (ServedGraph, GraphClient) async throws -> Void) async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let insertions = ["a", "b", "c", "d", "e"].enumerated().map { graph.insertion($1, number: UInt64($0 + 1)) }
      _ = try await client.commit(insertions, policy: .error)
      try await body(graph, client)
      await client.close()
    }
  }

  @Test func objectsOfFetchAreInContext() async throws {
    try await serveFive { graph, client in
      let all = try await client.fetch(Project.self, where: "year == 2026", sort: "-title")
      #expect(all.map { $0["title"] } == ["e", "d", "c", "b", "a"].map { Value.string($0) })
      let first = try await client.fetch(Project.self, where: "title == \"e\"").first
      #expect(first === all.first, "an object has one instance")
      #expect(try await client.identifiers(of: Project.self, sort: "-title", limit: 2) == all.prefix(2).map(\.id))
      let second = try await client.identifiers(of: Project.self, sort: [\.title.descending], limit: 1, offset: 1)
      #expect(second == [all[1].id])
      #expect(try await client.count(of: Project.self, where: "title > \"c\"") == 2)
    }
  }

  @Test func columnIsFoundByName() async throws {
    try await serveFive { graph, client in
      let rows = try await client.rows(of: Project.self, "title, year + 1 AS next", sort: "title", limit: 2)
      #expect(rows.map { $0["title"] } == [.string("a"), .string("b")])
      #expect(rows.map { $0["next"] } == [.integer(2027), .integer(2027)])
      #expect(rows.first?["nothing"] == nil)
    }
  }

  @Test func pagesContinueAfterLastObject() async throws {
    try await serveFive { graph, client in
      let sort = try [SortKey](parsing: "title", entity: graph.project, model: graph.model)
      let pages = client.pages(of: graph.project, sort: sort, size: 2)
      var titles = [[Value]]()
      while let page = try await pages.nextPage() {
        titles.append(page.objects.map { $0[graph.title] })
        // It sorts before the cursor, so no page has it.
        if titles.count == 1 { _ = try await client.commit([graph.insertion("aa")], policy: .error) }
      }
      #expect(titles == [["a", "b"], ["c", "d"], ["e"]].map { $0.map { Value.string($0) } })
      #expect(try await pages.nextPage() == nil)
    }
  }

  @Test func invalidFetchIsRefused() async throws {
    try await serveFive { graph, client in
      let fetch = Fetch(entity: graph.project.number, predicate: "nothing == 1", sort: "", offset: 0, at: nil)
      let refusal = await #expect(throws: Refusal.self) { try await client.stream(fetch).nextChunk() }
      #expect(refusal?.code == .malformed)
    }
  }

  @Test func pastGraphHasEarlierValues() async throws {
    try await serveFive { graph, client in
      let project = try #require(try await client.fetch(Project.self, where: "title == \"a\"").first)
      project["title"] = .string("z")
      try await client.save()
      let past = client.graph(at: 1)
      let before = try #require(try await past.object(Project.self, project.id))
      #expect(before["title"] == .string("a") && project["title"] == .string("z"))
      #expect(before !== project)
      #expect(try await past.count(of: Project.self, where: "title == \"z\"") == 0)
      #expect(try await client.graph(at: 0).count(of: Project.self) == 0)
      let refusal = await #expect(throws: Refusal.self) { _ = try await client.graph(at: 9).fetch(Project.self) }
      #expect(refusal?.code == .notFound)
    }
  }

  @Test func revisionOfDateIsExact() async throws {
    try await serveFive { graph, client in
      let commit = try #require(try await client.log(limit: 1).first)
      let found = try await client.revision(at: commit.date)
      #expect(found.revision == 1 && found.date == commit.date && commit.date.microseconds == commit.time)
      let before = try await client.revision(at: commit.date.addingTimeInterval(-0.000_001))
      #expect(before.revision == 0 && before.date == nil)
    }
  }

  @Test func commitsSinceTokenAreFollowed() async throws {
    try await serveFive { graph, client in
      let beginning = try await client.token(of: 0)
      _ = try await client.commit([graph.insertion("f")], policy: .error)
      var followed = [Revision]()
      for try await commit in client.commits(since: beginning, untilNow: true) {
        followed.append(commit.token.revision)
      }
      #expect(followed == [1, 2])
      #expect(try await client.log(limit: 10).map(\.revision) == [2, 1])
      #expect(try await client.log(after: 1, limit: 10).map(\.author) == ["ann"])
    }
  }
}
