import GraphModel

/// Maps the entities and properties of a graph's model to the tables and columns of a store, by name.
///
/// The column of a property is `Z` and its name in capitals. The column of a to-one contains the key of the other row.
/// A many-to-many has a table. The order of an ordered to-many is in `Z_FOK_…`, beside the key of its inverse. Each
/// part that only one side has becomes a remark, so that nothing is lost silently.
package struct StoreLayout {
  /// The identity of a row: its table, as the index in ``CoreDataFile/tables``, and its primary key.
  package struct RowKey: Hashable, Comparable, Sendable {
    package let table: Int
    package let key: Int64

    package init(table: Int, key: Int64) { (self.table, self.key) = (table, key) }

    package static func < (left: RowKey, right: RowKey) -> Bool {
      (left.table, left.key) < (right.table, right.key)
    }
  }

  /// The columns of an entity's rows.
  struct EntityColumns {
    let entity: Entity
    var attributes = [AttributeColumn]()
    var references = [ReferenceColumn]()

    /// Whether rows are read from a column.
    func reads(_ column: Int) -> Bool {
      attributes.contains { $0.column == column } || references.contains { $0.column == column }
    }
  }

  struct AttributeColumn {
    let property: Property
    let attribute: Attribute
    /// The index in the table's columns.
    let column: Int
    /// Whether the bytes begin with a tag of external storage.
    let isTagged: Bool
    /// The type of the column, if its values are converted; nil otherwise.
    let type: Attribute.Kind?
  }

  struct ReferenceColumn {
    let property: Property
    let column: Int
    /// The entity in the store of the rows at the other end.
    let destination: CoreDataFile.StoredEntity
    let table: Int
  }

  /// A to-many relationship whose members are set as a list.
  package struct MemberList {
    package let property: Property
    /// The tables of the owners and of the members.
    let ownerTable: Int
    let memberTable: Int
    /// A query whose rows are the keys of an owner and of a member, in the order of the list.
    let sql: String
  }

  /// A difference between the store and the model.
  package struct Remark: Hashable, Sendable {
    /// The entity, or the entity and the property, separated by a dot.
    package var subject: String
    package var reason: String
    /// The number of values or rows that are not imported; 0 if the remark is not about a loss.
    package var count: Int

    package init(subject: String, reason: String, count: Int) {
      (self.subject, self.reason, self.count) = (subject, reason, count)
    }
  }

  /// The columns by the number of an entity in the store.
  private(set) var columns = [Int64: EntityColumns]()
  package private(set) var lists = [MemberList]()
  package private(set) var remarks = [Remark]()
  let file: CoreDataFile
  let model: Model
  let names: StoreNames
  /// The names that properties had in earlier versions.
  private let formerNames: [PropertyNumber: [String]]
  /// The attributes whose bytes are taken as they are, as `Entity.attribute`.
  let untagged: Set<String>
  /// The attributes whose bytes have a tag, as `Entity.attribute`.
  let tagged: Set<String>
  /// The decisions of earlier imports.
  let earlier: Decisions
  package internal(set) var decisions = Decisions()
  var usedColumns = [Set<Int>]()
  var usedJoins = Set<String>()
  /// The columns of orders, after the names of their tables.
  var usedOrders = Set<String>()
  /// The entities that have values in a column, by table and column.
  var knownHolders = [String: Set<Int64>]()

  /// - Parameters:
  ///   - names: names in the app by names in the model, `Entity` or `Entity.property`, where they differ. One that the
  ///     store does not have is a name of an earlier version.
  ///   - untagged: attributes whose bytes have no tag of external storage, as `Entity.attribute`.
  ///   - tagged: attributes whose bytes have one.
  ///   - earlier: the decisions of earlier imports, which stay.
  /// - Throws: `Refusal` if no entity of the store is in the model, or the model lacks a name.
  package init(
    _ file: CoreDataFile, _ model: Model, names: [String: String] = [:], untagged: Set<String> = [],
    tagged: Set<String> = [], earlier: Decisions = Decisions()
  ) throws {
    (self.file, self.model, self.untagged, self.tagged) = (file, model, untagged, tagged)
    self.earlier = earlier
    let given = try Self.givenNames(names, earlier, file, model)
    let found = try StoreNames(file, model, given: given)
    (self.names, formerNames) = (found, Self.formerNames(of: model, found))
    try keepNames(given)
    try checkTags()
    usedColumns = file.tables.map { _ in [] }
    var isFound = false
    for stored in file.entities {
      guard let entity = self.names.entity(stored.name) else { continue }
      isFound = true
      guard let table = stored.table else {
        remark(stored.name, "the store has no table Z\(stored.name.uppercased()) of this entity", 0)
        continue
      }
      try addColumns(stored, entity, table)
    }
    guard isFound else {
      let names = file.entities.map(\.name).prefix(10).joined(separator: ", ")
      throw Refusal(
        .invalid,
        "the model \(model.name) has no entity of this store (\(names)); start a daemon with the model of the app, as "
          + "graph-generate convert writes it (--schema)")
    }
    for entity in model.entities {
      for property in entity.relationships where property.owner == entity.number { try addList(property) }
    }
    try addMissingLog()
    try addUnusedTables()
    try addUnusedColumns()
    try addUnusedMembers()
    try addUnusedOrders()
  }

  /// The entity of the model with the name of one of the store.
  package func entity(_ stored: String) -> Entity? { names.entity(stored) }

  /// The names that an entity had in earlier versions: the one that the caller gave, and the one in the model.
  func earlierNames(of entity: Entity) -> [String] { names.earlierNames(of: entity) }

  /// The names that a property had in earlier versions: the one that the caller gave, the one in the model, and those
  /// in its documentation.
  func earlierNames(of property: Property) -> [String] { formerNames[property.number, default: []] }

  /// The entity of the store with the name of one of the model.
  func stored(_ number: EntityNumber) -> CoreDataFile.StoredEntity? {
    guard let entity = model.entity(number) else { preconditionFailure("a relationship's entity is in its model") }
    return file.entities.first { names.entity($0.name)?.number == entity.number }
  }

  mutating func remark(_ subject: String, _ reason: String, _ count: Int) {
    let remark = Remark(subject: subject, reason: reason, count: count)
    // A property of a parent is looked up for each of its subentities.
    if !remarks.contains(remark) { remarks.append(remark) }
  }

  // MARK: - Columns

  private mutating func addColumns(_ stored: CoreDataFile.StoredEntity, _ entity: Entity, _ table: Int) throws {
    var columns = EntityColumns(entity: entity)
    for property in entity.properties {
      switch property.kind {
      case .attribute(let attribute):
        guard try isTaken(property, attribute, table) else { continue }
        guard let column = try column(of: property, stored, table),
          try hasValues(property, column, stored, table)
        else { continue }
        let type: Attribute.Kind?
        switch try columnType(property, attribute, column, table) {
        case .same: type = nil
        case .converted(let kind): type = kind
        case .unrelated: continue
        }
        columns.attributes.append(
          AttributeColumn(
            property: property, attribute: attribute, column: column,
            isTagged: attribute.kind == .data ? try isTagged(property, column, table) : false, type: type))
      case .relationship(let relationship) where !relationship.isToMany:
        guard let destination = self.stored(relationship.destination), let target = destination.table else {
          remark(name(property), "the entity at its other end is not in the store", 0)
          continue
        }
        guard try hasReferenceColumn(property) || joinOfInverse(relationship) == nil else { continue }
        // A one-way to-one of the app has a to-one here that is only its inverse.
        if !hasReferenceColumn(property), !isToMany(relationship.inverse), hasReferenceColumn(relationship.inverse) {
          continue
        }
        guard let column = try column(of: property, stored, table),
          try hasKeys(property, column, stored, table, target: target)
        else { continue }
        columns.references.append(
          ReferenceColumn(property: property, column: column, destination: destination, table: target))
      case .relationship: continue
      }
    }
    leaveOutShared(&columns, table)
    self.columns[stored.number] = columns
  }

  /// Leaves out the properties that would have the values of one column: at most one of them had it in the store.
  private mutating func leaveOutShared(_ columns: inout EntityColumns, _ table: Int) {
    let all =
      columns.attributes.map { (column: $0.column, property: $0.property) }
      + columns.references.map { (column: $0.column, property: $0.property) }
    for (column, parts) in Dictionary(grouping: all, by: \.column).sorted(by: { $0.key < $1.key }) where parts.count > 1
    {
      columns.attributes.removeAll { $0.column == column }
      columns.references.removeAll { $0.column == column }
      let base = file.tables[table].columns[column]
      for part in parts {
        let others = parts.filter { $0.property.number != part.property.number }.map { name($0.property) }
        remark(
          name(part.property),
          "whether \(base) is its column is not clear: it can also be that of \(others.joined(separator: " and ")); name "
            + "its column with --rename", 0)
      }
    }
  }

  /// Whether the values of a column are taken. The graph computes derived and assigned ones; a time of creation or of
  /// the last change can be given with a new object.
  private mutating func isTaken(_ property: Property, _ attribute: Attribute, _ table: Int) throws -> Bool {
    let isAssigned = attribute.assignment != nil
    guard attribute.isTransient || attribute.derivation != nil || isAssigned else { return true }
    guard let column = file.tables[table].columns.firstIndex(of: columnName(property)) else { return false }
    if attribute.assignment == .created || attribute.assignment == .updated { return true }
    usedColumns[table].insert(column)
    if attribute.derivation != nil { return false }
    let rows = try file.database.statement(
      "SELECT count(*) FROM \(quoted(table)) WHERE "
        + "typeof(\(StoreDatabase.quoted(file.tables[table].columns[column]))) <> 'null'")
    if try rows.step(), case .integer(let count) = rows.value(0), count > 0 {
      remark(
        name(property),
        attribute.isTransient
          ? "it is transient in the model \(model.name): its values are not taken"
          : "the graph assigns it: the app's values are not taken", Int(count))
    }
    return false
  }

  func name(_ property: Property) -> String { model.qualifiedName(of: property) }

  private func isToMany(_ number: PropertyNumber) -> Bool { relationship(number).isToMany }

  private func relationship(_ number: PropertyNumber) -> Relationship {
    guard let relationship = model.property(number)?.relationship else {
      preconditionFailure("an inverse is a relationship of the model")
    }
    return relationship
  }

  func columnName(_ property: Property) -> String { "Z" + names.capitals(property) }

  private func hasReferenceColumn(_ number: PropertyNumber) -> Bool {
    guard let property = model.property(number) else { preconditionFailure("an inverse is in its model") }
    return hasReferenceColumn(property)
  }

  private func hasReferenceColumn(_ property: Property) -> Bool {
    guard let table = stored(property.owner)?.table else { return false }
    return file.tables[table].columns.contains(columnName(property))
  }

  func quoted(_ table: Int) -> String { StoreDatabase.quoted(file.tables[table].name) }

  // MARK: - Lists

  private mutating func addList(_ property: Property) throws {
    guard let relationship = property.relationship, relationship.isToMany,
      let owner = stored(property.owner), let ownerTable = owner.table,
      let member = stored(relationship.destination), let memberTable = member.table,
      let inverse = model.property(relationship.inverse)
    else { return }
    if !isToMany(relationship.inverse), hasReferenceColumn(inverse) {
      guard relationship.isOrdered else { return }
      return try addOrder(property, inverse, ownerTable, memberTable)
    }
    var found = join(of: property, relationship, owner, member)
    if found == nil { found = try formerToOne(property, relationship, ownerTable, memberTable) }
    guard let join = found else {
      // The app may have a to-one without an inverse, whose other end is a to-many here.
      if !isToMany(relationship.inverse) || join(of: inverse, self.relationship(property.number), member, owner) == nil
      {
        remark(name(property), "the store has neither a table nor a column of this relationship", 0)
      }
      return
    }
    usedJoins.insert(join.table)
    if let reason = unclearName(property) {
      return remark(
        name(property),
        "whether \(join.table) is its table is not clear: \(reason), and the store does not contain the names of its "
          + "version; name its table with --rename", 0)
    }
    let isListed: Bool
    if relationship.isOrdered {
      isListed = true
      // The only member of a former to-one needs none.
      if join.order == nil, join.owner != "Z_PK" {
        remark(name(property), "the store has no order of the members", 0)
      }
    } else if isToMany(relationship.inverse) {
      // If neither side has an order, one side is enough.
      let isFirst = relationship.storage == .members
      isListed = isFirst && !self.relationship(relationship.inverse).isOrdered
    } else {
      isListed = true
    }
    guard isListed else { return }
    if relationship.isOrdered, let order = join.order { usedOrders.insert("\(join.table).\(order)") }
    let (from, to) = (StoreDatabase.quoted(join.owner), StoreDatabase.quoted(join.member))
    let order = (["1"] + [join.order].compactMap { $0.map(StoreDatabase.quoted) } + ["2"]).joined(separator: ", ")
    var sql = "SELECT \(from), \(to) FROM \(StoreDatabase.quoted(join.table)) ORDER BY \(order)"
    if join.isReflexive {
      // The relationship is its own inverse in the app: a row means both directions.
      sql =
        "SELECT * FROM (SELECT \(from), \(to) FROM \(StoreDatabase.quoted(join.table)) UNION "
        + "SELECT \(to), \(from) FROM \(StoreDatabase.quoted(join.table))) ORDER BY 1, 2"
    }
    lists.append(MemberList(property: property, ownerTable: ownerTable, memberTable: memberTable, sql: sql))
  }

  /// Adds an ordered relationship whose members have the key of their owner, and their place beside it.
  private mutating func addOrder(_ property: Property, _ inverse: Property, _ owner: Int, _ member: Int) throws {
    guard let owning = stored(inverse.owner), let column = try column(of: inverse, owning, member),
      try hasKeys(inverse, column, owning, member, target: owner)
    else { return }
    let reference = file.tables[member].columns[column]
    let order = "Z_FOK_" + reference.dropFirst()
    let isOrdered = file.tables[member].columns.contains(order)
    if !isOrdered { remark(name(property), "the store has no column \(order) with the order of the members", 0) }
    usedOrders.insert("\(file.tables[member].name).\(order)")
    let value = StoreDatabase.quoted(reference)
    let sql =
      "SELECT \(value), Z_PK FROM \(quoted(member)) WHERE \(value) IS NOT NULL ORDER BY 1, "
      + (isOrdered ? "\(StoreDatabase.quoted(order)), 2" : "2")
    lists.append(MemberList(property: property, ownerTable: owner, memberTable: member, sql: sql))
  }

  struct Join {
    let table: String
    /// The columns with the keys of the owners and of the members.
    let owner: String
    let member: String
    let order: String?
    /// Whether both columns are of the same relationship.
    let isReflexive: Bool
  }

  /// The join table of the inverse of a to-one that has no column; nil if there is none.
  private mutating func joinOfInverse(_ relationship: Relationship) throws -> Join? {
    let inverse = self.relationship(relationship.inverse)
    guard inverse.isToMany, let property = model.property(relationship.inverse), let owner = stored(property.owner),
      let ownerTable = owner.table, let member = stored(inverse.destination)
    else { return nil }
    if let join = join(of: property, inverse, owner, member) { return join }
    return try toOneJoin(property, ownerTable)
  }

  /// The join table of a relationship. Its column for the members has the relationship's name and the number of the
  /// members' entity; the other column has the name and the number of the inverse, or a name that Core Data has chosen.
  private func join(
    of property: Property, _ relationship: Relationship, _ owner: CoreDataFile.StoredEntity,
    _ member: CoreDataFile.StoredEntity
  ) -> Join? {
    let name = names.capitals(property)
    guard let inverse = model.property(relationship.inverse).map(names.capitals) else { return nil }
    var best: (join: Join, score: Int)?
    for table in file.joins {
      let keys = table.columns.filter { !$0.hasPrefix("Z_FOK_") }
      for (place, key) in keys.enumerated() {
        let other = keys[1 - place]
        guard let column = JoinColumn(key), column.isNamed(name), isInTable(column.number, of: member),
          column.name == name || !hasToMany(column.name, besides: property)
        else { continue }
        let back = JoinColumn(other)
        if let back, !isInTable(back.number, of: owner) { continue }
        // A reflexive relationship has a column without a number, or with the same name.
        let isReflexive = back.map { $0.isNamed(name) && !$0.isNamed(inverse) } ?? (other == "REFLEXIVE")
        var score = back?.isNamed(inverse) == true ? 4 : isReflexive ? 3 : 0
        if back != nil, score == 0, isNameOfOther(back, besides: property, inverse) { continue }
        if column.name == name { score += 2 }
        if column.number == member.number { score += 1 }
        if back?.number == owner.number { score += 1 }
        guard best.map({ score > $0.score }) != false else { continue }
        let order = table.columns.first { $0 == "Z_FOK_" + key.dropFirst(2) }
        best = (
          Join(table: table.name, owner: other, member: key, order: order, isReflexive: isReflexive), score
        )
      }
    }
    return best?.join
  }

  /// Whether another to-many of the model has a name of the store, so that a number in it is not Core Data's.
  private func hasToMany(_ name: String, besides property: Property) -> Bool {
    model.entities.contains { entity in
      entity.relationships.contains { $0.number != property.number && $0.isToMany && names.capitals($0) == name }
    }
  }

  /// Whether a column belongs to another relationship of the model, so that its table does too. A to-one has no table.
  private func isNameOfOther(_ column: JoinColumn?, besides property: Property, _ inverse: String) -> Bool {
    guard let column else { return false }
    return model.entities.contains { entity in
      entity.relationships.contains { other in
        guard other.isToMany else { return false }
        let name = names.capitals(other)
        return other.number != property.number && name != inverse && column.isNamed(name)
      }
    }
  }

  /// Whether the entity with a number has its rows in the table of another one.
  private func isInTable(_ number: Int64, of other: CoreDataFile.StoredEntity) -> Bool {
    guard let entity = file.entity(number) else { return false }
    return entity.table == other.table
  }
}

extension Property {
  var isToMany: Bool { relationship?.isToMany == true }
}
