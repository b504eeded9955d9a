// Tests: ClockCheckTests.swift
import GRDBSQLite
import GraphModel

/// The commits at which the clock had gone back, so that their times are below those of earlier commits.
///
/// Between two of them times rise with revisions, so a binary search for a time works within such a run. `_setback`
/// has a row for each, with its time and the preceding one. The table is created with the first row, so a store whose
/// clock never went back has none.
enum ClockSetbacks {
  static let creation = """
    CREATE TABLE IF NOT EXISTS _setback (revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, \
    previous INTEGER NOT NULL)
    """

  /// Whether the table exists.
  static func tableExists(_ connection: Connection) throws -> Bool {
    let table = try connection.statement("SELECT 1 FROM sqlite_schema WHERE name = '_setback'")
    defer { sqlite3_reset(table.statement) }
    return try connection.step(table)
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
    guard try tableExists(connection) else { return }
    let delete = try connection.statement("DELETE FROM _setback WHERE revision <= ?")
    delete.bind(1, floor)
    try connection.run(delete)
  }

  /// The latest time from before a setback; nil if there was none.
  static func latest(_ connection: Connection) throws -> Timestamp? {
    guard try tableExists(connection) else { return nil }
    let row = try connection.statement("SELECT max(previous) FROM _setback")
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) && !row.isNull(0) ? row.integer(0) : nil
  }
}

/// Searches for times among the commits from `first` to `last`, all of which must exist.
extension HistoryReader {
  /// The newest commit at or before a time; nil for none.
  func newestCommit(upTo time: Timestamp, from first: Revision, through last: Revision) throws -> Revision? {
    guard first <= last else { return nil }
    // The newest run that begins early enough; later runs are completely after the time.
    let begin = try setback("time <= ?3 ORDER BY revision DESC", time, from: first, through: last) ?? first
    guard try self.time(of: begin) <= time else { return nil }
    var (low, high) = (
      begin, try setback("?3 = ?3 ORDER BY revision", 0, from: begin, through: last).map { $0 - 1 } ?? last
    )
    while low < high {
      let middle = low + (high - low + 1) / 2
      if try self.time(of: middle) <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The oldest commit at or after a time; nil for none.
  func oldestCommit(from time: Timestamp, from first: Revision, through last: Revision) throws -> Revision? {
    guard first <= last else { return nil }
    // The oldest run that ends late enough: it ends before a commit whose predecessor is late enough.
    let end = try setback("previous >= ?3 ORDER BY revision", time, from: first, through: last).map { $0 - 1 } ?? last
    guard try self.time(of: end) >= time else { return nil }
    var (low, high) = (try setback("?3 = ?3 ORDER BY revision DESC", 0, from: first, through: end) ?? first, end)
    while low < high {
      let middle = low + (high - low) / 2
      if try self.time(of: middle) < time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A setback after `first` that matches a condition on `?3`.
  private func setback(
    _ condition: String, _ value: Int64, from first: Revision, through last: Revision
  ) throws -> Revision? {
    guard try ClockSetbacks.tableExists(connection) else { return nil }
    let row = try connection.statement(
      "SELECT revision FROM _setback WHERE revision > ?1 AND revision <= ?2 AND \(condition) LIMIT 1")
    row.bind(1, first)
    row.bind(2, last)
    row.bind(3, value)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.integer(0) : nil
  }

  private func time(of revision: Revision) throws -> Timestamp {
    let row = try connection.statement("SELECT time FROM _commit WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { throw missingCommit(revision) }
    return row.integer(0)
  }

  /// The failure for a commit between others that a damaged history lacks.
  func missingCommit(_ revision: Revision) -> StoreFailure {
    StoreFailure(.corrupt, "history lacks the commit of revision \(revision)", advice: "Run stickiesd check.")
  }
}
