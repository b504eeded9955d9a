import GraphReplica
import GraphWire

/// The commits of a client whose outcomes callers wait for.
struct UnansweredCommits {
  private var saves = [TransactionID: (Result<SaveResult, Refusal>) -> Void]()
  /// The number of batches and imports in progress.
  private var batchCount = 0
  /// When a client that does not reconnect stops trying to learn the outcome of what it has sent. Nil while it is not
  /// trying.
  private(set) var deadline: Int64?

  /// Whether nothing is unanswered.
  var isEmpty: Bool { saves.isEmpty && batchCount == 0 }

  mutating func add(_ caller: CheckedContinuation<SaveResult, any Error>, for id: TransactionID) {
    add(for: id) { outcome in caller.resume(with: outcome.mapError { $0 as any Error }) }
  }

  /// Adds a caller that must not use the commits itself when it is called.
  mutating func add(for id: TransactionID, _ caller: @escaping (Result<SaveResult, Refusal>) -> Void) {
    assert(saves[id] == nil, "one caller waits for a transaction: \(id)")
    saves[id] = caller
  }

  /// Resumes the caller of a transaction. One that was committed without a caller has none.
  mutating func finish(_ id: TransactionID, _ result: Result<SaveResult, Refusal>) {
    if let caller = saves.removeValue(forKey: id) { caller(result) }
    clearDeadlineIfEmpty()
  }

  mutating func beginBatch() { batchCount += 1 }

  mutating func endBatch() {
    assert(batchCount > 0, "a batch that ends has begun")
    batchCount -= 1
    clearDeadlineIfEmpty()
  }

  /// Sets the deadline, unless there is one.
  mutating func startDeadline(_ time: Int64) {
    if deadline == nil { deadline = time }
  }

  private mutating func clearDeadlineIfEmpty() {
    if isEmpty { deadline = nil }
  }

  /// Resumes the callers of all transactions with an error. Batches fail with their replies.
  mutating func fail(_ refusal: Refusal) {
    for (_, caller) in saves { caller(.failure(refusal)) }
    saves = [:]
  }
}
