import GraphModel
import GraphReplica
import GraphWire

/// A client whose store is restored from a backup while it holds later state.
final class RestoreObserver {
  /// A client's record of the commits that a restore removed, kept until the next quiet moment.
  struct StaleState {
    /// Whether the client has seen a revision that the store no longer has, and has not detected that.
    var mustDetectRestore: Bool
    /// Whether the client still takes its outdated state for valid.
    var isStale = true
    /// The transactions that were unanswered at the restore and are not in the backup, with whether they had been
    /// committed.
    var unanswered = [TransactionID: Bool]()
  }

  private unowned let client: ClientNode
  /// The outdated state that the client holds since a restore; nil when there is none.
  private var staleState: StaleState?
  /// Acknowledged transactions that a restore has removed, before and after restarts.
  private(set) var revertedTransactions = [TransactionID]()

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the outdated state: the process has died, or all clients hold the present at a quiet moment.
  func forget() { staleState = nil }

  /// Whether the client has seen a revision that the store no longer has, and has not detected that.
  var mustDetect: Bool { staleState.map(\.mustDetectRestore) == true }

  /// Whether the client takes state that a restore removed for valid.
  var isStale: Bool { staleState.map(\.isStale) == true }

  /// Records that the store was restored.
  /// - Parameters:
  ///   - kept: the history of the backup.
  ///   - lost: the history of the store until now.
  func becomeStale(behind kept: GraphRecorder, of lost: GraphRecorder) {
    var next = StaleState(mustDetectRestore: client.lastRevision > kept.revision || mustDetect)
    let (known, committed) = (Set(kept.records.map(\.transaction)), Set(lost.records.map(\.transaction)))
    let unanswered = client.context.replica.pendingTransactions + [client.batches.pending?.batch.id].compactMap { $0 }
    for id in unanswered where !known.contains(id) { next.unanswered[id] = committed.contains(id) }
    staleState = next
    // Edits on it are based on revisions that will have other contents.
    client.childEditor.restart()
    client.checks.lostUpdates.restart()
    let deleted = client.outcomes.acknowledged.filter { $0.revision > kept.revision }.map(\.id)
    client.outcomes.acknowledged.removeAll { $0.revision > kept.revision }
    revertedTransactions += deleted
    client.checks.textMerges.revert(Set(deleted))
    client.batches.revert(to: known)
    if !deleted.isEmpty { client.events.record(.acknowledgedTakenBack) }
  }

  /// Handles the replica's report that the store does not recognize its state. It also occurs where the state was
  /// pruned.
  func detect() {
    // Revisions are counted again from here on.
    defer { client.lastRevision = 0 }
    client.childEditor.restart()
    client.loads.spanRestore()
    guard var staleState else { return client.checks.lostUpdates.exemptAll() }
    // Edits since the restore are also based on revisions that have other contents now.
    if staleState.isStale { client.checks.lostUpdates.restart() } else { client.checks.lostUpdates.exemptAll() }
    if staleState.mustDetectRestore {
      client.events.record(client.context.hasChanges ? .restoreNoticedWithEdits : .restoreNoticed)
    }
    (staleState.mustDetectRestore, staleState.isStale) = (false, false)
    self.staleState = staleState
  }

  /// Records that an unanswered transaction has reached the store.
  func countResent(_ id: TransactionID) {
    if let wasCommitted = staleState?.unanswered.removeValue(forKey: id) {
      client.events.record(wasCommitted ? .landedAgain : .landedAfterRestore)
    }
  }

  /// Whether a transaction is based on objects in a state that a restore removed.
  func isBasedOnRevertedState(_ transaction: Transaction) -> Bool {
    isStale
      || transaction.changes.contains { change in
        // Objects that were not reloaded since then have a negative revision.
        !change.id.isTemporary && client.context.object(change.id).map { $0.revision < 0 } == true
      }
  }

  /// A planted bug: the client takes every query's state as recognized by the store.
  static func withRecognizedState(_ message: ToClient) -> ToClient {
    guard case .subscribed(let query, let resumed, _) = message.body else { return message }
    return ToClient(message.request, .subscribed(query: query, resumed: resumed, known: true))
  }
}
