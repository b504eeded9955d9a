import GRDBSQLite
import GraphModel

/// A connection to a private copy of a store, for one thread.
final class StoreDatabase {
  private let handle: OpaquePointer
  /// The store's path as the user gave it, for messages.
  private let name: String

  /// The largest value that SQLite returns, in bytes; a row with a larger one is reported.
  static let maximumValueSize: Int32 = 64 << 20

  /// Opens a copy for reading, and moves the content of its write-ahead log into it.
  /// - Throws: `Refusal` if it is damaged or not readable.
  init(copy: String, name: String) throws {
    self.name = name
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(copy, &opened, flags, nil)
    guard let handle = opened else { throw Refusal(.unavailable, "\(name) can't be read: no memory") }
    self.handle = handle
    guard code == SQLITE_OK else { throw failure(code) }
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.maximumValueSize)
    // A view or a trigger of the file must not call functions.
    try run("PRAGMA trusted_schema = OFF")
    try run("PRAGMA temp_store = MEMORY")
    // Afterwards the copy is one file, which can be read without its name.
    guard try text("PRAGMA journal_mode = DELETE") == "delete" else {
      throw Refusal(.invalid, "\(name) is damaged: its write-ahead log can't be read")
    }
    try run("PRAGMA query_only = ON")
    try check()
  }

  deinit { sqlite3_close_v2(handle) }

  /// Refuses a damaged file, or one that was copied while another program wrote it.
  private func check() throws {
    do {
      let result = try text("PRAGMA quick_check(1)")
      guard result == "ok" else { throw Refusal(.invalid, "\(name) is damaged: \(result.excerpt)") }
    } catch is UnknownSQL {
      // An index over a function that only Core Data has: the tables can be read.
    }
  }

  /// SQL that this SQLite can't run: a function, a module or a table is missing.
  struct UnknownSQL: Error {
    let message: String
  }

  /// A value of a row exceeds the limit.
  struct ValueTooLarge: Error {}

  func failure(_ code: Int32) -> any Error {
    let message = String(cString: sqlite3_errmsg(handle))
    switch code & 0xFF {
    case SQLITE_CORRUPT: return Refusal(.invalid, "\(name) is damaged: \(message)")
    case SQLITE_NOTADB: return Refusal(.invalid, "\(name) is not a SQLite database, or it is encrypted: \(message)")
    case SQLITE_TOOBIG: return ValueTooLarge()
    case SQLITE_ERROR: return UnknownSQL(message: message)
    default: return Refusal(.unavailable, "\(name) can't be read: \(message)")
    }
  }

  func statement(_ sql: String) throws -> StoreStatement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
    guard code == SQLITE_OK else { throw failure(code) }
    return StoreStatement(try invariant(prepared, "a prepared statement is not empty"), self)
  }

  private func run(_ sql: String) throws {
    let statement = try statement(sql)
    while try statement.step() {}
  }

  /// The first value of the first row.
  private func text(_ sql: String) throws -> String {
    let statement = try statement(sql)
    guard try statement.step(), case .text(let bytes) = statement.value(0) else { return "no answer" }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An identifier in SQL.
  static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

/// A prepared statement and its current row.
final class StoreStatement {
  private let statement: OpaquePointer
  private let database: StoreDatabase

  fileprivate init(_ statement: OpaquePointer, _ database: StoreDatabase) {
    (self.statement, self.database) = (statement, database)
  }

  deinit { sqlite3_finalize(statement) }

  /// Moves to the next row.
  /// - Returns: false after the last row.
  func step() throws -> Bool {
    let code = sqlite3_step(statement)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.failure(code)
    }
  }

  func reset() { sqlite3_reset(statement) }

  func bind(_ index: Int32, _ value: Int64) {
    let code = sqlite3_bind_int64(statement, index, value)
    precondition(code == SQLITE_OK, "a statement is reset before it is bound again")
  }

  func integer(_ column: Int) -> Int64? { value(column).integer }

  func text(_ column: Int) -> String? {
    guard case .text(let bytes) = value(column) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  func value(_ column: Int) -> StoreValue {
    let column = Int32(column)
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      // The pointer has to be requested before the count.
      let bytes = sqlite3_column_text(statement, column)
      return .text(Self.bytes(UnsafeRawPointer(bytes), sqlite3_column_bytes(statement, column)))
    case SQLITE_BLOB:
      let bytes = sqlite3_column_blob(statement, column)
      return .blob(Self.bytes(bytes, sqlite3_column_bytes(statement, column)))
    default: return .null
    }
  }

  private static func bytes(_ start: UnsafeRawPointer?, _ count: Int32) -> [UInt8] {
    // An empty value has no address.
    guard let start, count > 0 else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
  }
}
