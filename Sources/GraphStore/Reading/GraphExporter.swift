// Tests: WholeGraphTests.swift
import GRDBSQLite
import GraphModel

/// The export of the complete graph, in an order that depends only on the graph: by entity number and id.
struct GraphExporter {
  let objects: ObjectReader

  /// Passes all objects to `body`, except damaged ones, which `damageFound` of the reader has then. Holds one object in
  /// memory at a time.
  /// - Parameter begin: called first, with the number of objects, damaged ones included.
  func export(begin: (Int) throws -> Void, body: (ObjectImage) throws -> Void) throws {
    let (connection, layout) = (objects.connection, objects.layout)
    let entities = objects.model.entities.filter { !$0.isAbstract }.sorted { $0.number < $1.number }
    var total = 0
    for entity in entities {
      let table = try invariant(layout.table(of: entity.number), "an entity of the model has a table")
      let count = try connection.statement(
        "SELECT count(*) FROM \(quoted(table.name)) WHERE _entity = \(layout.numbers.stored(entity: entity.number))"
      )
      if try connection.step(count) { total += Int(count.integer(0)) }
      sqlite3_reset(count.statement)
    }
    try begin(total)
    for entity in entities {
      let table = try invariant(layout.table(of: entity.number), "an entity of the model has a table")
      let rows = try connection.statement(
        table.selectWithSum
          + " WHERE t._entity = \(layout.numbers.stored(entity: entity.number)) ORDER BY t._id")
      // If `body` throws, the statement is still in progress.
      defer { sqlite3_reset(rows.statement) }
      while try connection.step(rows) {
        let image = try objects.unlessDamaged { try objects.verifiedImage(rows, in: table) }
        if let image { try body(image) }
      }
    }
  }
}
