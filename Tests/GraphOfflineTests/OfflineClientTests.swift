import GraphClient
import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphOffline

/// A client of a replica: the same calls as with a server.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct OfflineClientTests {
  @Test func clientSaysThatItsEditsWait() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    let before = try #require(ann.unsentAfter)
    #expect(!ann.hasUnsentCommits)
    let saved = try await ann.commit([fixture.insertion(1, "new", on: fixture.board)], policy: .error)
    #expect(ann.hasUnsentCommits && saved.committed.revision > before)
    let notes = try await fixture.notes(ann)
    #expect(notes.count { $0.revision > before } == 1)
    await ann.close()
    await fixture.stop()
  }

  @Test func liveQueriesAndUndoWork() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    let saved = try await ann.commit([fixture.insertion(1, "new", on: fixture.board)], policy: .error)
    #expect(try await fixture.texts(ann) == ["buy milk", "new"])
    let undone = try await ann.undo()
    #expect(undone.committed.revision > saved.committed.revision)
    #expect(try await fixture.texts(ann) == ["buy milk"])
    await ann.close()
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }

  @Test func replicaClosesWithItsLastClient() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    for _ in 0..<2 {
      let ann = try await fixture.offline()
      #expect(try await fixture.texts(ann) == ["buy milk"])
      await ann.close()
    }
    await fixture.stop()
  }

  @Test func withoutAReplicaThereIsNothingToOpen() async throws {
    let fixture = try await OfflineFixture()
    await #expect(throws: StoreFailure.self) { _ = try await fixture.offline() }
    #expect(throws: Refusal.self) { try fixture.replica.turnOff() }
    await fixture.stop()
  }
}
