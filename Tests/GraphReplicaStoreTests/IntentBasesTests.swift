import GraphModel
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// The base of an edit is what its user has seen, and never one that the server has lost.
@Suite struct IntentBasesTests {
  private let model: Model
  private let note: ObjectID
  private let blue: Edit
  private let bread: Edit
  private let text: PropertyNumber

  init() throws {
    model = try Fixtures.stickies()
    let entity = try #require(model.entity(named: "Note"))
    note = ObjectID(key: UniqueID(high: 500, low: 1), entity: entity.number)
    text = try #require(entity.property(named: "text")).number
    blue = Edit(try #require(entity.property(named: "color")).number, .set(.string("blue")))
    bread = Edit(text, .splice([TextSplice(offset: 8, length: 0, insertion: ", bread")]))
  }

  private func intent(_ changes: [Change]) -> Intent {
    Intent(
      number: 1, transaction: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1), model: model,
      author: "ann", made: 1, content: .changes(changes))
  }

  @Test func raisedBaseLeavesSplicesWithTheirs() {
    var change = Change(.update, note, base: 1_203, edits: [blue, bread])
    change.onlyIf = Precondition(revision: 1_203, properties: [blue.property])
    var intent = intent([change, Change(.update, note, edits: [bread])])
    intent.raiseBases(to: 1_210)
    var raised = Change(.update, note, base: 1_210, edits: [blue])
    raised.onlyIf = Precondition(revision: 1_210, properties: [blue.property])
    #expect(
      intent.changes == [
        Change(.update, note, base: 1_203, edits: [bread]), raised, Change(.update, note, edits: [bread]),
      ])
    // The parts stay what they are.
    let parts = intent.changes
    intent.raiseBases(to: 1_210)
    #expect(intent.changes == parts)
  }

  @Test func splicesWithTheirTextGetTheRaisedBase() {
    var intent = intent([Change(.update, note, base: 1_203, edits: [blue, bread])])
    intent.texts = [note: [text: "buy milk"]]
    intent.raiseBases(to: 1_210)
    #expect(intent.changes == [Change(.update, note, base: 1_210, edits: [blue, bread])])
    #expect(!intent.needsItsBase)
  }

  @Test func loweredBaseLeavesSplicesWithTheirs() {
    var change = Change(.update, note, base: 1_203, edits: [blue, bread])
    change.onlyIf = Precondition(revision: 1_203, properties: [blue.property])
    let other = Change(.delete, ObjectID(key: UniqueID(high: 500, low: 2), entity: note.entity), base: 1_203)
    var intent = intent([change, other])
    intent.lowerBases(to: [note: 1_100])
    var lowered = Change(.update, note, base: 1_100, edits: [blue])
    lowered.onlyIf = Precondition(revision: 1_100, properties: [blue.property])
    #expect(intent.changes == [Change(.update, note, base: 1_203, edits: [bread]), lowered, other])
    // A base is never raised.
    let parts = intent.changes
    intent.lowerBases(to: [note: 1_300])
    #expect(intent.changes == parts)
  }

  @Test func lostBaseBecomesTheNewestCommonOne() throws {
    var lost = Change(.update, note, base: 140, edits: [blue])
    lost.onlyIf = Precondition(revision: 140, properties: [])
    let kept = Change(.delete, note, base: 90)
    var intent = intent([lost, kept])
    let effect = try intent.lowerBases(to: 100, nil, model)
    #expect(effect == .lowered)
    #expect(intent.changes.map(\.base) == [100, 90] && intent.changes[0].onlyIf?.revision == 100)
    let again = try intent.lowerBases(to: 100, nil, model)
    #expect(again == .none)
  }

  @Test func splicesInALostTextKeepIt() throws {
    let lost = intent([Change(.update, note, base: 140, edits: [bread])])
    var known = lost
    let effect = try known.lowerBases(to: 100, { _, _, base in base == 140 ? "buy milk" : nil }, model)
    #expect(effect == .lowered && known.texts == [note: [text: "buy milk"]])
    var unknown = lost
    let other = try unknown.lowerBases(to: 100, { _, _, _ in nil }, model)
    #expect(other == .lost && unknown == lost && unknown.needsItsBase)
  }

  @Test func undoOfALostRevisionHasNoMeaning() throws {
    var undo = intent([])
    undo.content = .undo(revision: 135, redo: false)
    let (lost, kept) = (try undo.lowerBases(to: 100, nil, model), try undo.lowerBases(to: 135, nil, model))
    #expect(lost == .lost && kept == .none)
  }
}
