// Tests: WholeGraphTests.swift
import GRDBSQLite
import GraphModel

/// The export of the complete graph, in an order that depends only on the graph.
extension SQLiteStore {
  /// Passes all objects to `body` by entity number and id, in one read transaction. Holds one object in memory at a
  /// time.
  public func export(begin: (Token, Int) throws -> Void, body: (ObjectImage) throws -> Void) throws -> Token {
    try read { objects, _, head in
      let entities = model.entities.filter { !$0.isAbstract }.sorted { $0.number < $1.number }
      var total = 0
      for entity in entities {
        let table = try invariant(layout.table(of: entity.number), "an entity of the model has a table")
        let count = try objects.connection.statement(
          "SELECT count(*) FROM \(quoted(table.name)) WHERE _entity = \(layout.numbers.stored(entity: entity.number))")
        if try objects.connection.step(count) { total += Int(count.integer(0)) }
        sqlite3_reset(count.statement)
      }
      try begin(head, total)
      for entity in entities {
        let table = try invariant(layout.table(of: entity.number), "an entity of the model has a table")
        let rows = try objects.connection.statement(
          table.selectWithSum + " WHERE t._entity = \(layout.numbers.stored(entity: entity.number)) ORDER BY t._id")
        // If `body` throws, the statement is still in progress.
        defer { sqlite3_reset(rows.statement) }
        while try objects.connection.step(rows) { try body(objects.verifiedImage(rows, in: table)) }
      }
      return head
    }
  }
}
