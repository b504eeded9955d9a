import GraphModel
import GraphStore
import GraphTesting
import Testing

/// The undo of a step is one transaction in memory, up to a limit.
@Suite struct UndoLimitsTests {
  private func store(changes: Int = 20, bytes: Int = 1 << 20) throws -> TestStore {
    var limits = UndoLimits()
    (limits.changes, limits.bytes) = (changes, bytes)
    return try TestStore(try Fixtures.company(), undoLimits: limits)
  }

  private func insert(_ count: Int, in store: TestStore, from first: Int = 0) throws -> WriteResult {
    try store.batch(
      "Robot", .insert([try store.property("Party.name").number], rows: count),
      rows: (first..<(first + count)).map { [.string("robot \($0)")] })
  }

  @Test func batchAtUndoLimitIsUndoneAndAboveRefused() throws {
    let store = try store()
    _ = try insert(20, in: store)
    try store.taken(store.undo())
    #expect(try store.all("Robot").isEmpty)
    try store.taken(store.redo())
    #expect(try store.all("Robot").count == 20)
    let revision = try #require(try insert(21, in: store, from: 100).record?.revision)
    let before = try store.all("Robot")
    for refusal in [try store.refused(store.undo()), try store.refused(store.undo(revision))] {
      #expect(refusal.code == .limit)
      #expect(refusal.message.contains("more than 20 changes"))
      #expect(refusal.message.contains("A batch with a predicate"))
    }
    // Nothing was written, and the advice of the message works.
    #expect(try store.all("Robot") == before)
    let entity = try store.entity("Robot")
    let last = try GraphPredicate(
      parsing: #"name BEGINSWITH "robot 1" AND name != "robot 1""#, entity: entity, model: store.model)
    try store.taken(store.batch("Robot", .delete(last)))
    try store.taken(store.undo(revision - 1))
    try store.expectSound()
  }

  @Test func commitsOfGroupCountTogether() throws {
    let store = try store()
    let one = try store.insert("Robot", ["name": .string("one")])
    for volts in 1...21 {
      try store.must([store.update(one, "Robot.volts", .integer(Int64(volts)))], undo: .test(1))
    }
    #expect(try store.refused(store.undo(scope: .test)).code == .limit)
    #expect(try store.value(one, "Robot.volts") == .integer(21))
    for volts in 1...20 {
      try store.must([store.update(one, "Robot.volts", .integer(Int64(-volts)))], undo: .test(2))
    }
    try store.taken(store.undo(scope: .test))
    #expect(try store.value(one, "Robot.volts") == .integer(21))
  }

  /// A small edit of a large object: undo holds the whole object anyway.
  @Test func bytesOfHistoryAndObjectsAreCounted() throws {
    let store = try store(bytes: 10_000)
    let person = try store.insert(
      "Person", ["name": .string("Ann"), "bio": .string(String(repeating: "a", count: 9_000))])
    try store.must([store.update(person, "Person.age", .integer(30))])
    try store.taken(store.undo())
    try store.must([store.update(person, "Person.bio", .string(String(repeating: "b", count: 11_000)))])
    let refusal = try store.refused(store.undo())
    #expect(refusal.code == .limit)
    #expect(refusal.message.contains("more than 10000 bytes"))
    try store.must([store.update(person, "Person.age", .integer(31))])
    #expect(try store.refused(store.undo()).code == .limit)
    #expect(try store.value(person, "Person.age") == .integer(31))
  }

  @Test func defaultLimitsMatchDocumentation() throws {
    #expect(UndoLimits().changes == 100_000)
    #expect(UndoLimits().bytes == 64 << 20)
    let limits = String(decoding: try Fixtures.file("docs/operating.md"), as: UTF8.self)
    #expect(limits.contains("| changes that one undo takes back | 100,000, and 64 MiB"))
  }
}
