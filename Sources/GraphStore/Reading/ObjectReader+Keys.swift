// Tests: CommitTests.swift, MirrorOverlayTests.swift
import GRDBSQLite
import GraphModel

/// Lookup by unique keys, for the rules engine.
extension ObjectReader {
  /// The object of an entity with these values for a unique key; nil if there is none.
  func readObject(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID? {
    let table = try invariant(layout.table(of: entity.number), "an entity of a unique key has a table")
    let sql = try invariant(
      table.lookup(of: constraint, in: entity.number), "a unique key that is looked up is one of its entity")
    let row = try connection.statement(sql)
    for (index, value) in values.enumerated() {
      if case .object(let id) = value {
        guard let found = try find(id) else { return nil }
        row.bind(Int32(index + 1), found.row)
      } else {
        row.bind(Int32(index + 1), value)
      }
    }
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    return ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
  }
}
