import GraphModel

/// To-manys of the model that are to-ones in the version of the store: the column has the only member of each list.
extension StoreLayout {
  /// The column of a to-one as a join: of the relationship itself, or of its inverse, which then has an order beside
  /// it.
  mutating func formerToOne(
    _ property: Property, _ relationship: Relationship, _ owner: Int, _ member: Int
  ) throws -> Join? {
    if let join = try toOneJoin(property, owner) {
      use(join, owner)
      return join
    }
    guard let inverse = model.property(relationship.inverse), inverse.relationship?.isToMany == true,
      let join = try toOneJoin(inverse, member)
    else { return nil }
    use(join, member)
    let order = "Z_FOK_" + join.member.dropFirst()
    return Join(
      table: join.table, owner: join.member, member: join.owner,
      order: file.tables[member].columns.contains(order) ? order : nil, isReflexive: false)
  }

  /// The rows of a table as owners, and the rows to which a column refers as members.
  mutating func toOneJoin(_ property: Property, _ table: Int) throws -> Join? {
    guard let owner = stored(property.owner),
      let target = property.relationship.flatMap({ stored($0.destination) })?.table
    else { return nil }
    for name in [columnName(property)] + formerColumns(of: property, table) {
      // A property that is no to-many may have had this name before, and then has the column.
      if isColumn(name, ofOtherThan: property, table) { continue }
      // Siblings with a property of this name have numbered columns.
      let numbered = numberedColumns(name, table).filter(file.tables[table].columns.contains)
      let own = try numbered.filter { column in
        try holders(of: column, table).contains { file.entity($0, isKindOf: owner.number) }
      }
      let column = if own.count == 1, let only = own.first { only } else { name }
      // The column of an attribute has another type.
      guard let place = file.tables[table].columns.firstIndex(of: column),
        file.tables[table].types[place].uppercased() == "INTEGER", canHaveKeys(column, owner, target: target)
      else { continue }
      return Join(table: file.tables[table].name, owner: "Z_PK", member: column, order: nil, isReflexive: false)
    }
    return nil
  }

  /// Whether another property of the same objects has a column.
  private func isColumn(_ column: String, ofOtherThan property: Property, _ table: Int) -> Bool {
    let entities = file.entities.filter { $0.table == table }.compactMap { names.entity($0.name) }
    return entities.contains { entity in
      entity.property(property.number) != nil
        && entity.properties.contains { $0.number != property.number && !$0.isToMany && columnName($0) == column }
    }
  }

  /// The columns of the names that a property had in earlier versions, without those that other properties have or had.
  private func formerColumns(of property: Property, _ table: Int) -> [String] {
    if names.isGiven(property) { return [] }
    let entities = file.entities.filter { $0.table == table }.compactMap { names.entity($0.name) }
    var others = Set<String>()
    for entity in entities {
      for other in entity.properties where other.number != property.number {
        others.insert(columnName(other))
        others.formUnion(StoreNames.names(of: other, in: entity).map { "Z" + StoreNames.capitals($0) })
      }
    }
    let owner = model.owner(of: property)
    return StoreNames.names(of: property, in: owner).dropFirst().map { "Z" + StoreNames.capitals($0) }
      .filter { !others.contains($0) }
  }

  private mutating func use(_ join: Join, _ table: Int) {
    if let column = file.tables[table].columns.firstIndex(of: join.member) { usedColumns[table].insert(column) }
  }
}
