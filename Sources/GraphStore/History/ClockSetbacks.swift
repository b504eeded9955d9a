import GRDBSQLite
import GraphModel

/// The commits at which the clock had gone back: their times lie below those of the commits before them. Between two of
/// them times rise with revisions, so a time is searched for by halves in one such run. `_setback` has a row for each,
/// with its time and the one before; it is made with the first of them, and a store whose clock never went back has none.
enum ClockSetbacks {
  static let creation = """
    CREATE TABLE IF NOT EXISTS _setback (revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, \
    previous INTEGER NOT NULL)
    """

  /// Whether there has been one.
  static func areKept(_ connection: Connection) throws -> Bool {
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

  /// Commits up to a revision were pruned. Called inside their transaction.
  static func prune(through floor: Revision, _ connection: Connection) throws {
    guard try areKept(connection) else { return }
    let delete = try connection.statement("DELETE FROM _setback WHERE revision <= ?")
    delete.bind(1, floor)
    try connection.run(delete)
  }

  /// The latest time from before the clock went back; nil where it never did.
  static func latest(_ connection: Connection) throws -> Timestamp? {
    guard try areKept(connection) else { return nil }
    let row = try connection.statement("SELECT max(previous) FROM _setback")
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) && !row.isNull(0) ? row.integer(0) : nil
  }
}

/// Searches for times, among the commits from `first` to `last`, which must all be there.
extension HistoryReader {
  /// The newest commit with this time or an earlier one; nil for none.
  func newestCommit(upTo time: Timestamp, from first: Revision, through last: Revision) throws -> Revision? {
    guard first <= last else { return nil }
    // The newest run that begins early enough: later ones lie behind that time as a whole.
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

  /// The oldest commit with this time or a later one; nil for none.
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

  /// A setback behind `first` that a condition on `?3` fits.
  private func setback(
    _ condition: String, _ value: Int64, from first: Revision, through last: Revision
  ) throws -> Revision? {
    guard try ClockSetbacks.areKept(connection) else { return nil }
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
    guard try connection.step(row) else {
      throw StoreFailure(
        .corrupt, "history lacks the commit of revision \(revision)", advice: "Run stickiesd check.")
    }
    return row.integer(0)
  }
}
