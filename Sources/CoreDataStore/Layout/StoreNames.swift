import GraphModel

/// The names that a store has for the entities and properties of a model.
///
/// The names are equal, except where a name of the app is not possible in a model. Then the caller gives the name in
/// the store, or the model states the earlier name of the part, or the conversion has changed the name: it appends an
/// underscore or a number or prepends an `x`, and removes accents. A name that the caller gives and the store does not
/// have is one of an earlier version of the app.
struct StoreNames {
  private let entities: EntityNames
  private var properties = [PropertyNumber: String]()
  /// The properties whose names in the store the caller gave.
  private var givenProperties = Set<PropertyNumber>()
  /// The names of earlier versions that the caller gave.
  private var earlierProperties = [PropertyNumber: String]()

  /// - Parameter given: names in the app by names in the model, `Entity` or `Entity.property`.
  /// - Throws: `Refusal` for a name that the model does not have, or if several entities of the model have one name in
  ///   the store.
  init(_ file: CoreDataFile, _ model: Model, given: [String: String]) throws {
    for name in given.keys.sorted() where model.entity(named: name) == nil && Self.property(name, in: model) == nil {
      throw Refusal(.malformed, "the model \(model.name) has no entity or property \(name)")
    }
    entities = try EntityNames(file, model, given: given)
    for (stored, entity) in entities.entities {
      let table = file.entities.first { $0.name == stored }?.table
      let columns: [String] = if let table { file.tables[table].columns } else { [] }
      for property in entity.properties {
        // Inherited properties have the name of their owner's.
        guard property.owner == entity.number else { continue }
        var given = given[model.qualifiedName(of: property)]
        if let name = given, !Self.isStored(name, columns, file) {
          earlierProperties[property.number] = name
          given = nil
        }
        if given != nil { givenProperties.insert(property.number) }
        let known = Self.candidates(property.name, property.renamed, given).first { Self.isStored($0, columns, file) }
        let words = columns.filter { $0.hasPrefix("Z") && !$0.hasPrefix("Z_") }.map { String($0.dropFirst()) }
        let spelled = words.first { given == nil && Self.isSpelled(property.name, as: $0) }
        // The conversion numbers names that differ only in accents, because they are equal without them.
        let unnumbered = given == nil ? Self.unnumberedOwn(property.name, in: model) : []
        let accented = words.first { word in
          unnumbered.contains { Self.isSpelled($0, as: word) }
            && !entity.properties.contains { Self.capitals($0.name) == word }
        }
        let numbered = Self.numberedNames(property, of: entity, in: model)
          .first { given == nil && Self.isStored($0, columns, file) }
        properties[property.number] =
          known ?? spelled ?? accented ?? numbered ?? earlierProperties[property.number]
      }
    }
  }

  /// Whether a table has a column of a property, or the store has a join table of it.
  private static func isStored(_ name: String, _ columns: [String], _ file: CoreDataFile) -> Bool {
    let capitals = Self.capitals(name)
    return columns.contains("Z" + capitals)
      || file.joins.contains { $0.columns.contains { JoinColumn($0)?.isNamed(capitals) == true } }
  }

  /// Whether the app may have a property with a name of a model.
  static func isStored(_ name: String, in table: CoreDataFile.RowTable, _ file: CoreDataFile) -> Bool {
    candidates(name, nil, nil).contains { isStored($0, table.columns, file) }
  }

  /// The names that an entity had in earlier versions: the one that the caller gave, and the one in the model.
  func earlierNames(of entity: Entity) -> [String] {
    [entities.earlier[entity.number], entity.renamed].compactMap(\.self)
  }

  /// The names that a property had in earlier versions: the one that the caller gave, and the one in the model.
  func earlierNames(of property: Property) -> [String] {
    [earlierProperties[property.number], property.renamed].compactMap(\.self)
  }

  /// Whether the caller gave the name of a property in the store.
  func isGiven(_ property: Property) -> Bool { givenProperties.contains(property.number) }

  /// The entity of the model with the name of one of the store.
  func entity(_ stored: String) -> Entity? { entities.entities[stored] }

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
    return [name] + [earlier].compactMap(\.self) + convertedNames(name)
  }

  /// The names of the app from which the conversion may have made a name.
  static func convertedNames(_ name: String) -> [String] {
    (name.hasSuffix("_") ? [String(name.dropLast())] : []) + (name.hasPrefix("x") ? [String(name.dropFirst())] : [])
  }

  /// The names of the app from which the conversion may have made a name by a number: `title` from `title_2`. The
  /// number is that of the last version in which the part has the name, or distinguishes equal names, as in `id__2`
  /// and `title_2__2`.
  static func unnumbered(_ name: String, _ versions: Range<Int>) -> [String] {
    guard let end = name.lastIndex(of: "_"), let number = Int(name[name.index(after: end)...]) else { return [] }
    let base = String(name[..<end])
    guard base.hasSuffix("_") else { return versions.contains(number) ? [base] + convertedNames(base) : [] }
    let plain = String(base.dropLast())
    return [base] + convertedNames(base) + convertedNames(plain) + unnumbered(plain, versions)
  }

  /// The names of the app for the earlier name of a part, if the conversion has changed it.
  static func unnumberedEarlier(_ renamed: String?, in model: Model) -> [String] {
    assert(model.version >= 1, "versions are numbered from 1")
    return [renamed].compactMap(\.self).flatMap { unnumbered($0, 1..<model.version) }
  }

  /// The names of the app for a name of a model that is served instead of a later version.
  static func unnumberedOwn(_ name: String, in model: Model) -> [String] { unnumbered(name, model.version..<Int.max) }

  /// The names of the app from which the conversion may have made the names of a property.
  private static func numberedNames(_ property: Property, of entity: Entity, in model: Model) -> [String] {
    let renamed = [property.renamed].compactMap(\.self).flatMap(convertedNames)
    // A name that the conversion has changed suggests less than an equal one.
    let free = (renamed + unnumberedOwn(property.name, in: model)).filter { entity.property(named: $0) == nil }
    return unnumberedEarlier(property.renamed, in: model) + free
  }

  /// Whether a column may have had a property's earlier name.
  static func isEarlier(_ column: String, of property: Property, in model: Model) -> Bool {
    let names = [property.renamed].compactMap(\.self) + unnumberedEarlier(property.renamed, in: model)
    return names.contains { "Z" + capitals($0) == column }
  }

  /// Whether a name of a model is one of the app, without accents and with `_` for other characters.
  static func isSpelled(_ name: String, as stored: String) -> Bool {
    let plain = stored.folded(.diacriticInsensitive).unicodeScalars.map { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)) ? scalar : "_"
    }
    let capitals = Self.capitals(name)
    let spelled = String(String.UnicodeScalarView(plain)).uppercased()
    if stored.utf8.contains(where: { $0 >= 0x80 }), capitals == spelled { return true }
    // In capitals ß is SS, and the conversion writes _ for it.
    return capitals.contains("_") && stored == stored.uppercased() && isSharpS(capitals[...], spelled[...])
  }

  /// Whether two names are equal, where an underscore of the first one may be `SS`.
  private static func isSharpS(_ name: Substring, _ stored: Substring) -> Bool {
    let common = zip(name, stored).prefix { $0 == $1 }.count
    let (name, stored) = (name.dropFirst(common), stored.dropFirst(common))
    if name.isEmpty || stored.isEmpty { return name.isEmpty && stored.isEmpty }
    return name.first == "_" && stored.hasPrefix("SS") && isSharpS(name.dropFirst(), stored.dropFirst(2))
  }

  /// A member of a composite has a dot.
  private static func capitals(_ name: String) -> String { name.replacing(".", with: "_").uppercased() }
}
