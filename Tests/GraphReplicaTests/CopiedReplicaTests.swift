import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A replica of which another instance has committed, because it was copied or restored to an earlier state: the server
/// would take its next edits for transactions that it has already.
@Suite struct CopiedReplicaTests {
  private let newID = UniqueID(high: 5, low: 5)

  /// The ids of the transactions that the context's actions send.
  private func sentIDs(_ script: ReplicaTranscript) -> [TransactionID] {
    script.context.takeActions().compactMap { action in
      guard case .send(let message) = action else { return nil }
      switch message.body {
      case .commit(let transaction): return transaction.id
      case .undo(let undo): return undo.id
      case .restore(let restore): return restore.id
      case .batch(let batch): return batch.id
      case .batchRows(let rows): return rows.id
      default: return nil
      }
    }
  }

  private func change(_ script: ReplicaTranscript) throws -> Change {
    Change(.update, script.id(5), base: 1, edits: [Edit(try script.number("x"), .set(.double(7)))])
  }

  private func save(_ script: ReplicaTranscript) throws -> Transaction {
    Transaction(
      id: script.context.newTransactionID(), policy: .error, undo: nil, changes: [try change(script)])
  }

  @Test func unsentEditOfCopyIsCommittedUnderNewID() throws {
    let script = try ReplicaTranscript()
    let old = script.context.replica.id
    let transaction = try save(script)
    #expect(script.handle(.save(transaction)) == [])
    #expect(script.connect(sequence: 3) == ["welcomed", "copied"])
    #expect(script.handle(.renew(newID)) == ["disconnect: unavailable"])
    #expect(script.context.replica.id == newID)
    // A save while the connection closes waits as well.
    let later = try save(script)
    #expect(later.id == TransactionID(replica: newID, sequence: 2))
    #expect(script.handle(.save(later)) == [])
    #expect(script.handle(.disconnected) == [])
    script.context.handle(.connected)
    let hellos = script.context.takeActions().compactMap { action -> Hello? in
      guard case .send(let message) = action, case .hello(let hello) = message.body else { return nil }
      return hello
    }
    #expect(hellos.map(\.replica) == [newID])
    script.context.handle(.received(ToClient(1, .welcome(welcome(script, sequence: 0)))))
    #expect(sentIDs(script) == [TransactionID(replica: newID, sequence: 1), later.id])
    // The ids that the owner knows stay the same.
    script.context.handle(.received(ToClient(2, script.committed(1))))
    let saved = script.context.takeActions().compactMap { action -> TransactionID? in
      if case .saved(let id, .success) = action { id } else { nil }
    }
    #expect(saved == [TransactionID(replica: old, sequence: 1)])
  }

  private func welcome(_ script: ReplicaTranscript, head: Revision = 0, sequence: UInt64) -> Welcome {
    Welcome(
      model: script.model, head: script.token(head), session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
      heartbeatMilliseconds: 15_000, lastSequence: sequence, principal: "ann", role: .editor)
  }

  /// It may have been committed before the copy was made, so only its own id is safe.
  @Test func sentEditOfCopyIsSentAgainUnderItsOldID() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let (sent, unsent) = (try save(script), try save(script))
    #expect(script.handle(.save(sent)) == ["> commit 1: update"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.handle(.save(unsent)) == [])
    script.context.handle(.connected)
    _ = script.context.takeActions()
    script.context.handle(.received(ToClient(1, .welcome(welcome(script, sequence: 4)))))
    #expect(sentIDs(script) == [sent.id])
    #expect(script.receive(script.committed(9), 2) == ["saved 1 as 9", "copied"])
    #expect(script.handle(.renew(newID)) == ["disconnect: unavailable"])
    #expect(script.handle(.disconnected) == [])
    script.context.handle(.connected)
    _ = script.context.takeActions()
    script.context.handle(.received(ToClient(1, .welcome(welcome(script, head: 9, sequence: 0)))))
    #expect(sentIDs(script) == [TransactionID(replica: newID, sequence: 2)])
  }

  /// The answer to the last edit was lost; nothing else has used the id.
  @Test(arguments: [0, 1] as [UInt64])
  func replicaWithoutCopiesKeepsItsID(known: UInt64) throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    #expect(script.handle(.save(try save(script))) == ["> commit 1: update"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(sequence: known) == ["welcomed", "> commit 1: update"])
  }

  @Test(arguments: [(6, false), (7, true)] as [(UInt64, Bool)])
  func restoredReplicaIsComparedWithWhatItHasSent(known: UInt64, isCopy: Bool) throws {
    let script = try ReplicaTranscript(lastSequence: 6)
    #expect(script.connect(sequence: known) == (isCopy ? ["welcomed", "copied"] : ["welcomed"]))
  }

  /// The next connection decides again.
  @Test func newIDAfterLostConnectionIsNotTaken() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(sequence: 3) == ["welcomed", "copied"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.handle(.renew(newID)) == [])
    #expect(script.context.replica.id == UniqueID(high: 1, low: 1))
    #expect(script.connect(sequence: 3) == ["welcomed", "copied"])
  }

  @Test func copyRefusesNewBatchAndSendsItUnderNewID() throws {
    let script = try ReplicaTranscript()
    let id = script.context.newTransactionID()
    let batch = BatchRequest(id: id, entity: script.note.number, operation: .delete(predicate: ""))
    #expect(script.connect(sequence: 3) == ["welcomed", "copied"])
    #expect(script.handle(.request(1, .batch(batch))) == ["request 1 was refused: unavailable"])
    #expect(script.handle(.renew(newID)) == ["disconnect: unavailable"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect() == ["welcomed"])
    for request in 2...3 as ClosedRange<RequestID> {
      script.context.handle(.request(request, .batch(batch)))
      #expect(sentIDs(script) == [TransactionID(replica: newID, sequence: 1)])
    }
  }

  @Test func repeatedBatchOfCopyKeepsTheIDUnderWhichItWasSent() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let id = script.context.newTransactionID()
    let batch = BatchRequest(id: id, entity: script.note.number, operation: .delete(predicate: ""))
    script.context.handle(.request(1, .batch(batch)))
    #expect(sentIDs(script) == [id])
    #expect(script.handle(.disconnected) == ["request 1 was refused: unavailable"])
    #expect(script.connect(sequence: 3) == ["welcomed", "copied"])
    script.context.handle(.request(2, .batch(batch)))
    #expect(sentIDs(script) == [id])
    // After its outcome the id is free of it.
    #expect(script.receive(.refused(Refusal(.conflict, "no")), 2) == ["request 2 was refused: conflict"])
    #expect(script.handle(.request(3, .batch(batch))) == ["request 3 was refused: unavailable"])
  }
}
