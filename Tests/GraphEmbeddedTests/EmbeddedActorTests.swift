import Foundation
import GraphClient
import GraphEmbedded
import GraphModel
import GraphReplica
import GraphStore
import Testing

/// Embedded graphs on other actors than the main one.
@Suite(.timeLimit(.minutes(1))) struct EmbeddedActorTests {
  private actor Worker {
    /// Inserts a project with a client of this actor.
    /// - Returns: the titles of the first snapshot of a live query.
    func insert(_ title: String, at folder: URL, _ model: Model) async throws -> [String] {
      try await GraphClient.withEmbedded(at: folder, model: model, classes: [Project.self]) { client in
        try await EmbeddedActorTests.insert(title, with: client)
        var titles = [String]()
        for try await projects in client.live(Project.self) {
          titles = projects.compactMap { $0["title"].stringValue }
          break
        }
        return titles
      }
    }
  }

  /// Inserts a project of 2026.
  private nonisolated(nonsending) static func insert(_ title: String, with client: GraphClient) async throws {
    let project = Project(in: client.context)
    project["title"] = .string(title)
    project["year"] = .integer(2026)
    try await client.save()
  }

  @Test func graphIsOpenedByAnyActor() async throws {
    let folder = try await EmbeddedFolder()
    let titles = try await Worker().insert("one", at: folder.url, folder.model)
    #expect(titles == ["one"])
    #expect(await folder.failureOfOtherStore() == nil)
    #expect(try await folder.titles() == ["one"])
  }

  @Test @MainActor func backgroundContextCountsAsClient() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open()
    let background = try await ann.makeBackgroundContext()
    await ann.close()
    #expect(folder.failureOfOtherStore()?.code == .inUse)
    try await background.perform { client in try await Self.insert("one", with: client) }
    await background.close()
    #expect(folder.failureOfOtherStore() == nil)
    #expect(try await folder.titles() == ["one"])
  }

  @Test @MainActor func closedBackgroundContextLeavesGraphOpen() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open()
    let background = try await ann.makeBackgroundContext()
    try await background.perform { client in try await Self.insert("one", with: client) }
    await background.close()
    #expect(try await ann.titles == ["one"])
    #expect(folder.failureOfOtherStore()?.code == .inUse)
    await ann.close()
    #expect(folder.failureOfOtherStore() == nil)
  }
}
