import GraphClient
import GraphModel
import GraphReplicaStore
import GraphTesting
import Testing

@testable import GraphOffline

/// A parked edit that its user sends again: its text stays where the user wrote it.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct RetryTests {
  /// A save of a color and of a text, which waits because another user has changed both.
  private func parked() async throws -> (fixture: OfflineFixture, number: Int64) {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    let text = fixture.property("Note.text").number
    func splice(_ offset: Int, _ insertion: String) -> Edit {
      Edit(text, .splice([TextSplice(offset: offset, length: 0, insertion: insertion)]))
    }
    _ = try await ann.commit(
      [
        Change(
          .update, fixture.note, base: seen,
          edits: [fixture.edit("Note.color", .string("blue")), splice(8, ", bread")])
      ], policy: .error)
    await ann.close()
    try await fixture.other(
      [
        Change(
          .update, fixture.note, base: .max,
          edits: [fixture.edit("Note.color", .string("green")), splice(0, "today: ")])
      ])
    #expect(try await fixture.synchronize().parked == 1)
    return (fixture, try #require(try fixture.entries().first).number)
  }

  @Test func retriedTextIsMovedOverTheTextOfOthers() async throws {
    let (fixture, number) = try await parked()
    try fixture.replica.retry(number, policy: .objectTrump, model: fixture.model)
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["today: buy milk, bread"])
    await fixture.stop()
  }

  @Test func textOfAChangedFormIsMovedOverTheTextOfOthers() async throws {
    let (fixture, number) = try await parked()
    let form = try fixture.replica.form(of: number, model: fixture.model).replacing("\"blue\"", with: "\"pink\"")
    try fixture.replica.replace(number, by: form, model: fixture.model)
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["today: buy milk, bread"])
    await fixture.stop()
  }
}
