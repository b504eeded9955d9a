// Tests: ShortLogTests.swift
import GRDB
import GRDBSQLite

/// Keeps SQLite's log of a file short, although programs that end at once write to it.
///
/// The first program that opens a file reads its whole log. SQLite moves a long log to the database, but only a further
/// commit of the same program begins the log again. A command that makes one commit never does, so the log would grow
/// with each command.
package enum ShortLog {
  /// The pages from which the log is moved to the database and emptied.
  package static let pages: Int32 = 256

  /// Empties the log after each commit that makes it too long, unless another program uses it at that moment.
  /// - Parameter busySeconds: how long the connection waits for others otherwise.
  package static func keep(_ database: Database, busySeconds: Double) {
    // The hook has no other way to know it than a pointer that is never followed.
    let milliseconds = UnsafeMutableRawPointer(bitPattern: max(1, Int(busySeconds * 1_000)))
    sqlite3_wal_hook(
      database.sqliteConnection,
      { milliseconds, connection, name, count in
        if count < ShortLog.pages { return SQLITE_OK }
        sqlite3_busy_timeout(connection, 0)
        // A later commit tries again.
        sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        sqlite3_busy_timeout(connection, Int32(truncatingIfNeeded: Int(bitPattern: milliseconds)))
        return SQLITE_OK
      }, milliseconds)
  }
}
