import GraphModel
import GraphTesting
import Testing

/// The values that undo reverts, the values of other authors that it keeps, and the conflicts that it reports.
@Suite struct UndoPastOthersTests: NoteEditing {
  let store: TestStore
  let board: ObjectID
  let note: ObjectID

  init() throws { (store, board, note) = try TestStore.withNoteOfZoe() }

  func type(_ offset: Int, _ length: Int, _ insertion: String, _ group: UndoGroup? = nil) throws {
    let splice = TextSplice(offset: offset, length: length, insertion: insertion)
    let edit = Edit(try store.property("Note.text").number, .splice([splice]))
    try store.must([Change(.update, note, base: .max, edits: [edit])], undo: group)
  }

  // MARK: - Properties

  @Test func valueChangedByOthersStaysAndIsReported() throws {
    try set("x", .double(1), .test(1))
    try set("y", .double(2), .test(1))
    try store.by("bob") { try set("x", .double(50)) }
    let committed = try store.taken(store.undo())
    let conflict = try #require(committed.conflicts.first)
    #expect(committed.conflicts.count == 1)
    #expect(conflict.author == "bob")
    #expect(conflict.mine == .double(0))
    #expect(conflict.theirs == .double(50))
    #expect(try conflict.property == store.property("Note.x").number)
    #expect(try value("x") == .double(50))
    #expect(try value("y") == .double(0))
    // Redo reverts the undo, and nothing else.
    try store.taken(store.redo())
    #expect(try value("x") == .double(50))
    #expect(try value("y") == .double(2))
  }

  @Test func groupRevertsToInterveningValueOfOthers() throws {
    try set("x", .double(1), .test(1))
    try store.by("bob") { try set("x", .double(50)) }
    try set("x", .double(2), .test(1))
    #expect(try store.taken(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try value("x") == .double(50))
  }

  @Test func undoWithoutEffectIsRefusedAndStaysNext() throws {
    try set("y", .double(7))
    try set("x", .double(1))
    try store.by("bob") { try set("x", .double(50)) }
    let (head, state) = try (store.store.head, store.state())
    for _ in 0..<2 {
      let result = try store.undo()
      let refusal = try store.refused(result)
      #expect(refusal.code == .conflict)
      #expect(refusal.conflicts.map(\.author) == ["bob"])
      #expect(refusal.message.contains("nothing of revision 4 could be undone"))
      #expect(result.record == nil)
      #expect(try store.store.head == head)
      #expect(try store.state() == state)
    }
    #expect(try store.refused(store.undo(4)).conflicts.map(\.author) == ["bob"])
    // Older steps are undone by their revision.
    try store.taken(store.undo(3))
    #expect(try value("y") == .double(0))
    #expect(try value("x") == .double(50))
    try store.expectSound()
  }

  @Test func redoWithoutEffectIsRefusedAndStaysNext() throws {
    try set("y", .double(7))
    try set("x", .double(1))
    try store.taken(store.undo())
    try store.taken(store.undo())
    try store.by("bob") { try set("y", .double(50)) }
    let (head, state) = try (store.store.head, store.state())
    for _ in 0..<2 {
      let refusal = try store.refused(store.redo())
      #expect(refusal.code == .conflict)
      #expect(refusal.conflicts.map(\.author) == ["bob"])
      #expect(refusal.message.contains("nothing of revision 3 could be redone"))
      #expect(try store.store.head == head)
      #expect(try store.state() == state)
    }
    try store.taken(store.redo(4))
    #expect(try value("x") == .double(1))
    #expect(try value("y") == .double(50))
  }

  @Test func emptyStepDoesNotBlockStack() throws {
    try set("y", .double(7))
    let other = try store.insert("Note", ["board": .object(board)])
    try store.by("bob") { try store.must([Change(.delete, other)]) }
    let result = try store.undo()
    #expect(result.record?.changes == [])
    #expect(try store.taken(result).conflicts.isEmpty)
    try store.taken(store.undo())
    #expect(try value("y") == .double(0))
    try store.expectSound()
  }

  // MARK: - Texts

  @Test func undoRemovesOnlyTextOfGroup() throws {
    try type(4, 3, "dog", .test(1))
    try store.by("bob") { try type(11, 0, " down") }
    try type(0, 3, "A", .test(1))
    try store.by("bob") { try type(0, 0, "> ") }
    #expect(try value("text") == .string("> A dog sat down"))
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try value("text") == .string("> the cat sat down"))
    try store.taken(store.redo())
    #expect(try value("text") == .string("> A dog sat down"))
  }

  @Test func textWrittenAndDeletedInGroupLeavesNothing() throws {
    try type(3, 0, " big", .test(1))
    try store.by("bob") { try type(0, 0, "Now ") }
    try type(7, 4, "", .test(1))
    try type(8, 3, "dog", .test(1))
    #expect(try value("text") == .string("Now the dog sat"))
    try store.taken(store.undo())
    #expect(try value("text") == .string("Now the cat sat"))
  }

  @Test func replacedTextStays() throws {
    try type(4, 3, "dog")
    try store.by("bob") { try set("text", .string("gone")) }
    let committed = try store.taken(store.undo())
    #expect(committed.conflicts.count <= 1)
    #expect(try !(value("text").stringValue ?? "").contains("cat sat"))
    try store.expectSound()
  }

  // MARK: - Relationships

  @Test func membersAreRevertedIndividually() throws {
    let tags = try store.by("zoe") { try ["a", "b", "c"].map { try store.insert("Tag", ["name": .string($0)]) } }
    let property = try store.property("Note.tags").number
    func change(add: [ObjectID], remove: [ObjectID], _ group: UndoGroup? = nil) throws {
      let edit = Edit(property, .members(added: add, removed: remove))
      try store.must([Change(.update, note, base: .max, edits: [edit])], undo: group)
    }
    try store.by("zoe") { try change(add: [tags[0]], remove: []) }
    try change(add: [tags[1]], remove: [tags[0]], .test(1))
    try store.by("bob") { try change(add: [tags[2]], remove: []) }
    try change(add: [tags[0]], remove: [tags[1]], .test(1))
    try store.taken(store.undo())
    #expect(try value("tags") == .objects([tags[0], tags[2]].sorted()))
    try change(add: [], remove: [tags[0]])
    try store.by("bob") { try store.must([Change(.delete, tags[0])]) }
    try store.taken(store.undo())
    #expect(try value("tags") == .objects([tags[2]]))
    try store.expectSound()
  }

  @Test func toOneReassignedByOthersStays() throws {
    let store = try TestStore(try Fixtures.company())
    let ids = try store.must([
      store.insertion("Person", ["name": .string("a")]), store.insertion("Person", ["name": .string("b")]),
      store.insertion("Desk", [:]), store.insertion("Desk", [:]),
    ])
    let (a, b, one, two) = (ids[0], ids[1], ids[2], ids[3])
    try store.must([store.update(a, "Person.desk", .object(one))])
    try store.must([store.update(a, "Person.desk", .object(two))])
    try store.by("bob") { try store.must([store.update(b, "Person.desk", .object(one))]) }
    let committed = try store.taken(store.undo())
    #expect(committed.conflicts.contains { $0.author == "bob" })
    #expect(try store.value(b, "Person.desk") == .object(one))
    #expect(try store.value(one, "Desk.owner") == .object(b))
    try store.expectSound()
  }

  @Test func toOneIsRevertedAfterReassignment() throws {
    let store = try TestStore(try Fixtures.company())
    let ids = try store.must([
      store.insertion("Person", ["name": .string("a")]), store.insertion("Person", ["name": .string("b")]),
      store.insertion("Desk", [:]), store.insertion("Desk", [:]),
    ])
    let (a, b, one, two) = (ids[0], ids[1], ids[2], ids[3])
    try store.must([store.update(a, "Person.desk", .object(one)), store.update(b, "Person.desk", .object(two))])
    try store.must([store.update(b, "Person.desk", .object(one))])
    for _ in 0..<2 {
      #expect(try store.taken(store.undo()).conflicts.isEmpty)
      #expect(try store.value(a, "Person.desk") == .object(one))
      #expect(try store.value(two, "Desk.owner") == .object(b))
      #expect(try store.taken(store.redo()).conflicts.isEmpty)
      #expect(try store.value(b, "Person.desk") == .object(one))
      #expect(try store.value(a, "Person.desk") == .null)
      #expect(try store.value(two, "Desk.owner") == .null)
    }
    try store.expectSound()
  }
}
