import GraphModel

/// The columns of properties, also of siblings with properties of the same name.
extension StoreLayout {
  /// The column of a property.
  /// - Returns: nil if there is none or if several columns are possible; a remark reports that.
  mutating func column(of property: Property, _ stored: CoreDataFile.StoredEntity, _ table: Int) throws -> Int? {
    let columns = file.tables[table].columns
    let base = columnName(property)
    if let others = exchanged(property), let column = columns.firstIndex(of: base) {
      usedColumns[table].insert(column)
      remark(
        name(property),
        "whether \(base) is its column is not clear: the app has exchanged its name with \(others), and the store does not "
          + "contain the names of its version; name its column with --rename", 0)
      return nil
    }
    // Siblings may have properties of the same name; Core Data numbers the further columns.
    let owners = namesakes(of: property)
    guard let place = owners.firstIndex(where: { names.entity($0.name)?.number == property.owner }) else {
      remark(name(property), "the store has no entity of this property", 0)
      return nil
    }
    if let other = rival(of: property), !names.isGiven(property),
      names.isGiven(other) || !isOwn(base, property, columns, besides: other)
    {
      remark(
        name(property),
        "which of the columns \(base)… belongs to it is not clear: \(other.name) may have the same one; name its "
          + "column with --rename", 0)
      return nil
    }
    let holders = owners.count > 1 && !columns.contains(base + "1") ? try self.holders(of: base, owners, table) : []
    // The app may have moved a property from a parent to its children, or have added it to a sibling, since the version
    // of the store. Then there is one column, and its rows show whose it is.
    let isOnly = holders.contains(owners[place].number)
    if place == 0, !isOnly, !holders.isEmpty {
      remark(name(property), "the store has no column of this property: the values of \(base) are of another entity", 0)
      return nil
    }
    let wanted = isOnly || place == 0 ? base : base + String(place)
    guard let column = columns.firstIndex(of: wanted) else {
      remark(name(property), "the store has no column \(wanted) of this property", 0)
      return nil
    }
    if owners.count > 1, !isOnly {
      // The assignment of columns to entities is known only from examples, so the rows are checked against it.
      let rows = try file.database.statement(
        "SELECT DISTINCT Z_ENT FROM \(quoted(table)) WHERE \(StoreDatabase.quoted(wanted)) IS NOT NULL")
      while try rows.step() {
        guard let number = rows.integer(0), file.entity(number, isKindOf: owners[place].number) else {
          remark(
            name(property),
            "which of the columns \(base)… belongs to it is not clear: \(wanted) has values of another "
              + "entity", 0)
          return nil
        }
      }
    }
    usedColumns[table].insert(column)
    return column
  }

  /// The numbers of those entities that have rows with a value in a column, themselves or in their subentities.
  private func holders(
    of column: String, _ entities: [CoreDataFile.StoredEntity], _ table: Int
  ) throws -> Set<Int64> {
    var holders = Set<Int64>()
    guard file.tables[table].columns.contains(column) else { return holders }
    let rows = try file.database.statement(
      "SELECT DISTINCT Z_ENT FROM \(quoted(table)) WHERE \(StoreDatabase.quoted(column)) IS NOT NULL")
    while try rows.step() {
      guard let number = rows.integer(0) else { continue }
      for entity in entities where file.entity(number, isKindOf: entity.number) { holders.insert(entity.number) }
    }
    return holders
  }

  /// Another property of the entity that may have the same column. Core Data distinguishes names by case, and SQLite
  /// does not.
  private func rival(of property: Property) -> Property? {
    guard let entity = model.entity(property.owner) else { preconditionFailure("a property's entity is in its model") }
    return entity.properties.first {
      $0.number != property.number && !$0.isToMany && columnName($0) == columnName(property)
    }
  }

  /// Whether a column has a property's exact name, and nothing suggests that it is another one's.
  private func isOwn(_ column: String, _ property: Property, _ columns: [String], besides other: Property) -> Bool {
    let earlier = StoreNames.names(of: other, in: model.owner(of: other)).dropFirst()
    return "Z" + property.name.uppercased() == column && !columns.contains(column + "1")
      && !earlier.contains { "Z" + StoreNames.capitals($0) == column }
  }

  /// The entities of the store that declare a property of the same name in the same table, sorted by number.
  private func namesakes(of property: Property) -> [CoreDataFile.StoredEntity] {
    let name = columnName(property)
    guard let owner = model.entity(property.owner), let root = model.entity(owner.root) else {
      preconditionFailure("a property's entity is in its model")
    }
    let declaring = root.family.compactMap { model.entity($0) }.filter { entity in
      entity.properties.contains { $0.owner == entity.number && columnName($0) == name && !$0.isToMany }
    }
    return file.entities.filter { stored in declaring.contains { $0 === names.entity(stored.name) } }
  }

  /// The properties with which the app may have exchanged a property's name since the version of the store.
  func exchanged(_ property: Property) -> String? {
    let others = names.exchangeable(property).compactMap { model.property($0)?.name }
    return others.isEmpty ? nil : others.joined(separator: " and ")
  }
}
