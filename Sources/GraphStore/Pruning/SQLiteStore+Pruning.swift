// Tests: PruningTests.swift, PruningTwinTests.swift, PruningFailureTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// Pruning of an open store: planning is a read, and each slice is a short turn of the writer.
extension SQLiteStore {
  /// The oldest readable revision.
  public var oldestRevision: Revision { get throws { try read { _, history, _ in try history.oldest() } } }

  /// Returns the commits that a policy would remove now, without changing anything.
  /// - Parameters:
  ///   - now: the time from which ages are counted, in microseconds since 1970.
  ///   - ceiling: the last revision that may be removed.
  public func pruning(
    _ policy: HistoryPolicy, now: Timestamp, through ceiling: Revision = .max
  ) throws -> HistoryPruning {
    try read { _, history, _ in try PruningPlanner(history: history).plan(policy, now: now, through: ceiling) }
  }

  /// Removes a slice of history; it is on disk when the call returns. In a store with a commit log, the slice may
  /// reappear after a power failure. Only the caller of `commit` may call it, between commits.
  /// - Parameter target: the last revision to remove; the newest commit is always kept.
  /// - Returns: whether there is more to remove.
  public func prune(through target: Revision) throws -> Bool {
    try turn.withLock { _ in try pruneInTurn(through: target) }
  }

  private func pruneInTurn(through target: Revision) throws -> Bool {
    guard !health.isOutcomeUnknown else { return false }
    try files.verify()
    do {
      return try pool.writeWithoutTransaction { database in
        let writer = try self.writer ?? makeWriter(database)
        self.writer = writer
        try commitGathered(writer)
        try prepareForPruning(writer, through: min(target, writer.revision - 1))
        return try pruneSlice(writer, through: min(target, writer.revision - 1))
      }
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    } catch let error as MalformedMessage {
      throw StoreFailure(
        .corrupt, "the store \(path) is damaged", cause: "a commit can't be decoded: \(error.reason)",
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    }
  }

  /// Creates the tables before the first slice ever. The layout of an opened store already excludes programs that do
  /// not know them.
  private func prepareForPruning(_ writer: StoreWriter, through target: Revision) throws {
    // The tables exist, or there is nothing to remove yet.
    guard !writer.isPruned, try target > writer.history.oldest() else { return }
    try inTransaction(writer) {
      for statement in HistoryFloor.creation { try writer.connection.run(statement) }
    }
    writer.isPruned = true
  }

  private func pruneSlice(_ writer: StoreWriter, through target: Revision) throws -> Bool {
    guard writer.isPruned else { return false }
    try invariant(target < writer.revision, "the newest commit is never pruned")
    let pruner = HistoryPruner(connection: writer.connection, sliceCommits: max(1, options.prunedCommits))
    var floor: HistoryFloor?
    var hasMore = false
    try inTransaction(writer) {
      floor = try pruner.removeCommits(through: target)
      if let floor {
        // The full-text indexes find their missing changes in history, so they must not need commits below the floor.
        try writer.fullText.update(upTo: floor.revision, head: writer.revision)
        hasMore = true
      } else {
        hasMore = try pruner.removeParts(through: writer.history.oldest())
      }
    }
    // The cache must not return removed commits.
    if floor != nil { writer.history.forgetRecent() }
    return hasMore
  }

  func inTransaction(_ writer: StoreWriter, _ body: () throws -> Void) throws {
    do {
      try prepareToBegin(isBatch: false, writer)
      try writer.connection.run("BEGIN IMMEDIATE")
      try body()
      try writer.connection.run("COMMIT")
      try checkpointIfDue(writer.connection.database)
    } catch {
      abandonTransaction(of: writer, after: error)
      throw error
    }
  }

  /// Rewrites the file without its free space. No other call may run meanwhile. It takes as long as a copy, and needs
  /// the same space beside the file until it is done.
  package func vacuum() throws {
    try files.verify()
    do {
      try turn.withLock { _ in
        try pool.writeWithoutTransaction { database in
          if let writer { try commitGathered(writer) }
          // The temporary copy is as large as the store, so it must not be in memory.
          try database.execute(sql: "PRAGMA temp_store = FILE")
          defer { try? database.execute(sql: "PRAGMA temp_store = MEMORY") }
          writer = nil
          // Each checkpoint after this statement makes the file smaller.
          try files.verifyBeforeCheckpoint()
          files.forgetSize()
          try database.execute(sql: "VACUUM")
          _ = try? database.checkpoint(.truncate)
          try files.recordSize(database)
        }
      }
      try files.verify()
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }
}
