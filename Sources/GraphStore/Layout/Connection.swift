import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// One SQLite connection with its prepared statements, used on one thread at a time. A thin layer over the C functions
/// for the paths on which each microsecond counts; the connection itself belongs to GRDB.
final class Connection {
  let database: Database
  private var statements = [String: Statement]()
  private let fetches: FetchStatements?
  /// Statements of fetches that were prepared and not run yet, where `fetches` does not keep them.
  private var ready = [String: Statement]()
  /// The key's object is kept beside its statement: while it lives, no other has its address.
  private var prepared = [ObjectIdentifier: (sql: SQL, statement: Statement, pointer: OpaquePointer)]()
  /// Those that were asked for lately, each at the place that its SQL's address gives it: mostly one of them is the next as
  /// well, and nothing is hashed or retained to find it.
  private var recent = [Recent](repeating: Recent(), count: Connection.recentStatements)

  /// A power of two.
  private static let recentStatements = 32

  private struct Recent {
    var sql: ObjectIdentifier?
    var pointer: OpaquePointer?
  }

  /// What a statement that came to nothing was about, for the message.
  private var pointer: OpaquePointer? { database.sqliteConnection }

  /// - Parameter fetches: what a reader's connection has prepared before.
  init(_ database: Database, fetches: FetchStatements? = nil) {
    self.database = database
    self.fetches = fetches
  }

  /// The prepared statement for `sql`, reset. What was bound before still is: bind every parameter.
  func statement(_ sql: SQL) throws -> Row {
    let key = ObjectIdentifier(sql)
    // Objects lie at multiples of sixteen bytes.
    let place = (Int(bitPattern: key) >> 4) & (Self.recentStatements - 1)
    if recent[place].sql == key, let pointer = recent[place].pointer {
      sqlite3_reset(pointer)
      return Row(statement: pointer)
    }
    if let known = prepared[key] {
      recent[place] = Recent(sql: key, pointer: known.pointer)
      sqlite3_reset(known.pointer)
      return Row(statement: known.pointer)
    }
    let statement = try prepare(sql.text)
    prepared[key] = (sql, statement, statement.sqliteStatement)
    return Row(statement: statement.sqliteStatement)
  }

  /// The prepared statement for `sql`, reset and with nothing bound.
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

  /// GRDB keeps prepared statements longer than this object lives: one may come in the state in which its last user left
  /// it, and SQLite takes no binding before a reset.
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
      code: error.extendedResultCode.rawValue, message: error.message ?? "",
      systemError: pointer.map { sqlite3_system_errno($0) } ?? 0)
  }

  /// Runs a fetch's statement, row by row until `body` is done; returns how many steps went through whole tables.
  func fetch(_ sql: String, _ arguments: [Value], _ body: (Row) throws -> Bool) throws -> Int {
    let statement = try ready.removeValue(forKey: sql) ?? makeFetch(sql)
    let row = Row(statement: statement.sqliteStatement)
    defer { fetches?.giveBack(statement, sql) }
    for (index, value) in arguments.enumerated() { row.bind(Int32(index + 1), value) }
    defer { sqlite3_reset(row.statement) }
    while try step(row) { guard try body(row) else { break } }
    return Int(sqlite3_stmt_status(row.statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1))
  }

  /// Prepares what `fetch` runs next.
  /// - Throws: `Refusal` with `.limit` when SQLite can't hold it.
  func prepareFetch(_ sql: String) throws {
    guard ready[sql] == nil else { return }
    let statement = try makeFetch(sql)
    if let fetches, FetchStatements.keeps(sql) { fetches.giveBack(statement, sql) } else { ready[sql] = statement }
  }

  private func makeFetch(_ sql: String) throws -> Statement {
    do {
      if let fetches { return try fetches.take(sql, database) }
      return try database.makeStatement(sql: sql)
    } catch let error as DatabaseError {
      throw failure(error)
    }
  }

  /// A statement of its own, for one use.
  /// - Throws: `Refusal` with `.limit` when SQLite can't hold it; no error has the statement's text.
  func makeStatement(_ sql: String) throws -> Statement {
    do {
      return try database.makeStatement(sql: sql)
    } catch let error as DatabaseError {
      throw failure(error)
    }
  }

  /// True when there is a row; false when the statement is done.
  func step(_ row: Row) throws -> Bool {
    switch sqlite3_step(row.statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      // Read before any other call. SQLite's own copy is missing for a COMMIT, or is that of an earlier failure.
      let systemError = errno
      let message = pointer.map { String(cString: sqlite3_errmsg($0)) } ?? ""
      sqlite3_reset(row.statement)
      throw SQLiteStore.failure(code: code, message: message, systemError: systemError)
    }
  }

  /// Steps a statement that returns nothing, and resets it.
  func run(_ row: Row) throws {
    _ = try step(row)
    sqlite3_reset(row.statement)
  }

  func run(_ sql: String) throws { try run(statement(sql)) }

  func run(_ sql: SQL) throws { try run(statement(sql)) }

  /// The row that the last insert made.
  var lastRow: Int64 { pointer.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  /// How many rows the last statement changed.
  var changes: Int { pointer.map { Int(sqlite3_changes($0)) } ?? 0 }
}
