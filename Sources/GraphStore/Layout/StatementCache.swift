// Tests: FetchTests.swift, ExplainTests.swift
import GRDB
import GRDBSQLite
import Synchronization

/// The prepared statements of one SQLite connection; nothing else keeps any.
///
/// A statement of the program is kept as long as the connection, and found by its text or by the identity of its `SQL`
/// object. Preparing the statement of a fetch takes longer than finding twenty objects, but the number of their shapes
/// is unlimited, so only the newest few are kept.
///
/// `@unchecked Sendable`: a cache belongs to one connection, which one thread at a time uses; the table of caches is
/// guarded by its mutex.
final class StatementCache: @unchecked Sendable {
  /// The program's statements by text.
  private var statements = [String: Statement]()
  /// Those of `SQL` objects by identity. The object is kept alive, so that no other object can get its address.
  private var identified = [ObjectIdentifier: (sql: SQL, pointer: OpaquePointer)]()
  /// The most recently used of them, each at an index derived from the address of its SQL object. Most lookups
  /// succeed here, without hashing or retaining anything.
  private var recent = [RecentStatement](repeating: RecentStatement(), count: StatementCache.recentStatements)
  /// The statements of fetches, oldest first.
  private var fetches = [(sql: String, statement: Statement)]()

  private struct RecentStatement {
    var sql: ObjectIdentifier?
    var pointer: OpaquePointer?
  }

  /// The size of `recent`, a power of two.
  private static let recentStatements = 32
  /// The maximum number of statements of fetches.
  static let maximumFetches = 32
  /// The maximum size in bytes of the text of a fetch whose statement is kept for another read.
  static let maximumText = 8 << 10

  // MARK: - Statements of the program

  /// Returns the prepared statement for `sql`, reset. Earlier bindings remain, so bind every parameter.
  func statement(_ sql: SQL, _ database: Database) throws -> Row {
    let key = ObjectIdentifier(sql)
    // Objects are aligned to sixteen bytes.
    let place = (Int(bitPattern: key) >> 4) & (Self.recentStatements - 1)
    if recent[place].sql == key, let pointer = recent[place].pointer {
      sqlite3_reset(pointer)
      return Row(statement: pointer)
    }
    let pointer: OpaquePointer
    if let known = identified[key] {
      pointer = known.pointer
    } else {
      pointer = try prepare(sql.text, database).sqliteStatement
      identified[key] = (sql, pointer)
    }
    recent[place] = RecentStatement(sql: key, pointer: pointer)
    sqlite3_reset(pointer)
    return Row(statement: pointer)
  }

  /// Returns the prepared statement for `sql`, reset and without bindings.
  func statement(_ sql: String, _ database: Database) throws -> Row {
    let pointer = try prepare(sql, database).sqliteStatement
    // The last user may have left it in any state, and SQLite accepts no binding before a reset.
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
    return Row(statement: pointer)
  }

  private func prepare(_ sql: String, _ database: Database) throws -> Statement {
    if let known = statements[sql] { return known }
    let statement = try database.makeStatement(sql: sql)
    statements[sql] = statement
    return statement
  }

  // MARK: - Statements of fetches

  /// Prepares the statement of a fetch that runs later in the same read.
  func prepareFetch(_ sql: String, _ database: Database) throws {
    if index(of: sql) != nil { return }
    put(try database.makeStatement(sql: sql), sql)
  }

  /// Takes out the statement of a fetch, without bindings; the caller returns it after use.
  func takeFetch(_ sql: String, _ database: Database) throws -> Statement {
    if let index = index(of: sql) { return fetches.remove(at: index).statement }
    return try database.makeStatement(sql: sql)
  }

  func returnFetch(_ statement: Statement, _ sql: String) {
    sqlite3_clear_bindings(statement.sqliteStatement)
    put(statement, sql)
  }

  /// Drops the statements that are too long to be kept after a read.
  func endRead() { fetches.removeAll { $0.sql.utf8.count > Self.maximumText } }

  /// By bytes, because a statement may contain values: as strings, `'é'` is equal in both normalizations.
  private func index(of sql: String) -> Int? {
    fetches.lastIndex { $0.sql.utf8.count == sql.utf8.count && $0.sql.utf8.elementsEqual(sql.utf8) }
  }

  private func put(_ statement: Statement, _ sql: String) {
    if fetches.count == Self.maximumFetches { fetches.removeFirst() }
    fetches.append((sql, statement))
    assert(fetches.count <= Self.maximumFetches)
  }

  /// The caches of a pool's readers, which outlive single reads.
  final class Table: Sendable {
    private let caches = Mutex([UInt: StatementCache]())

    /// Registers a new connection, replacing the cache of a closed one that had the same address.
    func open(_ database: Database) {
      let address = Self.address(database)
      caches.withLock { $0[address] = StatementCache() }
    }

    /// The cache of a connection. After `removeAll` it is a new one for a single read, so that no statement outlives
    /// the pool.
    func cache(of database: Database) -> StatementCache {
      let address = Self.address(database)
      return caches.withLock { $0[address] } ?? StatementCache()
    }

    /// Drops all statements; call it before the pool is closed.
    func removeAll() { caches.withLock { $0.removeAll() } }

    private static func address(_ database: Database) -> UInt { UInt(bitPattern: database.sqliteConnection) }
  }
}
