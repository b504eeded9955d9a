import GraphModel
import GraphReplica

/// A user who increments counters. The new value is calculated from a value that the user has read, so it is saved
/// under the precondition that no other client has changed the counter since.
final class ClientCounters {
  /// An increment that was saved, with the value that its user read.
  struct Increment {
    let counter: ObjectID
    let seen: Int64
    /// Whether it is based on a state that a restore of the store removed.
    var isExempt = false
  }

  private unowned let client: ClientNode
  /// All increments that this client has saved, before and after restarts.
  private(set) var increments = [TransactionID: Increment]()
  /// The increment that has not been answered; a user waits for the answer.
  private var unanswered: TransactionID?

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the unanswered increment, because the process has died.
  func restart() { unanswered = nil }

  /// Records that an increment is based on a state that a restore of the store removed.
  func exempt(_ id: TransactionID) { increments.modifyIfPresent(id) { $0.isExempt = true } }

  /// Increments a counter, and saves that together with the user's other edits.
  func increment(_ random: inout SeededRandom) -> String {
    defer { client.perform() }
    guard unanswered == nil, client.context.replica.pendingTransactions.isEmpty else {
      return "a transaction is under way"
    }
    // Preconditions ignore a client's own commits: it must have seen what its own undo has done to the counter.
    guard client.outcomes.acknowledged.allSatisfy({ $0.revision <= client.lastRevision }) else {
      return "the client's own commits are not there yet"
    }
    // Within a group, the undo of one increment would undo others.
    guard client.context.undoScope?.isGrouping != true else { return "a group is open" }
    let counters = client.objects(CounterCheck.entity).filter { !$0.isInserted && !$0.hasChanges && $0.revision > 0 }
    guard let counter = random.pick(counters), case .integer(let seen) = counter[CounterCheck.property] else {
      return "no counter"
    }
    client.write(.integer(seen + 1), CounterCheck.property, counter)
    let policy = random.element(of: MergePolicy.allCases)
    guard
      let id = client.commit(policy, requiring: [.unchanged(counter, CounterCheck.property)])
    else { preconditionFailure("an increment is a change") }
    increments[id] = Increment(counter: counter.id, seen: seen)
    unanswered = id
    return "increment \(counter.id) from \(seen), transaction \(id.sequence), \(policy)"
  }

  /// Records the answer to a transaction.
  /// - Parameter refusal: nil if it was committed.
  func record(_ id: TransactionID, _ refusal: Refusal?) {
    if increments[id] != nil {
      if unanswered == id { unanswered = nil }
      guard let refusal else { return client.events.record(.counterIncremented) }
      if refusal.code == .conflict { client.events.record(.incrementRefused) }
      // The refused value is outdated. The user reads the counter again instead of saving the value later, without the
      // precondition.
      client.rollback()
    }
  }
}
