// Tests: KeptScopesTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// The part of a graph that a mirror has, if it does not have everything that its user sees: the objects of some
/// scopes, and those that belong to no scope or to all.
///
/// The mirror selects them from what the server sends. The server's commits therefore lead from one state of the part
/// to the next, unless an object moves between a scope that is kept and one that is not.
package struct KeptScopes: Hashable, Sendable {
  /// The keys of the containers.
  package var containers: Set<UniqueID>

  package init(_ containers: Set<UniqueID>) { self.containers = containers }

  /// Whether an object belongs to one of the scopes, and not only to all or none.
  package func contains(_ image: ObjectImage, of model: Model) -> Bool {
    guard let entity = model.entity(image.id.entity), let scope = entity.scope else { return false }
    return entity.scopeKey(of: image, scope).map(containers.contains) == true
  }

  /// Whether the part has an object in this state.
  package func keep(_ image: ObjectImage, of model: Model) -> Bool {
    guard let entity = model.entity(image.id.entity), let scope = entity.scope,
      let key = entity.scopeKey(of: image, scope)
    else { return true }
    return containers.contains(key)
  }

  // MARK: - In a file

  /// The keys, one behind the other.
  package var bytes: [UInt8] { containers.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.flatMap(\.bytes) }

  /// - Returns: nil unless the bytes are those of keys.
  package init?(bytes: [UInt8]) {
    guard bytes.count.isMultiple(of: 16) else { return nil }
    let keys = stride(from: 0, to: bytes.count, by: 16).map { Array(bytes[$0..<$0 + 16]) }
    containers = Set(keys.compactMap(UniqueID.init(bytes:)))
  }
}

/// The scopes in the file of a mirror, and the commits of which the mirror does not have all changes.
extension KeptScopes {
  /// A table that a mirror of some scopes has.
  static let table = "_kept"

  /// The scopes of an open mirror.
  static func read(_ database: Database) throws -> KeptScopes {
    let keys = try Data.fetchAll(database, sql: "SELECT container FROM \(table)").map {
      try invariant(UniqueID(bytes: Array($0)), "a mirror names the containers of its scopes by their keys")
    }
    return KeptScopes(Set(keys))
  }

  /// Writes the scopes of a new mirror.
  func write(_ database: Database) throws {
    try database.execute(sql: "CREATE TABLE \(Self.table) (container BLOB PRIMARY KEY) WITHOUT ROWID")
    try database.execute(sql: "CREATE TABLE \(Self.reduced) (revision INTEGER PRIMARY KEY, author TEXT NOT NULL)")
    for key in containers { try Self.add(key, to: database) }
  }

  /// Adds a scope to those of a mirror.
  static func add(_ key: UniqueID, to database: Database) throws {
    try database.execute(
      sql: "INSERT OR IGNORE INTO \(table) (container) VALUES (?)", arguments: [Data(key.bytes)])
  }

  private static let reduced = "_reduced"

  /// Records that the mirror does not have all changes of a commit, so that it can't undo it.
  static func recordReduced(_ commit: MirroredCommit, in database: Database) throws {
    try database.execute(
      sql: "INSERT OR REPLACE INTO \(reduced) (revision, author) VALUES (?, ?)",
      arguments: [commit.token.revision, commit.author])
  }

  /// Removes what was recorded about commits that history no longer has.
  static func forgetReduced(through revision: Revision, in connection: Connection) throws {
    let row = try connection.statement("DELETE FROM \(reduced) WHERE revision <= ?")
    row.bind(1, revision)
    try connection.run(row)
  }

  /// The newest commit of a user of which the mirror does not have all changes; nil for none.
  static func newestReduced(of author: String, _ connection: Connection) throws -> Revision? {
    let isPart = try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = '\(reduced)'")
    guard isPart == 1 else { return nil }
    let row = try connection.statement("SELECT max(revision) FROM \(reduced) WHERE author = ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, author)
    guard try connection.step(row) else { return nil }
    let newest: Revision = row.integer(0)
    return newest == 0 ? nil : newest
  }
}
