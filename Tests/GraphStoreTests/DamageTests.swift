import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// A store whose file was changed by another program: damaged objects are refused by name, and all others are served.
@Suite struct DamageTests {
  private let scene: DamagedNotes
  private var store: TestStore { scene.store }
  private var board: ObjectID { scene.board }
  private var damaged: ObjectID { scene.damaged }
  private var sound: ObjectID { scene.sound }

  init() throws { scene = try DamagedNotes() }

  private func fetch(_ id: ObjectID) throws -> ObjectImage? {
    var found: ObjectImage?
    _ = try store.store.fetch(FetchRequest(entity: id.entity, predicate: .identifiers([id]))) { found = $0 }
    return found
  }

  private func log(_ request: LogRequest = LogRequest()) throws -> [Revision] {
    try readableLog(request).commits.map(\.revision)
  }

  private func readableLog(
    _ request: LogRequest = LogRequest()
  ) throws -> (commits: [CommitRecord], damage: DamageNotice) {
    var commits = [CommitRecord]()
    let end = try store.store.log(request) { commits.append($0) }
    return (commits, end.damage)
  }

  /// The ids of a fetch that omits damage, and its end.
  private func readable(
    _ predicate: String = "", sort: String = "", limit: Int? = nil, after: FetchCursor? = nil
  ) throws -> (ids: [ObjectID], end: FetchCompletion) {
    let entity = try store.entity("Note")
    var request = FetchRequest(
      entity: entity.number,
      predicate: predicate.isEmpty
        ? .always : try GraphPredicate(parsing: predicate, entity: entity, model: store.model),
      sort: sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: entity, model: store.model), limit: limit,
      after: after)
    request.omitsDamage = true
    let answer = try store.answer(request)
    return (answer.parts.compactMap { if case .object(let image) = $0 { image.id } else { nil } }, answer.end)
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

  // MARK: - Rows

  /// A row of some properties is verified like the object, although it lacks the damaged value.
  @Test func rowOfDamagedObjectIsRefusedOrOmitted() throws {
    try scene.damageNote()
    let note = try store.entity("Note")
    let text = try GraphExpression(parsing: "text", entity: note, model: store.model).bound(now: store.now)
    let rows = RowRequest(columns: [RowRequest.Column(name: "t", value: .expression(text))])
    var request = FetchRequest(entity: note.number, result: .rows(rows))
    expectNamed(#expect(throws: Refusal.self) { try store.answer(request) }, "\(damaged.key)")
    request.omitsDamage = true
    let answer = try store.answer(request)
    #expect(answer.parts.count == 1)
    #expect(answer.end.damage.objects == [damaged])
  }

  // MARK: - Full-text indexes

  private func search(_ word: String, in store: TestStore) throws -> [ObjectID] {
    try store.all("Note", "text SEARCH \"\(word)\"").map(\.id)
  }

  /// The index lacks the change of the damaged object, which can't be read.
  @Test func objectOfUnknownEntityDoesNotPreventStart() throws {
    let store = try TestStore(try Fixtures.stickies(), wordLimit: 1_000)
    let board = try store.insert("Board", ["name": .string("B")])
    let cat = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    let dog = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    try store.damage("UPDATE Note SET _entity = 99 WHERE _id = ?", [Data(cat.key.bytes)])
    #expect(try search("dog", in: store) == [dog])
    let refusal = #expect(throws: Refusal.self) { try search("cat", in: store) }
    expectNamed(refusal, "\(cat.key)")
    let bird = try store.insert("Note", ["board": .object(board), "text": .string("a bird")])
    #expect(try search("bird", in: store) == [bird])
  }

  @Test func indexAheadOfNewestCommitIsRebuilt() throws {
    let store = try TestStore(try Fixtures.stickies(), wordLimit: 1_000)
    let board = try store.insert("Board", ["name": .string("B")])
    let dog = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    try store.damage("UPDATE _words SET revision = 999")
    let bird = try store.insert("Note", ["board": .object(board), "text": .string("a bird")])
    #expect(try search("dog", in: store) == [dog])
    #expect(try search("bird", in: store) == [bird])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  // MARK: - Objects

  @Test(arguments: ["x = x + 1", "text = 'the bat'", "_revision = 3", "_sum = _sum + 1", "color = 'pink'"])
  func editOfDamagedObjectIsRefusedWithOtherErrors(assignment: String) throws {
    try scene.damageNote(assignment)
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
    try scene.damageNote()
    #expect(try fetch(sound)?[store.property("Note.x")] == .double(2))
    try store.must([store.update(sound, "Note.x", .double(3))])
    #expect(try fetch(sound)?[store.property("Note.x")] == .double(3))
    _ = try store.insert("Tag", ["name": .string("t")])
    #expect(try log(LogRequest(after: 5)) == [7, 6])
  }

  @Test func batchOverDamagedObjectIsRefused() throws {
    try scene.damageNote()
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
    try scene.damageNote()
    expectNamed(#expect(throws: Refusal.self) { try fetch(damaged) }, "\(damaged.key)")
    expectNamed(
      #expect(throws: Refusal.self) { try store.store.commits(after: 3, through: nil, maximumChanges: 100) },
      "\(damaged.key)")
    #expect(try fetch(sound) != nil)
  }

  @Test(arguments: ["x = x + 1", "text = 'the bat'", "_revision = 3", "_sum = _sum + 1"])
  func fetchOmitsDamagedObjectAndNamesIt(assignment: String) throws {
    try scene.damageNote(assignment)
    let all = try readable()
    #expect(all.ids == [sound])
    #expect(all.end.damage == DamageNotice(objects: [damaged]))
    #expect(all.end.count == 1)
    let others = try readable("id != \"\(damaged)\"")
    #expect(others.ids == [sound])
    #expect(others.end.damage.isEmpty)
  }

  /// SQL counts and orders rows without comparing checksums, so a damaged row keeps its place in a page.
  @Test func damagedObjectCountsTowardsLimit() throws {
    let third = try store.insert("Note", ["board": .object(board), "text": .string("a fox")])
    try scene.damageNote()
    let first = try readable(sort: "number", limit: 1)
    #expect(first.ids.isEmpty)
    #expect(first.end.damage.objects == [damaged] && first.end.next != nil)
    let second = try readable(sort: "number", limit: 1, after: first.end.next)
    #expect(second.ids == [sound])
    #expect(second.end.damage.isEmpty)
    let rest = try readable(sort: "number", limit: 2, after: second.end.next)
    #expect(rest.ids == [third])
    #expect(rest.end.next == nil)
    let count = try store.store.count(FetchRequest(entity: try store.entity("Note").number))
    #expect(count.count == 3)
  }

  @Test func predicateEvaluatedInMemoryOmitsOnlyDamagedMatches() throws {
    try scene.damageNote("x = 7")
    let deep = String(repeating: "NOT ", count: 10)
    let all = try readable(deep + "(x == 7 OR board.name == \"B\")")
    #expect(all.ids == [sound])
    #expect(all.end.damage.objects == [damaged])
    #expect(all.end.count == 1)
    let others = try readable(deep + "(x == 2 AND board.name == \"B\")")
    #expect(others.ids == [sound])
    #expect(others.end.damage.isEmpty)
  }

  @Test func searchOmitsDamagedObjectOnlyIfItMatches() throws {
    try scene.damageNote()
    #expect(try readable("text SEARCH \"dog\"").ids == [sound])
    #expect(try readable("text SEARCH \"dog\"").end.damage.isEmpty)
    #expect(try readable("text SEARCH \"cat\"").ids.isEmpty)
    #expect(try readable("text SEARCH \"cat\"").end.damage.objects == [damaged])
  }

  /// The indexes of words lack the newest objects and commits, so a search reads them itself.
  @Test func searchOfUnindexedTextsOmitsDamage() throws {
    let store = try TestStore(try Fixtures.stickies(), wordLimit: 1_000)
    let board = try store.insert("Board", ["name": .string("B")])
    let cat = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    let dog = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    let note = try store.entity("Note")
    func search(_ word: String) throws -> (ids: [ObjectID], damage: DamageNotice) {
      var request = FetchRequest(
        entity: note.number,
        predicate: try GraphPredicate(parsing: "text SEARCH \"\(word)\"", entity: note, model: store.model))
      request.omitsDamage = true
      let answer = try store.answer(request)
      return (answer.parts.compactMap { if case .object(let image) = $0 { image.id } else { nil } }, answer.end.damage)
    }
    try store.damage("UPDATE Note SET x = x + 1 WHERE _id = ?", [Data(cat.key.bytes)])
    #expect(try search("dog") == ([dog], DamageNotice()))
    #expect(try search("cat") == ([], DamageNotice(objects: [cat])))
    try store.damage("UPDATE _commit SET time = time + 1 WHERE revision = 2")
    #expect(try search("dog") == ([dog], DamageNotice(commits: [2])))
  }

  /// The commit changes the board only; both notes match from then on.
  @Test func liveQueryOverPathDoesNotReceiveDamagedObject() throws {
    try scene.damageNote()
    let note = try store.entity("Note")
    let predicate = try GraphPredicate(parsing: "board.name == \"C\"", entity: note, model: store.model)
    store.store.watch(LiveQuery(entity: note.number, predicate: predicate), number: 1, seenBy: nil)
    let record = try store.commit([store.update(board, "Board.name", .string("C"))]).record
    let effect = try #require(record?.related?.effects.first)
    let inserted = effect.changes.compactMap { if case .inserted(let image) = $0 { image.id } else { nil } }
    #expect(inserted == [sound])
  }

  @Test func tooMuchDamageIsRefused() throws {
    let reader = UniqueID(high: 1, low: 1)
    var found = DamageTracker()
    for number in 1...DamageNotice.maximumItems + 1 {
      let refusal = found.add(
        ObjectID(key: UniqueID(high: reader.high, low: UInt64(number)), entity: damaged.entity),
        Refusal(.unavailable, "\(number)"))
      #expect(found.canOmit(refusal) == (number <= DamageNotice.maximumItems))
      #expect(!found.canOmit(Refusal(.unavailable, "another")))
    }
  }

  // MARK: - History

  @Test(arguments: [
    "changes = CAST(changes || x'00' AS BLOB)", "time = time + 1", "author = 77", "sequence = sequence + 1000",
    "undoes = 1", "fingerprint = fingerprint + 1",
  ])
  func logOmitsDamagedCommitAndNamesIt(assignment: String) throws {
    try store.damage("UPDATE _commit SET \(assignment) WHERE revision = 4")
    let (commits, found) = try readableLog()
    #expect(commits.map(\.revision) == [5, 3, 2, 1])
    #expect(found == DamageNotice(commits: [4]))
    // The state of this object before the damaged commit is unknown; other objects are complete.
    #expect(commits[2].changes.map(\.id) == [damaged])
    #expect(commits[2].changes[0].after == nil)
    #expect(commits[1].changes.first?.after?[try store.property("Note.text")] == .string("a dog"))
    #expect(try log(LogRequest(oldestFirst: true)) == [1, 2, 3, 5])
    #expect(try log(LogRequest(limit: 2)) == [5, 3])
    for oldestFirst in [false, true] {
      let filter = HistoryFilter(object: "\(damaged.key)")
      let ofObject = try readableLog(LogRequest(filter: filter, oldestFirst: oldestFirst))
      #expect(ofObject.commits.map(\.revision) == [2])
      #expect(ofObject.damage.commits == [4])
      let ofOther = try readableLog(LogRequest(filter: HistoryFilter(object: "\(sound.key)"), oldestFirst: oldestFirst))
      #expect(ofOther.commits.map(\.revision) == (oldestFirst ? [3, 5] : [5, 3]))
      #expect(ofOther.damage.isEmpty)
    }
    // The present does not need it.
    #expect(try fetch(damaged) != nil)
    try store.must([store.update(damaged, "Note.x", .double(7))])
    #expect(try log(LogRequest(after: 5)) == [6])
  }

  @Test(arguments: ["x = x + 1", "_revision = 3", "_sum = _sum + 1"])
  func logListsChangesOfDamagedObjectWithoutValues(assignment: String) throws {
    try scene.damageNote(assignment)
    let (commits, found) = try readableLog()
    #expect(commits.map(\.revision) == [5, 4, 3, 2, 1])
    #expect(found == DamageNotice(objects: [damaged]))
    #expect(commits[1].changes == [ObjectChange(kind: .updated, id: damaged, before: nil, after: nil)])
    #expect(commits[3].changes == [ObjectChange(kind: .inserted, id: damaged, before: nil, after: nil)])
    #expect(commits[0].changes.first?.after?[try store.property("Note.x")] == .double(2))
    let filter = HistoryFilter(object: "\(damaged.key)")
    #expect(try log(LogRequest(filter: filter)) == [4, 2])
    #expect(try log(LogRequest(filter: filter, oldestFirst: true)) == [2, 4])
    // Without changes, no object is read.
    #expect(try readableLog(LogRequest(changes: 0)).damage.isEmpty)
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
    try store.damage("UPDATE _commit SET changes = CAST(changes || x'00' AS BLOB) WHERE revision = 4")
    expectNamed(try store.refused(store.undo(4)), "revision 4")
    #expect(try fetch(damaged)?[store.property("Note.x")] == .double(1))
  }

  @Test func oldestKeptCommitIsVerifiedByFloor() throws {
    try store.prune(through: 2)
    #expect(try log() == [5, 4, 3])
    try store.damage("UPDATE _commit SET time = time + 1 WHERE revision = 3")
    #expect(try readableLog().damage.commits == [3])
    #expect(try log() == [5, 4])
    #expect(try log(LogRequest(after: 3)) == [5, 4])
  }
}
