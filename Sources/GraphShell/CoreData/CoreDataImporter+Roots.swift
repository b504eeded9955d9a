import CoreDataStore
import GraphModel

/// The names of root entities in the mapping's keys, after the app or the model has renamed entities.
extension CoreDataImporter {
  /// Finds the mapping's names of the store's root entities.
  ///
  /// Objects keep their ids in a migration. So the objects of the mapping show what an entity is called now, however
  /// often it was renamed since the last import.
  /// - Parameter present: the objects that the user sees, with their entities.
  /// - Throws: `Refusal` if the user sees too little to know whether an entity is new.
  func nameRoots(_ present: [UniqueID: EntityNumber]) throws {
    var entities = [String: Set<EntityNumber>]()
    for (key, known) in mapping.mapping.rows {
      guard let number = present[known.id], let entity = shell.model.entity(number) else { continue }
      entities[key.root, default: []].insert(entity.root)
    }
    let holders = entities.mapValues { numbers in
      reader.roots.filter { name in reader.entity(name).map { numbers.contains($0.root) } == true }
    }
    // The app may have renamed an entity before the model, or after it.
    let lines = mapping.mapping.rootLines(reader.roots, holders: holders) { name in
      if let entity = reader.entity(name) { reader.earlierNames(of: entity) + [entity.name] } else { [] }
    }
    try mapping.record(lines)
    changes.roots = mapping.mapping.roots
    if shell.seesPart { try checkNewRoots(Set(entities.keys)) }
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
