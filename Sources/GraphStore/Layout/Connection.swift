// Tests: CommitTests.swift, FetchTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// One SQLite connection with its prepared statements, used by one thread at a time.
///
/// A thin layer over the C functions, for the paths on which each microsecond counts; GRDB owns the connection
/// itself.
package final class Connection {
  package let database: Database
  private let statements: StatementCache

  /// The handle of the connection, which stays open while statements run on it.
  private var pointer: OpaquePointer {
    guard let pointer = database.sqliteConnection else { preconditionFailure("a connection is used while it is open") }
    return pointer
  }

  package convenience init(_ database: Database) { self.init(database, statements: StatementCache()) }

  /// - Parameter statements: the cache of the connection, if it outlives this object.
  init(_ database: Database, statements: StatementCache) {
    self.database = database
    self.statements = statements
  }

  deinit { statements.endRead() }

  /// Returns the prepared statement for `sql`, reset. Earlier bindings remain, so bind every parameter.
  package func statement(_ sql: SQL) throws -> Row {
    try translatingErrors { try statements.statement(sql, database) }
  }

  /// Returns the prepared statement for `sql`, reset and without bindings.
  package func statement(_ sql: String) throws -> Row {
    try translatingErrors { try statements.statement(sql, database) }
  }

  /// Runs `body`, and throws the store's failure for an error of SQLite.
  @inline(__always)
  private func translatingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(
        code: error.extendedResultCode.rawValue, message: error.text, systemError: sqlite3_system_errno(pointer))
    }
  }

  /// Runs a fetch's statement until `body` returns false. Returns the number of full-scan steps.
  func fetch(_ sql: String, _ arguments: [Value], _ body: (Row) throws -> Bool) throws -> Int {
    let statement = try translatingErrors { try statements.takeFetch(sql, database) }
    let row = Row(statement: statement.sqliteStatement)
    defer { statements.returnFetch(statement, sql) }
    for (index, value) in arguments.enumerated() { row.bind(Int32(index + 1), value) }
    defer { sqlite3_reset(row.statement) }
    while try step(row) { guard try body(row) else { break } }
    return Int(sqlite3_stmt_status(row.statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1))
  }

  /// Prepares the statement that the next `fetch` runs.
  /// - Throws: `Refusal` with `.limit` if the statement exceeds SQLite's limits.
  func prepareFetch(_ sql: String) throws {
    try translatingErrors { try statements.prepareFetch(sql, database) }
  }

  /// Prepares a new statement for a single use.
  /// - Throws: `Refusal` with `.limit` if the statement exceeds SQLite's limits; no error contains the statement's
  ///   text.
  package func makeStatement(_ sql: String) throws -> Statement {
    try translatingErrors { try database.makeStatement(sql: sql) }
  }

  /// Returns true if there is a row, and false if the statement is done.
  package func step(_ row: Row) throws -> Bool {
    switch sqlite3_step(row.statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      // errno must be read before any other call. After a failed COMMIT, SQLite's own copy is missing or is of an
      // earlier failure.
      let systemError = errno
      let message = String(cString: sqlite3_errmsg(pointer))
      sqlite3_reset(row.statement)
      throw SQLiteFailure.of(code: code, message: message, systemError: systemError)
    }
  }

  /// Runs a statement that returns no rows, and resets it.
  package func run(_ row: Row) throws {
    _ = try step(row)
    sqlite3_reset(row.statement)
  }

  package func run(_ sql: String) throws { try run(statement(sql)) }

  package func run(_ sql: SQL) throws { try run(statement(sql)) }

  /// Returns the first column of a statement's first row; nil if there is no row, or if the column is null.
  package func integer(_ sql: String, _ arguments: Value...) throws -> Int64? {
    let row = try statement(sql)
    for (index, argument) in arguments.enumerated() { row.bind(Int32(index + 1), argument) }
    defer { sqlite3_reset(row.statement) }
    return try step(row) && !row.isNull(0) ? row.integer(0) : nil
  }

  /// Whether the database has a table of this name.
  package func hasTable(_ name: String) throws -> Bool {
    try integer("SELECT 1 FROM sqlite_schema WHERE name = ?", .string(name)) != nil
  }

  /// The rowid of the last insert.
  var lastRow: Int64 { sqlite3_last_insert_rowid(pointer) }

  /// The number of rows that the last statement changed.
  var changes: Int { Int(sqlite3_changes(pointer)) }
}
