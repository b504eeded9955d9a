import GraphModel
import GraphStore
import GraphStoreFaults
import GraphStoreTools

/// Prunes history in slices, between any two commits, while some clients know only older revisions.
extension Simulation {
  /// Prunes some slices, towards a random revision.
  func prune() throws {
    let keepsAll = seed % 4 == 3
    if keepsAll || recorder.revision <= 1 { return }
    if random.chance(10) { CrashableFiles.fail(directory, with: .powerCutAfter(operations: random.below(30))) }
    try pruneSlices()
    CrashableFiles.fail(directory, with: nil)
    if !CrashableFiles.isOff(directory) { return }
    trace("the power is gone while history is pruned")
    events.record(.pruningLostPower)
    try crashServer {
      let findings = try withLogFiles { try StoreCheck.run(directory: directory, model: model, heldObjects: 3) }
      try check(findings.first.map { "the store is damaged behind a slice that was cut: \($0)" })
    }
    try recordCommits()
  }

  private func pruneSlices() throws {
    var node = runningServer
    let store = node.store
    let keeps = random.chance(50) ? 1 + random.below(8) : 1 + random.below(60)
    let target = node.pruning ?? max(0, recorder.revision - Revision(keeps))
    for _ in 0..<(1 + random.below(4)) {
      let oldest = try store.oldestRevision
      // A failure leaves the state of the store unknown, and the next commit reopens it.
      let hasMore = (try? store.prune(through: target)) ?? false
      node.pruning = hasMore ? target : nil
      server = node
      if CrashableFiles.isOff(directory) { return }
      let floor = try store.oldestRevision
      trace("pruned up to \(floor) of \(target)")
      if floor > oldest { events.record(.historyPruned) }
      if floor < oldest || floor > max(oldest, target) || floor >= recorder.revision {
        try check("history was pruned from \(oldest) to \(floor), requested was \(target) of \(recorder.revision)")
      }
      if !hasMore { return }
    }
  }

  // MARK: - The server's clock

  /// Sets the server's clock, or prunes history by age; mostly neither.
  func actOnClock() throws {
    switch clock.nextEvent() {
    case .set(let difference)?:
      trace("the server's clock is set by \(difference / 1_000_000) s")
      if difference != 0 { events.record(difference > 0 ? .clockSetAhead : .clockSetBack) }
    case .prune?: try pruneByAge()
    case nil: break
    }
  }

  private func pruneByAge() throws {
    // The result of a failed write is known only after the next one.
    try recordCommits()
    let store = runningServer.store
    let (now, ceiling): (Timestamp, Revision)
    switch clock.decide(head: recorder.revision, newest: recorder.records.last?.time) {
    case .prune(let time, let through): (now, ceiling) = (time, through)
    case .refuse where bug == .trustedClock: (now, ceiling) = (clock.wall, .max)
    case .refuse(let reason):
      trace("the clock is not trusted: \(reason)")
      return events.record(.pruningRefused)
    }
    let policy = HistoryPolicy(age: ServerClock.retention, minimumRetention: 0)
    let plan = try store.pruning(policy, now: now, through: bug == .trustedClock ? .max : ceiling)
    try check(clock.failure(ofPruning: plan))
    trace("pruned by age up to \(plan.floor) of \(plan.head)")
    if plan.floor > plan.oldest { events.record(.prunedByAge) }
    // A slice that fails leaves the state of the store unknown, and the next commit reopens it.
    while let hasMore = try? store.prune(through: plan.floor), hasMore {}
  }

  /// Checks the marks of the commits at which the clock had gone back, while the server is not running.
  func checkSetbacks() throws {
    if clock.jumps {
      let findings = try withLogFiles { try StoreCheck.run(directory: directory, model: model, heldObjects: 3) }
      try check(findings.first.map { "the store is damaged after the clock was set: \($0)" })
    }
  }

  /// Describes a time whose state is not the newest one that has it; nil if there is none.
  func failureOfTimes(_ store: SQLiteStore) throws -> String? {
    guard clock.jumps else { return nil }
    let oldest = try store.oldestRevision
    let kept = recorder.records.filter { $0.revision >= oldest }
    for time in kept.suffix(12).flatMap({ [$0.time - 1, $0.time] }) {
      guard let expected = kept.last(where: { $0.time <= time }), expected.revision > oldest else { continue }
      let found = try store.revision(at: time).revision
      if found != expected.revision {
        return "the state at \(time) is revision \(found), it should be \(expected.revision)"
      }
    }
    return nil
  }

  // MARK: - Counting

  /// Counts a client that resumes.
  func countResume(_ job: ServerNode.Job) {
    if case .recognize(_, let token) = job, let oldest = try? server?.store.oldestRevision, oldest > 0 {
      events.record(
        token.revision > oldest
          ? .resumedAboveFloor : token.revision == oldest ? .resumedAtFloor : .resumedBelowFloor)
    }
  }

  func countReturn(of client: ClientNode) {
    if let oldest = try? server?.store.oldestRevision, client.lastRevision > 0, client.lastRevision < oldest,
      client.context.hasChanges
    {
      events.record(.resumedBelowFloorWithEdits)
    }
  }

  // MARK: - The invariants

  /// Checks the requests that were refused because of pruning.
  func checkPruned(_ client: ClientNode) throws {
    let (reads, transactions) = (client.past.removePruned(), client.outcomes.removePruned())
    if reads.isEmpty, transactions.isEmpty { return }
    let oldest = try runningServer.store.oldestRevision
    for revision in reads {
      events.record(.prunedPastRead)
      if revision >= oldest {
        try check("client \(client.number) may not read revision \(revision), but \(oldest) is kept")
      }
    }
    if oldest == 0 { try check(transactions.first.map { "transaction \($0) was refused as pruned, but nothing was" }) }
    for id in transactions {
      guard let record = recorder.records.last(where: { $0.transaction == id }) else {
        events.record(.refusedAsPruned)
        continue
      }
      events.record(.prunedAskedAgain)
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
    for (record, logged) in zip(wanted, kept) where record.fingerprint != logged.fingerprint {
      return "revision \(record.revision) has another fingerprint than when it was committed"
    }
    return nil
  }
}
