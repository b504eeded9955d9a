import GraphModel

/// The answers to a client's transactions, before and after restarts.
struct TransactionOutcomes {
  var acknowledged = [(id: TransactionID, revision: Revision)]()
  var refused = [TransactionID]()
  /// Transactions that were refused because the history that they need was pruned.
  var pruned = [TransactionID]()
  /// Whether the last answer to a save was a refusal.
  var wasRefused = false
  /// The number of times that each transaction was sent.
  private var timesSent = [TransactionID: Int]()

  mutating func record(sent id: TransactionID) { timesSent[id, default: 0] += 1 }

  /// Records a definite refusal.
  ///
  /// A transaction that was sent twice may still be in progress on a connection that the server has not closed yet, and
  /// succeed by then.
  mutating func record(refused id: TransactionID) {
    if timesSent[id, default: 1] == 1 { refused.append(id) }
  }

  /// Takes the transactions that were refused as pruned, to be checked.
  mutating func removePruned() -> [TransactionID] {
    defer { pruned = [] }
    return pruned
  }
}
