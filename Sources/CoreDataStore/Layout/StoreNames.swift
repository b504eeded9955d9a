import GraphModel

/// The names that a store has for the entities and properties of a model.
///
/// They are equal, except where a name of the app is not possible in a model: then the caller gives it, or the model says
/// under which name the property was known before, or it has an underscore behind it.
struct StoreNames {
  private var entities = [String: Entity]()
  private var properties = [PropertyNumber: String]()

  /// - Parameter given: names of the app by those of the model, `Entity` or `Entity.property`.
  /// - Throws: `Refusal` for a name that the model does not have.
  init(_ file: CoreDataFile, _ model: Model, given: [String: String]) throws {
    for name in given.keys.sorted() where model.entity(named: name) == nil && Self.property(name, in: model) == nil {
      throw Refusal(.malformed, "the model \(model.name) has no entity or property \(name)")
    }
    for entity in model.entities {
      let candidates = Self.candidates(entity.name, entity.renamed, given[entity.name])
      if let name = candidates.first(where: { name in file.entities.contains { $0.name == name } }) {
        entities[name] = entity
      }
    }
    for (stored, entity) in entities {
      let table = file.entities.first { $0.name == stored }?.table
      let columns: [String] = if let table { file.tables[table].columns } else { [] }
      for property in entity.properties {
        // Inherited properties have the name of their owner's.
        guard property.owner == entity.number else { continue }
        let given = given[model.qualifiedName(of: property)]
        let candidates = Self.candidates(property.name, property.renamed, given)
        properties[property.number] = candidates.first { name in
          let capitals = Self.capitals(name)
          return columns.contains("Z" + capitals)
            || file.joins.contains { $0.columns.contains { JoinColumn($0)?.isNamed(capitals) == true } }
        }
      }
    }
  }

  /// The entity of the model with the name of one of the store.
  func entity(_ stored: String) -> Entity? { entities[stored] }

  /// The name of a property in columns and tables.
  func capitals(_ property: Property) -> String {
    Self.capitals(properties[property.number, default: property.name])
  }

  /// The property of `Entity.property`; nil if the model has none.
  static func property(_ name: String, in model: Model) -> Property? {
    guard let dot = name.firstIndex(of: ".") else { return nil }
    return model.entity(named: String(name[..<dot]))?.property(named: String(name[name.index(after: dot)...]))
  }

  private static func candidates(_ name: String, _ earlier: String?, _ given: String?) -> [String] {
    if let given { return [given] }
    return [name] + [earlier].compactMap(\.self) + (name.hasSuffix("_") ? [String(name.dropLast())] : [])
  }

  /// A member of a composite has a dot.
  private static func capitals(_ name: String) -> String { name.replacing(".", with: "_").uppercased() }
}
