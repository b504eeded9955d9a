import GraphModel
import GraphStore
import GraphTesting
import Testing

/// The record of a client in history: the highest sequence number of its transactions, and their author.
@Suite struct KnownReplicaTests {
  @Test func highestSequenceSurvivesReopeningAndPruning() throws {
    let store = try TestStore(try Fixtures.stickies())
    let (one, other) = (UniqueID(high: 9, low: 9), UniqueID(high: 9, low: 8))
    #expect(try store.store.replica(one) == nil)
    for sequence in [2, 7, 5] as [UInt64] {
      let id = TransactionID(replica: one, sequence: sequence)
      let change = try store.insertion("Tag", ["name": .string("\(sequence)")])
      let results = try store.store.commit(
        [.transaction(Transaction(id: id, changes: [change]), author: "ann")], now: 1)
      #expect(results[0].record != nil)
    }
    for reopens in [false, true] {
      if reopens { try store.reopen() }
      #expect(try store.store.replica(one) == KnownReplica(lastSequence: 7, author: "ann"))
      #expect(try store.store.replica(other) == nil)
    }
    // The commit of the highest number is pruned; the newest commit always stays.
    try store.prune(through: 2)
    #expect(try store.store.replica(one) == KnownReplica(lastSequence: 7, author: "ann"))
  }
}
