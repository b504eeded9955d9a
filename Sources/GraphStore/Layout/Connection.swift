// Tests: CommitTests.swift, FetchTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// One SQLite connection with its prepared statements, used by one thread at a time.
///
/// A thin layer over the C functions, for the paths on which each microsecond counts; GRDB owns the connection
/// itself.
final class Connection {
  let database: Database
  private var statements = [String: Statement]()
  private let fetches: FetchStatements?
  /// Statements of fetches that are prepared but have not run yet, if `fetches` does not keep them.
  private var ready = [String: Statement]()
  /// The statements by their SQL object. The object is kept alive, so that no other object can get its address.
  private var prepared = [ObjectIdentifier: (sql: SQL, statement: Statement, pointer: OpaquePointer)]()
  /// The most recently used statements, each at an index derived from the address of its SQL object. Most lookups
  /// succeed here, without hashing or retaining anything.
  private var recent = [CachedStatement](repeating: CachedStatement(), count: Connection.recentStatements)

  /// The size of `recent`, a power of two.
  private static let recentStatements = 32

  private struct CachedStatement {
    var sql: ObjectIdentifier?
    var pointer: OpaquePointer?
  }

  /// The handle of the connection, which is open as long as statements run on it.
  private var pointer: OpaquePointer {
    guard let pointer = database.sqliteConnection else { preconditionFailure("a connection is used while it is open") }
    return pointer
  }

  /// - Parameter fetches: the statements of fetches that this reader's connection keeps.
  init(_ database: Database, fetches: FetchStatements? = nil) {
    self.database = database
    self.fetches = fetches
  }

  /// Returns the prepared statement for `sql`, reset. Earlier bindings remain, so bind every parameter.
  func statement(_ sql: SQL) throws -> Row {
    let key = ObjectIdentifier(sql)
    // Objects are aligned to sixteen bytes.
    let place = (Int(bitPattern: key) >> 4) & (Self.recentStatements - 1)
    if recent[place].sql == key, let pointer = recent[place].pointer {
      sqlite3_reset(pointer)
      return Row(statement: pointer)
    }
    if let known = prepared[key] {
      recent[place] = CachedStatement(sql: key, pointer: known.pointer)
      sqlite3_reset(known.pointer)
      return Row(statement: known.pointer)
    }
    let statement = try prepare(sql.text)
    prepared[key] = (sql, statement, statement.sqliteStatement)
    return Row(statement: statement.sqliteStatement)
  }

  /// Returns the prepared statement for `sql`, reset and without bindings.
  func statement(_ sql: String) throws -> Row {
    if let statement = statements[sql] {
      sqlite3_reset(statement.sqliteStatement)
      sqlite3_clear_bindings(statement.sqliteStatement)
      return Row(statement: statement.sqliteStatement)
    }
    let statement = try prepare(sql)
    statements[sql] = statement
    return Row(statement: statement.sqliteStatement)
  }

  /// Prepares a statement. GRDB's cache outlives this object, so a cached statement may be in the state that its last
  /// user left, and SQLite accepts no binding before a reset.
  private func prepare(_ sql: String) throws -> Statement {
    do {
      let statement = try database.cachedStatement(sql: sql)
      sqlite3_reset(statement.sqliteStatement)
      sqlite3_clear_bindings(statement.sqliteStatement)
      return statement
    } catch let error as DatabaseError {
      throw failure(error)
    }
  }

  private func failure(_ error: DatabaseError) -> any Error {
    SQLiteStore.failure(
      code: error.extendedResultCode.rawValue, message: error.text, systemError: sqlite3_system_errno(pointer))
  }

  /// Runs a fetch's statement until `body` returns false. Returns the number of full-scan steps.
  func fetch(_ sql: String, _ arguments: [Value], _ body: (Row) throws -> Bool) throws -> Int {
    let statement = try ready.removeValue(forKey: sql) ?? makeFetch(sql)
    let row = Row(statement: statement.sqliteStatement)
    defer { fetches?.checkIn(statement, sql) }
    for (index, value) in arguments.enumerated() { row.bind(Int32(index + 1), value) }
    defer { sqlite3_reset(row.statement) }
    while try step(row) { guard try body(row) else { break } }
    return Int(sqlite3_stmt_status(row.statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1))
  }

  /// Prepares the statement that the next `fetch` runs.
  /// - Throws: `Refusal` with `.limit` if the statement exceeds SQLite's limits.
  func prepareFetch(_ sql: String) throws {
    guard ready[sql] == nil else { return }
    let statement = try makeFetch(sql)
    if let fetches, FetchStatements.keeps(sql) { fetches.checkIn(statement, sql) } else { ready[sql] = statement }
  }

  private func makeFetch(_ sql: String) throws -> Statement {
    do {
      if let fetches { return try fetches.checkOut(sql, database) }
      return try database.makeStatement(sql: sql)
    } catch let error as DatabaseError {
      throw failure(error)
    }
  }

  /// Prepares a new statement for a single use.
  /// - Throws: `Refusal` with `.limit` if the statement exceeds SQLite's limits; no error contains the statement's
  ///   text.
  func makeStatement(_ sql: String) throws -> Statement {
    do {
      return try database.makeStatement(sql: sql)
    } catch let error as DatabaseError {
      throw failure(error)
    }
  }

  /// Returns true if there is a row, and false if the statement is done.
  func step(_ row: Row) throws -> Bool {
    switch sqlite3_step(row.statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      // errno must be read before any other call. After a failed COMMIT, SQLite's own copy is missing or is of an
      // earlier failure.
      let systemError = errno
      let message = String(cString: sqlite3_errmsg(pointer))
      sqlite3_reset(row.statement)
      throw SQLiteStore.failure(code: code, message: message, systemError: systemError)
    }
  }

  /// Runs a statement that returns no rows, and resets it.
  func run(_ row: Row) throws {
    _ = try step(row)
    sqlite3_reset(row.statement)
  }

  func run(_ sql: String) throws { try run(statement(sql)) }

  func run(_ sql: SQL) throws { try run(statement(sql)) }

  /// The rowid of the last insert.
  var lastRow: Int64 { sqlite3_last_insert_rowid(pointer) }

  /// The number of rows that the last statement changed.
  var changes: Int { Int(sqlite3_changes(pointer)) }
}
