// Tests: RowsWrittenTests.swift
import GraphModel

/// The texts of the statements that update several columns of an object at once, one for each set of columns. Clients
/// determine these sets, so their number is limited.
final class UpdateTexts {
  private struct Columns: Hashable {
    let root: EntityNumber
    let indices: [Int]
    let isByRow: Bool
  }

  private var known = [Columns: SQL]()
  /// The last one, because consecutive changes are mostly alike.
  private var last: (columns: Columns, sql: SQL)?

  /// The maximum number of texts, whose statements take some kilobytes each when prepared.
  static let limit = 500

  /// Returns a statement that sets revision, checksum and the columns in this order, by row or by id. Nil beyond the
  /// limit; then the caller sets each column with a separate statement.
  func update(_ columns: [EntityTable.Column], of table: EntityTable, byRow isByRow: Bool) -> SQL? {
    let key = Columns(root: table.root.number, indices: columns.map(\.index), isByRow: isByRow)
    if let last, last.columns == key { return last.sql }
    let sql: SQL
    if let found = known[key] {
      sql = found
    } else {
      guard known.count < Self.limit || columns.isEmpty else { return nil }
      let names = ["_revision", "_sum"] + columns.map(\.name)
      let list = names.map { "\(quoted($0)) = ?" }.joined(separator: ", ")
      sql = SQL("UPDATE \(quoted(table.name)) SET \(list) WHERE \(isByRow ? "_row" : "_id") = ?")
      known[key] = sql
    }
    last = (key, sql)
    return sql
  }
}
