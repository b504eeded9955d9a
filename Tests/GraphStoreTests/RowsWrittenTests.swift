import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// A save writes only the rows that it changes: SQLite counts the rows that a commit inserts, updates or deletes.
@Suite struct RowsWrittenTests {
  private static let source = """
    {"format": 1, "name": "Rows", "version": 1, "entities": [
      {"name": "Unit", "attributes": [
        {"name": "name", "type": "string", "default": ""},
        {"name": "size", "type": "integer", "derived": "staff.@count"}],
       "relationships": [{"name": "staff", "destination": "Worker", "inverse": "unit", "toMany": true}]},
      {"name": "Squad", "attributes": [{"name": "name", "type": "string", "default": ""}],
       "relationships": [{"name": "workers", "destination": "Worker", "inverse": "squad", "toMany": true}]},
      {"name": "Worker", "attributes": [{"name": "name", "type": "string", "default": "", "indexed": true}],
       "relationships": [
         {"name": "unit", "destination": "Unit", "inverse": "staff"},
         {"name": "squad", "destination": "Squad", "inverse": "workers"},
         {"name": "badges", "destination": "Badge", "inverse": "workers", "toMany": true},
         {"name": "steps", "destination": "Step", "inverse": "worker", "toMany": true, "ordered": true}]},
      {"name": "Badge", "attributes": [{"name": "name", "type": "string", "default": ""}],
       "relationships": [{"name": "workers", "destination": "Worker", "inverse": "badges", "toMany": true}]},
      {"name": "Step", "attributes": [{"name": "name", "type": "string", "default": ""}],
       "relationships": [{"name": "worker", "destination": "Worker", "inverse": "steps"}]}]}
    """

  private static let count = 1_000

  /// No change is a keyframe, which would have a row of its own.
  private func store() throws -> TestStore { try TestStore(try Model(parsing: Self.source.utf8), keyframeInterval: 0) }

  private func many(_ entity: String, in store: TestStore, _ values: [String: Value] = [:]) throws -> [ObjectID] {
    try store.must((0..<Self.count).map { _ in try store.insertion(entity, values) })
  }

  /// The rows that one commit writes; the author and the replica have committed before.
  private func rows(_ store: TestStore, _ changes: [Change]) throws -> Int {
    func total() -> Int { store.store.pool.writeWithoutTransaction { $0.totalChangesCount } }
    let before = total()
    try store.must(changes)
    return total() - before
  }

  /// The row of the object, and the row of the commit.
  private static let one = 1 + 1

  @Test func renameWritesOneRowDespiteReferrers() throws {
    let store = try store()
    let squad = try store.insert("Squad")
    let workers = try many("Worker", in: store, ["squad": .object(squad)])
    #expect(try rows(store, [store.update(squad, "Squad.name", .string("a"))]) == Self.one)
    #expect(try rows(store, [store.update(workers[500], "Worker.name", .string("b"))]) == Self.one)
  }

  @Test func moveBetweenLargeListsWritesOneRow() throws {
    let store = try store()
    let (red, blue) = (try store.insert("Squad"), try store.insert("Squad"))
    let workers = try many("Worker", in: store, ["squad": .object(red)])
    _ = try many("Worker", in: store, ["squad": .object(blue)])
    #expect(try rows(store, [store.update(workers[0], "Worker.squad", .object(blue))]) == Self.one)
    #expect(try rows(store, [store.update(workers[0], "Worker.squad", .null)]) == Self.one)
    // From the end that stores nothing: the row of the added member.
    let edit = Edit(try store.property("Squad.workers").number, .members(added: [workers[0]], removed: []))
    #expect(try rows(store, [Change(.update, red, base: .max, edits: [edit])]) == Self.one)
    #expect(try store.value(workers[0], "Worker.squad") == .object(red))
  }

  @Test func derivedCountWritesOnlyItsObject() throws {
    let store = try store()
    let (red, blue) = (try store.insert("Unit"), try store.insert("Unit"))
    let workers = try many("Worker", in: store, ["unit": .object(red)])
    #expect(try rows(store, [store.update(workers[0], "Worker.name", .string("a"))]) == Self.one)
    // Both units have another size.
    #expect(try rows(store, [store.update(workers[0], "Worker.unit", .object(blue))]) == Self.one + 2)
    #expect(try store.value(red, "Unit.size") == .integer(Int64(Self.count - 1)))
  }

  @Test(arguments: ["Worker", "Badge"])
  func manyToManyWritesOnlyChangedRows(_ owner: String) throws {
    let store = try store()
    let (other, relationship) = owner == "Worker" ? ("Badge", "badges") : ("Worker", "workers")
    let others = try many(other, in: store)
    let one = try store.insert(owner, [relationship: .objects(others)])
    #expect(try rows(store, [store.update(one, "\(owner).name", .string("a"))]) == Self.one)
    #expect(try rows(store, [store.update(others[7], "\(other).name", .string("b"))]) == Self.one)
    // One end stores the list: its object's row, and the pair that finds it from the other end.
    let property = try store.property("\(owner).\(relationship)").number
    let removal = Edit(property, .members(added: [], removed: [others[7]]))
    #expect(try rows(store, [Change(.update, one, base: .max, edits: [removal])]) == Self.one + 1)
    let addition = Edit(property, .members(added: [others[7]], removed: []))
    #expect(try rows(store, [Change(.update, one, base: .max, edits: [addition])]) == Self.one + 1)
  }

  @Test(arguments: ["Worker", "Badge"])
  func listLosesDeletedMembersInOneWrite(_ owner: String) throws {
    let store = try store()
    let (other, relationship) = owner == "Worker" ? ("Badge", "badges") : ("Worker", "workers")
    let others = try many(other, in: store)
    let one = try store.insert(owner, [relationship: .objects(others)])
    let gone = others.indices.filter { $0 % 3 != 0 }.map { others[$0] }
    try store.must(gone.map { Change(.delete, $0, base: .max) })
    let left = others.indices.filter { $0 % 3 == 0 }.map { others[$0] }.sorted()
    #expect(try store.all(owner, "\(relationship).@count == \(left.count)").map(\.id) == [one])
    #expect(try store.all(other).map(\.id) == left)
    let inverse = owner == "Worker" ? "workers" : "badges"
    #expect(try store.all(other, "ANY \(inverse).name == \"\"").count == left.count)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func orderedMoveWritesOneRow() throws {
    let store = try store()
    let worker = try store.insert("Worker")
    let steps = try many("Step", in: store, ["worker": .object(worker)])
    #expect(try rows(store, [store.update(worker, "Worker.name", .string("a"))]) == Self.one)
    #expect(try rows(store, [store.update(steps[500], "Step.name", .string("b"))]) == Self.one)
    let list = try store.property("Worker.steps").number
    for (step, anchor) in [(steps[999], nil), (steps[0], steps[500]), (steps[2], steps[999])] {
      let change = Change(.update, worker, base: .max, edits: [Edit(list, .place([step], after: anchor))])
      #expect(try rows(store, [change]) == Self.one)
    }
  }
}
