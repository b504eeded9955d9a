import GRDB
import GRDBSQLite
import GraphModel

/// Pruning while the store is open: the plan is a read, and each slice a short turn of the writer.
extension SQLiteStore {
  /// The oldest state that history can tell.
  public var oldestRevision: Revision { get throws { try read { _, history, _ in try history.oldest() } } }

  /// What a policy would take away now. Nothing is changed.
  /// - Parameters:
  ///   - now: the time that ages are counted from, microseconds since 1970.
  ///   - ceiling: what came behind this revision stays, whatever the policy says.
  public func pruning(
    _ policy: HistoryPolicy, now: Timestamp, through ceiling: Revision = .max
  ) throws -> HistoryPruning {
    try read { _, history, _ in try history.pruning(policy, now: now, through: ceiling) }
  }

  /// Takes away a slice of history, on disk when it returns. Called by the caller of `commit`, between two commits.
  /// - Parameter target: commits up to this revision go; the newest one stays whatever it says.
  /// - Returns: whether there is more to take away.
  public func prune(through target: Revision) throws -> Bool {
    guard !isInDoubt else { return false }
    try files.verify()
    do {
      return try pool.writeWithoutTransaction { database in
        let writer = try self.writer ?? makeWriter(database)
        self.writer = writer
        try prepareForPruning(database, writer, through: min(target, writer.revision - 1))
        return try pruneSlice(writer, through: min(target, writer.revision - 1))
      }
    } catch let error as DatabaseError {
      throw Self.failure(error, path: path)
    } catch let error as MalformedMessage {
      throw StoreFailure(
        .corrupt, "the store \(path) is damaged", cause: "a commit can't be decoded: \(error.reason)",
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    }
  }

  /// Before the first slice of all, the store says that it is one that older programs must not open.
  private func prepareForPruning(_ database: Database, _ writer: StoreWriter, through target: Revision) throws {
    guard !writer.isPruned, try target > writer.history.oldest() else { return }
    try inTransaction(writer) {
      for statement in HistoryFloor.creation { try writer.connection.run(statement) }
      try writer.connection.run(LayoutMark(layout: HistoryFloor.layout).statement)
    }
    // An older program looks for the layout in the file itself, not in the log.
    _ = try? database.checkpoint(.full)
    writer.isPruned = true
  }

  private func pruneSlice(_ writer: StoreWriter, through target: Revision) throws -> Bool {
    guard writer.isPruned else { return false }
    let pruner = HistoryPruner(connection: writer.connection, sliceCommits: max(1, options.prunedCommits))
    var floor: HistoryFloor?
    var hasMore = false
    try inTransaction(writer) {
      floor = try pruner.removeCommits(through: target)
      if let floor {
        // The indexes find what they do not know yet in history: they must not look for it below the floor.
        try writer.words.feedAll(upTo: floor.revision, head: writer.revision)
        hasMore = true
      } else {
        hasMore = try pruner.removeParts(through: writer.history.oldest())
      }
    }
    // Of commits that are gone nothing is remembered.
    if floor != nil { writer.history.forgetRecent() }
    return hasMore
  }

  private func inTransaction(_ writer: StoreWriter, _ body: () throws -> Void) throws {
    do {
      try writer.connection.run("BEGIN IMMEDIATE")
      try body()
      try writer.connection.run("COMMIT")
    } catch {
      // Whatever became of it, the next commit opens the store anew and reads what the file has.
      if sqlite3_get_autocommit(writer.connection.database.sqliteConnection) == 0 {
        try? writer.connection.run("ROLLBACK")
      }
      self.writer = nil
      isInDoubt = true
      throw error
    }
  }

  /// Writes the file anew without the room that pruning left. Nothing else may run: it takes as long as a copy, and as
  /// much room beside the file until it is done.
  func giveBackSpace() throws {
    try files.verify()
    do {
      try pool.writeWithoutTransaction { database in
        // The copy on its way is as large as the store: not in memory.
        try database.execute(sql: "PRAGMA temp_store = FILE")
        defer { try? database.execute(sql: "PRAGMA temp_store = MEMORY") }
        writer = nil
        try database.execute(sql: "VACUUM")
        _ = try? database.checkpoint(.truncate)
      }
      try files.verify()
    } catch let error as DatabaseError {
      throw Self.failure(error, path: path)
    }
  }
}
