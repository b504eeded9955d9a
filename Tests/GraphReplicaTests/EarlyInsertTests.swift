import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A live query or a read delivers an inserted object before the save is answered. The context then has two states of
/// it, which the answer makes one.
@Suite struct EarlyInsertTests {
  private let script: ReplicaTranscript
  private let made: ManagedObject
  private let identity: CommitResult.IDAssignment

  /// The object is inserted and its save is sent; a live query delivers the object at revision 2.
  init() throws {
    script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(4, 1)])
    made = try #require(script.context.insert(script.note))
    identity = CommitResult.IDAssignment(temporary: made.id, permanent: script.id(5))
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: insert"])
    let arrival = Delta.Change(kind: .inserted, id: script.id(5), object: try script.image(5, 2))
    #expect(script.receive(script.delta(4, 2, [arrival])) == ["revision 2 changes [1]"])
  }

  private func deleteByBob() {
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 3, [gone])) == ["revision 3 changes [1]"])
  }

  private func changes() -> [Change] {
    script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
  }

  /// A later save of the object refers to the state that stays. A delete by another client, and then its refusal, find
  /// its edits there.
  @Test func queuedSaveEditsTheStateThatStays() throws {
    let (x, y) = (try script.number("x"), try script.number("y"))
    made["x"] = .double(7)
    #expect(script.context.save() != nil)
    #expect(script.lines() == [])
    script.context.handle(.received(ToClient(3, script.committed(2, [identity]))))
    #expect(changes().map(\.edits) == [[Edit(x, .set(.double(7)))]])
    made["y"] = .double(9)
    #expect(script.context.save() != nil)
    // The refused edits and those of the waiting save are one again.
    script.context.handle(.received(ToClient(4, .refused(Refusal(.conflict, "bob has changed x")))))
    let both = [Edit(x, .set(.double(7))), Edit(y, .set(.double(9)))].sorted { $0.property < $1.property }
    #expect(changes().map(\.edits) == [both])
    deleteByBob()
    script.context.handle(.received(ToClient(5, .refused(Refusal(.conflict, "bob has deleted it")))))
    #expect(made.isDeleted && !script.context.hasChanges && !script.context.hasUnconfirmedChanges)
    _ = script.lines()
    #expect(script.context.save() == nil)
  }

  /// The program has released the object. The saves that wait refer to it.
  @Test func releasedObjectIsFoundThroughItsSaves() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(4, 1)])
    var made = script.context.insert(script.note)
    let identity = CommitResult.IDAssignment(temporary: try #require(made).id, permanent: script.id(5))
    #expect(script.context.save() != nil)
    made?["x"] = .double(7)
    #expect(script.context.save() != nil)
    made?["y"] = .double(9)
    #expect(script.context.save() != nil)
    made = nil
    let arrival = Delta.Change(kind: .inserted, id: script.id(5), object: try script.image(5, 2))
    _ = script.receive(script.delta(4, 2, [arrival]))
    _ = script.receive(script.committed(2, [identity]), 3)
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    _ = script.receive(script.delta(4, 3, [gone]))
    for request in UInt64(4)...5 {
      let lines = script.receive(.refused(Refusal(.conflict, "bob has deleted it")), request)
      #expect(lines.contains("\(request - 2) was refused: conflict"), "\(lines)")
    }
    #expect(script.context.replica.pendingTransactions == [])
    #expect(!script.context.hasUnconfirmedChanges && script.context.save() == nil)
  }

  /// An object that was deleted here before the answer stays deleted.
  @Test func deleteBeforeTheAnswerIsKept() throws {
    script.context.delete(made)
    #expect(script.receive(script.committed(2, [identity]), 3) == ["saved 1 as 2"])
    #expect(made.isDeleted && script.context.hasChanges)
    #expect(script.context.save() != nil)
    #expect(changes().map(\.kind) == [.delete])
  }

  /// An object that another client deleted before the answer has nothing left to save.
  @Test func deleteByAnotherClientBeforeTheAnswerIsFinal() throws {
    let held = script.context.object(script.id(5))
    made["x"] = .double(7)
    deleteByBob()
    #expect(script.receive(script.committed(2, [identity]), 3) == ["saved 1 as 2"])
    #expect(held?.isDeleted == true && made.isDeleted && !made.hasChanges)
    #expect(!script.context.hasChanges && !script.context.hasUnconfirmedChanges && script.context.save() == nil)
  }
}
