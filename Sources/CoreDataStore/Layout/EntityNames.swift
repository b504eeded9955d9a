import GraphModel

/// Assigns the entities of a model to those of a store.
///
/// An entity of the model claims the first of its names that the store has: its own, the one of the version before, and
/// the one that the conversion has changed. An app may give the former name of an entity to a new one. In a store of
/// the version before, both claim that name, and only the caller knows which of them it is. A store of the present
/// version has both names, so nothing is unclear.
struct EntityNames {
  /// The entities of the model by their names in the store.
  private(set) var entities = [String: Entity]()
  /// The names of earlier versions that the caller gave.
  private(set) var earlier = [EntityNumber: String]()

  private let model: Model
  private let stored: [String]

  /// - Parameter given: names in the app by names in the model. One that the store does not have is a name of an
  ///   earlier version.
  /// - Throws: `Refusal` if several entities of the model have one name in the store.
  init(_ file: CoreDataFile, _ model: Model, given: [String: String]) throws {
    (self.model, stored) = (model, file.entities.map(\.name))
    var rest = [Entity]()
    for entity in model.entities {
      guard let name = given[entity.name] else {
        rest.append(entity)
        continue
      }
      if stored.contains(name) {
        try assign([name: [entity]])
      } else {
        earlier[entity.number] = name
        rest.append(entity)
      }
    }
    let stated = rest.map { (entity: $0, names: statedNames($0)) }
    let unnamed = try claim(stated)
    // A name that the conversion has changed suggests less than one that the model states.
    let converted = unnamed.map { (entity: $0, names: convertedNames($0)) }
    _ = try claim(converted)
  }

  /// Gives each entity the first of its names that no other one has.
  /// - Returns: the entities without such a name.
  /// - Throws: `Refusal` if several have the same one.
  private mutating func claim(_ candidates: [(entity: Entity, names: [String])]) throws -> [Entity] {
    var claims = [String: [Entity]]()
    var unnamed = [Entity]()
    for (entity, names) in candidates {
      if let name = names.first(where: { entities[$0] == nil }) {
        claims[name, default: []].append(entity)
      } else {
        unnamed.append(entity)
      }
    }
    try assign(claims)
    return unnamed
  }

  private mutating func assign(_ claims: [String: [Entity]]) throws {
    for (name, claimants) in claims.sorted(by: { $0.key < $1.key }) {
      let names = ([entities[name]].compactMap(\.self) + claimants).map(\.name)
      guard names.count == 1 else { throw unclear(name, names) }
      entities[name] = claimants[0]
    }
  }

  private func unclear(_ name: String, _ claimants: [String]) -> Refusal {
    let options = claimants.map { "--rename \($0)=\(name)" }
    return Refusal(
      .invalid,
      "the rows of \(name) can be those of \(claimants.joined(separator: " or ")) in the model \(model.name), which have "
        + "or had this name; say which, with \(options.joined(separator: " or "))")
  }

  // MARK: - Names

  /// The names that the model states, as far as the store has them. If a later entity has the earlier name of one, the
  /// conversion has appended a number to the name.
  private func statedNames(_ entity: Entity) -> [String] {
    let unnumbered = StoreNames.unnumberedEarlier(entity.renamed, in: model).prefix(1)
      .filter { model.entity(named: $0) != nil }
    return ([entity.name] + [entity.renamed].compactMap(\.self) + unnumbered).filter { stored.contains($0) }
  }

  private func convertedNames(_ entity: Entity) -> [String] {
    let renamed = [entity.renamed].compactMap(\.self).flatMap(StoreNames.convertedNames)
    let spelled = stored.filter { StoreNames.isSpelled(entity.name, as: $0) }
    let own = StoreNames.unnumberedOwn(entity.name, in: model)
    // The conversion numbers names that differ only in accents, because they are equal without them.
    let accented = stored.filter { name in own.contains { StoreNames.isSpelled($0, as: name) } }
    let numbered = StoreNames.unnumberedEarlier(entity.renamed, in: model) + own
    return (StoreNames.convertedNames(entity.name) + spelled + accented + renamed + numbered)
      .filter { stored.contains($0) }
  }
}
