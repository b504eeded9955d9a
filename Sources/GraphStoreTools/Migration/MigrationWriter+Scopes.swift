// Tests: ScopeMigrationTests.swift
import GRDBSQLite
import GraphModel
import GraphStore

/// Computing the hidden attributes with the scopes: of a version that adds or changes them, and of objects whose way to
/// the container lost an object of a removed entity.
extension MigrationWriter {
  mutating func computeScopes() throws {
    for table in new.orderedTables where before(table) != nil {
      for column in table.columns where column.property.isHidden {
        let owner = plan.new.owner(of: column.property)
        guard case .stored(_, let through)? = owner.scope,
          let key = scopeKey(of: owner, through: through, row: "t", depth: 0)
        else { continue }
        let (name, family) = (quoted(column.name), new.numbers.family(of: owner))
        let wrong = "t._entity IN (\(family)) AND t.\(name) IS NOT \(key)"
        let rows = try connection.statement("SELECT t._row FROM \(quoted(table.name)) AS t WHERE \(wrong)")
        while try connection.step(rows) { touched[table.root.number, default: RowSet()].insert(rows.integer(0)) }
        sqlite3_reset(rows.statement)
        try run("UPDATE \(quoted(table.name)) AS t SET \(name) = \(key) WHERE \(wrong)")
        count(database.changesCount)
      }
    }
  }

  /// The key of the container, read along the to-ones, which do not lead in a circle.
  /// - Parameter row: the alias of the row with the to-one.
  private func scopeKey(of entity: Entity, through number: PropertyNumber, row: String, depth: Int) -> String? {
    guard let column = new.table(of: entity.number)?.column(of: number),
      let destination = column.property.relationship.map({ plan.new.destination(of: $0) }),
      let table = new.table(of: destination.number)
    else { return nil }
    let alias = "s\(depth)"
    var key: String? = "\(alias)._id"
    switch destination.scope {
    case .container?: break
    case .reference(let next)?, .stored(_, through: let next)?:
      key = scopeKey(of: destination, through: next, row: alias, depth: depth + 1)
    case .shared?, nil: return nil
    }
    return key.map {
      "(SELECT \($0) FROM \(quoted(table.name)) AS \(alias) WHERE \(alias)._row = \(row).\(quoted(column.name)))"
    }
  }
}
