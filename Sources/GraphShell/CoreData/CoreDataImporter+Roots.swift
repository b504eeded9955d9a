import CoreDataStore
import GraphModel

/// The names of root entities in the mapping's keys, after the app or the model has renamed entities.
extension CoreDataImporter {
  /// Finds the mapping's names of the store's root entities.
  ///
  /// Objects keep their ids in a migration. So the objects of the mapping show what an entity is called now, however
  /// often it was renamed since the last import.
  /// - Parameter present: the objects that the user sees, with their entities.
  /// - Throws: `Refusal` if the user sees too little to know whether an entity is new; `ProgramRefusal` if the app has
  ///   moved rows to another table.
  func nameRoots(_ present: [UniqueID: EntityNumber]) throws {
    var held = [String: Set<EntityNumber>]()
    for (key, known) in mapping.mapping.rows {
      if let number = present[known.id] { held[key.root, default: []].insert(number) }
    }
    try checkTables(held)
    // The app may have renamed the root entity, and not the others of its table.
    let tables = reader.roots.map { (root: $0, entities: Set(reader.entities(in: $0).map(\.number))) }
    let holders = held.mapValues { entities in
      tables.filter { !$0.entities.isDisjoint(with: entities) }.map(\.root)
    }
    // The app may have renamed an entity before the model, or after it.
    let lines = mapping.mapping.rootLines(reader.roots, holders: holders) { name in
      if let entity = reader.entity(name) { reader.earlierNames(of: entity) + [entity.name] } else { [] }
    }
    try mapping.record(lines)
    changes.roots = mapping.mapping.roots
    if shell.seesPart { try checkNewRoots(Set(held.keys)) }
    try checkEntities(present)
  }

  /// Refuses a store in which a row of the mapping has another entity than its object. Rows and objects keep their
  /// entities, so the app has given its rows other keys.
  private func checkEntities(_ present: [UniqueID: EntityNumber]) throws {
    let mistake = try reader.firstRow { key, entity in
      guard let known = mapping.mapping.rows[changes.mappingKey(key)], let number = present[known.id] else {
        return false
      }
      return number != entity.number
    }
    if let mistake {
      throw ProgramRefusal(
        "\(reader.name(mistake.key)) has become a row of \(mistake.entity.name), so the app has given its rows other keys, and "
          + "the mapping \(mapping.path) does not show which object a row has; import into an empty graph with another "
          + "--mapping")
    }
  }

  /// Refuses a store in which the rows of a table of the last import are in several, or those of several in one. An app
  /// that gives entities a common parent, or separates them, gives their rows other keys.
  /// - Parameter held: the entities of the objects with a name in the keys.
  private func checkTables(_ held: [String: Set<EntityNumber>]) throws {
    // An object can stay after the app has deleted its row.
    let tables = try reader.roots.map { root in
      (root: root, entities: try reader.usedEntities(in: root))
    }
    func refuse(_ former: [String], _ present: [String]) -> ProgramRefusal {
      ProgramRefusal(
        "the app has moved the rows of \(former.joined(separator: " and ")) to \(present.joined(separator: " and ")), where "
          + "they have other keys, so the mapping \(mapping.path) does not show which object a row has; import into an empty "
          + "graph with another --mapping")
    }
    for table in tables {
      let former = held.filter { !$0.value.isDisjoint(with: table.entities) }.keys.sorted()
      if former.count > 1 { throw refuse(former, [table.root]) }
    }
    for (root, entities) in held.sorted(by: { $0.key < $1.key }) {
      let present = tables.filter { !$0.entities.isDisjoint(with: entities) }.map(\.root)
      if present.count > 1 { throw refuse([root], present) }
    }
  }

  /// Refuses to take rows as new that may be those of an entity which the user does not see.
  /// - Parameter seen: the names in the keys of which the user sees objects.
  private func checkNewRoots(_ seen: Set<String>) throws {
    let known = Set(mapping.mapping.rows.keys.map(\.root))
    let present = Set(reader.roots.map { changes.roots[$0, default: $0] })
    let used = Set(keys.map(reader.root))
    let new = reader.roots.first { !known.contains(changes.roots[$0, default: $0]) && used.contains($0) }
    if let new, let lost = known.subtracting(present).subtracting(seen).min() {
      let name = reader.entity(new).map(\.name) ?? new
      throw Refusal(
        .notAllowed,
        "\(new) is new in the store, and may be a new name of \(lost), whose objects from an earlier import are not "
          + "visible to you; import with an account that sees the whole graph, or add --rename \(name)=\(lost) if it is one"
      )
    }
  }
}
