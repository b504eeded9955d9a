import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Edits of a refused save keep their base, and an undo that waited for the save reverts no other step.
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
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
  }

  private func bob(_ value: Double, at revision: Revision, previous: Revision) {
    let edit = Edit(x, .set(.double(value)))
    _ = script.receive(script.delta(4, revision, [script.update(5, [edit], previous: previous)]))
  }

  private let refusal = ToClient.Body.refused(Refusal(.conflict, "bob has changed x"))

  @Test func refusedEditKeepsItsBaseUntilStoredStateIsAccepted() {
    note["x"] = .double(7)
    bob(3, at: 8, previous: 1)
    let edit = Edit(x, .set(.double(7)))
    for request in UInt64(3)...4 {
      #expect(script.context.save() != nil)
      #expect(changes() == [Change(.update, script.id(5), base: 1, edits: [edit])])
      script.context.handle(.received(ToClient(request, refusal)))
      _ = script.lines()
    }
    script.context.acceptStoredState(of: note)
    #expect(note["x"] == .double(7))
    #expect(script.context.save() != nil)
    #expect(changes() == [Change(.update, script.id(5), base: 8, edits: [edit])])
  }

  /// A waiting later save includes the edits, with their base.
  @Test func laterSaveSendsBasesOfRefusedEdits() {
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

  @Test func refusedDeleteKeepsItsBase() {
    script.context.delete(note)
    bob(3, at: 8, previous: 1)
    for request in UInt64(3)...4 {
      #expect(script.context.save() != nil)
      #expect(changes() == [Change(.delete, script.id(5), base: 1)])
      script.context.handle(.received(ToClient(request, refusal)))
      _ = script.lines()
    }
  }

  /// An object that was inserted, saved and deleted before the answer never existed: it is not sent again, nor are
  /// references to it, and later saves succeed.
  @Test(arguments: [false, true])
  func deletedRefusedInsertIsForgotten(isDeleteSaved: Bool) throws {
    let made = try #require(script.context.insert(script.note))
    #expect(script.context.save() != nil)
    #expect(changes().map(\.kind) == [.insert])
    script.context.delete(made)
    if isDeleteSaved {
      #expect(script.context.save() != nil)
      #expect(changes().isEmpty)
    }
    _ = script.receive(.refused(Refusal(.invalid, "a rule")), 3)
    #expect(made.isDeleted && !script.context.hasChanges)
    if isDeleteSaved {
      // It is answered like any other, although no edit is left.
      _ = script.receive(script.committed(8), 4)
    }
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    #expect(changes() == [Change(.update, script.id(5), base: 1, edits: [Edit(x, .set(.double(7)))])])
  }

  @Test func referencesToForgottenInsertAreCleared() throws {
    let board = try #require(script.model.entity(named: "Board"))
    let place = try script.number("board")
    let made = try #require(script.context.insert(board))
    #expect(script.context.save() != nil)
    _ = changes()
    note["board"] = .object(made.id)
    #expect(script.context.save() != nil)
    script.context.delete(made)
    script.context.handle(.received(ToClient(3, .refused(Refusal(.invalid, "a rule")))))
    #expect(changes() == [Change(.update, script.id(5), base: 1, edits: [Edit(place, .set(.null))])])
  }

  // MARK: - Undo behind a save

  private func undo() -> TransactionID {
    let id = script.context.newTransactionID()
    script.context.undo(UndoRequest(id))
    return id
  }

  /// The save has no effect, because its object is deleted: the undo names it, and reverts no earlier step.
  @Test func queuedUndoNamesPrecedingSave() {
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

  /// A commit that was made beside the queue is the newer step; a step of another stack is not the save's.
  @Test(arguments: [true, false], [true, false])
  func undoOfOtherStepNamesNoSave(isOfAnotherStack: Bool, isRefused: Bool) {
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    _ = changes()
    if !isOfAnotherStack { _ = script.context.newTransactionID() }
    let id = script.context.newTransactionID()
    let request = UndoRequest(id, scope: isOfAnotherStack ? UniqueID(high: 3, low: 3) : nil)
    script.context.undo(request)
    script.context.handle(.received(ToClient(3, isRefused ? refusal : script.committed(8))))
    let sent = script.context.takeActions().compactMap { action -> UndoRequest? in
      guard case .send(let message) = action, case .undo(let undo) = message.body else { return nil }
      return undo
    }
    #expect(sent == [request])
  }

  @Test func undoOfRefusedSaveIsRefused() {
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    _ = changes()
    let id = undo()
    #expect(
      script.receive(refusal, 3) == ["\(id.sequence) was refused: conflict", "1 was refused: conflict"])
    #expect(note["x"] == .double(7))
  }
}
