import GraphModel
import GraphReplica
import Observation
import Synchronization
import Testing

@testable import GraphClient

/// Objects that a front end observes, while two clients work.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ObservedObjectTests {
  /// Counts the notifications of one reading of an object.
  private final class Notifications: Sendable {
    private let counted = Mutex(0)
    var count: Int { counted.withLock { $0 } }

    init(of project: Project) {
      withObservationTracking {
        _ = (project["title"], project["year"], project.isDeleted)
      } onChange: { [self] in
        counted.withLock { $0 += 1 }
      }
    }
  }

  @Test func eachKindOfChangeNotifiesOnce() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let (project, unrelated) = (graph.insert("one", into: ann), graph.insert("two", into: ann))
      try await ann.save()
      let followed = try await ann.subscribe(to: Project.self)
      let other = Notifications(of: unrelated)

      let local = Notifications(of: project)
      project["year"] = .integer(2027)
      #expect(local.count == 1)
      try await ann.save()

      let undone = Notifications(of: project)
      try await ann.undo()
      while undone.count == 0 { await Task.yield() }
      while project["year"] != .integer(2026) { await Task.yield() }
      #expect(undone.count == 1)

      let remote = Notifications(of: project)
      let theirs = try #require(try await bob.fetchOne(Project.self, id: project.id))
      theirs["title"] = .string("theirs")
      try await bob.save()
      while project.title != "theirs" { await Task.yield() }
      #expect(remote.count == 1)

      let deleted = Notifications(of: project)
      bob.context.delete(theirs)
      try await bob.save()
      while !project.isDeleted { await Task.yield() }
      #expect(deleted.count == 1)
      #expect(other.count == 0 && unrelated.title == "two")
      followed.close()
      await ann.close()
      await bob.close()
    }
  }
}
