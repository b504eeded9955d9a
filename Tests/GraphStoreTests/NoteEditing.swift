import GraphModel
import GraphTesting

/// Tests that edit one note of another author.
protocol NoteEditing {
  var store: TestStore { get }
  var note: ObjectID { get }
}

extension NoteEditing {
  func set(_ name: String, _ value: Value, _ group: UndoGroup? = nil) throws {
    try store.must([store.update(note, "Note.\(name)", value)], undo: group)
  }

  func value(_ name: String) throws -> Value { try store.value(note, "Note.\(name)") }
}

extension TestStore {
  /// A store with a board and a note by zoe, whose next author is ann.
  static func withNoteOfZoe() throws -> (store: TestStore, board: ObjectID, note: ObjectID) {
    let store = try TestStore(try Fixtures.stickies())
    store.author = "zoe"
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("the cat sat")])
    store.author = "ann"
    return (store, board, note)
  }
}
