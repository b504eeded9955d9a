import GraphModel

/// Parts of a store that the model lacks: each becomes a remark with the number of values or rows that are not taken.
extension StoreLayout {
  /// A store that was copied without its log may have no rows.
  mutating func addMissingLog() throws {
    if !file.isLogMissing { return }
    for index in file.tables.indices {
      if try file.database.statement("SELECT 1 FROM \(quoted(index)) LIMIT 1").step() { return }
    }
    remark(
      "the store", "it has no rows, and its -wal, which may have them, is not beside it; copy that file with the store",
      0)
  }

  mutating func addUnusedTables() throws {
    for index in file.tables.indices {
      let rows = try file.database.statement("SELECT Z_ENT, count(*) FROM \(quoted(index)) GROUP BY 1 ORDER BY 1")
      while try rows.step() {
        // Each row of an unknown entity is reported separately.
        guard case .integer(let count) = rows.value(1), let number = rows.integer(0), let stored = file.entity(number)
        else { continue }
        guard let entity = columns[number]?.entity else {
          remark(stored.name, "the model \(model.name) has no such entity: its rows are not taken", Int(count))
          continue
        }
        if entity.isAbstract {
          remark(stored.name, "the entity is abstract in the model \(model.name): its rows are not taken", Int(count))
        }
      }
    }
    for join in file.joins where !usedJoins.contains(join.name) {
      let rows = try file.database.statement("SELECT count(*) FROM \(StoreDatabase.quoted(join.name))")
      guard try rows.step(), case .integer(let count) = rows.value(0), count > 0 else { continue }
      remark(
        join.name, "the model \(model.name) has no relationship of this table: its rows are not taken", Int(count))
    }
  }

  mutating func addUnusedColumns() throws {
    for (index, table) in file.tables.enumerated() {
      for (place, column) in table.columns.enumerated() where !isBookkeeping(column) {
        let known = columns.filter { file.entity($0.key)?.table == index }
        let isRead = known.values.contains { $0.reads(place) }
        // The graph computes the values of a used column that no entity reads.
        if usedColumns[index].contains(place), !isRead { continue }
        // A property may be one of some subentities only, or of an abstract entity, and the app has had it in others.
        let present = known.filter { !$0.value.entity.isAbstract }
        let users = present.filter { $0.value.reads(place) }
        let numbers = present.keys.filter { users[$0] == nil }
        let list = numbers.sorted().map(String.init).joined(separator: ", ")
        let rows = try file.database.statement(
          "SELECT count(*) FROM \(quoted(index)) WHERE typeof(\(StoreDatabase.quoted(column))) <> 'null' "
            + "AND Z_ENT IN (\(list))")
        guard try rows.step(), case .integer(let count) = rows.value(0), count > 0 else { continue }
        let (name, type) = describe(column, of: table)
        let reason =
          !isRead
          ? "the model \(model.name) has no such property\(type)"
          : "the model \(model.name) has this property in other entities only than the store"
        remark(name, "\(reason): its values are not taken", Int(count))
      }
    }
  }

  /// Reports the members of rows whose entity does not have the relationship in the model.
  mutating func addUnusedMembers() throws {
    for list in lists {
      let known = columns.filter { !$0.value.entity.isAbstract }
      let others = known.keys.filter { known[$0]?.entity.property(list.property.number) == nil }.sorted()
      if others.isEmpty { continue }
      let rows = try file.database.statement(
        "WITH pairs(owner, member) AS (\(list.sql)) SELECT owners.Z_ENT, count(*) FROM pairs "
          + "JOIN \(quoted(list.ownerTable)) AS owners ON owners.Z_PK = pairs.owner "
          + "WHERE member IS NOT NULL AND owners.Z_ENT IN (\(others.map(String.init).joined(separator: ", "))) GROUP BY 1 ORDER BY 1"
      )
      while try rows.step() {
        guard case .integer(let count) = rows.value(1), let stored = rows.integer(0).flatMap({ file.entity($0) }) else {
          continue
        }
        remark(
          "\(stored.name).\(list.property.name)",
          "the model \(model.name) has this relationship in other entities only than the store: its members are not taken",
          Int(count))
      }
    }
  }

  /// Whether a column belongs to Core Data: `Z_PK` and its like, an order, and the entity of a reference, `Z6_PARENT`.
  /// An attribute may be called `_rev`.
  private func isBookkeeping(_ column: String) -> Bool {
    if ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) || column.hasPrefix("Z_FOK_") || !column.hasPrefix("Z") {
      return true
    }
    let rest = column.dropFirst()
    let name = rest.drop { ("0"..."9").contains($0) }
    return name.count < rest.count && name.hasPrefix("_")
  }

  mutating func addUnusedOrders() throws {
    for (table, columns) in file.tables.map({ ($0.name, $0.columns) }) + file.joins.map({ ($0.name, $0.columns) }) {
      for column in columns where column.hasPrefix("Z_FOK_") && !usedOrders.contains("\(table).\(column)") {
        let rows = try file.database.statement(
          "SELECT count(*) FROM \(StoreDatabase.quoted(table)) WHERE \(StoreDatabase.quoted(column)) IS NOT NULL")
        guard try rows.step(), case .integer(let count) = rows.value(0), count > 0 else { continue }
        remark(
          "\(table).\(column)", "no relationship of the model \(model.name) has this order: it is not taken", Int(count)
        )
      }
    }
  }

  /// The name of a column in the store's own model, and its type.
  private func describe(_ column: String, of table: CoreDataFile.RowTable) -> (name: String, type: String) {
    for stored in file.entities where stored.table.map({ file.tables[$0].name }) == table.name {
      guard let entity = file.model?.entity(stored.name) else { continue }
      if let attribute = entity.attributes.first(where: { "Z" + $0.name.uppercased() == column }) {
        return ("\(stored.name).\(attribute.name)", " (\(attribute.typeName))")
      }
      if let relationship = entity.relationships.first(where: { "Z" + $0.name.uppercased() == column }) {
        return ("\(stored.name).\(relationship.name)", " (a relationship)")
      }
    }
    return ("\(table.root).\(column)", "")
  }
}
