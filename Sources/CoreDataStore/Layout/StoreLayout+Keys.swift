import GraphModel

/// Columns that have keys of rows, as those of to-ones, or values. Both can be integers, and a property may be of the
/// other kind in the version of the store.
extension StoreLayout {
  /// The kind of a property of the store's own model.
  private enum CachedKind {
    case attribute
    /// A to-one to an entity.
    case reference(CoreDataFile.StoredEntity)
  }

  /// The kind of the property that a column has in the store's own model; nil if the model does not show it.
  private func cachedKind(_ column: String, _ stored: CoreDataFile.StoredEntity) -> CachedKind? {
    guard let entity = file.model?.entity(stored.name) else { return nil }
    let reference = entity.relationships.first { !$0.isToMany && "Z" + $0.name.uppercased() == column }
    if entity.attributes.contains(where: { "Z" + $0.name.uppercased() == column }) {
      // Core Data distinguishes names by case.
      return reference == nil ? .attribute : nil
    }
    guard let name = reference?.destination else { return nil }
    return file.entities.first { $0.name == name }.map(CachedKind.reference)
  }

  /// Whether the column of an attribute has values, and not the keys of a to-one. A remark reports keys.
  mutating func hasValues(
    _ property: Property, _ column: Int, _ stored: CoreDataFile.StoredEntity, _ table: Int
  ) throws -> Bool {
    let name = file.tables[table].columns[column]
    let isKey: Bool
    switch cachedKind(name, stored) {
    case .attribute: isKey = false
    case .reference: isKey = true
    case nil: isKey = hasKeyBookkeeping(name, table)
    }
    if isKey {
      try remarkValues(
        property, column, table, "the store has a relationship, and the model an attribute: its keys are not taken")
    }
    return !isKey
  }

  /// Whether the column of a to-one has keys of rows of its destination. A remark reports other values.
  /// - Parameter target: the table of the destination.
  mutating func hasKeys(
    _ property: Property, _ column: Int, _ stored: CoreDataFile.StoredEntity, _ table: Int, target: Int
  ) throws -> Bool {
    let attribute = "the store has an attribute, and the model a relationship: its values are not taken"
    switch cachedKind(file.tables[table].columns[column], stored) {
    case .attribute:
      try remarkValues(property, column, table, attribute)
      return false
    case .reference(let destination):
      guard let other = destination.table, other != target else { return true }
      try remarkValues(
        property, column, table,
        "the store has a relationship to \(destination.name), and the model one to \(file.tables[target].root): its "
          + "references are not taken")
      return false
    case nil:
      if !["", "INTEGER"].contains(file.tables[table].types[column].uppercased()) {
        try remarkValues(property, column, table, attribute)
        return false
      }
      guard try !areKeys(column, table, target) else { return true }
      try remarkValues(
        property, column, table,
        "its values are no keys of rows of \(file.tables[target].root), so that it was another property in the store: "
          + "they are not taken")
      return false
    }
  }

  /// Whether a table has columns that only a to-one needs: the order of its inverse, or the entity of the other row.
  private func hasKeyBookkeeping(_ column: String, _ table: Int) -> Bool {
    let name = column.dropFirst()
    return file.tables[table].columns.contains { other in
      if other == "Z_FOK_\(name)" { return true }
      let rest = other.dropFirst()
      let end = rest.drop { ("0"..."9").contains($0) }
      return other.hasPrefix("Z") && end.count < rest.count && end == "_\(name)"
    }
  }

  /// Whether the integers of a column can be keys of a table: all are positive, and one of them is a key. Rows may be
  /// missing, which is reported for each reference.
  private func areKeys(_ column: Int, _ table: Int, _ target: Int) throws -> Bool {
    let name = StoreDatabase.quoted(file.tables[table].columns[column])
    let rows = try file.database.statement(
      "SELECT min(\(name)), max(\(name) IN (SELECT Z_PK FROM \(quoted(target)))) FROM \(quoted(table)) "
        + "WHERE typeof(\(name)) = 'integer'")
    guard try rows.step(), let least = rows.integer(0), let isFound = rows.integer(1) else { return true }
    return least > 0 && isFound > 0
  }

  /// Whether the store's own model has a to-one to a table in a column, or does not show what it has.
  func canHaveKeys(_ column: String, _ stored: CoreDataFile.StoredEntity, target: Int) -> Bool {
    switch cachedKind(column, stored) {
    case .attribute: false
    case .reference(let destination): destination.table == target
    case nil: true
    }
  }

  private mutating func remarkValues(_ property: Property, _ column: Int, _ table: Int, _ reason: String) throws {
    let count = try valueCount(column, table)
    if count > 0 { remark(name(property), reason, count) }
  }
}
