import GraphModel
import GraphStore
import GraphStoreFaults
import GraphStoreTools

/// Prunes history in slices, between any two commits, while some clients know only older revisions.
extension Simulation {
  /// Prunes some slices, towards a random revision.
  func prune() throws {
    // One run in four keeps all of history.
    guard server != nil, seed % 4 != 3, recorder.revision > 1 else { return }
    if random.chance(10) { CrashableFiles.fail(directory, with: .powerCutAfter(operations: random.below(30))) }
    try pruneSlices()
    CrashableFiles.fail(directory, with: nil)
    guard CrashableFiles.isOff(directory) else { return }
    note("the power is gone while history is pruned")
    events.note(.pruningLostPower)
    try crashServer {
      let findings = try StoreCheck.run(directory: directory, model: model, heldObjects: 3)
      try check(findings.first.map { "the store is damaged behind a slice that was cut: \($0)" })
    }
    try recordCommits()
  }

  private func pruneSlices() throws {
    guard let store = server?.store else { return }
    let keeps = random.chance(50) ? 1 + random.below(8) : 1 + random.below(60)
    let target = server?.pruning ?? max(0, recorder.revision - Revision(keeps))
    for _ in 0..<(1 + random.below(4)) {
      let oldest = try store.oldestRevision
      // A failure leaves the state of the store unknown, and the next commit reopens it.
      let hasMore = (try? store.prune(through: target)) ?? false
      server?.pruning = hasMore ? target : nil
      guard !CrashableFiles.isOff(directory) else { return }
      let floor = try store.oldestRevision
      note("pruned up to \(floor) of \(target)")
      if floor > oldest { events.note(.historyPruned) }
      if floor < oldest || floor > max(oldest, target) || floor >= recorder.revision {
        try check("history was pruned from \(oldest) to \(floor), requested was \(target) of \(recorder.revision)")
      }
      if !hasMore { return }
    }
  }

  // MARK: - Counting

  /// Counts a client that resumes.
  func countResume(_ job: ServerNode.Job) {
    guard case .recognize(_, let token) = job, let oldest = try? server?.store.oldestRevision, oldest > 0 else {
      return
    }
    events.note(
      token.revision > oldest
        ? .resumedAboveFloor : token.revision == oldest ? .resumedAtFloor : .resumedBelowFloor)
  }

  func countReturn(of client: ClientNode) {
    guard let oldest = try? server?.store.oldestRevision, client.lastRevision > 0, client.lastRevision < oldest,
      client.context.hasChanges
    else { return }
    events.note(.resumedBelowFloorWithEdits)
  }

  // MARK: - The invariants

  /// Checks the requests that were refused because of pruning.
  func checkPruned(_ client: ClientNode) throws {
    let (reads, transactions) = (client.prunedReads, client.prunedTransactions)
    (client.prunedReads, client.prunedTransactions) = ([], [])
    guard !reads.isEmpty || !transactions.isEmpty, let store = server?.store else { return }
    let oldest = try store.oldestRevision
    for revision in reads {
      events.note(.prunedPastRead)
      if revision >= oldest {
        try check("client \(client.number) may not read revision \(revision), but \(oldest) is kept")
      }
    }
    if oldest == 0 { try check(transactions.first.map { "transaction \($0) was refused as pruned, but nothing was" }) }
    for id in transactions {
      guard let record = recorder.records.last(where: { $0.transaction == id }) else {
        events.note(.refusedAsPruned)
        continue
      }
      events.note(.prunedAskedAgain)
      if record.revision > oldest {
        try check("transaction \(id) was refused as pruned: it is revision \(record.revision), but \(oldest) is kept")
      }
    }
  }

  /// Compares the store's log with the recorded commits and describes a difference.
  func differingLog(_ store: SQLiteStore) throws -> String? {
    let oldest = try store.oldestRevision
    let kept = try store.commits(after: oldest, through: nil, maximumChanges: .max).map(recorder.whole)
    let wanted = recorder.records.suffix(kept.count)
    guard kept.count == Int(recorder.revision - oldest), wanted.map(\.transaction) == kept.map(\.transaction) else {
      return "the log has \(kept.count) commits from \(oldest) on, the head is \(recorder.revision)"
    }
    for (record, told) in zip(wanted, kept) where record.fingerprint != told.fingerprint {
      return "revision \(record.revision) has another fingerprint than when it was committed"
    }
    return nil
  }
}
