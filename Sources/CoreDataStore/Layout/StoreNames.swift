import GraphModel

/// The names that a store has for the entities and properties of a model.
///
/// The names are equal, except where a name of the app is not possible in a model. Then the caller gives the name in
/// the store, or the model states the earlier name of the part, or the conversion has changed the name: it appends an
/// underscore or prepends an `x`, and removes accents.
struct StoreNames {
  private var entities = [String: Entity]()
  private var properties = [PropertyNumber: String]()

  /// - Parameter given: names in the app by names in the model, `Entity` or `Entity.property`.
  /// - Throws: `Refusal` for a name that the model does not have.
  init(_ file: CoreDataFile, _ model: Model, given: [String: String]) throws {
    for name in given.keys.sorted() where model.entity(named: name) == nil && Self.property(name, in: model) == nil {
      throw Refusal(.malformed, "the model \(model.name) has no entity or property \(name)")
    }
    for entity in model.entities {
      let candidates = Self.candidates(entity.name, entity.renamed, given[entity.name])
      let name =
        candidates.first { name in file.entities.contains { $0.name == name } }
        ?? file.entities.map(\.name).first { given[entity.name] == nil && Self.isSpelled(entity.name, as: $0) }
      if let name { entities[name] = entity }
    }
    for (stored, entity) in entities {
      let table = file.entities.first { $0.name == stored }?.table
      let columns: [String] = if let table { file.tables[table].columns } else { [] }
      for property in entity.properties {
        // Inherited properties have the name of their owner's.
        guard property.owner == entity.number else { continue }
        let given = given[model.qualifiedName(of: property)]
        let candidates = Self.candidates(property.name, property.renamed, given)
        let known = candidates.first { name in
          let capitals = Self.capitals(name)
          return columns.contains("Z" + capitals)
            || file.joins.contains { $0.columns.contains { JoinColumn($0)?.isNamed(capitals) == true } }
        }
        properties[property.number] =
          known
          ?? columns.filter { $0.hasPrefix("Z") && !$0.hasPrefix("Z_") }.map { String($0.dropFirst()) }
          .first { given == nil && Self.isSpelled(property.name, as: $0) }
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
      + (name.hasPrefix("x") ? [String(name.dropFirst())] : [])
  }

  /// Whether a name of a model is one of the app, without accents and with `_` for other characters.
  private static func isSpelled(_ name: String, as stored: String) -> Bool {
    let plain = stored.folded(.diacriticInsensitive).unicodeScalars.map { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)) ? scalar : "_"
    }
    return stored.utf8.contains { $0 >= 0x80 }
      && Self.capitals(name) == String(String.UnicodeScalarView(plain)).uppercased()
  }

  /// A member of a composite has a dot.
  private static func capitals(_ name: String) -> String { name.replacing(".", with: "_").uppercased() }
}
