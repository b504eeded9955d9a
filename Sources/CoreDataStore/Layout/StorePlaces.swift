import GraphModel

/// The places that a store has for the properties of a model: columns, and the tables of many-to-manys.
struct StorePlaces {
  let model: Model
  private let file: CoreDataFile
  /// The entities of the model by their names in the store.
  private let entities: [String: Entity]
  private let stored: [EntityNumber: CoreDataFile.StoredEntity]

  init(_ file: CoreDataFile, _ model: Model, _ entities: [String: Entity]) {
    (self.file, self.model, self.entities) = (file, model, entities)
    var stored = [EntityNumber: CoreDataFile.StoredEntity]()
    for entity in file.entities {
      if let number = entities[entity.name]?.number { stored[number] = entity }
    }
    self.stored = stored
  }

  /// The properties of the entities whose rows a table has. Inherited properties have the name of their owner's, which
  /// the store may lack.
  func parts(of table: Int) -> [(property: Property, entity: Entity)] {
    var seen = Set<PropertyNumber>()
    return file.entities.filter { $0.table == table }.compactMap { entities[$0.name] }.flatMap { entity in
      entity.properties.filter { property in
        (property.owner == entity.number || stored[property.owner] == nil) && seen.insert(property.number).inserted
      }.map { (property: $0, entity: entity) }
    }
  }

  /// The place of a property if it has a name; nil if the store has none.
  func place(_ name: String, of property: Property, _ table: Int) -> String? {
    let capitals = StoreNames.capitals(name)
    let column = "Z" + capitals
    // An earlier version may have had a to-many instead of a to-one.
    if property.relationship?.isToMany != true, file.tables[table].columns.contains(column) { return column }
    return join(capitals, of: property, table)
  }

  /// The column of a many-to-many's table that has a name and contains the keys of the members.
  private func join(_ capitals: String, of property: Property, _ table: Int) -> String? {
    guard let relationship = property.relationship, let member = stored[relationship.destination]?.table else {
      return nil
    }
    func isKey(_ column: JoinColumn, _ table: Int) -> Bool { file.entity(column.number)?.table == table }
    for isMatch in [{ $0.name == capitals }, { $0.isNamed(capitals) }] as [(JoinColumn) -> Bool] {
      for join in file.joins {
        let keys = join.columns.filter { !$0.hasPrefix("Z_FOK_") }
        for (key, other) in zip(keys, keys.reversed()) {
          guard let column = JoinColumn(key), isMatch(column), isKey(column, member) else { continue }
          if JoinColumn(other).map({ isKey($0, table) }) != false { return "\(join.name).\(key)" }
        }
      }
    }
    return nil
  }

  /// Whether a place is a table of pairs.
  static func isJoin(_ place: String) -> Bool { place.contains(".") }

  /// Whether the model has all entities whose rows a table has.
  func hasAllEntities(of table: Int) -> Bool {
    file.entities.allSatisfy { $0.table != table || entities[$0.name] != nil }
  }

  /// Whether an entity has both properties, so that they can't have had the same name in one version.
  func areRelated(_ first: PropertyNumber, _ second: PropertyNumber) -> Bool {
    model.entities.contains { $0.property(first) != nil && $0.property(second) != nil }
  }

  /// The number of properties that can have a column: Core Data numbers those of siblings with the same name.
  func room(_ places: [String], _ table: Int) -> [String: Int] {
    let columns = Set(file.tables[table].columns)
    return Dictionary(
      Set(places).map { place in
        var count = 1
        while columns.contains("\(place)\(count)") { count += 1 }
        return (place, count)
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the store's own model says that a property had another name before, so that it has its present one.
  func isPresent(_ number: PropertyNumber) -> Bool {
    guard let (names, cached) = cachedNames(of: number), let earlier = cached[names[0]] else { return false }
    return earlier.map { names.dropFirst().contains($0) } == true
  }

  /// Whether the store's own model says that another property had the present name of one before, and the graph's model
  /// does not. The store is of a version after that of the graph, or the graph's model has dropped the other property.
  /// If the graph's model has both, it is of the same version, unless the two have exchanged their names.
  func isNameOfAnother(_ property: Property) -> Bool {
    guard let (names, cached) = cachedNames(of: property.number), let before = cached[names[0]],
      let entity = stored[property.owner].flatMap({ entities[$0.name] })
    else { return false }
    let known = entity.properties.map { StoreNames.names(of: $0, in: entity) }
    let isRenamed = before.map { !names.contains($0) } == true
    return cached.contains { other, earlier in
      earlier == names[0] && !names.contains(other)
        && !known.contains { $0[0] == other && (!isRenamed || $0.contains(names[0])) }
    }
  }

  /// The version of the store according to its own model, if the model of the graph has two; nil if nothing shows it.
  func cachedAge(_ parts: [PropertyPlaces]) -> StoreAge? {
    guard model.version == 2 else { return nil }
    let renamed = parts.filter { $0.isRenamed && !$0.isGiven }.map(\.number)
    let (isPresent, isBefore) = (renamed.contains(where: self.isPresent), renamed.contains(where: self.isBefore))
    return isPresent == isBefore ? nil : isPresent ? .present : .before
  }

  /// Whether the store's own model has the earlier name of a property, and does not say that it became the present one.
  private func isBefore(_ number: PropertyNumber) -> Bool {
    guard let (names, cached) = cachedNames(of: number), let oldest = names.last, cached[oldest] != nil else {
      return false
    }
    // The present name may be that of another property there.
    if let earlier = cached[names[0]] { return earlier == nil }
    return true
  }

  /// The names of a property in the app, and the names in the store's own model of its entity with those before.
  private func cachedNames(of number: PropertyNumber) -> (names: [String], cached: [String: String?])? {
    guard let property = model.property(number), let owner = stored[property.owner],
      let entity = entities[owner.name], let cached = file.model?.entity(owner.name)
    else { return nil }
    let earlier = cached.attributes.map { ($0.name, $0.renamed) } + cached.relationships.map { ($0.name, $0.renamed) }
    return (StoreNames.names(of: property, in: entity), Dictionary(earlier, uniquingKeysWith: { first, _ in first }))
  }
}
