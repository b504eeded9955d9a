// Tests: RedoTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// Redo: a store that holds an earlier state of another one repeats its commits.
extension SQLiteStore {
  /// The number of entries in one SQLite transaction.
  private static let appliedEntries = 512

  /// Applies entries, which are durable when the call returns. Only the caller of `commit` may call it, between commits.
  ///
  /// Entries that the store already has change nothing. Parts of a batch at the end, without their commit, are not
  /// applied.
  /// - Parameter read: passes the entries to its argument, in order.
  /// - Throws: `StoreFailure` for an entry that does not follow the store's state, and any error of `read`. Some of the
  ///   entries before it are applied then.
  public func apply(_ read: (_ body: (LogEntry) throws -> Void) throws -> Void) throws {
    try turn.withLock { _ in try applyInTurn(read) }
  }

  func applyInTurn(_ read: (_ body: (LogEntry) throws -> Void) throws -> Void) throws {
    try files.verify()
    do {
      if isOutcomeUnknown { try reopen() }
      try pool.writeWithoutTransaction { database in
        let writer = try self.writer ?? makeWriter(database)
        self.writer = writer
        try commitGathered(writer)
        try apply(read, writer)
      }
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }

  private func apply(_ read: (_ body: (LogEntry) throws -> Void) throws -> Void, _ writer: StoreWriter) throws {
    let redo = RedoWriter(writer)
    var count = 0
    func commit() throws {
      if count == 0 { return }
      try writer.fullText.updateIfDue(head: writer.revision)
      try writer.connection.run("COMMIT")
      count = 0
    }
    do {
      try read { entry in
        // An unfinished batch is rolled back without the commits before it.
        if !entry.isLast, !redo.isInBatch { try commit() }
        if count == 0 { try writer.connection.run("BEGIN IMMEDIATE") }
        count += 1
        try redo.apply(entry)
        if entry.isLast, count >= Self.appliedEntries { try commit() }
      }
      if redo.isInBatch {
        try writer.connection.run("ROLLBACK")
        try writer.reload()
      } else {
        try commit()
      }
    } catch {
      if sqlite3_get_autocommit(writer.connection.database.sqliteConnection) == 0 {
        try? writer.connection.run("ROLLBACK")
      }
      // The next call reopens the store and reads the file's actual state.
      self.writer = nil
      isOutcomeUnknown = true
      throw error
    }
  }
}
