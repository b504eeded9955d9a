import GraphModel
import GraphTesting
import Testing

/// A value that another author has set since is that author's, even if it equals the value of the step.
@Suite struct UndoSameValueTests: NoteEditing {
  let store: TestStore
  let board: ObjectID
  let note: ObjectID

  init() throws { (store, board, note) = try TestStore.withNoteOfZoe() }

  // MARK: - Values

  @Test func valueSetAgainByOthersStays() throws {
    try set("y", .double(2), .test(1))
    try set("x", .double(5), .test(1))
    try store.by("bob") {
      try set("x", .double(7))
      try set("x", .double(5))
    }
    let conflicts = try store.taken(store.undo()).conflicts
    #expect(conflicts.map(\.author) == ["bob"])
    #expect(conflicts.map(\.mine) == [.double(0)])
    #expect(conflicts.map(\.theirs) == [.double(5)])
    #expect(conflicts.map(\.revision) == [6])
    #expect(try value("x") == .double(5))
    #expect(try value("y") == .double(0))
    try store.expectSound()
  }

  @Test func valueSetAgainByOthersBetweenStepsStays() throws {
    try set("x", .double(5), .test(1))
    try store.by("bob") {
      try set("x", .double(7))
      try set("x", .double(5))
    }
    try set("x", .double(6), .test(1))
    #expect(try store.taken(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try value("x") == .double(5))
  }

  @Test func redoKeepsValueSetAgainByOthers() throws {
    try set("x", .double(5))
    try store.taken(store.undo())
    try store.by("bob") {
      try set("x", .double(7))
      try set("x", .double(0))
    }
    #expect(try store.refused(store.redo()).conflicts.map(\.author) == ["bob"])
    #expect(try value("x") == .double(0))
  }

  @Test func toOneSetAgainByOthersStays() throws {
    let boards = try store.by("zoe") { try ["C", "D"].map { try store.insert("Board", ["name": .string($0)]) } }
    try set("board", .object(boards[0]))
    try store.by("bob") {
      try set("board", .object(boards[1]))
      try set("board", .object(boards[0]))
    }
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try value("board") == .object(boards[0]))
  }

  @Test func undoneChangeOfOthersIsIgnored() throws {
    try set("x", .double(5))
    try store.by("bob") {
      try set("x", .double(7))
      try store.taken(store.undo())
    }
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try value("x") == .double(0))
    try store.expectSound()
  }

  @Test func ownLaterStepsMaySetValueAgain() throws {
    try set("x", .double(5))
    try set("x", .double(7))
    try set("x", .double(5))
    #expect(try store.taken(store.undo(3)).conflicts.isEmpty)
    #expect(try value("x") == .double(0))
  }

  @Test func conflictReportsAuthorOfValueNotOfUndo() throws {
    try set("x", .double(1))
    try store.by("bob") { try set("x", .double(50)) }
    try set("x", .double(2))
    try store.taken(store.undo())
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try value("x") == .double(50))
  }

  // MARK: - Members

  @Test func memberReaddedByOthersStays() throws {
    let tags = try store.by("zoe") { try ["a", "b"].map { try store.insert("Tag", ["name": .string($0)]) } }
    let property = try store.property("Note.tags").number
    func change(add: [ObjectID] = [], remove: [ObjectID] = []) throws {
      let edit = Edit(property, .members(added: add, removed: remove))
      try store.must([Change(.update, note, base: .max, edits: [edit])])
    }
    try change(add: tags)
    try store.by("bob") {
      try change(remove: [tags[0]])
      try change(add: [tags[0]])
    }
    let readded = try store.store.head.revision
    let conflicts = try store.taken(store.undo()).conflicts
    #expect(conflicts.map(\.author) == ["bob"])
    #expect(conflicts.map(\.revision) == [readded])
    #expect(conflicts.map(\.property) == [property])
    #expect(conflicts.map(\.mine) == [.objects([])])
    #expect(try value("tags") == .objects([tags[0]]))
    // The opposite case: the step removed a member, and another author added and removed it.
    try change(remove: [tags[0]])
    try store.by("bob") {
      try change(add: [tags[0]])
      try change(remove: [tags[0]])
    }
    let refusal = try store.refused(store.undo())
    #expect(refusal.conflicts.map(\.author) == ["bob"])
    #expect(refusal.conflicts.map(\.mine) == [.objects([tags[0]])])
    #expect(try value("tags") == .objects([]))
    try store.expectSound()
  }

  @Test func memberRemovedByOthersIsNoConflict() throws {
    let tags = try store.by("zoe") { try ["a", "b"].map { try store.insert("Tag", ["name": .string($0)]) } }
    let property = try store.property("Note.tags").number
    try store.must([
      Change(.update, note, base: .max, edits: [Edit(property, .members(added: tags, removed: []))])
    ])
    try store.by("bob") {
      let edit = Edit(property, .members(added: [], removed: [tags[0]]))
      try store.must([Change(.update, note, base: .max, edits: [edit])])
    }
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try value("tags") == .objects([]))
  }

  /// An ordered list in its owner's row.
  @Test func listMemberReaddedByOthersStays() throws {
    let store = try TestStore(try Fixtures.ordered())
    store.author = "zoe"
    let projects = try (0..<4).map { _ in try store.insert("Project") }
    let chapter = try store.insert("Chapter", ["projects": .objects([projects[0], projects[1]])])
    store.author = "ann"
    let number = try store.property("Chapter.projects").number
    func change(_ action: Edit.Action) throws {
      try store.must([Change(.update, chapter, base: .max, edits: [Edit(number, action)])])
    }
    func list() throws -> [ObjectID] { try store.value(chapter, "Chapter.projects").objectIDs }
    try change(.place([projects[2], projects[3]], after: projects[1]))
    try store.by("bob") {
      try change(.members(added: [], removed: [projects[2]]))
      try change(.place([projects[2]], after: projects[1]))
    }
    let conflicts = try store.taken(store.undo()).conflicts
    #expect(conflicts.map(\.author) == ["bob"])
    #expect(conflicts.map(\.mine) == [.objects([projects[0], projects[1]])])
    #expect(try list() == [projects[0], projects[1], projects[2]])
    try change(.members(added: [], removed: [projects[0]]))
    try store.by("bob") {
      try change(.place([projects[0]], after: nil))
      try change(.members(added: [], removed: [projects[0]]))
    }
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try list() == [projects[1], projects[2]])
    try store.expectSound()
  }

  /// Another author has moved a member, in the second case back to where it was.
  @Test(arguments: [false, true]) func listMemberMovedByOthersStays(isMovedBack: Bool) throws {
    let store = try TestStore(try Fixtures.ordered())
    store.author = "zoe"
    let projects = try (0..<5).map { _ in try store.insert("Project") }
    let chapter = try store.insert("Chapter", ["projects": .objects(projects)])
    store.author = "ann"
    let number = try store.property("Chapter.projects").number
    func place(_ index: Int, after anchor: Int?) throws {
      let action = Edit.Action.place([projects[index]], after: anchor.map { projects[$0] })
      try store.must([Change(.update, chapter, base: .max, edits: [Edit(number, action)])])
    }
    func list() throws -> [Int] {
      try store.value(chapter, "Chapter.projects").objectIDs.compactMap { projects.firstIndex(of: $0) }
    }
    try place(2, after: nil)
    try store.by("bob") {
      try place(2, after: 3)
      if isMovedBack { try place(2, after: nil) }
    }
    let moved = isMovedBack ? [2, 0, 1, 3, 4] : [0, 1, 3, 2, 4]
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try list() == moved)
    // Others' moves of other members, and moves that were undone, do not count: the member returns behind its
    // predecessor, wherever that is.
    try store.by("bob") {
      try place(0, after: 4)
      try place(4, after: nil)
    }
    try place(3, after: nil)
    try store.by("bob") {
      try place(3, after: 0)
      try store.taken(store.undo())
      try place(1, after: 0)
    }
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try list() == [4, 2, 0, 1, 3])
    try store.expectSound()
  }
}
