import GraphModel

/// The names of a bundle's parts in the model files.
///
/// A name is converted if a model file does not allow it: `id` becomes `id_`. The table covers all versions, so that a
/// part has one name in all of them; it is filled once. A valid name that is not possible in its place, such as one of
/// two that differ only in case, is converted for the entity of that place. Equal names are numbered after two
/// underscores, as in `Ab__2`; of two names the one of the newer version has no number. The linker then gives other
/// names to parts of older versions whose values a migration can't keep, and these entries stay. Their number, as in
/// `title_3`, is that of a version. The model files state the names in the app (``EarlierNames/app``).
///
/// A version whose model file exists keeps the names in it, and later versions continue them. Then a part of a later
/// version gets another name, as in `title_4`, if a migration can't keep the values of an earlier one.
struct NameTable {
  private(set) var model: String
  private var entities = [String: String]()
  private var properties = [String: String]()
  /// The names of properties that are valid, but not in their place, by `Entity.property`.
  private var displaced = [String: String]()
  private var composites = [String: String]()
  private var requests = [String: String]()
  /// The names of a version's parts that differ from all other versions, by version and part.
  private var overrides = [Int: [String: String]]()
  /// The names of properties in the newest existing model file that has them, by `Entity.property`.
  private var given = [String: String]()
  /// The versions whose model files exist.
  private var givenVersions = Set<Int>()
  /// The names in use, in lower case.
  private var takenEntities = Set<String>()
  private var takenProperties = Set<String>()

  /// - Parameter given: the names in the model files that exist, by version.
  init(model: String, versions: [VersionDraft], given: [Int: GivenNames] = [:]) {
    self.model = ""
    self.model = Self.valid(model)
    keep(given)
    for name in Self.inOrder(versions.map { $0.entities.map(\.source) }) where entities[name] == nil {
      let candidate = Self.valid(name)
      entities[name] = Self.claim(
        ModelNames.isReservedForEntities(candidate) ? "x\(candidate)" : candidate, &takenEntities)
    }
    // Generated types must differ from each other.
    for name in Self.inOrder(versions.map { $0.composites.map(\.source) }) {
      composites[name] = Self.claim(Self.valid(name), &takenEntities)
    }
    var takenRequests = Set<String>()
    for name in Self.inOrder(versions.map { $0.fetchRequests.map(\.source) }) {
      requests[name] = Self.claim(Self.valid(name), &takenRequests)
    }
    nameProperties(of: versions)
  }

  /// Keeps the names of existing model files, those of newer versions also for the versions that follow.
  private mutating func keep(_ files: [Int: GivenNames]) {
    for (version, names) in files.sorted(by: { $0.key > $1.key }) {
      givenVersions.insert(version)
      overrides[version] = names.entities.merging(names.properties) { name, _ in name }
      given.merge(names.properties) { newer, _ in newer }
      for (source, name) in names.entities where takenEntities.insert(name.lowercased()).inserted {
        if entities[source] == nil { entities[source] = name }
      }
    }
    for (part, name) in given {
      let source = GivenNames.property(part)
      if name == source { continue }
      takenProperties.insert(name.lowercased())
      if name == Self.candidate(source) { properties[source] = name }
    }
  }

  private mutating func nameProperties(of versions: [VersionDraft]) {
    let present = Set(given.keys.map(GivenNames.property))
    let all = Self.inOrder(versions.map(Self.properties))
    // Of names that differ only in case those of existing files stay.
    let sources = all.filter(present.contains) + all.filter { !present.contains($0) }
    let reserved = takenProperties
    let kept = Set(sources.filter { Self.isValidProperty($0) && !reserved.contains($0.lowercased()) })
    for name in sources where kept.contains(name) {
      properties[name] = name
      takenProperties.insert(name.lowercased())
    }
    for name in sources where properties[name] == nil {
      properties[name] = Self.claim(Self.candidate(name), &takenProperties)
    }
    // A name has one replacement, in whichever entities it needs one.
    let conflicts = versions.reduce(into: [:]) { found, version in
      found.merge(self.conflicts(in: version, sources)) { $0.union($1) }
    }
    for (name, entities) in conflicts.sorted(by: { $0.key < $1.key }) {
      // Leaves space for a suffix.
      let replacement = Self.claim("\(name.prefix(56))_", &takenProperties)
      for entity in entities { displaced["\(entity).\(name)"] = replacement }
    }
  }

  /// The names of all properties and members of a version.
  private static func properties(of version: VersionDraft) -> [String] {
    let declared = version.entities.flatMap { entity in
      entity.attributes.map(\.source) + entity.relationships.map(\.source)
    }
    return declared + version.composites.flatMap(\.attributes).map(\.source)
  }

  /// The properties whose names are valid, but not in their place, with the entities that declare them there.
  /// - Parameter sources: the names of all versions. Of names that differ only in case the first one stays.
  private func conflicts(in version: VersionDraft, _ sources: [String]) -> [String: Set<String>] {
    var found = [String: Set<String>]()
    // The valid names that differ only in case, without those that stay.
    func surplus(_ names: Set<String>) -> [String] {
      let groups = Dictionary(grouping: names.filter(Self.isValidProperty)) { $0.lowercased() }
      return groups.values.filter { $0.count > 1 }.flatMap { same -> [String] in
        let first = sources.first { same.contains($0) }
        return same.filter { $0 != first }
      }
    }
    func add(_ names: [String], in family: [EntityDraft]) {
      for name in names where Self.isValidProperty(name) {
        for entity in family
        where entity.attributes.contains(where: { $0.source == name })
          || entity.relationships.contains(where: { $0.source == name })
        {
          found[name, default: []].insert(entity.source)
        }
      }
    }
    var families = [String: [EntityDraft]]()
    for entity in version.entities { families[version.root(of: entity.source), default: []].append(entity) }
    for (_, family) in families {
      // Names that differ only in case.
      let names = Set(family.flatMap { $0.attributes.map(\.source) + $0.relationships.map(\.source) })
      add(surplus(names), in: family)
      // The table of a family uses these names for columns of subentities and for keys.
      let taken = Set(family.map { $0.source.lowercased() } + ["unique"])
      for attribute in family.flatMap(\.attributes)
      where attribute.composite != nil && taken.contains(attribute.source.lowercased()) {
        add([attribute.source], in: family)
      }
    }
    for composite in version.composites {
      for name in surplus(Set(composite.attributes.map(\.source))) {
        found[name, default: []].insert(composite.owner)
      }
    }
    // The place in an ordered to-many is `project.order`, which would be a path to such a property.
    for entity in version.entities {
      let isOrderedByToOne = entity.relationships.contains { relationship in
        relationship.isOrdered
          && version.entity(relationship.destination)?.relationships.contains {
            $0.source == relationship.inverse && !$0.isToMany
          } == true
      }
      guard isOrderedByToOne else { continue }
      add(["order"], in: version.lineage(of: entity.source))
    }
    return found
  }

  // MARK: - Valid names

  private static func isValidProperty(_ name: String) -> Bool {
    ModelNames.isName(name) && !ModelNames.isReservedForProperties(name)
  }

  /// The name of a property if no other one has it.
  private static func candidate(_ name: String) -> String {
    let candidate = valid(name)
    return isValidProperty(candidate) ? candidate : "\(candidate)_"
  }

  /// The different names of all versions in the order in which they are converted. Valid names come first, so that
  /// they are not changed, and then those of newer versions.
  private static func inOrder(_ names: [[String]]) -> [String] {
    var newest = [String: Int]()
    for (version, names) in names.enumerated() {
      for name in names { newest[name] = version }
    }
    return newest.sorted { left, right in
      let (isLeft, isRight) = (ModelNames.isName(left.key), ModelNames.isName(right.key))
      if isLeft != isRight { return isLeft }
      return left.value == right.value ? left.key < right.key : left.value > right.value
    }.map(\.key)
  }

  /// The name with each letter without its accents, `_` for all other characters, and a letter at the beginning.
  static func valid(_ name: String) -> String {
    guard !ModelNames.isName(name) else { return name }
    var result = ""
    for scalar in name.folded(.diacriticInsensitive).unicodeScalars {
      let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
      result.unicodeScalars.append(isPlain ? scalar : "_")
    }
    let startsWithLetter = result.unicodeScalars.first.map { $0.properties.isAlphabetic } == true
    // Leaves space for a suffix.
    result = String((startsWithLetter ? result : "x\(result)").prefix(56))
    assert(ModelNames.isName(result), "the converted name is valid")
    return result
  }

  /// The name, or the first of `name__2`, `name__3` … that is not taken.
  private static func claim(_ name: String, _ taken: inout Set<String>) -> String {
    var (candidate, number) = (name, 1)
    assert(ModelNames.isName(name), "a converted name is valid")
    // Leaves space for the number.
    let base = name.hasSuffix("_") ? String(name.prefix(59)) : "\(name.prefix(58))_"
    while !taken.insert(candidate.lowercased()).inserted {
      number += 1
      candidate = "\(base)_\(number)"
    }
    return candidate
  }

  // MARK: - Names of a version

  func entity(_ source: String, in version: Int) -> String {
    if let name = overrides[version]?[source] ?? entities[source] { return name }
    preconditionFailure("the table has every entity: \(source)")
  }

  func property(_ source: String, of entity: String, in version: Int) -> String {
    let part = "\(entity).\(source)"
    if let name = overrides[version]?[part] { return name }
    // The name of the app may no longer be possible in its place.
    if let name = given[part], name != source || displaced[part] == nil { return name }
    if let name = displaced[part] ?? properties[source] { return name }
    preconditionFailure("the table has every property: \(source)")
  }

  func composite(_ source: String) -> String {
    if let name = composites[source] { return name }
    preconditionFailure("the table has every composite: \(source)")
  }

  func member(_ source: String, of composite: CompositeDraft, in version: Int) -> String {
    property(source, of: composite.owner, in: version)
  }

  func fetchRequest(_ source: String) -> String {
    if let name = requests[source] { return name }
    preconditionFailure("the table has every fetch request: \(source)")
  }

  /// A name for an additional type.
  mutating func type(_ name: String) -> String { Self.claim(name, &takenEntities) }

  // MARK: - Parts of older versions

  /// The most characters before the number of a version.
  static let separatedLength = 52

  /// Whether the model file of a version exists, so that its names stay.
  func isGiven(_ version: Int) -> Bool { givenVersions.contains(version) }

  /// Gives the same part of several versions another name, because another part has its name.
  /// - Parameter parts: the version and the source's name of the part, newest first.
  /// - Returns: the name.
  mutating func separate(entity parts: [(version: Int, source: String)]) -> String {
    precondition(!parts.isEmpty, "a part of at least one version gets another name")
    let base = entity(parts[0].source, in: parts[0].version)
    let name = Self.claim("\(base.prefix(Self.separatedLength))_\(parts[0].version)", &takenEntities)
    for part in parts where !isGiven(part.version) { overrides[part.version, default: [:]][part.source] = name }
    return name
  }

  /// - Parameter parts: the version, the entity and the property, newest first; ``CompositeDraft/owner`` and the
  ///   member for an attribute of a composite.
  mutating func separate(property parts: [(version: Int, entity: String, source: String)]) -> String {
    precondition(!parts.isEmpty, "a part of at least one version gets another name")
    let base = property(parts[0].source, of: parts[0].entity, in: parts[0].version)
    let name = Self.claim("\(base.prefix(Self.separatedLength))_\(parts[0].version)", &takenProperties)
    for part in parts where !isGiven(part.version) {
      overrides[part.version, default: [:]]["\(part.entity).\(part.source)"] = name
    }
    return name
  }
}
