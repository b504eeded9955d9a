import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// The rest of a committed edit that has lost conflicts: all changes that the server did not take.
@Suite struct IntentRemainderTests {
  private let model: Model

  init() throws { model = try Fixtures.stickies() }

  private func property(_ name: String) throws -> Property {
    let note = try #require(model.entity(named: "Note"))
    return try #require(note.property(named: name))
  }

  private func object(_ number: UInt64, _ entity: String = "Note") throws -> ObjectID {
    let entity = try #require(model.entity(named: entity))
    return ObjectID(key: UniqueID(high: 1, low: number), entity: entity.number)
  }

  private func intent(_ changes: [Change]) -> Intent {
    Intent(
      number: 3, transaction: TransactionID(replica: UniqueID(high: 2, low: 2), sequence: 3), model: model,
      author: "ann", made: 1, policy: .rollback, content: .changes(changes))
  }

  @Test func propertyThatAnotherConflictHasDecidedStays() throws {
    let (color, pinned) = (try property("color"), try property("pinned"))
    let note = try object(1)
    let edits = [Edit(color.number, .set(.string("blue"))), Edit(pinned.number, .set(.bool(true)))]
    let rest = intent([Change(.update, note, base: 4, edits: edits)]).remainder(
      after: [
        Conflict(kind: .changed, id: note, property: color.number),
        Conflict(kind: .changed, id: note, property: pinned.number, isCollateral: true),
      ], revision: 9, at: 5)
    #expect(rest?.changes == [Change(.update, note, base: 4, edits: edits)])
    #expect(rest?.isParked == true)
  }

  @Test func editThatNamesADeletedObjectStays() throws {
    let board = try property("board")
    let (note, gone) = (try object(1), try object(2, "Board"))
    let edit = Edit(board.number, .set(.object(gone)))
    let color = Edit(try property("color").number, .set(.string("blue")))
    let rest = intent([Change(.update, note, base: 4, edits: [edit, color])]).remainder(
      after: [Conflict(kind: .deleted, id: gone)], revision: 9, at: 5)
    #expect(rest?.changes == [Change(.update, note, base: 4, edits: [edit])])
  }

  @Test func whatAnInsertHasLostIsAnUpdateOfTheObject() throws {
    let color = Edit(try property("color").number, .set(.string("blue")))
    let text = Edit(try property("text").number, .set(.string("mine")))
    let temporary = ObjectID.temporary(1, entity: try object(1).entity)
    let rest = intent([Change(.insert, temporary, edits: [color, text])]).remainder(
      after: [Conflict(kind: .unique, id: try object(7), property: color.property)], made: [temporary: try object(7)],
      revision: 9, at: 5)
    #expect(rest?.changes == [Change(.update, try object(7), base: 9, edits: [color])])
  }

  @Test func nothingStaysOfAnEditThatHasWon() throws {
    let note = try object(1)
    let change = Change(.update, note, base: 4, edits: [Edit(try property("color").number, .set(.string("blue")))])
    let won = Conflict(kind: .changed, id: note, property: try property("color").number, mineWon: true)
    #expect(intent([change]).remainder(after: [won], revision: 9, at: 5) == nil)
    #expect(intent([change]).remainder(after: [], revision: 9, at: 5) == nil)
  }
}
