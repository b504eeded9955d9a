import GraphModel

/// The statements that update several columns of an object at once, one for each set of columns that occurs. Which sets
/// occur, clients decide: what is kept has a bound.
final class UpdateStatements {
  private struct Columns: Hashable {
    let root: EntityNumber
    let indices: [Int]
    let isByRow: Bool
  }

  private var known = [Columns: SQL]()
  /// Most changes in a row are of one kind.
  private var last: (columns: Columns, sql: SQL)?

  /// Prepared statements take some kilobytes each.
  static let limit = 500

  /// Sets revision, checksum and the columns in this order, by row or by id. Nil for one set too many: then every column is
  /// set by its own statement.
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
