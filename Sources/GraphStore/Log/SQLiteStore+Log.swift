// Tests: LoggedStoreTests.swift, RedoTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphLog
import GraphModel
import Logging

/// The part of the store that uses a commit log (`GatheredCommits`).
extension SQLiteStore {
  // MARK: - Commits

  /// Passes a group, whose rows are in the open transaction, to the log. Without a usable log, SQLite commits it.
  /// - Returns: the call that makes the group durable.
  func prepare(
    _ collected: EntryCollector, _ results: [WriteResult], _ gathered: GatheredCommits, _ writer: StoreWriter
  ) throws -> PreparedCommits {
    // The disk is nearly full, the log can't be used, or a batch is larger than the log.
    let entries = collected.entries
    guard let log = gathered.log.current, let entries,
      entries.isEmpty || !checkpointSpace.isLow || gathered.log.needsCheckpoint
    else {
      if !collected.isEmpty { try commitDurably(gathered, writer) }
      return PreparedCommits { [self] in try finish(entries, results) }
    }
    // A group without entries may have the outcomes of commits that are not durable yet.
    let group = UnsyncedGroups.Group(entries, results, log)
    gathered.add(group)
    // Within a batch, SQLite checks references at COMMIT only; the next commits need the usual checks.
    if !entries.allSatisfy(\.isLast) {
      do {
        try commitGathered(writer)
      } catch {
        reportLateFailure(error)
      }
    }
    return PreparedCommits { [self] in try finish(group, gathered) }
  }

  /// Makes a prepared group durable; called on any thread.
  private func finish(_ group: UnsyncedGroups.Group, _ gathered: GatheredCommits) throws -> [WriteResult] {
    if gathered.writeUnsynced(until: group) != nil { commitUnsynced(group, gathered) }
    let outcome = try invariant(gathered.outcome(of: group), "a group that was written has an outcome")
    if case .failed(let error) = outcome { throw withUnknownOutcome(error) }
    return try finish(group.entries, group.results)
  }

  private func finish(_ entries: [LogEntry]?, _ results: [WriteResult]) throws -> [WriteResult] {
    // If the next start can't find the files, the commit is lost, so it must not be acknowledged. The files may be put
    // back; until then the commits are in the open transaction, and reads see them.
    do {
      if files.isOlder(than: options.comparedNanoseconds) { try files.verify() }
    } catch {
      throw withUnknownOutcome(error)
    }
    if let entries, !entries.isEmpty { options.didCommit?(entries) }
    return results
  }

  /// The error of commits that were written, and that a later call may still find or repeat.
  func withUnknownOutcome(_ error: any Error) -> any Error {
    let failure = if let error = error as? DatabaseError { SQLiteFailure.of(error, path: path) } else { error }
    return if let failure = failure as? StoreFailure { failure.withUnknownOutcome } else { failure }
  }

  /// Commits the groups in SQLite that can't be written to the log. If that fails too, the store is reopened, which
  /// repeats them.
  private func commitUnsynced(_ group: UnsyncedGroups.Group, _ gathered: GatheredCommits) {
    turn.withLock { _ in
      // Another caller that held the turn may have done it.
      if gathered.outcome(of: group) != nil { return }
      do {
        try commitUnreadInTurn()
      } catch {
        reportReopening(error)
        do {
          try reopenInSpace()
        } catch _ {
          gathered.resolveUnsynced(.failed(error))
        }
      }
    }
  }

  /// Reopens the store. If the disk is full, tries again in the space that a checkpoint frees.
  private func reopenInSpace() throws {
    do {
      try reopen()
    } catch let error as DatabaseError {
      guard error.resultCode == .SQLITE_FULL, try checkpoint() else { throw error }
      try reopen()
    } catch let failure as StoreFailure where failure.code == .full {
      guard try checkpoint() else { throw failure }
      try reopen()
    }
  }

  func reportReopening(_ cause: any Error) {
    let kind = if let failure = cause as? StoreFailure { failure.code.rawValue } else { "other" }
    reporter.report(kind, "a commit failed; the store is reopened", cause)
  }

  private func reportLateFailure(_ cause: any Error) {
    reporter.log.error(
      "the store must be reopened: commits that are in its log failed", metadata: ["cause": "\(cause)"])
  }

  /// Commits in SQLite if enough has gathered or a read waits. After a failure the store is reopened.
  func commitIfDue() {
    guard let gathered, let writer, gathered.isDue else { return }
    do {
      try pool.writeWithoutTransaction { _ in try commitGathered(writer) }
    } catch {
      reportLateFailure(error)
    }
  }

  /// Decides before BEGIN whether SQLite syncs the next COMMIT: without a log, on a disk with little space, and for a
  /// batch, which may be larger than the log.
  func prepareToBegin(isBatch: Bool, _ writer: StoreWriter) throws {
    if let gathered, !gathered.isOpen {
      // A batch may be larger than the log, which is then begun again.
      if isBatch { try checkpointIfNeeded(gathered.log, writer) }
      try setSyncing(isBatch || gathered.log.current == nil || checkpointSpace.isLow, gathered, writer)
    }
  }

  /// Refuses a batch that is larger than the log, while only the log certainly has the commits before it.
  /// - Throws: `StoreFailure(.inUse)`; the caller rolls the batch back.
  func refuseUnlogged(_ collected: EntryCollector) throws {
    if let gathered, gathered.log.needsCheckpoint, collected.entries == nil { throw isBeingRead }
  }

  private static let full = SQL("PRAGMA synchronous = FULL")
  private static let normal = SQL("PRAGMA synchronous = NORMAL")

  /// Sets whether SQLite syncs each COMMIT; outside of transactions only. If such a sync fails, the COMMIT fails, and
  /// SQLite writes its pages again later.
  func setSyncing(_ isOn: Bool, _ gathered: GatheredCommits, _ writer: StoreWriter) throws {
    if gathered.isSyncing == isOn { return }
    try writer.connection.run(isOn ? Self.full : Self.normal)
    gathered.isSyncing = isOn
  }

  /// Commits and syncs the open transaction in SQLite, and begins the log after it.
  private func commitDurably(_ gathered: GatheredCommits, _ writer: StoreWriter) throws {
    // After this call no other thread writes to the log.
    _ = gathered.writeUnsynced()
    try verifyHeader(of: writer.connection)
    if gathered.isSyncing {
      try runCommit(writer.connection)
    } else {
      gathered.willCommitUnsynced()
      try runCommit(writer.connection)
      try synchronizeLog(of: writer.connection)
    }
    gathered.didCommit()
    gathered.resolveUnsynced(.durable)
    begin(gathered, writer)
    do {
      try checkpointIfDue(writer.connection.database)
    } catch {
      // The commits are durable. The next call reopens the store.
      reporter.report("checkpoint", "the store's log can't be checkpointed", error)
      abandonTransaction(of: writer, after: error)
    }
  }

  /// Begins the log after a state that is durable in SQLite. If that fails, SQLite syncs each commit until the next
  /// attempt. A log that only a complete checkpoint may replace goes on if it has all commits.
  func begin(_ gathered: GatheredCommits, _ writer: StoreWriter) {
    if gathered.log.needsCheckpoint, gathered.log.keepUntilCheckpoint(after: writer.position) { return }
    let now = options.monotonicNanoseconds()
    if !checkpointSpace.isLow, gathered.log.mayBegin(at: now) {
      do {
        try gathered.log.begin(after: writer.position, at: now)
        // Without the mark, the next start would ignore the log.
        return try setMark(true, gathered, writer)
      } catch {
        reporter.report("begin", "no commit log can be begun; commits are synced in the store", error)
      }
    }
    gathered.log.rest()
    do {
      try setMark(false, gathered, writer)
    } catch {
      // The next start reads the log, which ends before the store's state.
      reporter.report("mark", "the mark of the commit log can't be cleared", error)
    }
  }

  func setMark(_ isNeeded: Bool, _ gathered: GatheredCommits, _ writer: StoreWriter) throws {
    if gathered.log.isMarked == isNeeded { return }
    // Set although the write may fail, because a mark that is wrongly set only makes the next start read the log.
    gathered.log.isMarked = true
    try setSyncing(true, gathered, writer)
    try LogMark.write(isNeeded, writer.connection.database)
    gathered.log.isMarked = isNeeded
    // In SQLite's log alone, the mark would be lost together with the commits for which it is needed.
    if isNeeded {
      try files.verifyBeforeCheckpoint()
      _ = try CheckpointSpace.checkpoint(writer.connection.database)
    }
  }

  /// Commits the gathered groups once they are durable in the log, so that reads see them. Releases space of the log if
  /// enough is held.
  /// - Throws: the failure of SQLite; the store is then reopened by the next call.
  func commitGathered(_ writer: StoreWriter) throws {
    guard let gathered, gathered.isOpen else { return }
    do {
      if let failure = gathered.writeUnsynced() {
        if !(failure is LogRefusal) {
          reporter.report("log", "the commit log can't be written; commits are synced in the store", failure)
        }
        return try commitDurably(gathered, writer)
      }
      try verifyHeader(of: writer.connection)
      try runCommit(writer.connection)
      gathered.didCommit()
      try checkpointIfDue(writer.connection.database)
      guard gathered.log.isForgettingDue else { return }
      try files.verifySize()
      try files.verifyLog()
      guard try makeReleasable(gathered.log, writer) else { return }
    } catch {
      abandonTransaction(of: writer, after: error)
      throw error
    }
    do {
      try gathered.log.forget(through: writer.revision)
    } catch {
      reporter.report("forget", "the commit log's space can't be reused", error)
    }
  }

  /// Makes SQLite's commits durable, so that the commit log can release them.
  /// - Returns: false if that has to wait for another program that reads the store.
  private func makeReleasable(_ attached: AttachedLog, _ writer: StoreWriter) throws -> Bool {
    guard attached.needsCheckpoint else {
      try synchronizeLog(of: writer.connection)
      return true
    }
    guard attached.mayCheckpoint(at: options.monotonicNanoseconds()) else { return false }
    try checkpointIfNeeded(attached, writer)
    return !attached.needsCheckpoint
  }

  /// Copies everything into the database file if only the commit log certainly has the commits that SQLite shows.
  /// Beside a read of another program nothing changes.
  func checkpointIfNeeded(_ attached: AttachedLog, _ writer: StoreWriter) throws {
    if attached.needsCheckpoint {
      do {
        // The start has compared all frames; a long read may cause many attempts.
        try makeDurable(writer.connection.database, comparesAll: false)
        attached.didCheckpoint()
      } catch let failure as StoreFailure where failure.code == .inUse {}
    }
  }

  /// Copies SQLite's log into the database file when the log has its usual size. SQLite's own checkpoints are off.
  func checkpointIfDue(_ database: Database) throws {
    let frames = opener.logFrames.count
    if options.commitLog != nil, checkpointSpace.isCheckpointDue(frames: frames) {
      try files.verifyBeforeCheckpoint()
      // Without space for the pages, or beside an open read, the log grows.
      let extent = try CheckpointSpace.checkpoint(database)
      checkpointSpace.didCheckpoint(extent, frames: frames)
      try files.recordSize(database)
    }
  }

  /// Checks before COMMIT that SQLite's log is complete, and that the database file still begins like one, through
  /// SQLite's own descriptor.
  ///
  /// SQLite holds the first page in memory. If another program has overwritten it, commits would be acknowledged that
  /// no start can read.
  func verifyHeader(of connection: Connection) throws {
    try files.verifyLog()
    if let file = DatabaseFileHandle(connection.database), !file.beginsLikeDatabase {
      throw StoreFailure(
        .corrupt, "\(path) was overwritten while stickiesd had it open",
        cause: "it does not begin like a SQLite database",
        advice: "Commits are refused unless SQLite's log has the lost page: keep a copy of all files, stop stickiesd "
          + "and restore a backup.")
    }
  }

  /// Rolls back after a failure. The next call reopens the store and reads the file's actual state.
  func abandonTransaction(of writer: StoreWriter, after cause: any Error) {
    rollBack(writer)
    health.doubt(cause)
  }

  private func rollBack(_ writer: StoreWriter) {
    if sqlite3_get_autocommit(writer.connection.database.sqliteConnection) == 0 {
      try? writer.connection.run("ROLLBACK")
    }
    gathered?.didRollBack()
    self.writer = nil
  }

  /// In idle times, commits the gathered commits, so that other programs see them and the log's space can be reused.
  /// Begins the log again if its files were moved. May be called on any thread, about once a second.
  public func settle() {
    do {
      try commitUnread()
      try replaceMovedLog()
    } catch {
      reporter.report("settle", "commits that are in the commit log can't be committed in the store yet", error)
    }
  }

  /// Begins the log again if its files were moved, replaced or removed since the last commit: a start after a kill
  /// would be refused without them.
  private func replaceMovedLog() throws {
    try turn.withLock { _ in
      let isUsable = !health.isOutcomeUnknown && !status.withLock { $0.isClosed }
      // A commit in progress compares them itself.
      if isUsable, let gathered, let writer, let cause = gathered.verifyIdleLog() {
        reporter.report("log", "the commit log can't be written; commits are synced in the store", cause)
        try pool.writeWithoutTransaction { _ in
          do {
            try synchronizeLog(of: writer.connection)
          } catch {
            abandonTransaction(of: writer, after: error)
            throw error
          }
          begin(gathered, writer)
        }
      }
    }
  }

  /// Makes all acknowledged commits visible to the caller's next read; called on any thread.
  func commitUnread() throws {
    try reopenAfterLostLock()
    guard let gathered, !options.hooks.hidesGathered, let group = gathered.waitForNewest() else { return }
    defer { gathered.endWait() }
    try turn.withLock { _ in
      // The writer, or the first of several waiting reads, may have committed meanwhile.
      if gathered.isVisible(group) { return }
      do {
        try commitUnreadInTurn()
      } catch let failure as StoreFailure where failure.code == .full {
        // Retries once in the space that a checkpoint frees.
        guard try checkpoint() else { throw failure }
        try commitUnreadInTurn()
      }
    }
  }

  /// Reopens the store after a read has failed because of an unreleased lock: all later reads would fail, too.
  private func reopenAfterLostLock() throws {
    if !status.withLock({ $0.isLockLost }) { return }
    try turn.withLock { _ in
      // Another caller may have reopened the store meanwhile.
      guard status.withLock({ $0.isLockLost && !$0.isClosed }) else { return }
      // The gathered commits are repeated.
      if let writer { pool.writeWithoutTransaction { _ in rollBack(writer) } }
      (health.isOutcomeUnknown, health.isLockLost) = (true, true)
      try reopen()
    }
  }

  private func commitUnreadInTurn() throws {
    if health.isOutcomeUnknown { try reopen() }
    try pool.writeWithoutTransaction { _ in
      if let writer { try commitGathered(writer) }
    }
  }

  // MARK: - After a failure

  /// Repeats the gathered commits in a new transaction after a rollback.
  func repeatGathered(_ writer: StoreWriter) throws {
    if let gathered, case let entries = gathered.entries, !entries.isEmpty {
      try writer.connection.run(Self.begin)
      gathered.didBegin()
      let redo = RedoWriter(writer)
      do {
        for entry in entries { try redo.apply(entry) }
      } catch {
        try? writer.connection.run("ROLLBACK")
        gathered.didRollBack()
        throw error
      }
    }
  }

  /// Repeats the gathered commits in a store that was reopened, and begins the log after them.
  ///
  /// These include the commits whose entries could not be written to the log: they count as committed, because it is
  /// unknown how much of them reached the disk.
  func restoreGathered(_ writer: StoreWriter) throws {
    guard let gathered else { return }
    gathered.willCommitUnsynced()
    try repeatGathered(writer)
    if gathered.isOpen { try runCommit(writer.connection) }
    if health.isDiskInDoubt {
      try makeDurable(writer.connection.database)
      gathered.log.didCheckpoint()
    } else {
      try synchronizeLog(of: writer.connection)
    }
    gathered.didCommit()
    gathered.resolveUnsynced(.durable)
    begin(gathered, writer)
  }
}

extension StoreWriter {
  /// The newest state.
  var position: LogPosition { LogPosition(revision: revision, fingerprint: fingerprint) }
}
