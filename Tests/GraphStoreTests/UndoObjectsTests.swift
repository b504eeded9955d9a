import GraphModel
import GraphTesting
import Testing

/// Undo of steps that inserted and deleted objects: cascades are restored completely, and others' additions are kept.
@Suite struct UndoObjectsTests {
  let store: TestStore
  let board: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    store.author = "zoe"
    board = try store.insert("Board", ["name": .string("B")])
    store.author = "ann"
  }

  func insertNote(on board: ObjectID, _ group: UndoGroup? = nil) throws -> ObjectID {
    try store.must([store.insertion("Note", ["board": .object(board)])], undo: group)[0]
  }

  func everything() throws -> [ObjectID: [Value]] {
    var all = [ObjectID: [Value]]()
    for entity in ["Board", "Note", "Tag", "Link"] {
      for image in try store.all(entity) { all[image.id] = image.values }
    }
    return all
  }

  @Test func cascadeOfGroupIsRestored() throws {
    let tag = try store.insert("Tag", ["name": .string("t")])
    let notes = try (0..<3).map { _ in
      try store.insert("Note", ["board": .object(board), "tags": .objects([tag]), "text": .string("hello")])
    }
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(notes[1])])])
    let before = try everything()
    try store.must([store.update(notes[0], "Note.x", .double(9))], undo: .test(1, "Clear"))
    try store.must([Change(.delete, tag)], undo: .test(1, "Clear"))
    try store.must([Change(.delete, notes[2])], undo: .test(1, "Clear"))
    try store.must([Change(.delete, board)], undo: .test(1, "Clear"))
    #expect(try everything().isEmpty)
    for _ in 0..<3 {
      #expect(try store.taken(store.undo()).conflicts.isEmpty)
      let after = try everything()
      #expect(after.keys.sorted() == before.keys.sorted())
      #expect(try store.value(notes[0], "Note.x") == .double(0))
      #expect(try store.value(notes[0], "Note.tags") == .objects([tag]))
      #expect(try store.value(notes[0], "Note.number") == .integer(1))
      #expect(try store.all("Link").count == 1)
      #expect(try store.taken(store.redo()).conflicts.isEmpty)
      #expect(try everything().isEmpty)
      try store.reopen()
    }
    try store.expectSound()
  }

  @Test func objectInsertedAndDeletedInGroupStaysDeleted() throws {
    let before = try everything()
    let note = try insertNote(on: board, .test(1))
    try store.must([store.update(note, "Note.x", .double(1))], undo: .test(1))
    try store.must([Change(.delete, note)], undo: .test(1))
    let other = try insertNote(on: board, .test(1))
    try store.taken(store.undo())
    #expect(try everything() == before)
    try store.taken(store.redo())
    #expect(try store.image(note) == nil)
    #expect(try store.image(other) != nil)
  }

  @Test func insertEditedByOthersStaysWithItsBoard() throws {
    let mine = try store.must([store.insertion("Board", ["name": .string("mine")])], undo: .test(1))[0]
    let note = try insertNote(on: mine, .test(1))
    try store.must([store.update(note, "Note.x", .double(1))], undo: .test(1))
    try store.by("bob") { try store.must([store.update(note, "Note.y", .double(2))]) }
    let committed = try store.taken(store.undo())
    #expect(Set(committed.conflicts.map(\.id)) == [mine, note])
    #expect(committed.conflicts.allSatisfy { $0.author == "bob" })
    #expect(try store.value(note, "Note.y") == .double(2))
    #expect(try store.value(note, "Note.x") == .double(0))
    #expect(try store.image(mine) != nil)
  }

  @Test func insertedBoardWithObjectsOfOthersStays() throws {
    let mine = try store.insert("Board", ["name": .string("mine")])
    let note = try store.by("bob") { try insertNote(on: mine) }
    #expect(try store.refused(store.undo(2)).code == .conflict)
    #expect(try store.image(note) != nil)
  }

  @Test func undoneBoardKeepsNotesMovedThere() throws {
    let note = try insertNote(on: board)
    let mine = try store.insert("Board", ["name": .string("mine")])
    try store.must([store.update(note, "Note.board", .object(mine))])
    // Out of turn: the move would have to be undone first.
    #expect(try store.refused(store.undo(3)).code == .conflict)
    #expect(try store.value(note, "Note.board") == .object(mine))
    try store.taken(store.undo())
    try store.taken(store.undo())
    #expect(try store.value(note, "Note.board") == .object(board))
    #expect(try store.image(mine) == nil)
  }

  @Test func undoneBoardIsDeletedWithMoveOfSameStep() throws {
    let note = try insertNote(on: board)
    let mine = try store.must([store.insertion("Board", ["name": .string("mine")])], undo: .test(1))[0]
    try store.must([store.update(note, "Note.board", .object(mine))], undo: .test(1))
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try store.value(note, "Note.board") == .object(board))
    #expect(try store.image(mine) == nil)
    try store.taken(store.redo())
    #expect(try store.value(note, "Note.board") == .object(mine))
    try store.expectSound()
  }

  @Test func undoneOwnerReleasesEarlierMembers() throws {
    let store = try TestStore(try Fixtures.company())
    let desk = try store.insert("Desk", ["place": .string("window")])
    let person = try store.insert("Person", ["name": .string("p"), "desk": .object(desk)])
    try store.taken(store.undo())
    #expect(try store.image(person) == nil)
    #expect(try store.value(desk, "Desk.place") == .string("window"))
    #expect(try store.value(desk, "Desk.owner") == .null)
    try store.taken(store.redo())
    #expect(try store.value(person, "Person.desk") == .object(desk))
    #expect(try store.value(desk, "Desk.owner") == .object(person))
    try store.expectSound()
  }

  @Test func objectRequiringDeletedObjectStaysDeleted() throws {
    let notes = try (0..<2).map { _ in try insertNote(on: board) }
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(notes[1])])])
    try store.must([Change(.delete, notes[0])])
    try store.by("zoe") { try store.must([Change(.delete, board)]) }
    let refusal = try store.refused(store.undo())
    #expect(refusal.conflicts.map(\.kind) == [.deleted, .deleted])
    #expect(refusal.conflicts.first?.author == "zoe")
    #expect(try everything().isEmpty)
  }

  @Test func undoOfUpdateReportsAuthorOfDelete() throws {
    let note = try insertNote(on: board)
    try store.must([store.update(note, "Note.x", .double(1))])
    try store.by("bob") { try store.must([Change(.delete, note)]) }
    let conflict = try #require(try store.refused(store.undo()).conflicts.first)
    #expect(conflict.kind == .deleted)
    #expect(conflict.author == "bob")
  }

  @Test func historyOfObjectContinuesAfterRevival() throws {
    let note = try store.must([store.insertion("Note", ["board": .object(board), "text": .string("cat")])])[0]
    try store.by("bob") { try store.must([store.update(note, "Note.color", .string("pink"))]) }
    let text = try store.property("Note.text").number
    func type(_ insertion: String) throws {
      let splice = TextSplice(offset: 0, length: 0, insertion: insertion)
      try store.must([Change(.update, note, base: .max, edits: [Edit(text, .splice([splice]))])])
    }
    try type("my ")
    try store.by("bob") {
      try type("see ")
      try store.must([Change(.delete, note)])
      try store.taken(store.undo())
    }
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try store.value(note, "Note.text") == .string("see cat"))
    // Bob has edited it: it stays, though he did so before it was deleted and came back.
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try store.image(note) != nil)
    try store.expectSound()
  }

  @Test func takenNameRefusesRevival() throws {
    let tag = try store.insert("Tag", ["name": .string("t")])
    try store.must([Change(.delete, tag)])
    let other = try store.by("bob") { try store.insert("Tag", ["name": .string("t")]) }
    #expect(try store.refused(store.undo()).code == .unique)
    try store.by("bob") { try store.must([Change(.delete, other)]) }
    try store.taken(store.undo())
    #expect(try store.image(tag) != nil)
  }
}
