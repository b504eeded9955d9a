// Tests: PruningTests.swift, PruningTwinTests.swift, PruningFailureTests.swift
import GRDBSQLite
import GraphModel

extension StoreWriter {
  /// The refusal of a transaction that may have been pruned.
  ///
  /// It is not in history, but its replica has pruned transactions with the same or a higher sequence number. So it
  /// may have been committed, and must not be committed again.
  func prunedOutcome(of id: TransactionID) throws -> Outcome? {
    guard isPruned else { return nil }
    let found = try connection.statement("SELECT number FROM _replica WHERE id = ?")
    found.bind(1, id.replica)
    defer { sqlite3_reset(found.statement) }
    guard try connection.step(found),
      let highest = try HistoryFloor.highestSequence(of: found.integer(0), connection),
      Int64(bitPattern: id.sequence) <= highest
    else { return nil }
    return .refused(
      Refusal(
        .pruned,
        "the outcome of transaction \(id.sequence) of this client was pruned; the oldest revision that is kept is "
          + "\(try history.oldest()). It was not committed again: check whether its changes are present"))
  }
}
