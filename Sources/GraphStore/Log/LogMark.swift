// Tests: LoggedStoreTests.swift
import GRDB

/// The mark of a store whose newest commits may be in its commit log only. Without the log it must not be opened.
///
/// It is set, and synced, before the first commit of a run with a log, and cleared when the store is closed. The table
/// is created with the first mark.
package enum LogMark {
  package static let creation = """
    CREATE TABLE IF NOT EXISTS _log (number INTEGER PRIMARY KEY, isNeeded INTEGER NOT NULL)
    """

  /// Whether the table exists.
  package static func tableExists(_ database: Database) throws -> Bool { try database.tableExists("_log") }

  package static func isSet(_ database: Database) throws -> Bool {
    try tableExists(database) && Bool.fetchOne(database, sql: "SELECT isNeeded FROM _log") == true
  }

  static func write(_ isNeeded: Bool, _ database: Database) throws {
    try database.execute(sql: creation)
    try database.execute(sql: "INSERT OR REPLACE INTO _log (number, isNeeded) VALUES (1, ?)", arguments: [isNeeded])
  }

  /// Refuses a store whose write-ahead log has lost commits from its middle, as after a power failure. With the mark, the
  /// commit log has them.
  static func refuseLoss(ofStoreAt path: String) throws {
    guard try WriteAheadLogFile.loss(beside: path) != nil else { return }
    var configuration = Configuration()
    configuration.readonly = true
    let isMarked = try DatabaseQueue(path: path, configuration: configuration).read { try isSet($0) }
    if !isMarked { try WriteAheadLogFile.refuseLoss(beside: path) }
  }

  /// Clears the mark of a copy that is complete without the log.
  package static func clear(_ database: Database) throws { if try isSet(database) { try write(false, database) } }
}
