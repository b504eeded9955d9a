// Tests: BatchTests.swift, RedoTests.swift
import GraphModel

/// Writes the attributes of unique keys that all slices of a batch have left null.
///
/// After the last slice all objects have released their old keys, so the unique indexes can check the new ones. The
/// values are in the history parts.
struct DeferredKeyWriter {
  let writer: StoreWriter
  let keys: Set<PropertyNumber>

  /// The value of one attribute.
  typealias KeyValue = (property: Property, value: Value)

  /// Passes each updated object with its new values to `body`.
  func forEach(
    of revision: Revision, parts: Int, _ body: (_ id: ObjectID, _ values: [KeyValue]) throws -> Void
  ) throws {
    for number in 1..<(parts + 1) {
      for change in try writer.history.part(number, of: revision, in: nil) where change.kind == .updated {
        let values = change.edits.compactMap { edit -> KeyValue? in
          guard keys.contains(edit.property), let property = writer.layout.model.property(edit.property),
            case .set(_, let new) = edit.action
          else { return nil }
          return (property, new)
        }
        if !values.isEmpty { try body(change.id, values) }
      }
    }
  }

  /// - Throws: `SQLConstraintFailure` if another object has the key.
  func write(_ values: [KeyValue], of id: ObjectID) throws {
    let table = try invariant(writer.layout.table(of: id.entity), "an object that a batch updates has a table")
    guard let found = try writer.objects.find(id) else { throw RowWriter.missing }
    let columns = try values.map {
      try invariant(table.column(of: $0.property.number), "an attribute of a unique key has a column").name
    }
    let row = try writer.connection.statement(
      "UPDATE \(quoted(table.name)) SET \(columns.map { "\(quoted($0)) = ?" }.joined(separator: ", ")) WHERE _row = ?")
    for (index, value) in values.enumerated() { row.bind(Int32(index + 1), value.value) }
    row.bind(Int32(columns.count + 1), found.row)
    try writer.connection.run(row)
    guard writer.connection.changes == 1 else { throw RowWriter.missing }
  }
}
