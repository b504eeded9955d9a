import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// Faults of the rules engine, as they are handled in a release build: a plan that breaks an invariant of the store is
/// refused, and no part of it is stored.
@Suite struct InvariantRefusalTests {
  private let store: TestStore
  private let board: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    board = try store.insert("Board", ["name": .string("B")])
  }

  private struct MissingWriter: Error {}

  private func insertion() throws -> Change { try store.insertion("Board", ["name": .string("C")]) }

  private func update() throws -> Change { try store.update(board, "Board.name", .string("C")) }

  /// The number of rows of all tables in which a commit leaves something.
  private func rows() throws -> [Int] {
    try store.store.pool.read { database in
      try ["_commit", "_tombstone", "_author", "_replica", "_whole", quoted("Board")].map { try database.count($0) }
    }
  }

  /// Expects that a commit is refused with the invariant's name and stores nothing, and that the next commit without
  /// the fault is accepted.
  /// - Parameter alter: the fault: a change of the plan before it is written.
  private func expectRefusal(
    _ invariant: String, of change: Change, sourceLocation: SourceLocation = #_sourceLocation,
    _ alter: @escaping @Sendable (inout TransactionPlan) -> Void
  ) throws {
    guard let writer = store.store.writer else { throw MissingWriter() }
    let (head, images, rows) = (try store.store.head, try store.all("Board"), try rows())
    writer.hooks.alterPlan = { plan, _ in alter(&plan) }
    let refusal = try Invariants.$areFatal.withValue(false) { try store.refusal([change]) }
    writer.hooks.alterPlan = nil
    #expect(refusal?.code == .unavailable, sourceLocation: sourceLocation)
    #expect(refusal?.message.contains(invariant) == true, "\(refusal as Any)", sourceLocation: sourceLocation)
    #expect(try store.store.head == head, sourceLocation: sourceLocation)
    #expect(try store.all("Board") == images, sourceLocation: sourceLocation)
    #expect(try self.rows() == rows, sourceLocation: sourceLocation)
    #expect(try store.refusal([change]) == nil, sourceLocation: sourceLocation)
    #expect(try store.store.head.revision == head.revision + 1, sourceLocation: sourceLocation)
  }

  @Test func insertWithoutImageIsRefused() throws {
    try expectRefusal("a change has an image", of: insertion()) { $0.changes[0].after = nil }
  }

  @Test func updateWithoutTheObjectBeforeItIsRefused() throws {
    try expectRefusal("an update or a delete has the object before it", of: update()) { $0.changes[0].before = nil }
  }

  @Test func editOfUnknownPropertyIsRefused() throws {
    try expectRefusal("an edit that is recorded names a property of the model", of: update()) {
      $0.changes[0].edits.append(Edit(9_999, .set(.null)))
    }
  }

  @Test func imageOfAnotherRevisionIsRefused() throws {
    try expectRefusal("the objects that a commit writes have its revision", of: insertion()) { plan in
      var image = plan.changes[0].after
      image?.revision += 1
      plan.changes[0].after = image
    }
  }

  @Test func updatedImageOfAnotherRevisionIsRefused() throws {
    try expectRefusal("the objects that a commit writes have its revision", of: update()) { plan in
      plan.changes[0].after = plan.changes[0].after.map { ObjectImage(id: $0.id, revision: 1, values: $0.values) }
    }
  }

  @Test func imageWithoutAllValuesIsRefused() throws {
    try expectRefusal("has a value for each column", of: insertion()) { plan in
      plan.changes[0].after = plan.changes[0].after.map {
        ObjectImage(id: $0.id, revision: $0.revision, values: $0.values.dropLast())
      }
    }
  }

  @Test func temporaryIDIsNotStored() throws {
    let id = ObjectID.temporary(7, entity: board.entity)
    try expectRefusal("an object is stored under a permanent id", of: insertion()) { plan in
      plan.changes[0].id = id
      plan.changes[0].after = plan.changes[0].after.map {
        ObjectImage(id: id, revision: $0.revision, values: $0.values)
      }
    }
  }

  @Test func imageOfAnotherObjectIsRefused() throws {
    let other = ObjectID(key: UniqueID(high: 5, low: 5), entity: board.entity)
    try expectRefusal("a change has the image of its own object", of: update()) { plan in
      plan.changes[0].after = plan.changes[0].after.map {
        ObjectImage(id: other, revision: $0.revision, values: $0.values)
      }
    }
  }

  @Test func objectOfUnknownEntityIsRefused() throws {
    let id = ObjectID(key: UniqueID(high: 5, low: 5), entity: 999)
    try expectRefusal("an object that a commit inserts has a table", of: insertion()) { plan in
      plan.changes[0].id = id
      plan.changes[0].after = plan.changes[0].after.map {
        ObjectImage(id: id, revision: $0.revision, values: $0.values)
      }
    }
  }

  @Test func sequenceThatGivesANumberAgainIsRefused() throws {
    let name = try store.property("Board.name").number
    try expectRefusal("the next number of a sequence rises", of: insertion()) { $0.sequences.append((name, 1)) }
  }

  /// The rows are written by then, so this also shows that they are rolled back.
  @Test func outcomeWithoutPermanentIDIsRefused() throws {
    let id = ObjectID.temporary(7, entity: board.entity)
    try expectRefusal("an insert turns a temporary id into a permanent one", of: insertion()) { plan in
      plan.identities = plan.identities.map { .init(temporary: $0.temporary, permanent: id) }
    }
  }

  @Test func batchWithoutAuthorIsRefused() throws {
    let head = try store.store.head
    store.author = ""
    let name = try store.property("Board.name").number
    let result = try Invariants.$areFatal.withValue(false) {
      try store.batch(
        "Board", .update(.always, [.init(name, .value(.string("C")))]))
    }
    guard case .refused(let refusal) = result.outcome else {
      Issue.record("a batch without an author was stored")
      return
    }
    #expect(refusal.message.contains("a batch has an author"))
    #expect(try store.store.head == head)
    #expect(try store.value(board, "Board.name") == .string("B"))
  }
}
