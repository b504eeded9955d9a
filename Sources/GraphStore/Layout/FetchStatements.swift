// Tests: FetchTests.swift, ExplainTests.swift
import GRDB
import GRDBSQLite
import Synchronization

/// The prepared statements of fetches, kept for the next fetch of the same shape.
///
/// Preparing one takes longer than finding twenty objects. The number of shapes is unlimited, so each connection
/// keeps only the newest few.
///
/// `@unchecked Sendable`: a list belongs to one connection, and the pool gives a connection to one reader at a time;
/// the table of lists is guarded by its mutex.
final class FetchStatements: @unchecked Sendable {
  /// The maximum number of statements per connection.
  static let limit = 32
  /// The maximum size of a kept statement's text, in bytes.
  static let maximumText = 8 << 10

  private var kept = [(sql: String, statement: Statement)]()

  /// Returns the statement for `sql`, without bindings; the caller checks it in after use.
  func checkOut(_ sql: String, _ database: Database) throws -> Statement {
    if let index = kept.lastIndex(where: { $0.sql == sql }) { return kept.remove(at: index).statement }
    return try database.makeStatement(sql: sql)
  }

  /// Whether `checkIn` keeps a statement with this text.
  static func keeps(_ sql: String) -> Bool { sql.utf8.count <= maximumText }

  func checkIn(_ statement: Statement, _ sql: String) {
    guard Self.keeps(sql) else { return }
    sqlite3_clear_bindings(statement.sqliteStatement)
    if kept.count == Self.limit { kept.removeFirst() }
    kept.append((sql, statement))
    assert(kept.count <= Self.limit)
  }

  /// The lists of a pool's connections.
  final class Table: Sendable {
    private let lists = Mutex([UInt: FetchStatements]())

    /// Registers a new connection, replacing the list of a closed one that had the same address.
    func open(_ database: Database) {
      let address = Self.address(database)
      lists.withLock { $0[address] = FetchStatements() }
    }

    func list(of database: Database) -> FetchStatements? {
      let address = Self.address(database)
      return lists.withLock { $0[address] }
    }

    /// Drops all statements; call it before the pool is closed.
    func removeAll() { lists.withLock { $0.removeAll() } }

    private static func address(_ database: Database) -> UInt { UInt(bitPattern: database.sqliteConnection) }
  }
}
