import GraphModel

/// The column of a property. Siblings may have properties of the same name in one table: Core Data numbers the further
/// columns, and a version of the app may have had them in other entities, so the rows show whose a column is.
extension StoreLayout {
  /// - Parameter stored: the entity of the rows that are read.
  /// - Returns: nil if there is none or if several columns are possible; a remark reports that.
  mutating func column(of property: Property, _ stored: CoreDataFile.StoredEntity, _ table: Int) throws -> Int? {
    let columns = file.tables[table].columns
    if names.isNew(property) {
      remark(name(property), "the store is of the version before, in which another property had this name", 0)
      return nil
    }
    let base = columnName(property)
    guard let first = columns.firstIndex(of: base) else {
      remark(
        name(property),
        names.isLeftOut(property) ? "--rename leaves it out" : "the store has no column \(base) of this property", 0)
      return nil
    }
    if let reason = unclearName(property) {
      usedColumns[table].insert(first)
      remark(
        name(property),
        "whether \(base) is its column is not clear: \(reason), and the store does not contain the names of its version; "
          + "name its column with --rename", 0)
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
    let possible = names.isGiven(property) ? [base] : numberedColumns(base, table)
    let owners = namesakes(of: property, table)
    var column = base
    if possible.count > 1 || owners.count > 1 {
      if let decided = try decidedColumn(of: property, stored, possible) {
        column = decided
      } else {
        guard let found = try sharedColumn(of: property, stored, table, possible, owners) else { return nil }
        column = found
      }
      try decide(column, of: property, stored)
    }
    let index = columns.firstIndex(of: column)
    if let index { usedColumns[table].insert(index) }
    return index
  }

  /// Why it is not clear whether a property had its present name in the version of the store; nil if it is clear.
  func unclearName(_ property: Property) -> String? {
    let others = names.exchangeable(property).compactMap { model.property($0)?.name }
    if !others.isEmpty { return "the app has exchanged its name with \(others.joined(separator: " and "))" }
    return names.isReused(property) ? "the app may have used this name for another property" : nil
  }

  /// A column and those with a number after its name that no other property has.
  func numberedColumns(_ base: String, _ table: Int) -> [String] {
    let entities = file.entities.filter { $0.table == table }
    var found = [base]
    // Without siblings the number distinguishes names by case.
    if entities.count < 2 || !file.tables[table].columns.contains(base + "1") { return found }
    let taken = Set(
      entities.compactMap { names.entity($0.name) }.flatMap { entity in
        entity.properties.filter { !$0.isToMany }.map { columnName($0) }
      }
    )
    .union(entities.flatMap { cachedColumns(of: $0) })
    var number = 1
    while file.tables[table].columns.contains("\(base)\(number)") {
      if !taken.contains("\(base)\(number)") { found.append("\(base)\(number)") }
      number += 1
    }
    return found
  }

  /// The column of a property among those that siblings have or had.
  /// - Parameters:
  ///   - possible: the column of the property's name and its numbered ones.
  ///   - owners: the entities with a property of this name.
  private mutating func sharedColumn(
    of property: Property, _ stored: CoreDataFile.StoredEntity, _ table: Int, _ possible: [String],
    _ owners: [CoreDataFile.StoredEntity]
  ) throws -> String? {
    let ownPlace = owners.lastIndex { owner in
      file.entity(stored.number, isKindOf: owner.number) && names.entity(owner.name)?.property(property.number) != nil
    }
    guard let place = ownPlace else { preconditionFailure("an entity or its ancestor declares its properties") }
    let base = possible[0]
    let holders = try possible.map { try self.holders(of: $0, table) }
    let related = holders.reduce(Set<Int64>()) { $0.union($1) }.filter { number in
      owners.contains { file.entity(number, isKindOf: $0.number) }
    }
    if let doubtful = related.sorted().first(where: { number in holders.count { $0.contains(number) } > 1 }) {
      // The property of a single owner has the column of its name, and the other one belonged to another property.
      if owners.count == 1 { return base }
      let names = possible.indices.filter { holders[$0].contains(doubtful) }.map { possible[$0] }
      remark(
        name(property),
        "which of the columns \(base)… belongs to it is not clear: rows of \(entityName(doubtful)) have values in "
          + "\(names.joined(separator: " and ")); name its column with --rename \(name(property))=NAME", 0)
      return nil
    }
    let usual = possible[min(place, possible.count - 1)]
    if let own = possible.indices.first(where: { holders[$0].contains(stored.number) }) {
      let column = possible[own]
      if possible.count > 1, column != usual {
        remark(
          name(property),
          "rows of \(stored.name) have values in \(column) only, and the import reads this column for them; name "
            + "another one with --rename \(name(property))=NAME", 0)
      }
      return column
    }
    // No row of the entity itself has a value.
    let ofOwner = possible.indices.filter { index in
      holders[index].contains { file.entity($0, isKindOf: owners[place].number) }
    }
    if ofOwner.count == 1 { return possible[ofOwner[0]] }
    // A column of several owners was that of their parent.
    let holding = owners.filter { owner in related.contains { file.entity($0, isKindOf: owner.number) } }
    if possible.count >= owners.count || holding.count > possible.count || related.isEmpty && place == 0 {
      return usual
    }
    if possible.count == 1, shares(base, property, stored, holders[0]) { return base }
    let whose = holding.isEmpty ? "\(base) is that of another entity" : "the values of \(base) are of another entity"
    remark(name(property), "the store has no column of this property: \(whose)", 0)
    return nil
  }

  private func entityName(_ number: Int64) -> String {
    guard let entity = file.entity(number) else { preconditionFailure("only a known entity is related to another one") }
    return entity.name
  }

  /// The numbers of the entities whose rows have a value in a column.
  mutating func holders(of column: String, _ table: Int) throws -> Set<Int64> {
    let key = "\(table) \(column)"
    if let known = knownHolders[key] { return known }
    var holders = Set<Int64>()
    let rows = try file.database.statement(
      "SELECT DISTINCT Z_ENT FROM \(quoted(table)) WHERE \(StoreDatabase.quoted(column)) IS NOT NULL")
    while try rows.step() {
      if let number = rows.integer(0) { holders.insert(number) }
    }
    knownHolders[key] = holders
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

  /// The entities of the store that declare a property of the same name in one table, sorted by number. If the store
  /// does not have the entity that declares it in the model, those that inherit from it do.
  private func namesakes(of property: Property, _ table: Int) -> [CoreDataFile.StoredEntity] {
    let name = columnName(property)
    return file.entities.filter { stored in
      guard stored.table == table, let entity = names.entity(stored.name) else { return false }
      return entity.properties.contains {
        !$0.isToMany && columnName($0) == name && !isInherited($0.number, stored)
      }
    }
  }

  /// Whether an ancestor in the store has a property.
  private func isInherited(_ property: PropertyNumber, _ stored: CoreDataFile.StoredEntity) -> Bool {
    var next = stored.parent
    while let ancestor = file.entity(next) {
      if names.entity(ancestor.name)?.property(property) != nil { return true }
      next = ancestor.parent
    }
    return false
  }
}
