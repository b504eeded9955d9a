import GRDB
import GRDBSQLite
import GraphModel

/// One SQLite connection with its prepared statements, used on one thread at a time. A thin layer over the C functions
/// for the paths on which each microsecond counts; the connection itself belongs to GRDB.
final class Connection {
  let database: Database
  private var statements = [String: Statement]()
  /// What a statement that came to nothing was about, for the message.
  private var pointer: OpaquePointer? { database.sqliteConnection }

  init(_ database: Database) { self.database = database }

  /// The prepared statement for `sql`, reset and with nothing bound.
  func statement(_ sql: String) throws -> Row {
    if let statement = statements[sql] {
      sqlite3_reset(statement.sqliteStatement)
      sqlite3_clear_bindings(statement.sqliteStatement)
      return Row(statement: statement.sqliteStatement)
    }
    do {
      let statement = try database.cachedStatement(sql: sql)
      statements[sql] = statement
      return Row(statement: statement.sqliteStatement)
    } catch let error as DatabaseError {
      throw failure(error.resultCode.rawValue, error.message ?? "")
    }
  }

  /// True when there is a row; false when the statement is done.
  func step(_ row: Row) throws -> Bool {
    switch sqlite3_step(row.statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let message = pointer.map { String(cString: sqlite3_errmsg($0)) } ?? ""
      sqlite3_reset(row.statement)
      throw failure(code, message)
    }
  }

  /// Steps a statement that returns nothing, and resets it.
  func run(_ row: Row) throws {
    _ = try step(row)
    sqlite3_reset(row.statement)
  }

  func run(_ sql: String) throws { try run(statement(sql)) }

  /// The rows that the last statement changed.
  var lastRow: Int64 { pointer.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  private func failure(_ code: Int32, _ message: String) -> any Error {
    SQLiteStore.failure(code: code, message: message)
  }
}
