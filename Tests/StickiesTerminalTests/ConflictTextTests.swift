import GraphModel
import GraphOffline
import StickiesModel
import Testing

@testable import GraphReplicaStore
@testable import StickiesTerminal

/// An edit in conflict, in the words of the board.
@Suite struct ConflictTextTests {
  private static let (first, second, third) = (
    "Note/c6yvgbpa0000006s8m4k2e0g00", "Note/d6yvgbpa0000006s8m4k2e0g00", "Note/e6yvgbpa0000006s8m4k2e0g00"
  )

  private func values(_ changes: String, _ conflicts: String) throws -> [ConflictsView.Values] {
    try text(changes, conflicts).shown.values
  }

  private func text(
    _ changes: String, _ conflicts: String = "", named: @escaping (ObjectID) -> String? = { _ in nil }
  ) throws -> ConflictText {
    let text = """
      {"format": 1, "number": 1, "transaction": {"replica": "b0c5kz8q3v00006s8m4k2e0g00", "sequence": 1},
      "model": {"name": "Stickies", "version": 6, "hash": "0123456789abcdef0123456789abcdef"},
      "author": "ann@laptop", "made": "2026-11-28T20:33:00Z", "policy": "error", "changes": [\(changes)],
      "state": "parked", "left": "2026-11-28T21:00:00Z", "parked": {"code": "conflict", "message": "in conflict",
      "at": "2026-11-28T21:00:01Z", "conflicts": [\(conflicts)]}}
      """
    let intent = try IntentForm(StickiesModel.model).intent(parsing: text)
    let entry = UnsentFile.Entry(number: 1, form: text, intent: intent, failure: nil, used: 0, isParked: true)
    return ConflictText(OfflineReplica.ParkedEdit(entry), StickiesModel.model, named: named)
  }

  private func update(_ note: String, _ color: String) -> String {
    """
    {"kind": "update", "object": "\(note)", "base": 3, "edits": [{"property": "color", "set": "\(color)"}]}
    """
  }

  @Test func conflictOfOneNoteDoesNotHideTheValueOfAnother() throws {
    let values = try values(
      update(Self.first, "blue") + ", " + update(Self.second, "pink"),
      """
      {"kind": "changed", "object": "\(Self.first)", "property": "color", "mine": "blue", "theirs": "green",
      "author": "bob@desk", "revision": 7}
      """)
    #expect(
      values == [
        .init(name: "Note.color", mine: "blue", theirs: "green", author: "bob@desk, revision 7"),
        .init(name: "Note.color", mine: "pink"),
      ])
  }

  @Test func titleNamesTheNotesOfTheBoard() throws {
    let both = update(Self.first, "blue") + ", " + update(Self.second, "pink")
    let named = try text(both) { "Note/\($0)" == Self.first ? "buy milk" : nil }
    #expect(named.shown.title == "Note.color of “buy milk” and 1 more")
    #expect(try text(update(Self.first, "blue")) { _ in "buy milk" }.shown.title == "Note.color of “buy milk”")
    #expect(try text(both).shown.title == "Note.color")
  }

  /// After a restore of the server an edit can wait without a conflict.
  @Test func valuesOfAnEditWithoutConflictsAreShownAndCopied() throws {
    let typed = """
      {"kind": "update", "object": "\(Self.first)", "base": 3,
      "edits": [{"property": "text", "splices": [{"offset": 3, "length": 0, "insertion": " and bread"}]}]}
      """
    let delete = #"{"kind": "delete", "object": "\#(Self.third)", "base": 3}"#
    let both = try text(typed + ", " + delete)
    #expect(
      both.shown.values == [.init(name: "Note.text", mine: " and bread"), .init(name: "Note", mine: "deleted")])
    #expect(both.copied == "Note.text  and bread\nNote deleted")
    #expect(try text(update(Self.first, "blue")).copied == "blue")
  }

  /// It can be taken again by `stickies sync take`.
  @Test func editWithoutValuesIsCopiedInItsForm() throws {
    let order = """
      {"kind": "update", "object": "Board/f6yvgbpa0000006s8m4k2e0g00", "base": 3,
      "edits": [{"property": "notes", "place": ["\(Self.first)"], "after": null}]}
      """
    let text = try text(order)
    #expect(text.shown.values.isEmpty)
    #expect(try IntentForm(StickiesModel.model).intent(parsing: text.copied).number == 1)
  }

  @Test func deletesAreSaidInWords() throws {
    let values = try values(
      update(Self.first, "blue") + #", {"kind": "delete", "object": "\#(Self.third)", "base": 3}"#,
      """
      {"kind": "deleted", "object": "\(Self.first)", "mine": null, "theirs": null, "author": "bob@desk", "revision": 7},
      {"kind": "changed", "object": "\(Self.third)", "mine": null, "theirs": null, "author": "bob@desk", "revision": 8}
      """)
    #expect(
      values == [
        .init(name: "Note", theirs: "deleted", author: "bob@desk, revision 7"),
        .init(name: "Note", mine: "deleted", theirs: "changed", author: "bob@desk, revision 8"),
        .init(name: "Note.color", mine: "blue"),
      ])
  }
}
