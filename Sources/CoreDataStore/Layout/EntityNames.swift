import GraphModel

/// Assigns the entities of a model to those of a store, by their names in the app.
///
/// An app may give the former name of an entity to a new one. In a store of the version before, both have or had that
/// name, and only the caller knows which of them it is. A store of the present version has both names, so nothing is
/// unclear.
struct EntityNames {
  /// The entities of the model by their names in the store.
  private(set) var entities = [String: Entity]()
  /// The names of earlier versions that the caller gave.
  private(set) var earlier = [EntityNumber: String]()

  private let model: Model

  /// - Parameter given: names in the app by names in the model. One that the store does not have is a name of an
  ///   earlier version, or ``StoreNames/none``.
  /// - Throws: `Refusal` if several entities of the model can have one name in the store.
  init(_ file: CoreDataFile, _ model: Model, given: [String: String]) throws {
    self.model = model
    let stored = Set(file.entities.map(\.name))
    var rest = [Entity]()
    for entity in model.entities {
      guard let name = given[entity.name] else {
        rest.append(entity)
        continue
      }
      if stored.contains(name) {
        try assign([name: [entity]])
      } else if name != StoreNames.none {
        earlier[entity.number] = name
        rest.append(entity)
      }
    }
    let taken = entities
    func isPresent(_ number: EntityNumber, _ name: String) -> Bool {
      guard let earlier = file.model?.entity(name)?.renamed, let entity = model.entity(number) else { return false }
      return StoreNames.names(of: entity).dropFirst().contains(earlier)
    }
    for entity in rest { try checkName(entity, file) }
    let isKnown = stored.isSubset(of: model.entities.flatMap { StoreNames.names(of: $0) })
    let present = Set(model.entities.map { StoreNames.names(of: $0)[0] })
    let parts = rest.map { entity -> (part: EntityNumber, places: [String]) in
      let all = StoreNames.names(of: entity)
      let names = all.filter { stored.contains($0) && taken[$0] == nil }
      // Of two versions, only the one before has an entity that the model does not have.
      let isBefore =
        model.version == 2 && isKnown && names.count > 1 && names[0] == all[0]
        && !names.dropFirst().contains(where: present.contains) && !isPresent(entity.number, all[0])
      return (part: entity.number, places: isBefore ? Array(names.dropFirst()) : names)
    }
    let assignment = NameAssignment(parts, isPresent: isPresent)
    var claims = [String: [Entity]]()
    for entity in rest {
      guard let name = assignment.places[entity.number] else { continue }
      if let others = assignment.exchangeable[entity.number] {
        throw unclear(name, [entity.name] + others.compactMap { model.entity($0)?.name })
      }
      claims[name, default: []].append(entity)
    }
    try assign(claims)
  }

  /// Refuses an entity whose name another one had before according to the store's own model, which the graph's model
  /// does not say: the store is of a later version, or the graph's model has dropped the other one.
  private func checkName(_ entity: Entity, _ file: CoreDataFile) throws {
    let names = StoreNames.names(of: entity)
    let known = model.entities.map { StoreNames.names(of: $0) }
    // If the graph's model has both, it is of the same version, unless the two have exchanged their names.
    let isRenamed = file.model?.entity(names[0])?.renamed.map { !names.contains($0) } == true
    let other = file.model?.entities.first { other in
      other.renamed == names[0] && !names.contains(other.name)
        && !known.contains { $0[0] == other.name && (!isRenamed || $0.contains(names[0])) }
    }
    if let other, file.model?.entity(names[0]) != nil {
      throw Refusal(
        .invalid,
        "the objects of \(entity.name) can be the rows of \(names[0]) or of \(other.name), which was called \(names[0]) "
          + "before; say which, with --rename \(entity.name)=\(names[0]) or --rename \(entity.name)=\(other.name)")
    }
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
}
