// Tests: ClockCheckTests.swift
import GraphModel

/// The commits at which the clock had gone back, so that their times are below those of earlier commits.
///
/// Between two of them times rise with revisions, so a binary search for a time works within such a run. `_setback`
/// has a row for each, with its time and the preceding one. The table is created with the first row, so a store whose
/// clock never went back has none.
package enum ClockSetbacks {
  package static let creation = """
    CREATE TABLE IF NOT EXISTS _setback (revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, \
    previous INTEGER NOT NULL)
    """

  /// Whether the table exists.
  package static func tableExists(_ connection: Connection) throws -> Bool {
    try connection.hasTable("_setback")
  }

  static func record(_ revision: Revision, time: Timestamp, previous: Timestamp, _ connection: Connection) throws {
    try connection.run(creation)
    let row = try connection.statement("INSERT INTO _setback (revision, time, previous) VALUES (?, ?, ?)")
    row.bind(1, revision)
    row.bind(2, time)
    row.bind(3, previous)
    try connection.run(row)
  }

  /// Removes the rows of pruned commits; called within the pruning transaction.
  static func prune(through floor: Revision, _ connection: Connection) throws {
    // Without a setback there is no table.
    guard try tableExists(connection) else { return }
    let delete = try connection.statement("DELETE FROM _setback WHERE revision <= ?")
    delete.bind(1, floor)
    try connection.run(delete)
  }

  /// The latest time from before a setback; nil if there was none.
  static func latest(_ connection: Connection) throws -> Timestamp? {
    try tableExists(connection) ? connection.integer("SELECT max(previous) FROM _setback") : nil
  }
}
