import GraphModel
import GraphReplica
import GraphWire

/// A client whose store is put back to a backup while it holds what came after.
extension ClientNode {
  /// What such a client has of the time that was taken back, until the next quiet moment.
  struct Astray {
    /// It was shown a revision that is not the store's any more, and has not noticed.
    var mustNotice: Bool
    /// Nothing has told it that it holds what is not true any more.
    var isAstray = true
    /// What nobody had answered and the backup does not have, and whether it had been committed all the same.
    var unanswered = [TransactionID: Bool]()
  }

  /// Whether it holds what was taken back for the truth.
  var isAstray: Bool { astray?.isAstray ?? false }

  /// The store is put back.
  /// - Parameters:
  ///   - kept: what the backup has.
  ///   - lost: what the store had until now.
  func goAstray(behind kept: GraphRecorder, of lost: GraphRecorder) {
    var next = Astray(mustNotice: lastRevision > kept.revision || astray?.mustNotice == true)
    let (known, committed) = (Set(kept.records.map(\.transaction)), Set(lost.records.map(\.transaction)))
    let unanswered = context.replica.pendingTransactions + [pendingBatch?.batch.id].compactMap { $0 }
    for id in unanswered where !known.contains(id) { next.unanswered[id] = committed.contains(id) }
    astray = next
    // What was begun on it is of revisions that will be others.
    pad = nil
    edited.restart()
    let gone = acknowledged.filter { $0.revision > kept.revision }.map(\.id)
    acknowledged.removeAll { $0.revision > kept.revision }
    takenBack += gone
    typed.takeBack(Set(gone))
    committedBatches.formIntersection(known)
    if !gone.isEmpty { happened.note(.acknowledgedTakenBack) }
  }

  /// The replica says that the store does not know its past. It also says so where all that it knew was pruned.
  func noticeRestore() {
    // What it is shown from here on counts anew.
    defer { lastRevision = 0 }
    pad = nil
    for load in loads.keys { loads[load]?.isOfTwoPasts = true }
    guard let astray else { return edited.losePast() }
    // So was what it set since then: of revisions that are others now.
    if astray.isAstray { edited.restart() } else { edited.losePast() }
    if astray.mustNotice { happened.note(context.hasChanges ? .restoreNoticedWithEdits : .restoreNoticed) }
    self.astray?.mustNotice = false
    self.astray?.isAstray = false
  }

  /// A transaction is in the store.
  func keepLanding(_ id: TransactionID) {
    guard let wasCommitted = astray?.unanswered.removeValue(forKey: id) else { return }
    happened.note(wasCommitted ? .landedAgain : .landedAfterRestore)
  }

  /// Whether a transaction says what it says of objects as they were in a time that was taken back.
  func isOfLostTime(_ transaction: Transaction) -> Bool {
    isAstray
      || transaction.changes.contains { change in
        // What has not come anew since the client noticed is of no revision.
        !change.id.isTemporary && (context.object(change.id)?.revision ?? 0) < 0
      }
  }

  /// A planted bug: the client takes the store's word for nothing.
  static func believing(_ message: ToClient) -> ToClient {
    guard case .subscribed(let query, let resumed, _) = message.body else { return message }
    return ToClient(message.request, .subscribed(query: query, resumed: resumed, known: true))
  }
}
