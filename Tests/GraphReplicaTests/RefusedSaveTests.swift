import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// What becomes of edits whose save is refused: they speak of what was seen when they were made, whatever was heard since,
/// and an undo that waited for them takes back nothing else.
@Suite struct RefusedSaveTests {
  private let script: ReplicaTranscript
  private let note: ManagedObject
  private let x, y: PropertyNumber

  init() throws {
    script = try ReplicaTranscript()
    note = try ReplicaTests.following(script, [script.image(5, 1)])
    (x, y) = (try script.number("x"), try script.number("y"))
  }

  private func changes() -> [Change] {
    script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction, _) = message.body else { return [] }
      return transaction.changes
    }
  }

  private func bob(_ value: Double, at revision: Revision, previous: Revision) {
    let edit = Edit(x, .set(.double(value)))
    _ = script.hear(script.delta(4, revision, [script.update(5, [edit], previous: previous)]))
  }

  private let refusal = ToClient.Body.refused(Refusal(.conflict, "bob has changed x"))

  @Test func aRefusedEditKeepsItsBaseUntilItIsLookedAt() {
    note["x"] = .double(7)
    bob(3, at: 8, previous: 1)
    let edit = Edit(x, .set(.double(7)))
    for request in UInt64(3)...4 {
      #expect(script.context.save() != nil)
      #expect(changes() == [Change(.update, script.id(5), base: 1, edits: [edit])])
      script.context.handle(.received(ToClient(request, refusal)))
      _ = script.lines()
    }
    script.context.refresh(note)
    #expect(note["x"] == .double(7))
    #expect(script.context.save() != nil)
    #expect(changes() == [Change(.update, script.id(5), base: 8, edits: [edit])])
  }

  /// A later save that waited takes the edits along, and what they had been compared with.
  @Test func theSaveThatTakesThemAlongSpeaksOfWhatTheySaw() {
    note["x"] = .double(7)
    bob(3, at: 8, previous: 1)
    #expect(script.context.save() != nil)
    _ = changes()
    note["y"] = .double(9)
    #expect(script.context.save() != nil)
    #expect(changes().isEmpty)
    script.context.handle(.received(ToClient(3, refusal)))
    let edits = [Edit(x, .set(.double(7))), Edit(y, .set(.double(9)))].sorted { $0.property < $1.property }
    #expect(changes() == [Change(.update, script.id(5), base: 1, edits: edits)])
  }

  @Test func aRefusedDeleteKeepsItsBase() {
    script.context.delete(note)
    bob(3, at: 8, previous: 1)
    for request in UInt64(3)...4 {
      #expect(script.context.save() != nil)
      #expect(changes() == [Change(.delete, script.id(5), base: 1)])
      script.context.handle(.received(ToClient(request, refusal)))
      _ = script.lines()
    }
  }

  // MARK: - Undo behind a save

  private func undo() -> TransactionID {
    let id = script.context.newTransactionID()
    script.context.undo(UndoRequest(id))
    return id
  }

  /// The save comes to nothing, for its object is gone: the undo names it, and takes back no step before it.
  @Test func anUndoThatWaitedNamesTheSaveBeforeIt() {
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    _ = changes()
    let id = undo()
    script.context.handle(.received(ToClient(3, script.committed(8))))
    let sent = script.context.takeActions().compactMap { action -> UndoRequest? in
      guard case .send(let message) = action, case .undo(let undo) = message.body else { return nil }
      return undo
    }
    #expect(sent == [UndoRequest(id, revision: 8)])
  }

  @Test func anUndoOfWhatIsRefusedIsRefused() {
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    _ = changes()
    let id = undo()
    #expect(
      script.hear(refusal, 3) == ["\(id.sequence) was refused: conflict", "1 was refused: conflict"])
    #expect(note["x"] == .double(7))
  }
}
