// Tests: MirrorOverlayTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// The states that the plans of an overlay are of, and its counters: one row in the overlay's file.
struct OverlayStamp: Equatable {
  /// The queue.
  var source = ""
  /// The load of the mirror, a random number.
  var load: Int64 = 0
  /// The revision of the mirror; -1 for none.
  var head: Revision = -1
  /// The newest change of the queue that was planned.
  var change: Int64 = 0
  /// The highest revision that a plan has.
  var revision = ProvisionalRevision.base
  /// The lowest row number of a new object, which are negative.
  var lowestRow: Int64 = 0

  init() {}

  /// The stamp of the overlay's file.
  static func read(_ connection: Connection) throws -> OverlayStamp {
    let row = try connection.statement(
      "SELECT source, load, head, change, revision, lowest FROM overlay._stamp WHERE id = 1")
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return OverlayStamp() }
    var stamp = OverlayStamp()
    (stamp.source, stamp.load, stamp.head) = (row.text(0), row.integer(1), row.integer(2))
    (stamp.change, stamp.revision, stamp.lowestRow) = (row.integer(3), row.integer(4), row.integer(5))
    return stamp
  }

  func write(_ connection: Connection) throws {
    let row = try connection.statement(
      """
      UPDATE overlay._stamp SET source = ?, load = ?, head = ?, change = ?, revision = ?, lowest = ? WHERE id = 1
      """)
    row.bind(1, source)
    for (index, number) in [load, head, change, revision, lowestRow].enumerated() { row.bind(Int32(index + 2), number) }
    try connection.run(row)
  }

  // MARK: - The file

  /// The version of the tables. A file of another one is replaced.
  private static let version = 1

  /// `_object` has the objects that plans change, and `_depends` what each plan has read or changed: the index from an
  /// object to the edits that its change concerns.
  private static let creation = """
    CREATE TABLE overlay._stamp (id INTEGER PRIMARY KEY, writes INTEGER NOT NULL, source TEXT NOT NULL,
      load INTEGER NOT NULL, head INTEGER NOT NULL, change INTEGER NOT NULL, revision INTEGER NOT NULL,
      lowest INTEGER NOT NULL);
    INSERT INTO overlay._stamp VALUES (1, 0, '', 0, -1, 0, \(ProvisionalRevision.base), 0);
    CREATE TABLE overlay._object (id BLOB PRIMARY KEY, entity INTEGER NOT NULL, row INTEGER NOT NULL,
      mirrored INTEGER, present INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE overlay._plan (number INTEGER PRIMARY KEY, revision INTEGER NOT NULL, refused INTEGER NOT NULL);
    CREATE TABLE overlay._depends (key BLOB NOT NULL, number INTEGER NOT NULL, writes INTEGER NOT NULL,
      PRIMARY KEY (key, number)) WITHOUT ROWID;
    CREATE INDEX overlay."_depends.number" ON _depends (number);
    CREATE TABLE overlay._text (id BLOB NOT NULL, property INTEGER NOT NULL, number INTEGER NOT NULL,
      PRIMARY KEY (id, property, number)) WITHOUT ROWID;
    CREATE INDEX overlay."_text.number" ON _text (number);
    CREATE TABLE overlay._merged (provisional BLOB PRIMARY KEY, permanent BLOB NOT NULL, entity INTEGER NOT NULL,
      number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX overlay."_merged.number" ON _merged (number);
    CREATE TABLE overlay._shadowed (name TEXT PRIMARY KEY) WITHOUT ROWID;
    PRAGMA overlay.user_version = \(version);
    """

  /// Attaches the overlay's file, or one in memory, to a connection to the mirror.
  ///
  /// The file is disposable, and plans of a system that was not shut down are not used (`UnsentEditSource.identity`),
  /// so nothing is synced.
  static func attach(_ path: String?, to database: Database) throws {
    let file = if let path { path } else { ":memory:" }
    try database.execute(sql: "ATTACH DATABASE ? AS overlay", arguments: [file])
    try database.execute(sql: "PRAGMA overlay.journal_mode = WAL")
    try database.execute(sql: "PRAGMA overlay.synchronous = OFF")
    try database.execute(sql: "PRAGMA overlay.secure_delete = ON")
    let known = try Int.fetchOne(database, sql: "PRAGMA overlay.user_version")
    if known == version { return }
    guard known == 0 else {
      throw StoreFailure(.newerVersion, "the plans in \(file) are of another version", advice: "They are made again.")
    }
    // Another process may create the tables now.
    try database.inTransaction(.immediate) {
      if try Int.fetchOne(database, sql: "PRAGMA overlay.user_version") == 0 { try database.execute(sql: creation) }
      return .commit
    }
  }
}
