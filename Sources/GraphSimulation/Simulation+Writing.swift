import GraphHub
import GraphModel
import GraphStore
import GraphStoreFaults

/// Commits: the writer takes some of the waiting requests, and sometimes the power or a connection fails meanwhile.
extension Simulation {
  /// The server, which runs except while it handles an event or crashes.
  var runningServer: ServerNode {
    guard let server else { preconditionFailure("the server runs between two events") }
    return server
  }

  func write() throws {
    let (commits, cancelled) = (runningServer.commits, runningServer.cancelled)
    if commits.isEmpty { return }
    var count = 1 + random.below(commits.count)
    // A batch ends its write, so that each state of the graph can be recorded.
    let place = commits.prefix(count).firstIndex { if case .batch = $0.1 { true } else { false } }
    if let place { count = place + 1 }
    let groups = groupSizes(of: count, endsWithBatch: place != nil)
    trace("write \(groups) of \(commits.count)")
    let faultPlan = faultPlan(isBatch: place != nil, cancelled: cancelled)
    clock.recordWrite()
    if !isQuiescing, let fault = serverLog?.planFault() { trace(fault) }
    if groups.count > 1 { events.record(.groupsPrepared) }
    server?.write(groups: groups, reads: groups.count > 1 && random.chance(30), now: clock.wall, faultPlan: faultPlan)
    CrashableFiles.fail(directory, with: nil)
    serverLog?.disk.plan(nil)
    if faultPlan.wasGivenUp {
      events.record(.batchCancelled)
      if case .batch(let run)? = place.map({ commits[$0].1 }) { loseConnection(of: run.batch.id) }
    }
    if CrashableFiles.isOff(directory) || serverLog?.disk.isOff == true {
      trace("the power is gone")
      events.record(faultPlan.wasCut ? .batchLostPower : .commitLostPower)
      try crashServer()
    }
    try recordCommits()
  }

  /// Splits requests at random; a batch is a group of its own.
  private func groupSizes(of count: Int, endsWithBatch: Bool) -> [Int] {
    var rest = endsWithBatch ? count - 1 : count
    var sizes = [Int]()
    while rest > 0 {
      let size = random.chance(60) ? rest : 1 + random.below(rest)
      sizes.append(size)
      rest -= size
    }
    return endsWithBatch ? sizes + [1] : sizes
  }

  private func faultPlan(isBatch: Bool, cancelled: Set<StoreRequestID>) -> BatchFaultPlan {
    guard isBatch, !isQuiescing else {
      // Cuts the power in the middle of a commit: between any two of its writes and syncs, or after the last one.
      if !isQuiescing, random.chance(2) {
        CrashableFiles.fail(directory, with: .powerCutAfter(operations: random.below(60)))
      }
      return BatchFaultPlan(.done, directory: directory, cancelled: cancelled)
    }
    let slices = random.below(4)
    switch random.below(10) {
    case 0...1: return BatchFaultPlan(.powerCut(slices: slices), directory: directory, cancelled: cancelled)
    case 2...3: return BatchFaultPlan(.cancelled(slices: slices), directory: directory, cancelled: cancelled)
    case 4...5:
      CrashableFiles.fail(directory, with: .powerCutAfter(operations: random.below(90)))
      return BatchFaultPlan(.done, directory: directory, cancelled: cancelled)
    default: return BatchFaultPlan(.done, directory: directory, cancelled: cancelled)
    }
  }

  private func loseConnection(of batch: TransactionID) {
    let number = Int(batch.replica.high) - 1
    if clients.indices.contains(number) { disconnect(clients[number]) }
  }

  /// Records and checks the new commits.
  func recordCommits() throws {
    let last = recorder.records.last
    let records = try recorder.catchUp(with: runningServer.store)
    for record in records { try check(failure(of: record)) }
    try check(clock.record(records, after: last, &events))
    let deleted = recorder.deletedObjects
    for client in clients { client.past.deletedObjects = deleted }
  }

  private func failure(of record: CommitRecord) -> String? {
    let number = Int(record.transaction.replica.high) - 1
    guard clients.indices.contains(number), let before = recorder.state(record.revision - 1),
      let after = recorder.state(record.revision)
    else { return nil }
    let client = clients[number]
    if let oldest = try? server?.store.oldestRevision,
      client.checks.lostUpdates.began(record.transaction, below: oldest)
    {
      events.record(.editedBelowFloor)
    }
    if let batch = client.batches[record.transaction] {
      events.record(batch.event)
      client.batches.record(committed: batch.id)
      if record.summary != nil { events.record(.batchInSlices) }
      return batch.failure(from: client.version.downgraded(before), to: client.version.downgraded(after))
    }
    if record.undoes != nil { return failure(ofUndo: record, of: client) }
    if let request = client.past.restores[record.transaction] {
      return RestoreInvariants(recorder: recorder, model: model).failure(of: request, record, after, &events)
    }
    return nil
  }
}
