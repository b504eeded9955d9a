import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import GraphWire

/// Restores the store from a backup while clients hold live queries, unsaved edits and unanswered saves.
///
/// A restore removes all commits after the backup, even acknowledged ones, and no client commits them again. A client
/// that had seen a later revision than the backup must detect the restore, no matter whether the restored store is
/// below that revision or has passed it with other commits. After that, all invariants hold for the restored store.
/// Unacknowledged transactions are committed once. Edits that are based on removed commits cannot be compared with
/// later changes (docs/guides/backup.md); they are exempt from the invariants about that.
extension Simulation {
  /// Makes or restores a backup when it is due.
  func runOperator() throws {
    if StoreOperator.exists(seed: seed, bug: bug), step >= storeOperator.dueAt {
      guard let backup = storeOperator.backup else { return try makeBackup() }
      // Restore only if that removes commits.
      if recorder.revision > backup.recorder.revision { try restoreBackup(to: backup) }
    }
  }

  private func makeBackup() throws {
    try recordCommits()
    let file = "\(directory)/backup-\(step).sqlite"
    do {
      let report = try withLogFiles { try StoreBackup.run(directory: directory, model: model, file: file) }
      try checkHead(report.head, of: "the backup")
    } catch let failure as Failure {
      throw failure
    } catch {
      try check("the store can't be backed up: \(error)")
    }
    trace("the operator backs up revision \(recorder.revision)")
    storeOperator.keep(StoreOperator.Backup(file: file, step: step, recorder: recorder))
  }

  private func restoreBackup(to backup: StoreOperator.Backup) throws {
    // Check the commits that the restore will remove, while they are known.
    try recordCommits()
    for client in clients {
      try checkReads(of: client)
      try checkPruned(client)
    }
    let lost = recorder
    trace("the operator restores revision \(backup.recorder.revision) over \(lost.revision)")
    events.record(.storePutBack)
    for client in clients { client.restores.becomeStale(behind: backup.recorder, of: lost) }
    try crashServer {
      let report: StoreRestore.Report
      do {
        report = try StoreRestore.run(file: backup.file, directory: directory, model: model, stamp: "step\(step)")
      } catch {
        throw Failure(seed: seed, step: step, reason: "the store can't be restored: \(error)")
      }
      guard let previous = report.previous else {
        throw Failure(seed: seed, step: step, reason: "the restore kept no previous store")
      }
      for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: previous + suffix) }
      recorder = backup.recorder
      recorder.revert(from: lost)
      try checkHead(report.head, of: "the restored store")
    }
    let behind = clients.filter(\.restores.mustDetect)
    if let late = storeOperator.restored(at: step, behind: behind.map(\.number)) {
      offlineClients.add(late.client, below: clients[late.client].lastRevision + Revision(late.commits))
    }
  }

  private func checkHead(_ head: Token, of what: String) throws {
    // A store without commits has the fingerprint 0.
    let fingerprint: UInt64 = if let last = recorder.records.last { last.fingerprint } else { 0 }
    if head.revision != recorder.revision || head.fingerprint != fingerprint {
      try check("\(what) is of revision \(head.revision), \(recorder.revision) was recorded")
    }
  }

  /// Counts a client that returns after other commits have passed the revision that it had seen.
  func countStaleReturn(_ client: ClientNode) {
    if client.restores.mustDetect, recorder.revision >= client.lastRevision {
      events.record(.restoreOvertaken)
    }
  }

  // MARK: - The invariants

  /// Checks restores at a quiet moment, with the revisions of all transactions.
  func checkRestores(_ revisions: [TransactionID: Revision]) throws {
    for client in clients {
      if client.restores.mustDetect {
        try check(
          "client \(client.number) has not noticed the restore to before revision \(client.lastRevision)")
      }
      client.restores.forget()
      for id in client.restores.revertedTransactions where revisions[id] != nil {
        try check("transaction \(id) was acknowledged and removed by a restore, but exists again")
      }
    }
  }

  // MARK: - A planted bug

  /// Makes tokens valid as if the server compared revision numbers only.
  func withoutFingerprint(_ message: ToServer) -> ToServer {
    func believed(_ token: Token) -> Token {
      let record = recorder.records.last { $0.revision == token.revision }
      return Token(
        store: token.store, revision: token.revision, fingerprint: record?.fingerprint ?? token.fingerprint)
    }
    switch message.body {
    case .subscribe(var subscribe):
      subscribe.since = subscribe.since.map(believed)
      return ToServer(message.request, .subscribe(subscribe))
    case .changes(.follow(var follow)):
      follow.since = believed(follow.since)
      return ToServer(message.request, .changes(.follow(follow)))
    default: return message
    }
  }
}

extension Simulation {
  /// Runs `body` while the store's folder has the commit log, which tools read there.
  func withLogFiles<Result>(_ body: () throws -> Result) throws -> Result {
    guard let contents = serverLog?.disk.contents else { return try body() }
    let folder = directory + "/" + StoreFiles.logFolder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, bytes) in contents { try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name)) }
    return try body()
  }
}
