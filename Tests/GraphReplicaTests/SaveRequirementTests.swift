import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The preconditions that a save sends for the objects that must not have changed.
@Suite struct SaveRequirementTests {
  private let script: ReplicaTranscript
  private let note: ManagedObject
  private let x: PropertyNumber

  init() throws {
    script = try ReplicaTranscript()
    note = try ReplicaTests.following(script, [script.image(5, 1), script.image(6, 1)])
    x = try script.number("x")
  }

  private func changes() -> [Change] {
    script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
  }

  private func bob(_ value: Double, at revision: Revision, previous: Revision) {
    let edit = Edit(x, .set(.double(value)))
    _ = script.receive(script.delta(4, revision, [script.update(5, [edit], previous: previous)]))
  }

  private var set: Change { Change(.update, script.id(5), base: 1, edits: [Edit(x, .set(.double(7)))]) }

  private func required(_ revision: Revision, _ properties: [PropertyNumber] = []) -> Change {
    Change(
      .update, script.id(5), base: revision, onlyIf: Precondition(revision: revision, properties: properties))
  }

  @Test func saveSendsRevisionAtBeginOfEdits() {
    note["x"] = .double(7)
    bob(3, at: 8, previous: 1)
    #expect(script.context.save(requiring: [.unchanged(note, "x")]) != nil)
    #expect(changes() == [required(1, [x]), set])
  }

  /// The object had its present values when the save was made.
  @Test func unchangedObjectIsRequiredAsHeld() throws {
    let other = try #require(script.context.object(script.id(6)))
    other["x"] = .double(7)
    bob(3, at: 8, previous: 1)
    #expect(script.context.save(requiring: [.unchanged(note)]) != nil)
    #expect(changes().first == required(8))
  }

  @Test func requirementAloneIsNoSave() {
    #expect(script.context.save(requiring: [.unchanged(note)]) == nil)
    #expect(changes().isEmpty)
  }

  /// A requirement belongs to one save: the edits are unsaved again, and the next save states its own requirements.
  @Test func refusedSaveRestoresEditsWithoutRequirement() {
    note["x"] = .double(7)
    #expect(script.context.save(requiring: [.unchanged(note)]) != nil)
    #expect(changes() == [required(1), set])
    script.context.handle(.received(ToClient(3, .refused(Refusal(.conflict, "bob has changed x")))))
    _ = script.lines()
    #expect(script.context.save() != nil)
    #expect(changes() == [set])
  }

  @Test func newObjectHasNoRequirement() throws {
    let new = try #require(script.context.insert(script.note))
    #expect(script.context.save(requiring: [.unchanged(new)]) != nil)
    #expect(changes().map(\.kind) == [.insert])
  }

  /// The server refuses it in words; the condition must not be dropped for a mistake in a name.
  @Test func unknownPropertyIsSentAsZero() {
    note["x"] = .double(7)
    #expect(script.context.save(requiring: [.unchanged(note, "nothing")]) != nil)
    #expect(changes() == [required(1, [0]), set])
  }
}
