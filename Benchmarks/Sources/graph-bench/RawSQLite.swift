import CSQLite
import Foundation

/// The limit: the same rows into the same tables with every index, full text and history, through the C functions, with
/// the daemon's pragmas and nothing else: no rules, no protocol, no socket.
final class RawSQLite {
  private var database: OpaquePointer?
  private var note: OpaquePointer?
  private var words: OpaquePointer?
  private var commitRow: OpaquePointer?
  private var number: Int64 = 0
  private var revision: Int64 = 0
  private var board: Int64 = 0

  /// - Parameter path: a copy of a store that the daemon made, with one board in it.
  init(_ path: String) throws {
    sqlite3_open(path, &database)
    for pragma in [
      "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=4000", "cache_size=-8192", "foreign_keys=ON",
      "temp_store=MEMORY",
    ] { sqlite3_exec(database, "PRAGMA \(pragma)", nil, nil, nil) }
    func one(_ sql: String) -> Int64 {
      var statement: OpaquePointer?
      sqlite3_prepare_v2(database, sql, -1, &statement, nil)
      defer { sqlite3_finalize(statement) }
      return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0
    }
    board = one("SELECT _row FROM Board LIMIT 1")
    number = one("SELECT coalesce(max(number), 0) FROM Note")
    revision = one("SELECT max(revision) FROM _commit")
    guard board > 0 else { throw BenchmarkError(description: "the copied store has no board") }
    try prepare(
      """
      INSERT INTO Note (_id, _entity, _revision, _sum, text, color, x, y, width, height, z, collapsed, pinned, locked, \
      number, created, updated, board, tags) \
      VALUES (?, 3, ?, 77, ?, 'yellow', 10, 20, 200, 200, 0, 0, 0, 0, ?, 1700000000000000, 1700000000000000, ?, x'')
      """, &note)
    try prepare("INSERT INTO \"Note.text.words\" (rowid, words) VALUES (?, ?)", &words)
    try prepare(
      """
      INSERT INTO _commit (revision, time, author, replica, sequence, model, fingerprint, outcome, counters, changes) \
      VALUES (?, 1700000000000000, 1, 1, ?, 1, 123456789, ?, x'0a041008', ?)
      """, &commitRow)
  }

  private func prepare(_ sql: String, _ statement: inout OpaquePointer?) throws {
    guard sqlite3_prepare_v3(database, sql, -1, 1, &statement, nil) == SQLITE_OK else {
      throw BenchmarkError(description: String(cString: sqlite3_errmsg(database)))
    }
  }

  private func run(_ statement: OpaquePointer?) throws {
    guard sqlite3_step(statement) == SQLITE_DONE else {
      throw BenchmarkError(description: String(cString: sqlite3_errmsg(database)))
    }
    sqlite3_reset(statement)
  }

  private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT.

  private func insertNote(_ text: String) throws {
    number += 1
    var id = [UInt8](repeating: 0, count: 16)
    withUnsafeBytes(of: UInt64(number).bigEndian) { id.replaceSubrange(0..<8, with: $0) }
    withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { id.replaceSubrange(8..<16, with: $0) }
    sqlite3_bind_blob(note, 1, id, 16, transient)
    sqlite3_bind_int64(note, 2, revision)
    sqlite3_bind_text(note, 3, text, -1, transient)
    sqlite3_bind_int64(note, 4, number)
    sqlite3_bind_int64(note, 5, board)
    try run(note)
    sqlite3_bind_int64(words, 1, sqlite3_last_insert_rowid(database))
    sqlite3_bind_text(words, 2, text.lowercased(), -1, transient)
    try run(words)
  }

  /// One commit of the history with so many notes.
  private func writeCommit(_ notes: [String]) throws {
    revision += 1
    for text in notes { try insertNote(text) }
    let change = [UInt8](repeating: 1, count: 40 * notes.count)
    sqlite3_bind_int64(commitRow, 1, revision)
    sqlite3_bind_int64(commitRow, 2, revision + 1 << 40)
    sqlite3_bind_blob(commitRow, 3, change, Int32(change.count), transient)
    sqlite3_bind_blob(commitRow, 4, change, Int32(change.count), transient)
    try run(commitRow)
  }

  /// One SQLite transaction of several commits, each in a savepoint when there is more than one.
  func transaction(commits: Int, notesEach: Int, text: String) throws {
    sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil)
    for _ in 0..<commits {
      if commits > 1 { sqlite3_exec(database, "SAVEPOINT r", nil, nil, nil) }
      try writeCommit(Array(repeating: text, count: notesEach))
      if commits > 1 { sqlite3_exec(database, "RELEASE r", nil, nil, nil) }
    }
    guard sqlite3_exec(database, "COMMIT", nil, nil, nil) == SQLITE_OK else {
      throw BenchmarkError(description: String(cString: sqlite3_errmsg(database)))
    }
  }

  deinit {
    for statement in [note, words, commitRow] { sqlite3_finalize(statement) }
    sqlite3_close(database)
  }
}
