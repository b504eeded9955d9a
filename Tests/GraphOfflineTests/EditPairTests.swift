import Foundation
import GraphClient
import GraphModel
import GraphTesting
import Testing

@testable import GraphOffline

/// Plays each row of the table in docs/guides/offline.md: an edit without the server, and an edit on the server
/// meanwhile.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct EditPairTests {
  private typealias Row = (mine: String, theirs: String, outcome: String)

  private static func rows() throws -> [Row] {
    let page = try #require(String(bytes: try Fixtures.file("docs/guides/offline.md"), encoding: .utf8))
    let table = try #require(page.components(separatedBy: "| my edit |").last?.components(separatedBy: "\n\n").first)
    return table.split(separator: "\n").dropFirst(2).map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return (cells[0], cells[1], cells[2])
    }
  }

  @Test func everyPairEndsAsTheGuideSays() async throws {
    let rows = try Self.rows()
    #expect(rows.count == 7)
    for row in rows {
      let fixture = try await OfflineFixture()
      try await fixture.turnOn()
      let ann = try await fixture.offline()
      let seen = try #require(try await fixture.notes(ann).first).revision
      try await mine(row.mine, fixture, ann, seen)
      await ann.close()
      try await theirs(row.theirs, fixture)
      let report = try await fixture.synchronize()
      #expect((report.parked > 0) == row.outcome.contains("parked"), "\(row.mine) against \(row.theirs)")
      #expect(try fixture.entries().allSatisfy(\.isParked))
      if row.outcome.contains("stays deleted") {
        #expect(try await fixture.served().isEmpty)
      }
      if row.outcome.hasPrefix("mine is kept") {
        let bob = try await fixture.connect("bob")
        #expect(try await fixture.notes(bob).first?[fixture.property("Note.color")] == .string("blue"))
        await bob.close()
      }
      if row.outcome.hasPrefix("both are kept"), row.mine == "a text" {
        #expect(try await fixture.served() == ["today: buy milk, bread"])
      }
      await fixture.stop()
    }
  }

  private func splice(_ fixture: OfflineFixture, _ offset: Int, _ insertion: String) -> Edit {
    Edit(
      fixture.property("Note.text").number,
      .splice([TextSplice(offset: offset, length: 0, insertion: insertion)]))
  }

  private func board(_ fixture: OfflineFixture) -> Change {
    Change(
      .insert, .temporary(1, entity: fixture.entity("Board").number),
      edits: [fixture.edit("Board.name", .string("Work"))])
  }

  private func mine(_ name: String, _ fixture: OfflineFixture, _ ann: GraphClient, _ seen: Revision) async throws {
    let blue = Change(.update, fixture.note, base: seen, edits: [fixture.edit("Note.color", .string("blue"))])
    switch name {
    case "a property", "a property, policy `error`", "any edit of an object":
      _ = try await ann.commit([blue], policy: .error)
    case "a property, policy `objectTrump`": _ = try await ann.commit([blue], policy: .objectTrump)
    case "a text":
      _ = try await ann.commit(
        [Change(.update, fixture.note, base: seen, edits: [splice(fixture, 8, ", bread")])], policy: .error)
    case "a new object with a unique key":
      let made = try await ann.commit([board(fixture)], policy: .error).committed
      _ = try await ann.commit(
        [
          Change(
            .update, made.identities[0].permanent, base: made.revision,
            edits: [fixture.edit("Board.color", .string("blue"))])
        ], policy: .error)
    case "a new object on a board":
      _ = try await ann.commit([fixture.insertion(1, "new", on: fixture.board)], policy: .error)
    default: Issue.record("the guide has an unknown edit: \(name)")
    }
  }

  private func theirs(_ name: String, _ fixture: OfflineFixture) async throws {
    switch name {
    case "another property of the object":
      try await fixture.other(
        [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.pinned", .bool(true))])])
    case "the same text at another place":
      try await fixture.other([Change(.update, fixture.note, base: .max, edits: [splice(fixture, 0, "today: ")])])
    case "the same property, another value":
      try await fixture.other(
        [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    case "the object is deleted": try await fixture.other([Change(.delete, fixture.note)])
    case "another one with that key": try await fixture.other([board(fixture)])
    case "the board is deleted": try await fixture.other([Change(.delete, fixture.board)])
    default: Issue.record("the guide has an unknown edit: \(name)")
    }
  }
}
