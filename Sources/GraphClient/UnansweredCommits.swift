import GraphModel
import GraphReplica
import GraphWire

/// The commits of a client whose outcomes callers wait for.
struct UnansweredCommits {
  private var saves = [TransactionID: (Result<SaveResult, Refusal>) -> Void]()
  /// The number of batches and imports in progress.
  private var batchCount = 0
  /// The time until which a client that does not reconnect asks for the outcomes of sent commits; nil while it does
  /// not ask.
  private(set) var deadline: Int64?
  /// Whether any commit of the client has succeeded.
  private(set) var hasSucceeded = false

  /// Whether all commits are answered.
  var isEmpty: Bool { saves.isEmpty && batchCount == 0 }

  mutating func add(_ caller: CheckedContinuation<SaveResult, any Error>, for id: TransactionID) {
    add(for: id) { outcome in caller.resume(with: outcome.mapError { $0 as any Error }) }
  }

  /// Adds a caller. It runs during a mutation of this value, so it must not access it.
  mutating func add(for id: TransactionID, _ caller: @escaping (Result<SaveResult, Refusal>) -> Void) {
    assert(saves[id] == nil, "one caller waits for a transaction: \(id)")
    saves[id] = caller
  }

  /// Resumes the caller of a transaction, if it has one.
  mutating func finish(_ id: TransactionID, _ result: Result<SaveResult, Refusal>) {
    let isRepeated = deadline != nil
    if case .success = result { hasSucceeded = true }
    if let caller = saves.removeValue(forKey: id) { caller(isRepeated ? Self.afterLostAnswer(result) : result) }
    clearDeadlineIfEmpty()
  }

  /// The outcome of a repeated save. A server that can't commit now does not know the outcome of the first request.
  private static func afterLostAnswer(_ result: Result<SaveResult, Refusal>) -> Result<SaveResult, Refusal> {
    result.mapError { $0.code == .unavailable ? GraphClient.unknownOutcome : $0 }
  }

  mutating func beginBatch() { batchCount += 1 }

  mutating func endBatch() {
    assert(batchCount > 0, "a batch that ends has begun")
    batchCount -= 1
    clearDeadlineIfEmpty()
  }

  /// Sets the deadline, unless there is one.
  mutating func startDeadline(_ time: Int64) {
    assert(!isEmpty, "a deadline is for unanswered commits")
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
