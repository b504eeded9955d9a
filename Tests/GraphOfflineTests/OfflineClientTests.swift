import Foundation
import GraphClient
import GraphModel
import GraphStore
import GraphTesting
import GraphWire
import Testing

@testable import GraphOffline

/// A client of a replica: the same calls as with a server.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct OfflineClientTests {
  @Test func clientSaysThatItsEditsWait() async throws {
    let fixture = try await OfflineFixture.turnedOn()
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
    let fixture = try await OfflineFixture.turnedOn()
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

  @Test func undoThatRemovesAnEditLeavesNothingToSend() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let first = try await fixture.offline()
    _ = try await first.commit([fixture.insertion(1, "new", on: fixture.board)], policy: .error)
    #expect(first.hasUnsentCommits)
    await first.close()
    let second = try await fixture.offline()
    _ = try await second.undo()
    #expect(!second.hasUnsentCommits)
    await second.close()
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }

  @Test func replicaClosesWithItsLastClient() async throws {
    let fixture = try await OfflineFixture.turnedOn()
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

  @Test func statusAndConflictsAreValues() async throws {
    let fixture = try await OfflineFixture()
    #expect(try fixture.replica.status() == nil)
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    _ = try await ann.commit(
      [Change(.update, fixture.note, base: seen, edits: [fixture.edit("Note.color", .string("blue"))])],
      policy: .error)
    #expect(try fixture.replica.status() == OfflineReplica.Status(isOn: true, unsent: 1, parked: 0))
    await ann.close()
    try await fixture.other(
      [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    try await fixture.synchronize()
    #expect(try fixture.replica.status() == OfflineReplica.Status(isOn: true, unsent: 0, parked: 1))
    let parked = try fixture.replica.conflicts(of: fixture.model)
    #expect(parked.map(\.number) == [1] && parked.first?.conflicts.first?.theirs == .string("green"))
    await fixture.stop()
  }

  @Test func copyIsOpenedWhenNoServerAnswers() async throws {
    let directory = try TemporaryDirectory()
    let address = ServerAddress.unix(path: directory.path + "/none")
    let folder = OfflineMode.kept(at: URL(fileURLWithPath: directory.path + "/replicas"))
    await #expect(throws: ConnectFailure.self) {
      _ = try await GraphClient.connect(
        to: address, model: try Fixtures.stickies(), options: GraphClient.Options(author: "ann"), offline: folder)
    }
    #expect(try OfflineReplica(of: address, folder).status() == nil)
  }
}
