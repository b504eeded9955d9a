import GraphModel
import GraphReplica
import GraphWire

/// A client whose store is restored from a backup while it holds later state.
extension ClientNode {
  /// A client's record of the commits that a restore removed, kept until the next quiet moment.
  struct StaleState {
    /// Whether the client has seen a revision that the store no longer has, and has not detected that.
    var mustNotice: Bool
    /// Whether the client still takes its outdated state for valid.
    var isAstray = true
    /// The transactions that were unanswered at the restore and are not in the backup, with whether they had been
    /// committed.
    var unanswered = [TransactionID: Bool]()
  }

  /// Whether the client takes state that a restore removed for valid.
  var isAstray: Bool { astray?.isAstray ?? false }

  /// Records that the store was restored.
  /// - Parameters:
  ///   - kept: the history of the backup.
  ///   - lost: the history of the store until now.
  func goAstray(behind kept: GraphRecorder, of lost: GraphRecorder) {
    var next = StaleState(mustNotice: lastRevision > kept.revision || astray?.mustNotice == true)
    let (known, committed) = (Set(kept.records.map(\.transaction)), Set(lost.records.map(\.transaction)))
    let unanswered = context.replica.pendingTransactions + [pendingBatch?.batch.id].compactMap { $0 }
    for id in unanswered where !known.contains(id) { next.unanswered[id] = committed.contains(id) }
    astray = next
    // Edits on it are based on revisions that will have other contents.
    pad = nil
    edited.restart()
    let gone = acknowledged.filter { $0.revision > kept.revision }.map(\.id)
    acknowledged.removeAll { $0.revision > kept.revision }
    takenBack += gone
    typed.takeBack(Set(gone))
    committedBatches.formIntersection(known)
    if !gone.isEmpty { happened.note(.acknowledgedTakenBack) }
  }

  /// Handles the replica's report that the store does not recognize its state. It also occurs where the state was
  /// pruned.
  func noticeRestore() {
    // Revisions are counted again from here on.
    defer { lastRevision = 0 }
    pad = nil
    for load in loads.keys { loads[load]?.isOfTwoPasts = true }
    guard let astray else { return edited.losePast() }
    // Edits since the restore are also based on revisions that have other contents now.
    if astray.isAstray { edited.restart() } else { edited.losePast() }
    if astray.mustNotice { happened.note(context.hasChanges ? .restoreNoticedWithEdits : .restoreNoticed) }
    self.astray?.mustNotice = false
    self.astray?.isAstray = false
  }

  /// Records that an unanswered transaction has reached the store.
  func keepLanding(_ id: TransactionID) {
    guard let wasCommitted = astray?.unanswered.removeValue(forKey: id) else { return }
    happened.note(wasCommitted ? .landedAgain : .landedAfterRestore)
  }

  /// Whether a transaction is based on objects in a state that a restore removed.
  func isOfLostTime(_ transaction: Transaction) -> Bool {
    isAstray
      || transaction.changes.contains { change in
        // Objects that were not reloaded since then have a negative revision.
        !change.id.isTemporary && (context.object(change.id)?.revision ?? 0) < 0
      }
  }

  /// A planted bug: the client takes every query's state as recognized by the store.
  static func believing(_ message: ToClient) -> ToClient {
    guard case .subscribed(let query, let resumed, _) = message.body else { return message }
    return ToClient(message.request, .subscribed(query: query, resumed: resumed, known: true))
  }
}
