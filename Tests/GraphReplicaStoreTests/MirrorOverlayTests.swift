import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Unsent edits over a mirror: the graph that the user sees, in every read.
@Suite struct MirrorOverlayTests {
  private func fixture() throws -> (MirrorFixture, board: ObjectID, note: ObjectID) {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Home")])
    let note = try store.insert("Note", ["text": .string("buy milk"), "board": .object(board)])
    return (try MirrorFixture(store), board, note)
  }

  private func plan(_ planned: PlannedEdit) throws -> TransactionPlan { try planned.result.get() }

  @Test func insertHasProvisionalIDAndNumber() throws {
    let (fixture, board, _) = try fixture()
    let overlay = try fixture.mirror.makeOverlay()
    let new = ObjectID.temporary(1, entity: try fixture.server.entity("Note").number)
    let edit = fixture.edit(
      1,
      [
        Change(
          .insert, new,
          edits: [
            try fixture.server.edit("Note.text", .string("call Ann")),
            try fixture.server.edit("Note.board", .object(board)),
          ])
      ])
    let inserted = try #require(try plan(overlay.append(edit)).identities.first?.permanent)
    #expect(inserted == ProvisionalID.make(number: 1, place: 1, entity: new.entity))
    let image = try #require(try overlay.image(of: inserted))
    #expect(image[try fixture.server.property("Note.number")] == .integer(ProvisionalNumber.base + 1))
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"ann\"") == [inserted])
    #expect(try fixture.find(overlay, "Note", "board.name == \"Home\"").count == 2)
    // The server's counts of the board include it.
    #expect(try fixture.find(overlay, "Board", "notes.@count == 2") == [board])
  }

  @Test func updateAndDeleteAreSeenInEveryRead() throws {
    let (fixture, board, note) = try fixture()
    let overlay = try fixture.mirror.makeOverlay()
    let base = try fixture.mirror.head.revision
    _ = try plan(
      overlay.append(
        fixture.edit(
          1, [Change(.update, note, base: base, edits: [try fixture.server.edit("Note.text", .string("buy bread"))])])))
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"milk\"").isEmpty)
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"bread\"") == [note])
    _ = try plan(overlay.append(fixture.edit(2, [Change(.delete, board, base: base)])))
    // By the delete rule, the notes go with their board.
    #expect(try fixture.visible(overlay).isEmpty)
    #expect(try fixture.find(overlay, "Note", "TRUEPREDICATE").isEmpty)
  }

  @Test func violationIsSeenAtOnceAndLeavesNothing() throws {
    let (fixture, _, note) = try fixture()
    let overlay = try fixture.mirror.makeOverlay()
    let before = try fixture.visible(overlay)
    let color = try fixture.server.edit("Note.board", .null)
    let planned = try overlay.append(
      fixture.edit(1, [Change(.update, note, base: try fixture.mirror.head.revision, edits: [color])]))
    guard case .failure(let refusal) = planned.result else {
      Issue.record("a note without a board is accepted")
      return
    }
    #expect(refusal.code == .invalid)
    #expect(try fixture.visible(overlay) == before)
    #expect(try overlay.planned().isEmpty)
  }

  @Test func uniqueKeyOfUnsentObjectIsTaken() throws {
    let (fixture, _, _) = try fixture()
    let overlay = try fixture.mirror.makeOverlay()
    let board = try fixture.server.entity("Board").number
    let name = try fixture.server.edit("Board.name", .string("Work"))
    _ = try plan(overlay.append(fixture.edit(1, [Change(.insert, .temporary(1, entity: board), edits: [name])])))
    let again = try overlay.append(fixture.edit(2, [Change(.insert, .temporary(1, entity: board), edits: [name])]))
    guard case .failure(let refusal) = again.result else {
      Issue.record("two boards have one name")
      return
    }
    #expect(refusal.code == .unique)
  }

  @Test func editsAreReplannedOnlyForCommitsThatConcernThem() throws {
    let (fixture, board, note) = try fixture()
    let overlay = try fixture.mirror.makeOverlay()
    let base = try fixture.mirror.head.revision
    let other = try fixture.server.insert("Note", ["text": .string("other"), "board": .object(board)])
    try fixture.receive()
    _ = try plan(
      overlay.append(
        fixture.edit(
          1, [Change(.update, note, base: base, edits: [try fixture.server.edit("Note.color", .string("blue"))])])))
    #expect(overlay.countOfPlans == 1)
    try fixture.server.must([try fixture.server.update(other, "Note.text", .string("changed"))])
    try fixture.receive()
    #expect(try fixture.visible(overlay)[other]?[fixture.server.property("Note.text")] == .string("changed"))
    #expect(overlay.countOfPlans == 1)
    try fixture.server.must([try fixture.server.update(note, "Note.pinned", .bool(true))])
    try fixture.receive()
    let image = try #require(try overlay.image(of: note))
    #expect(image[try fixture.server.property("Note.color")] == .string("blue"))
    #expect(image[try fixture.server.property("Note.pinned")] == .bool(true))
    #expect(overlay.countOfPlans == 2)
  }

  @Test func conflictOfUnsentEditIsSeenWhenTheOthersCommitArrives() throws {
    let (fixture, _, note) = try fixture()
    let overlay = try fixture.mirror.makeOverlay()
    let base = try fixture.mirror.head.revision
    let blue = try fixture.server.edit("Note.color", .string("blue"))
    _ = try plan(overlay.append(fixture.edit(1, [Change(.update, note, base: base, edits: [blue])])))
    try fixture.server.by("bob") {
      try fixture.server.must([try fixture.server.update(note, "Note.color", .string("green"))])
    }
    try fixture.receive()
    let planned = try #require(try overlay.planned().first)
    guard case .failure(let refusal) = planned.result else {
      Issue.record("the conflict is not seen")
      return
    }
    #expect(refusal.conflicts.first?.theirs == .string("green"))
    #expect(refusal.conflicts.first?.author == "bob")
    #expect(try overlay.image(of: note)?[fixture.server.property("Note.color")] == .string("green"))
  }

  @Test func splicesBehindAnUnsentEditFollowTheTextAsItIsNow() throws {
    let (fixture, _, note) = try fixture()
    let text = try fixture.server.property("Note.text")
    let overlay = try fixture.mirror.makeOverlay()
    let base = try fixture.mirror.head.revision
    func splice(_ offset: Int, _ insertion: String) -> Edit {
      Edit(text.number, .splice([TextSplice(offset: offset, length: 0, insertion: insertion)]))
    }
    _ = try plan(overlay.append(fixture.edit(1, [Change(.update, note, base: base, edits: [splice(8, ", bread")])])))
    let second = fixture.edit(
      2, [Change(.update, note, base: base, edits: [splice(15, ", eggs")])],
      texts: [note: [text.number: "buy milk, bread"]])
    _ = try plan(overlay.append(second))
    #expect(try overlay.image(of: note)?[text] == .string("buy milk, bread, eggs"))
    try fixture.server.by("bob") {
      try fixture.server.must([
        Change(.update, note, base: .max, edits: [splice(0, "today: ")])
      ])
    }
    try fixture.receive()
    #expect(try overlay.image(of: note)?[text] == .string("today: buy milk, bread, eggs"))
  }

  @Test func shownEditsAreThoseAppended() throws {
    let (fixture, board, note) = try fixture()
    let base = try fixture.mirror.head.revision
    let entity = try fixture.server.entity("Note").number
    let first = fixture.edit(
      1,
      [
        Change(
          .insert, .temporary(1, entity: entity),
          edits: [
            try fixture.server.edit("Note.text", .string("one")), try fixture.server.edit("Note.board", .object(board)),
          ])
      ])
    let second = fixture.edit(
      2,
      [
        Change(
          .update, ProvisionalID.make(number: 1, place: 1, entity: entity),
          edits: [try fixture.server.edit("Note.color", .string("pink"))]),
        Change(.delete, note, base: base),
      ])
    let appended = try fixture.mirror.makeOverlay()
    _ = try plan(appended.append(first))
    _ = try plan(appended.append(second))
    let shown = try fixture.mirror.makeOverlay()
    #expect(try shown.show([first, second]).count == 2)
    #expect(try fixture.visible(shown) == fixture.visible(appended))
    appended.removeLast()
    #expect(try fixture.visible(appended)[note] != nil)
  }
}
