import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// Faults of the store itself, as a release build meets them: the commit is refused, and nothing of it is stored.
@Suite struct StoreInvariantTests {
  @Test func commitWithoutAuthorIsRefusedAndTheOthersOfItsBatchAreStored() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let head = try store.store.head.revision
    func rename(_ name: String, _ sequence: UInt64, _ author: String) throws -> WriteRequest {
      let id = TransactionID(replica: UniqueID(high: 9, low: 9), sequence: sequence)
      let change = try store.update(board, "Board.name", .string(name))
      return .transaction(Transaction(id: id, policy: .overwrite, changes: [change]), author: Principal(author: author))
    }
    let results = try Invariants.$areFatal.withValue(false) {
      try store.store.commit([rename("C", 1, ""), rename("D", 2, "ann")], now: 1)
    }
    guard case .refused(let refusal)? = results.first?.outcome else {
      Issue.record("a commit without an author was stored")
      return
    }
    #expect(refusal.code == .unavailable)
    #expect(refusal.message.contains("a commit has an author"))
    guard case .committed(let committed)? = results.last?.outcome else {
      Issue.record("the other commit was refused")
      return
    }
    #expect(committed.revision == head + 1)
    let name = try store.property("Board.name")
    #expect(try store.all("Board", "").map { $0[name] } == [.string("D")])
  }
}
