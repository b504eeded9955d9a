// Tests: LoggedStoreTests.swift, UnappliedLogTests.swift
import GRDB

/// The mark of a store whose newest commits may be in its commit log only. Without the log it must not be opened.
///
/// It is set, and copied into the database file, before the first commit of a run with a log, and cleared when the
/// store is closed. So a start reads the commit log also if SQLite's log was removed. While another program reads the
/// store, the mark may be in SQLite's log only.
package enum LogMark {
  package static let creation = """
    CREATE TABLE IF NOT EXISTS _log (number INTEGER PRIMARY KEY, isNeeded INTEGER NOT NULL)
    """

  package static func isSet(_ database: Database) throws -> Bool {
    // Stores of older layouts have no such table.
    try database.tableExists("_log") && Bool.fetchOne(database, sql: "SELECT isNeeded FROM _log") == true
  }

  /// Writes the mark of an opened store, whose layout has the table.
  static func write(_ isNeeded: Bool, _ database: Database) throws {
    try database.execute(sql: "INSERT OR REPLACE INTO _log (number, isNeeded) VALUES (1, ?)", arguments: [isNeeded])
  }

  /// Whether the mark is set in a store that no program is changing; false if there is no store.
  package static func isSet(inStoreAt path: String) throws -> Bool {
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else { return false }
    return try IdleStore.read(path) { try isSet($0) }
  }

  /// Whether a store that no program is changing says that it is complete without its log. False if there is no mark.
  static func isCleared(inStoreAt path: String) throws -> Bool {
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else { return false }
    return try IdleStore.read(path) { database in
      try database.tableExists("_log") && Bool.fetchOne(database, sql: "SELECT isNeeded FROM _log") == false
    }
  }

  /// Refuses a store whose write-ahead log has lost commits from its middle, as after a power failure. With the mark,
  /// the commit log has them.
  package static func refuseLoss(ofStoreAt path: String) throws {
    if try WriteAheadLogFile.loss(beside: path) != nil, try !isSet(inStoreAt: path) {
      try WriteAheadLogFile.refuseLoss(beside: path)
    }
  }

  /// Clears the mark of a copy that is complete without the log.
  package static func clear(_ database: Database) throws { if try isSet(database) { try write(false, database) } }
}
