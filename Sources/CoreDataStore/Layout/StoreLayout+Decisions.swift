import GraphModel

/// Decisions that only the rows of a store suggest, or that the caller has made. The mapping of an import keeps them,
/// because the app may delete the rows that have led to one, and the values must not change therefore.
extension StoreLayout {
  package struct Decisions: Hashable, Sendable {
    /// Whether the bytes of an attribute have a tag of external storage, by `Entity.attribute`.
    package var tags = [String: Bool]()
    /// The columns of properties that siblings have, too, by `Entity.property`: the entity has its name in the store.
    package var columns = [String: String]()
    /// The names in the store that the caller has given, by `Entity` or `Entity.property`.
    package var names = [String: String]()
    /// The version of the store that has these columns and names; 0 for none.
    package var version: UInt64 = 0

    package init() {}
  }

  /// The decision of an earlier import about a property, also under one of its earlier names.
  func decision<Value>(_ property: Property, in decisions: [String: Value]) -> Value? {
    if decisions.isEmpty { return nil }
    guard let owner = model.entity(property.owner) else { preconditionFailure("a property's entity is in its model") }
    let entities = [owner.name] + earlierNames(of: owner)
    func decided(_ name: String) -> Value? { entities.lazy.compactMap { decisions["\($0).\(name)"] }.first }
    guard let own = decided(property.name) else {
      return earlierNames(of: property).lazy.compactMap(decided).first
    }
    // The name may have belonged to a property that has another name now.
    let isOfOther = owner.properties.contains { other in
      other.number != property.number && earlierNames(of: other).contains(property.name) && decided(other.name) == nil
    }
    return isOfOther ? nil : own
  }

  /// The names that the caller gives, and those of earlier imports of this version of the store.
  static func givenNames(
    _ names: [String: String], _ earlier: Decisions, _ file: CoreDataFile, _ model: Model
  ) throws -> [String: String] {
    guard !earlier.names.isEmpty, try earlier.version == file.versionChecksum() else { return names }
    // The graph may have migrated.
    let kept = earlier.names.filter {
      model.entity(named: $0.key) != nil || StoreNames.property($0.key, in: model) != nil
    }
    return kept.merging(names) { _, new in new }
  }

  /// Keeps the given names for later imports that the store has, and the parts that it does not have.
  mutating func keepNames(_ given: [String: String]) throws {
    decisions.names = given.filter { part, name in
      if name == StoreNames.none { return true }
      return StoreNames.property(part, in: model).map(names.isGiven) ?? file.entities.contains { $0.name == name }
    }
    if !decisions.names.isEmpty { decisions.version = try file.versionChecksum() }
  }

  /// The names that properties had in earlier versions. A property may have changed its name several times since the
  /// last import, and its documentation has all names. One that another property has, or had too, proves nothing.
  static func formerNames(of model: Model, _ names: StoreNames) -> [PropertyNumber: [String]] {
    var present = [EntityNumber: Set<String>]()
    for entity in model.entities {
      let all = entity.properties.map(\.name)
      for owner in Set(entity.properties.map(\.owner)) { present[owner, default: []].formUnion(all) }
    }
    var former = [PropertyNumber: [String]]()
    for entity in model.entities {
      let claims = entity.properties.flatMap { StoreNames.names(of: $0, in: entity).dropFirst() }
      let counts = Dictionary(claims.map { ($0, 1) }, uniquingKeysWith: +)
      for property in entity.properties where property.owner == entity.number {
        var found = names.earlierNames(of: property)
        for name in StoreNames.names(of: property, in: entity).dropFirst()
        where !found.contains(name) && present[entity.number]?.contains(name) != true && counts[name] == 1 {
          found.append(name)
        }
        if !found.isEmpty { former[property.number] = found }
      }
    }
    return former
  }

  // MARK: - Columns of siblings

  /// The column that an earlier import has read for the rows of an entity and a property that siblings have, too; nil
  /// if the app has migrated its store since, or the caller names the column.
  /// - Parameter possible: the column of the property's name and its numbered ones.
  func decidedColumn(
    of property: Property, _ stored: CoreDataFile.StoredEntity, _ possible: [String]
  ) throws -> String? {
    guard !names.isGiven(property), let column = earlier.columns["\(stored.name).\(property.name)"],
      possible.contains(column), try earlier.version == file.versionChecksum()
    else { return nil }
    return column
  }

  /// Keeps a column for later imports, provided that the caller, an earlier import or a row has proved it. The next
  /// import may find values elsewhere.
  mutating func decide(_ column: String, of property: Property, _ stored: CoreDataFile.StoredEntity) throws {
    let (name, version) = try ("\(stored.name).\(property.name)", file.versionChecksum())
    let isKept = earlier.columns[name] == column && earlier.version == version
    if isKept || names.isGiven(property) || hasProof(column, of: property, stored) {
      decisions.columns[name] = column
      decisions.version = version
    }
  }

  /// Whether rows of an entity, or others that have the property from the same ancestor, have values in a column. The
  /// only column was that of a parent if several entities have values in it.
  private func hasProof(_ column: String, of property: Property, _ stored: CoreDataFile.StoredEntity) -> Bool {
    guard let table = stored.table, let holders = knownHolders["\(table) \(column)"] else { return false }
    var owner = stored
    while let parent = file.entity(owner.parent), names.entity(parent.name)?.property(property.number) != nil {
      owner = parent
    }
    if holders.contains(where: { file.entity($0, isKindOf: owner.number) }) { return true }
    return holders.count > 1 && column == columnName(property)
      && !file.tables[table].columns.contains("\(column)1")
  }

  /// Whether the only column of siblings is one of an entity, too. Values of its rows prove it, and so do values of
  /// several others, because each sibling with a property of its own has a column. The model in the store shows it
  /// otherwise. Without that model the rows of the entity have null: the app may have had the property in the parent.
  /// - Parameter holders: the siblings with values.
  mutating func shares(
    _ column: String, _ property: Property, _ entity: CoreDataFile.StoredEntity, _ holders: Set<Int64>
  ) -> Bool {
    if holders.contains(entity.number) { return true }
    let declaring = file.entities.filter { $0.table == entity.table && cachedColumns(of: $0).contains(column) }
    if !declaring.isEmpty { return declaring.contains { $0.number == entity.number } }
    if holders.count > 1 { return true }
    guard property.isOptional else { return false }
    if !holders.isEmpty, property.attribute?.defaultValue.isNull == false {
      remark(
        name(property),
        "its objects have null, and not the default: the store has one column \(column) for this entity and others, and no "
          + "value of this entity", 0)
    }
    return true
  }

  /// The columns of the properties that an entity of the store's own model has or inherits, without the numbers of
  /// siblings.
  func cachedColumns(of stored: CoreDataFile.StoredEntity) -> [String] {
    guard let entity = file.model?.entity(stored.name) else { return [] }
    return (entity.attributes.map(\.name) + entity.relationships.map(\.name)).map { "Z" + $0.uppercased() }
  }
}
