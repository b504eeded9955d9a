import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// A store whose file was changed by something else than a commit: what is damaged is refused by name, everything else is
/// served.
@Suite struct DamageTests {
  private let store: TestStore
  private let board: ObjectID
  private let damaged: ObjectID
  private let sound: ObjectID

  /// A board (1) and two notes (2, 3), each edited once (4, 5).
  init() throws {
    // The index is fed at once: what it lacks is read from history when the store opens.
    store = try TestStore(try Fixtures.stickies(), wordLimit: 0)
    board = try store.insert("Board", ["name": .string("B")])
    damaged = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    sound = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    try store.must([store.update(damaged, "Note.x", .double(1))])
    try store.must([store.update(sound, "Note.x", .double(2))])
  }

  /// Changes the file behind the store's back.
  private func damage(_ sql: String, _ arguments: StatementArguments = []) throws {
    try store.store.close()
    try DatabaseQueue(path: store.directory.path + "/graph.sqlite").inDatabase { database in
      try database.execute(sql: sql, arguments: arguments)
      #expect(database.changesCount == 1, "\(sql)")
    }
    try store.reopen()
  }

  private func damageNote(_ assignment: String = "x = x + 1") throws {
    try damage("UPDATE Note SET \(assignment) WHERE _id = ?", [Data(damaged.key.bytes)])
  }

  private func fetch(_ id: ObjectID) throws -> ObjectImage? {
    var found: ObjectImage?
    _ = try store.store.fetch(FetchRequest(entity: id.entity, predicate: .identifiers([id]))) { found = $0 }
    return found
  }

  private func log(_ request: LogRequest = LogRequest()) throws -> [Revision] {
    var revisions = [Revision]()
    _ = try store.store.log(request) { revisions.append($0.revision) }
    return revisions
  }

  private func expectNamed(_ refusal: Refusal?, _ words: String) {
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.message.contains(words) == true, "\(String(describing: refusal))")
    #expect(refusal?.message.contains("stickiesd check") == true)
  }

  private func sumOfDamaged() throws -> Int64? {
    try store.store.close()
    defer { try? store.reopen() }
    return try DatabaseQueue(path: store.directory.path + "/graph.sqlite").read { database in
      try Int64.fetchOne(database, sql: "SELECT _sum FROM Note WHERE _id = ?", arguments: [Data(damaged.key.bytes)])
    }
  }

  // MARK: - Objects

  @Test(arguments: ["x = x + 1", "text = 'the bat'", "_revision = 3", "_sum = _sum + 1", "color = 'pink'"])
  func editOfDamagedObjectIsRefusedWithOtherErrors(assignment: String) throws {
    try damageNote(assignment)
    let sum = try sumOfDamaged()
    let head = try store.store.head
    expectNamed(try store.refusal([store.update(damaged, "Note.y", .double(9))]), "\(damaged.key)")
    expectNamed(try store.refusal([Change(.delete, damaged, base: .max)]), "\(damaged.key)")
    #expect(try store.store.head == head)
    #expect(try sumOfDamaged() == sum)
    let findings = try StoreCheckRun(store).findings
    #expect(findings.contains { $0.place.object == damaged })
  }

  @Test func undamagedObjectsAreServedAndEdited() throws {
    try damageNote()
    #expect(try fetch(sound)?[store.property("Note.x")] == .double(2))
    try store.must([store.update(sound, "Note.x", .double(3))])
    #expect(try fetch(sound)?[store.property("Note.x")] == .double(3))
    _ = try store.insert("Tag", ["name": .string("t")])
    #expect(try log(LogRequest(after: 5)) == [7, 6])
  }

  @Test func batchOverDamagedObjectIsRefused() throws {
    try damageNote()
    let head = try store.store.head
    let assignment = Batch.Assignment(try store.property("Note.y").number, .value(.double(5)))
    let operation = Batch.Operation.update(.always, [assignment])
    guard case .refused(let refusal) = try store.batch("Note", operation).outcome else {
      Issue.record("the damage was written over")
      return
    }
    expectNamed(refusal, "\(damaged.key)")
    #expect(try store.store.head == head)
  }

  /// The table of a many-to-many leads to a row that was removed.
  @Test func batchThatMeetsMissingRowIsRefused() throws {
    let model = try Model(
      parsing: """
        {"format": 1, "name": "Shelf", "version": 1,
         "entities": [
           {"name": "Box", "attributes": [{"name": "name", "type": "string"}],
            "relationships": [
              {"name": "items", "destination": "Item", "inverse": "boxes", "toMany": true, "deleteRule": "cascade"}]},
           {"name": "Item", "attributes": [{"name": "name", "type": "string"}],
            "relationships": [{"name": "boxes", "destination": "Box", "inverse": "items", "toMany": true}]}]}
        """.utf8)
    let store = try TestStore(model)
    let items = try ["a", "b"].map { try store.insert("Item", ["name": .string($0)]) }
    _ = try store.insert("Box", ["name": .string("box"), "items": .objects(items)])
    try store.store.close()
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    try DatabaseQueue(path: store.directory.path + "/graph.sqlite", configuration: configuration).inDatabase {
      try $0.execute(sql: "DELETE FROM Item WHERE name = 'b'")
    }
    try store.reopen()
    let failure = #expect(throws: StoreFailure.self) { try store.batch("Box", .delete(.always)) }
    #expect(failure?.code == .corrupt)
    #expect(try store.store.head.revision == 3)
  }

  @Test func readOfDamagedObjectIsRefused() throws {
    try damageNote()
    expectNamed(#expect(throws: Refusal.self) { try fetch(damaged) }, "\(damaged.key)")
    expectNamed(
      #expect(throws: Refusal.self) { try store.store.commits(after: 3, through: nil, maximumChanges: 100) },
      "\(damaged.key)")
    #expect(try fetch(sound) != nil)
  }

  // MARK: - History

  @Test(arguments: [
    "changes = CAST(changes || x'00' AS BLOB)", "time = time + 1", "author = 77", "sequence = sequence + 1000",
    "undoes = 1",
  ])
  func damagedCommitIsRefused(assignment: String) throws {
    try damage("UPDATE _commit SET \(assignment) WHERE revision = 4")
    expectNamed(#expect(throws: Refusal.self) { try log() }, "revision 4")
    expectNamed(
      #expect(throws: Refusal.self) { try log(LogRequest(filter: HistoryFilter(object: "\(damaged.key)"))) },
      "revision 4")
    // The present does not need it.
    #expect(try fetch(damaged) != nil)
    try store.must([store.update(damaged, "Note.x", .double(7))])
    #expect(try log(LogRequest(after: 5)) == [6])
  }

  /// The indexes of words lack the newest commits, and read them from history when the store opens.
  @Test func damagedUnindexedCommitDoesNotPreventStart() throws {
    let store = try TestStore(try Fixtures.stickies(), wordLimit: 1_000)
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    try store.must([store.update(note, "Note.text", .string("a dog"))])
    try store.must([store.update(note, "Note.x", .double(1))])
    try store.store.close()
    try DatabaseQueue(path: store.directory.path + "/graph.sqlite").inDatabase { database in
      try database.execute(sql: "UPDATE _commit SET changes = CAST(changes || x'00' AS BLOB) WHERE revision = 3")
    }
    try store.reopen()
    #expect(try store.all("Note", "text SEARCH \"dog\"").count == 1)
    #expect(try store.all("Note", "text SEARCH \"cat\"").isEmpty)
    try store.must([store.update(note, "Note.text", .string("a bird"))])
    #expect(try store.all("Note", "text SEARCH \"bird\"").count == 1)
    #expect(try store.all("Note", "text SEARCH \"dog\"").isEmpty)
  }

  @Test func undoOfDamagedCommitIsRefused() throws {
    try damage("UPDATE _commit SET changes = CAST(changes || x'00' AS BLOB) WHERE revision = 4")
    expectNamed(try store.refused(store.undo(4)), "revision 4")
    #expect(try fetch(damaged)?[store.property("Note.x")] == .double(1))
  }

  @Test func oldestKeptCommitIsVerifiedByFloor() throws {
    try store.prune(through: 2)
    #expect(try log() == [5, 4, 3])
    try damage("UPDATE _commit SET time = time + 1 WHERE revision = 3")
    expectNamed(#expect(throws: Refusal.self) { try log() }, "revision 3")
    #expect(try log(LogRequest(after: 3)) == [5, 4])
  }
}
