// Tests: OpeningTests.swift, CommitTests.swift
import GRDBSQLite
import GraphModel

/// A statement that is being bound or stepped, through the C functions.
///
/// On these paths a library's conveniences cost more than SQLite itself. The owner of the pointer keeps the statement
/// alive and on one thread.
package struct Row {
  package let statement: OpaquePointer

  package init(statement: OpaquePointer) { self.statement = statement }

  // MARK: Binding, indexes from 1

  package func bind(_ index: Int32, _ value: Int64) { check(sqlite3_bind_int64(statement, index, value)) }

  package func bindNull(_ index: Int32) { check(sqlite3_bind_null(statement, index)) }

  package func bind(_ index: Int32, _ value: Double) { check(sqlite3_bind_double(statement, index, value)) }

  /// Checks that a binding was accepted, which requires a statement that was reset. An index that the statement does
  /// not use has no effect: the statements of one fetch share their arguments.
  /// A parameter that was not bound would keep the value of an earlier row, so this is checked in release builds, too.
  private func check(_ code: Int32) {
    precondition(code == SQLITE_OK || code == SQLITE_RANGE, "SQLite refused a binding (\(code))")
  }

  /// Binds the text with its length, because it may contain NUL.
  package func bind(_ index: Int32, _ value: String) {
    var value = value
    value.withUTF8 { bytes in
      guard let start = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self) else {
        // SQLite treats a null pointer as NULL, not as "".
        return check(sqlite3_bind_text(statement, index, "", 0, Self.transient))
      }
      check(sqlite3_bind_text(statement, index, start, Int32(bytes.count), Self.transient))
    }
  }

  package func bind(_ index: Int32, _ value: [UInt8]) {
    value.withUnsafeBytes { bytes in
      if bytes.isEmpty {
        check(sqlite3_bind_zeroblob(statement, index, 0))
      } else {
        check(sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), Self.transient))
      }
    }
  }

  /// Binds bytes without copying them, while `body` runs: a large commit has megabytes.
  func bind<Result>(_ index: Int32, inPlace bytes: [UInt8], _ body: () throws -> Result) rethrows -> Result {
    guard !bytes.isEmpty else {
      sqlite3_bind_zeroblob(statement, index, 0)
      return try body()
    }
    return try bytes.withUnsafeBytes { bytes in
      // A null destructor is SQLITE_STATIC. A statement accepts no binding before a reset, so it is reset here.
      check(sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), nil))
      defer {
        sqlite3_reset(statement)
        sqlite3_bind_null(statement, index)
      }
      return try body()
    }
  }

  package func bind(_ index: Int32, _ id: UniqueID) {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bytes in
      check(sqlite3_bind_blob(statement, index, bytes.baseAddress, 16, Self.transient))
    }
  }

  /// Binds an attribute's value in its stored form. References are bound by the caller, as row numbers.
  package func bind(_ index: Int32, _ value: Value) {
    switch value {
    case .null: bindNull(index)
    case .bool(let value): bind(index, Int64(value ? 1 : 0))
    case .integer(let value), .date(let value): bind(index, value)
    case .double(let value): bind(index, value)
    case .decimal(let value): bind(index, value.orderedBytes)
    case .string(let value): bind(index, value)
    case .uuid(let value): bind(index, value)
    case .data(let value): bind(index, value)
    case .object(let id): bind(index, id.key)
    case .objects(let ids): bind(index, Self.packed(ids))
    }
  }

  // MARK: Columns, indexes from 0

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  package func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(statement, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }

  package func id(_ column: Int32) -> UniqueID {
    guard let start = sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column) == 16 else {
      return .zero
    }
    let high = start.loadUnaligned(as: UInt64.self)
    let low = start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    return UniqueID(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }

  /// Returns the value of an attribute or of a many-to-many. A malformed value, from damage or an edit of the file,
  /// reads as null; `check` finds it by the checksum.
  func value(_ column: Int32, _ form: EntityTable.Column.StorageForm) -> Value {
    if isNull(column) { return form == .members ? .objects([]) : .null }
    switch form {
    case .bool: return .bool(integer(column) != 0)
    case .integer: return .integer(integer(column))
    case .date: return .date(integer(column))
    case .double: return .double(sqlite3_column_double(statement, column))
    case .text: return .string(text(column))
    case .decimal: return .decimal(stored: blob(column))
    case .uuid: return .uuid(id(column))
    case .data: return .data(blob(column))
    case .members, .reference: return .objects(Self.unpacked(blob(column)))
    }
  }

  /// Returns the value of an expression of the given type. An integer that does not fit into 64 bits is a double. An
  /// object is returned as its id; the caller finds the concrete entity.
  func value(_ column: Int32, of type: GraphValueType) -> Value {
    if isNull(column) { return .null }
    switch type {
    case .null: return .null
    case .bool: return .bool(integer(column) != 0)
    case .integer, .duration:
      return sqlite3_column_type(statement, column) == SQLITE_FLOAT
        ? .double(sqlite3_column_double(statement, column)) : .integer(integer(column))
    case .double: return .double(sqlite3_column_double(statement, column))
    case .decimal: return .decimal(stored: blob(column))
    case .string: return .string(text(column))
    case .date: return .date(integer(column))
    case .uuid: return .uuid(id(column))
    case .data: return .data(blob(column))
    case .object(let entity): return .object(ObjectID(key: id(column), entity: entity))
    }
  }

  // MARK: Lists of ids: 16 bytes and a 4-byte entity each

  package static func packed(_ ids: [ObjectID]) -> [UInt8] {
    var bytes = [UInt8]()
    bytes.reserveCapacity(20 * ids.count)
    for id in ids {
      withUnsafeBytes(of: (id.key.high.bigEndian, id.key.low.bigEndian)) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: id.entity.bigEndian) { bytes.append(contentsOf: $0) }
    }
    assert(bytes.count == 20 * ids.count)
    return bytes
  }

  static func unpacked(_ bytes: [UInt8]) -> [ObjectID] {
    bytes.withUnsafeBytes { raw in
      stride(from: 0, to: raw.count - raw.count % 20, by: 20).map { start in
        let high = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        let low = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
        let entity = UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: start + 16, as: UInt32.self))
        return ObjectID(key: UniqueID(high: high, low: low), entity: entity)
      }
    }
  }

  /// SQLITE_TRANSIENT, a cast of -1 that Swift can't import: SQLite copies the bound bytes.
  static var transient: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // Never called: SQLite only compares it.
  }
}
