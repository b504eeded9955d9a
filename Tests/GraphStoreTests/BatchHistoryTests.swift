import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// The traces of a batch: it commits once or not at all; its history; and the store's files.
@Suite struct BatchHistoryTests {
  private func robots(_ count: Int, wordLimit: Int = 3) throws -> TestStore {
    let store = try TestStore(try Fixtures.company(), wordLimit: wordLimit)
    try store.must(try (0..<count).map { try store.insertion("Robot", ["name": .string("r\($0)")]) })
    return store
  }

  private func volts(_ store: TestStore, _ text: String) throws -> Batch.Operation {
    let robot = try store.entity("Robot")
    return .update(
      .always,
      [
        Batch.Assignment(
          try store.property("Robot.volts").number,
          try GraphExpression(parsing: text, entity: robot, model: store.model))
      ])
  }

  private func expectSound(_ store: TestStore) throws { try store.expectSound() }

  @Test func repeatedBatchIsCommittedOnce() throws {
    let store = try robots(10)
    let id = store.nextID()
    let first = try store.batch("Robot", volts(store, "volts + 1"), id: id)
    try store.reopen()
    let second = try store.batch("Robot", volts(store, "volts + 1"), id: id)
    #expect(second.outcome == first.outcome)
    #expect(second.record == nil)
    #expect(try store.all("Robot", "volts == 13").count == 10)
  }

  @Test func cancelledBatchLeavesNothing() throws {
    let store = try robots(20)
    let before = try store.all("Robot")
    let head = try store.store.head
    let steps = Mutex([Int]())
    let outcome = try store.batch("Robot", volts(store, "volts + 1")) { progress in
      steps.withLock { $0.append(progress.done) }
      if progress.done >= 9 { throw Refusal(.unavailable, "given up") }
    }.outcome
    #expect(outcome == .refused(Refusal(.unavailable, "given up")))
    #expect(steps.withLock { $0 } == [0, 3, 6, 9])
    #expect(try store.all("Robot") == before)
    #expect(try store.store.head == head)
    // History does not contain it either.
    guard case .committed = try store.batch("Robot", volts(store, "volts + 1")).outcome else {
      Issue.record("the store refuses every later batch")
      return
    }
    try expectSound(store)
  }

  /// The batch finds no objects, or they have the values already: no revision, no entry in the log, no undo step.
  @Test func batchWithoutChangesIsNotCommitted() throws {
    let store = try robots(10)
    let head = try store.store.head
    let name = try store.property("Robot.name").number
    let volts = Batch.Assignment(try store.property("Robot.volts").number, .value(.integer(12)))
    let nobody = try BatchTests.predicate("name == \"nobody\"", "Robot", store)
    let one = try BatchTests.predicate("name == \"r1\"", "Robot", store)
    let known = (0..<4).map { [Value.string("r\($0)")] }
    let batches: [(operation: Batch.Operation, rows: [[Value]], total: Int)] = [
      (.update(nobody, [volts]), [], 0), (.delete(nobody), [], 0), (.insert([name], rows: 0), [], 0),
      (.update(one, [volts]), [], 1), (.update(.always, [volts]), [], 10),
      (.insert([name], rows: 2), Array(known.prefix(2)), 2), (.insert([name], rows: 4), known, 4),
    ]
    for batch in batches {
      let steps = Mutex([BatchProgress]())
      let result = try store.batch("Robot", batch.operation, policy: .objectTrump, rows: batch.rows) { step in
        steps.withLock { $0.append(step) }
      }
      let committed = try store.taken(result)
      #expect(committed.revision == head.revision && committed.fingerprint == head.fingerprint)
      #expect(result.record == nil)
      #expect(
        steps.withLock { $0.last } == BatchProgress(done: batch.total, total: batch.total, changed: 0),
        "\(batch.operation)")
      #expect(try store.store.head == head, "\(batch.operation)")
    }
    #expect(try store.store.commits(after: 0, through: nil, maximumChanges: 100).count == 1)
    // Undo reverts the newest commit.
    try #require(try store.undo().record != nil)
    #expect(try store.all("Robot").isEmpty)
    try expectSound(store)
  }

  @Test func batchHasItsOwnTransaction() throws {
    let store = try robots(10)
    let made = try store.insertion("Robot", ["name": .string("before")])
    let later = try store.insertion("Robot", ["name": .string("after")])
    let batch = Batch(id: store.nextID(), entity: try store.entity("Robot").number, operation: try volts(store, "1"))
    let results = try store.store.commit(
      [
        .transaction(Transaction(id: store.nextID(), changes: [made]), author: "ann"),
        .batch(BatchJob(batch, author: "ann")),
        .transaction(Transaction(id: store.nextID(), changes: [later]), author: "ann"),
      ], now: store.now)
    #expect(results.map { $0.record?.revision } == [2, 3, 4])
    #expect(try store.all("Robot", "volts == 1").count == 11)
  }

  // MARK: - History

  @Test func logSummarizesBatches() throws {
    let store = try robots(10)
    let one = try #require(try store.all("Robot").first)
    try store.must([store.update(one.id, "Robot.volts", .integer(5))])
    let before = try store.store.commits(after: 0, through: nil, maximumChanges: 100)
    _ = try store.batch("Robot", volts(store, "volts + 1"))
    try store.must([store.update(one.id, "Robot.name", .string("new"))])
    let after = try store.store.commits(after: 0, through: nil, maximumChanges: 100)
    #expect(after.map(\.revision) == [1, 2, 3, 4])
    // Complete images of the commits before the batch, computed back through it.
    #expect(Array(after.prefix(2)) == before)
    #expect(after[2].changes == [])
    #expect(after[2].summary == ChangeSummary(count: 10, entities: [one.id.entity]))
    #expect(after[3].changes.first?.before?[try store.property("Robot.volts")] == .integer(6))
    // A batch counts as one commit: the log limits the listed changes, not the batch.
    #expect(try store.store.commits(after: 2, through: nil, maximumChanges: 4).count == 2)
    #expect(try store.store.commits(after: 0, through: 2, maximumChanges: 100) == before)
  }

  @Test func conflictWithBatchReportsItsAuthor() throws {
    let store = try robots(10)
    let one = try #require(try store.all("Robot").last)
    store.author = "bob"
    store.replica = UniqueID(high: 2, low: 2)
    _ = try store.batch("Robot", volts(store, "volts + 1"))
    store.author = "ann"
    store.replica = UniqueID(high: 3, low: 3)
    let refusal = try store.refusal([store.update(one.id, "Robot.volts", .integer(1), base: one.revision)])
    #expect(refusal?.conflicts.map(\.author) == ["bob"])
    #expect(refusal?.conflicts.map(\.revision) == [2])
    // Another property merges.
    try store.must([store.update(one.id, "Robot.name", .string("x"), base: one.revision)])
  }

  @Test func batchIsUndoneAndRedone() throws {
    let store = try robots(10)
    _ = try store.batch("Robot", volts(store, "volts + 1"))
    let changed = try store.all("Robot").map(\.values)
    try #require(try store.undo().record != nil)
    #expect(try store.all("Robot", "volts == 12").count == 10)
    try #require(try store.undo(3).record != nil)
    #expect(try store.all("Robot").map(\.values) == changed)
    try expectSound(store)
  }

  /// The words of a batch are in the indexes when it is committed, or are looked for in history: never half of them.
  @Test(arguments: [3, 8, 1_000])
  func searchFindsTextsOfBatch(wordLimit: Int) throws {
    let store = try TestStore(try Fixtures.company(), wordLimit: wordLimit)
    let properties = try ["Person.name", "Person.bio"].map { try store.property($0).number }
    let rows = (0..<20).map { [Value.string("p\($0)"), .string($0 % 2 == 0 ? "a cat" : "a dog")] }
    _ = try store.batch("Person", .insert(properties, rows: rows.count), rows: rows)
    #expect(try store.all("Person", "bio SEARCH \"cat\"").count == 10)
    let bio = try store.property("Person.bio").number
    _ = try store.batch("Person", .update(.always, [Batch.Assignment(bio, .value(.string("one bird")))]))
    #expect(try store.all("Person", "bio SEARCH \"cat\"").isEmpty)
    #expect(try store.all("Person", "bio SEARCH \"bird\"").count == 20)
    try expectSound(store)
    #expect(try store.all("Person", "bio SEARCH \"bird\"").count == 20)
    _ = try store.batch("Person", .delete(.always))
    #expect(try store.all("Person", "bio SEARCH \"bird\"").isEmpty)
    try expectSound(store)
  }

  // MARK: - Files

  @Test func storeOfFirstLayoutAcceptsBatches() throws {
    let store = try robots(10)
    try store.store.close()
    let path = store.directory.path + "/graph.sqlite"
    try DatabaseQueue(path: path).inDatabase { database in
      try database.execute(sql: "DROP TABLE _part; DROP TABLE _whole")
      try database.execute(sql: "PRAGMA user_version = 1")
    }
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3).isEmpty)
    try store.reopen()
    guard case .committed = try store.batch("Robot", volts(store, "1")).outcome else {
      Issue.record("refused")
      return
    }
    try expectSound(store)
  }

  @Test(arguments: [
    "UPDATE _part SET changes = zeroblob(length(changes)) WHERE number = 2", "DELETE FROM _part WHERE number = 2",
    "DELETE FROM _part", "UPDATE _part SET number = 9 WHERE number = 2", "UPDATE _part SET revision = 77",
    "UPDATE _part SET high = low", "INSERT INTO _part SELECT 1, number, low, high, changes FROM _part",
    "UPDATE _commit SET changes = x'' WHERE revision = 2",
  ])
  func damagedBatchPartIsDetected(damage: String) throws {
    let store = try robots(10)
    _ = try store.batch("Robot", volts(store, "volts + 1"))
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3).isEmpty)
    try DatabaseQueue(path: store.directory.path + "/graph.sqlite").inDatabase { try $0.execute(sql: damage) }
    #expect(try !StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3).isEmpty)
  }
}
