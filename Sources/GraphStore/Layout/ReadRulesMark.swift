// Tests: ReadRulesMarkTests.swift
import GRDB
import GraphModel

/// The head at which the store began to serve the present rules about what users see.
///
/// The model's hash does not cover these rules, so another file of the same hash may change them between two starts. A
/// state that a client read before then may have objects that its user no longer sees, or lack others, although the
/// store has no commit since. `_access` has one row: the fingerprint of the rules, and the head at the first start with
/// them. The table is created by the first change; until then the rules are those of the model in `_model`.
package enum ReadRulesMark {
  package static let creation =
    "CREATE TABLE IF NOT EXISTS _access (fingerprint INTEGER NOT NULL, revision INTEGER NOT NULL)"

  /// Whether the table exists.
  package static func tableExists(_ connection: Connection) throws -> Bool { try connection.hasTable("_access") }

  /// Compares the rules of a start with those of the start before, and records a change.
  /// - Parameter head: the newest commit.
  /// - Returns: the head at the first start with these rules; 0 if the store has always had them.
  static func update(_ database: Database, _ model: Model, head: Revision) throws -> Revision {
    let present = Int64(bitPattern: Visibility.fingerprint(of: model))
    if try database.tableExists("_access") {
      let row = try GRDB.Row.fetchOne(database, sql: "SELECT fingerprint, revision FROM _access")
      if let row, (row[0] as Int64) == present { return row[1] }
    } else if try isOriginal(model, database) {
      return 0
    }
    // Synced, because a later start with the former rules must find the change.
    let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
    try database.execute(sql: "PRAGMA synchronous = FULL")
    defer { if let synchronous { try? database.execute(sql: "PRAGMA synchronous = \(synchronous)") } }
    try database.inTransaction(.immediate) {
      try database.execute(sql: "\(creation); DELETE FROM _access")
      try database.execute(
        sql: "INSERT INTO _access (fingerprint, revision) VALUES (?, ?)", arguments: [present, head])
      return .commit
    }
    return head
  }

  /// Whether the model in the store has the rules of this one.
  private static func isOriginal(_ model: Model, _ database: Database) throws -> Bool {
    let source = try String.fetchOne(database, sql: "SELECT source FROM _model ORDER BY number DESC LIMIT 1")
    guard let source else { return false }
    if UTF8Comparison.equal(source, model.source) { return true }
    // A model that can't be read has unknown rules.
    guard let stored = try? Model(parsing: source.utf8) else { return false }
    return Visibility.fingerprint(of: stored) == Visibility.fingerprint(of: model)
  }
}
