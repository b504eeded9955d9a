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
    let (queue, overlay) = try fixture.makeOverlay()
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
    let inserted = try #require(try plan(queue.append(edit)).identities.first?.permanent)
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
    let (queue, overlay) = try fixture.makeOverlay()
    let base = try fixture.mirror.head.revision
    _ = try plan(
      queue.append(
        fixture.edit(
          1, [Change(.update, note, base: base, edits: [try fixture.server.edit("Note.text", .string("buy bread"))])])))
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"milk\"").isEmpty)
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"bread\"") == [note])
    _ = try plan(queue.append(fixture.edit(2, [Change(.delete, board, base: base)])))
    // By the delete rule, the notes go with their board.
    #expect(try fixture.visible(overlay).isEmpty)
    #expect(try fixture.find(overlay, "Note", "TRUEPREDICATE").isEmpty)
  }

  @Test func violationIsSeenAtOnceAndLeavesNothing() throws {
    let (fixture, _, note) = try fixture()
    let (queue, overlay) = try fixture.makeOverlay()
    let before = try fixture.visible(overlay)
    let color = try fixture.server.edit("Note.board", .null)
    let planned = try queue.append(
      fixture.edit(1, [Change(.update, note, base: try fixture.mirror.head.revision, edits: [color])]))
    guard case .failure(let refusal) = planned.result else {
      Issue.record("a note without a board is accepted")
      return
    }
    #expect(refusal.code == .invalid)
    #expect(try fixture.visible(overlay) == before)
    #expect(try overlay.revision(of: 1) == nil)
  }

  @Test func uniqueKeyOfUnsentObjectIsTaken() throws {
    let (fixture, _, _) = try fixture()
    let (queue, _) = try fixture.makeOverlay()
    let board = try fixture.server.entity("Board").number
    let name = try fixture.server.edit("Board.name", .string("Work"))
    _ = try plan(queue.append(fixture.edit(1, [Change(.insert, .temporary(1, entity: board), edits: [name])])))
    let again = try queue.append(fixture.edit(2, [Change(.insert, .temporary(1, entity: board), edits: [name])]))
    guard case .failure(let refusal) = again.result else {
      Issue.record("two boards have one name")
      return
    }
    #expect(refusal.code == .unique)
  }

  @Test func editsAreReplannedOnlyForCommitsThatConcernThem() throws {
    let (fixture, board, note) = try fixture()
    let (queue, overlay) = try fixture.makeOverlay()
    let base = try fixture.mirror.head.revision
    let other = try fixture.server.insert("Note", ["text": .string("other"), "board": .object(board)])
    try fixture.receive()
    _ = try plan(
      queue.append(
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
    let (queue, overlay) = try fixture.makeOverlay()
    let base = try fixture.mirror.head.revision
    let blue = try fixture.server.edit("Note.color", .string("blue"))
    _ = try plan(queue.append(fixture.edit(1, [Change(.update, note, base: base, edits: [blue])])))
    try fixture.server.by("bob") {
      try fixture.server.must([try fixture.server.update(note, "Note.color", .string("green"))])
    }
    try fixture.receive()
    let refusal = try #require(try overlay.refusal(of: 1))
    #expect(refusal.conflicts.first?.theirs == .string("green"))
    #expect(refusal.conflicts.first?.author == "bob")
    #expect(try overlay.image(of: note)?[fixture.server.property("Note.color")] == .string("green"))
  }

  @Test func splicesBehindAnUnsentEditFollowTheTextAsItIsNow() throws {
    let (fixture, _, note) = try fixture()
    let text = try fixture.server.property("Note.text")
    let (queue, overlay) = try fixture.makeOverlay()
    let base = try fixture.mirror.head.revision
    func splice(_ offset: Int, _ insertion: String) -> Edit {
      Edit(text.number, .splice([TextSplice(offset: offset, length: 0, insertion: insertion)]))
    }
    _ = try plan(queue.append(fixture.edit(1, [Change(.update, note, base: base, edits: [splice(8, ", bread")])])))
    let second = fixture.edit(
      2, [Change(.update, note, base: base, edits: [splice(15, ", eggs")])],
      texts: [note: [text.number: "buy milk, bread"]])
    _ = try plan(queue.append(second))
    #expect(try overlay.image(of: note)?[text] == .string("buy milk, bread, eggs"))
    try fixture.server.by("bob") {
      try fixture.server.must([
        Change(.update, note, base: .max, edits: [splice(0, "today: ")])
      ])
    }
    try fixture.receive()
    #expect(try overlay.image(of: note)?[text] == .string("today: buy milk, bread, eggs"))
  }

  /// A run is killed between both steps: the mirror has the commit, and the queue has the edit.
  @Test(arguments: [false, true]) func editThatTheMirrorHasIsShownOnce(isOpenedLater: Bool) throws {
    let (fixture, board, note) = try fixture()
    let text = try fixture.server.property("Note.text")
    let second = try fixture.server.insert("Note", ["text": .string("second"), "board": .object(board)])
    try fixture.receive()
    let (queue, overlay) = try fixture.makeOverlay()
    let splice = Edit(text.number, .splice([TextSplice(offset: 8, length: 0, insertion: ", bread")]))
    let edit = fixture.edit(
      1,
      [
        Change(.update, note, base: try fixture.mirror.head.revision, edits: [splice]),
        Change(.delete, second, base: try fixture.mirror.head.revision),
      ])
    _ = try plan(queue.append(edit))
    #expect(try overlay.image(of: note)?[text] == .string("buy milk, bread"))
    let outcome = try fixture.server.store.commit(
      [.transaction(edit.transaction, author: "ann")], now: fixture.server.now)[0].outcome
    guard case .committed = outcome else { return #expect(Bool(false), "\(outcome)") }
    try fixture.receive()
    let shown = isOpenedLater ? try fixture.mirror.makeOverlay(of: queue.edits) : overlay
    #expect(try shown.image(of: note)?[text] == .string("buy milk, bread"))
    #expect(try shown.image(of: second) == nil)
    // An edit behind it is one of the mirror's text.
    let behind = Edit(text.number, .splice([TextSplice(offset: 15, length: 0, insertion: ", eggs")]))
    _ = try plan(
      ListedQueue(edits: queue.edits, overlay: shown).append(
        fixture.edit(2, [Change(.update, note, base: try fixture.mirror.head.revision, edits: [behind])])))
    queue.edits.remove(1)
    #expect(try shown.image(of: note)?[text] == .string("buy milk, bread, eggs"))
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
    let (queue, appended) = try fixture.makeOverlay()
    _ = try plan(queue.append(first))
    _ = try plan(queue.append(second))
    let (listed, shown) = try fixture.makeOverlay()
    listed.edits.put(first)
    listed.edits.put(second)
    #expect(try fixture.visible(shown) == fixture.visible(appended))
    #expect(shown.countOfPlans == 2)
    queue.edits.remove(2)
    let rest = try fixture.visible(appended)
    #expect(rest[note] != nil)
    #expect(
      rest[ProvisionalID.make(number: 1, place: 1, entity: entity)]?[try fixture.server.property("Note.color")]
        != .string("pink"))
  }

  @Test func othersObjectWithTheKeyOfAnUnsentOneIsAConflictWhenItArrives() throws {
    let (fixture, _, _) = try fixture()
    let (queue, overlay) = try fixture.makeOverlay()
    let board = try fixture.server.entity("Board").number
    let name = try fixture.server.edit("Board.name", .string("Work"))
    _ = try plan(queue.append(fixture.edit(1, [Change(.insert, .temporary(1, entity: board), edits: [name])])))
    try fixture.server.by("bob") { _ = try fixture.server.insert("Board", ["name": .string("Work")]) }
    try fixture.receive()
    #expect(try overlay.refusal(of: 1)?.code == .unique)
    #expect(try fixture.find(overlay, "Board", "name == \"Work\"").count == 1)
  }

  @Test func othersNoteOnADeletedBoardIsDeletedWithIt() throws {
    let (fixture, board, _) = try fixture()
    let (queue, overlay) = try fixture.makeOverlay()
    let base = try fixture.mirror.head.revision
    _ = try plan(queue.append(fixture.edit(1, [Change(.delete, board, base: base)])))
    try fixture.server.by("bob") {
      _ = try fixture.server.insert("Note", ["text": .string("late"), "board": .object(board)])
    }
    try fixture.receive()
    // The delete depends on the notes of the board, so it is planned again, with the new one.
    #expect(try fixture.visible(overlay).isEmpty || overlay.refusal(of: 1) != nil)
    #expect(overlay.countOfPlans == 2)
  }
}
