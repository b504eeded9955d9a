import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// A store with a board (1) and two notes (2, 3), each edited once (4, 5), one of which tests damage.
struct DamagedNotes {
  let store: TestStore
  let board: ObjectID
  let damaged: ObjectID
  let sound: ObjectID

  init() throws {
    // The index is updated at once, because its missing entries are read from history when the store opens. There are
    // no keyframes, because a keyframe would contain a state of the damaged object.
    store = try TestStore(try Fixtures.stickies(), wordLimit: 0, keyframeInterval: 0)
    board = try store.insert("Board", ["name": .string("B")])
    damaged = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    sound = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    try store.must([store.update(damaged, "Note.x", .double(1))])
    try store.must([store.update(sound, "Note.x", .double(2))])
  }

  func damageNote(_ assignment: String = "x = x + 1") throws {
    try store.damage("UPDATE Note SET \(assignment) WHERE _id = ?", [Data(damaged.key.bytes)])
  }
}

extension TestStore {
  /// Changes a row of the file without the store's knowledge.
  func damage(_ sql: String, _ arguments: StatementArguments = []) throws {
    try store.close()
    try DatabaseQueue(path: directory.path + "/graph.sqlite").inDatabase { database in
      try database.execute(sql: sql, arguments: arguments)
      #expect(database.changesCount == 1, "\(sql)")
    }
    try reopen()
  }
}
