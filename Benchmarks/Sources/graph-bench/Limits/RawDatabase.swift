import CSQLite
import Foundation

/// SQLite through its C functions, without overhead: statements are prepared once, and values stay bound.
final class RawDatabase {
  let handle: OpaquePointer

  /// The pragmas of the connections of a store without a commit log: GraphStore/StoreOpener.swift sets these after
  /// opening, and GRDB's pool sets WAL and foreign keys. The page size is stored in the file, which the daemon created.
  private static let pragmas = [
    "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=4000", "cache_size=-8192", "foreign_keys=ON",
    "temp_store=MEMORY",
  ]

  init(_ path: String) throws {
    var handle: OpaquePointer?
    // Opened as by the daemon's library: each connection is used by one thread at a time, without locks inside
    // SQLite.
    let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else { throw BenchmarkError(description: "\(path) can't be opened") }
    self.handle = handle
    for pragma in Self.pragmas { try execute("PRAGMA \(pragma)") }
    // Otherwise the comparison would be invalid: the limit would not wait for the disk.
    guard try integer("PRAGMA synchronous") == 2 else {
      throw BenchmarkError(description: "the limit would not wait for the disk")
    }
  }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  func integer(_ sql: String) throws -> Int64 {
    let statement = try Statement(self, sql)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// Returns the bytes of all values in a query's rows: 8 for a number, 0 for null.
  func valueBytes(_ sql: String) throws -> Int {
    let statement = try Statement(self, sql)
    var bytes = 0
    while try statement.step() { bytes += statement.valueBytes }
    return bytes
  }

  var failure: BenchmarkError { BenchmarkError(description: String(cString: sqlite3_errmsg(handle))) }

  deinit { sqlite3_close_v2(handle) }
}

final class Statement {
  let pointer: OpaquePointer
  private let database: RawDatabase

  init(_ database: RawDatabase, _ sql: String) throws {
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v3(database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw database.failure }
    self.pointer = pointer
    self.database = database
  }

  /// Returns whether there is a row.
  func step() throws -> Bool {
    switch sqlite3_step(pointer) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.failure
    }
  }

  func run() throws {
    _ = try step()
    sqlite3_reset(pointer)
  }

  // MARK: - Binding values

  /// SQLITE_TRANSIENT, a cast of -1 that Swift can't import: SQLite copies what is bound.
  private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  func bind(_ position: Int32, _ value: Int64) { sqlite3_bind_int64(pointer, position, value) }

  func bind(_ position: Int32, text: String) { sqlite3_bind_text(pointer, position, text, -1, transient) }

  func bind(_ position: Int32, blob: [UInt8]) {
    sqlite3_bind_blob(pointer, position, blob, Int32(blob.count), transient)
  }

  /// Binds bytes without copying them; they must stay valid until the statement has run.
  func bind(_ position: Int32, staying bytes: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(pointer, position, bytes.baseAddress, Int32(bytes.count), nil)
  }

  /// Binds the value in another statement's column.
  func bind(_ position: Int32, column: Int32, of other: Statement) {
    sqlite3_bind_value(pointer, position, sqlite3_column_value(other.pointer, column))
  }

  // MARK: - Reading values

  var columnNames: [String] {
    (0..<sqlite3_column_count(pointer)).map { String(cString: sqlite3_column_name(pointer, $0)) }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

  func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(pointer, column) else { return "" }
    let count = Int(sqlite3_column_bytes(pointer, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(pointer, column), count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// The bytes of the row's values.
  var valueBytes: Int {
    (0..<sqlite3_column_count(pointer)).reduce(0) { sum, column in
      switch sqlite3_column_type(pointer, column) {
      case SQLITE_NULL: sum
      case SQLITE_INTEGER, SQLITE_FLOAT: sum + 8
      default: sum + Int(sqlite3_column_bytes(pointer, column))
      }
    }
  }

  deinit { sqlite3_finalize(pointer) }
}
