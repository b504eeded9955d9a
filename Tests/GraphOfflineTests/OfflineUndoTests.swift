import Foundation
import GraphClient
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphTesting
import Testing

@testable import GraphOffline

/// Undo without the server: of a step that waits, of one that is on its way, and of one that the server has committed.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct OfflineUndoTests {
  private func add(_ text: String, _ fixture: OfflineFixture, undo: UndoGroup? = nil) async throws {
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, text, on: fixture.board)], policy: .error, undo: undo)
    await ann.close()
  }

  private func undo(_ fixture: OfflineFixture) async throws {
    let ann = try await fixture.offline()
    _ = try await ann.undo(scope: nil)
    await ann.close()
  }

  private func redo(_ fixture: OfflineFixture) async throws {
    let ann = try await fixture.offline()
    _ = try await ann.redo(scope: nil)
    await ann.close()
  }

  private func visible(_ fixture: OfflineFixture) async throws -> [String] {
    let ann = try await fixture.offline()
    let texts = try await fixture.texts(ann)
    await ann.close()
    return texts
  }

  @Test func editsOfAGroupThatWaitsAreRemovedTogether() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let group = UndoGroup(scope: UniqueID(high: 5, low: 5), group: 3, name: "Import")
    try await add("before", fixture)
    try await add("one", fixture, undo: group)
    try await add("two", fixture, undo: group)
    try await undo(fixture)
    #expect(try await visible(fixture) == ["before", "buy milk"])
    #expect(try fixture.entries().count == 1)
    try await undo(fixture)
    #expect(try await visible(fixture) == ["buy milk"])
    await fixture.stop()
  }

  @Test func committedStepIsReversedFromItsImagesAndSentAsItsUndo() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await add("first", fixture)
    try await add("second", fixture)
    #expect(try await fixture.synchronize().sent == 2)
    try await undo(fixture)
    #expect(try await visible(fixture) == ["buy milk", "first"])
    // The next undo applies to the step before, although the server knows of neither.
    try await undo(fixture)
    #expect(try await visible(fixture) == ["buy milk"])
    #expect(try await fixture.served() == ["buy milk", "first", "second"])
    let contents = try fixture.entries().compactMap { $0.intent?.content }
    guard case .undo(let later, false) = contents.first, case .undo(let earlier, false) = contents.last else {
      Issue.record("the undos do not wait: \(contents)")
      return
    }
    #expect(contents.count == 2 && earlier < later)
    let report = try await fixture.synchronize()
    #expect(report.sent == 2 && report.parked == 0)
    #expect(try await fixture.served() == ["buy milk"])
    #expect(try await visible(fixture) == ["buy milk"])
    await fixture.stop()
  }

  @Test func undoThatWaitsIsTakenBackByRedo() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await add("first", fixture)
    #expect(try await fixture.synchronize().sent == 1)
    try await undo(fixture)
    #expect(try await visible(fixture) == ["buy milk"])
    try await redo(fixture)
    #expect(try await visible(fixture) == ["buy milk", "first"])
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }

  @Test func undoOfAnEditThatIsOnItsWayIsQueuedBehindIt() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await add("sent", fixture)
    let unsent = try fixture.replica.openUnsent()
    #expect(try unsent.markLeft([1], at: 1, form: IntentForm(fixture.model)).count == 1)
    unsent.close()
    try await undo(fixture)
    #expect(try await visible(fixture) == ["buy milk"])
    #expect(try fixture.entries().map(\.intent?.content).last == .undoEdit(1))
    // Both reach the server: the edit may have been there already.
    #expect(try await fixture.synchronize().sent == 2)
    #expect(try await fixture.served() == ["buy milk"])
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }

  @Test func undoOfAStepThatAnUnsentEditHasChangedNeedsTheServer() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await add("first", fixture)
    #expect(try await fixture.synchronize().sent == 1)
    let ann = try await fixture.offline()
    let note = try #require(
      try await fixture.notes(ann).first { $0[fixture.property("Note.text")] == .string("first") })
    _ = try await ann.commit(
      [Change(.update, note.id, base: note.revision, edits: [fixture.edit("Note.color", .string("pink"))])],
      policy: .error)
    let refusal = await #expect(throws: Refusal.self) { try await ann.undo(revision: note.revision) }
    #expect(refusal?.code == .unavailable)
    await ann.close()
    #expect(try fixture.entries().count == 1)
    await fixture.stop()
  }

  @Test func stepsOfOthersAreNotUndone() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    // Bob's commit has made the note.
    let refusal = await #expect(throws: Refusal.self) { try await ann.undo(scope: nil) }
    #expect(refusal?.code == .notFound)
    await ann.close()
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }
}
