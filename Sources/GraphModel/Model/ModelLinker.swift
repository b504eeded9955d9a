/// The second and third pass over a model file: cross-references between its parts, then numbers and slots.
struct ModelLinker {
  var draft: ModelDraft
  var mistakes = [ModelError.Problem]()
  var byName = [String: ModelDraft.Entity]()
  private var enumerations = [String: ModelDraft.Enumeration]()
  var compositesByName = [String: ModelDraft.Composite]()
  /// The compiled patterns; each is compiled once, however many entities inherit the attribute.
  var expressions = [String: RegularExpression]()

  /// The names in JSON and in predicates that every object has.
  static let reservedNames: Set<String> = ["id", "entity", "revision", "changed", "deleted", "object"]
  /// The keywords of the predicate language.
  static let reservedWords: Set<String> = [
    "and", "or", "not", "in", "like", "any", "all", "none", "between", "contains", "beginswith", "endswith", "true",
    "false", "null", "nil", "yes", "no", "some", "matches", "search", "truepredicate", "falsepredicate",
  ]

  init(draft: ModelDraft) { self.draft = draft }

  mutating func report(_ path: String, _ reason: String) {
    mistakes.append(.init(path: path, reason: reason))
  }

  // MARK: Checking

  mutating func check() {
    if draft.entities.isEmpty { report("entities", "a model needs at least one entity") }
    for enumeration in draft.enumerations {
      if enumerations.updateValue(enumeration, forKey: enumeration.name) != nil {
        report(enumeration.path + ".name", "another enumeration is called \"\(enumeration.name)\"")
      }
      if enumeration.cases.count > Self.maximumCount {
        report(enumeration.path, "has more than \(Self.maximumCount) cases")
      }
      if enumeration.cases.isEmpty { report(enumeration.path + ".cases", "an enumeration needs at least one case") }
    }
    for entity in draft.entities {
      // Tables are named after entities, and SQLite ignores case in their names.
      if byName.keys.contains(where: { $0.lowercased() == entity.name.lowercased() }) {
        report(entity.path + ".name", "another entity is called \"\(entity.name)\" (case does not count)")
      } else {
        byName[entity.name] = entity
      }
    }
    guard draft.entities.count <= Self.maximumCount else {
      return report("entities", "a model has at most \(Self.maximumCount) entities")
    }
    for entity in draft.entities {
      if entity.name.lowercased().hasPrefix("sqlite_") {
        report(entity.path + ".name", "names that begin with sqlite_ are reserved for the database")
      }
      checkParent(of: entity)
    }
    guard mistakes.isEmpty else { return }
    checkComposites()
    checkFamilies()
    for entity in draft.entities { checkCompositeAttributes(of: entity) }
    guard mistakes.isEmpty else { return }
    flattenComposites()
    for entity in draft.entities {
      checkNames(of: entity)
      for attribute in entity.attributes where !attribute.isMember { checkAttribute(attribute) }
      checkDerived(of: entity)
      for relationship in entity.relationships { checkRelationship(relationship, of: entity) }
      if entity.unique.count > Self.maximumUniqueCount {
        report(entity.path + ".unique", "an entity has at most \(Self.maximumUniqueCount) unique constraints")
      }
      for (index, names) in entity.unique.enumerated() { checkUnique(names, of: entity, index: index) }
      checkRules(of: entity)
      if let mistake = ScopeLinker(self).mistake(of: entity) { mistakes.append(mistake) }
      checkAccess(of: entity)
    }
    checkMappings()
    checkFetchRequests()
  }

  private mutating func checkParent(of entity: ModelDraft.Entity) {
    var seen: Set = [entity.name]
    var current = entity
    while let parent = current.parent {
      guard let next = byName[parent] else {
        if current.name == entity.name { report(entity.path + ".parent", "there is no entity \"\(parent)\"") }
        return
      }
      guard seen.insert(parent).inserted else {
        return report(entity.path + ".parent", "\"\(entity.name)\" inherits from itself")
      }
      guard seen.count <= Self.maximumDepth else {
        return report(entity.path + ".parent", "the inheritance is more than \(Self.maximumDepth) entities deep")
      }
      current = next
    }
  }

  /// The most entities, cases of an enumeration, and properties of a family, which are a table's columns.
  /// `maximumDepth` bounds the lineage.
  static let maximumCount = 1_000
  static let maximumDepth = 32
  /// The most unique constraints that an entity declares, each of which is an index, and properties in one of them.
  /// SQLite allows more of both, but such an index would be a mistake.
  static let maximumUniqueCount = 100
  static let maximumUniqueProperties = 32

  /// Checks the number of columns of each table, which all entities with the same root share.
  private mutating func checkFamilies() {
    var columns = [String: Int]()
    for entity in draft.entities {
      let root = lineage(of: entity)[0].name
      columns[root, default: 0] += propertyCount(of: entity) + positions(of: entity).count
      if entity.scope != nil { columns[root, default: 0] += 1 }
      if columns[root, default: 0] > Self.maximumCount {
        return report(
          entity.path, "\(root) and its subentities have more than \(Self.maximumCount) properties together")
      }
    }
  }

  /// The entity's ancestors from the root down to itself.
  func lineage(of entity: ModelDraft.Entity) -> [ModelDraft.Entity] {
    var line = [entity]
    while let parent = line[0].parent.flatMap({ byName[$0] }) { line.insert(parent, at: 0) }
    return line
  }

  private mutating func checkNames(of entity: ModelDraft.Entity) {
    var seen = [String: String]()
    for ancestor in lineage(of: entity) {
      // Members of a composite are checked at its declaration.
      let properties =
        ancestor.attributes.filter { !$0.isMember }.map { ($0.name, $0.path) }
        + ancestor.composites.map { ($0.name, $0.path) } + ancestor.relationships.map { ($0.name, $0.path) }
      for (name, path) in properties {
        if let other = seen.updateValue(path, forKey: name.lowercased()), ancestor.name == entity.name {
          report(path + ".name", "\"\(name)\" is already used by \(other) (case does not count)")
        }
        if ancestor.name == entity.name { checkWord(name, path: path) }
      }
    }
  }

  mutating func checkWord(_ name: String, path: String) {
    guard Self.reservedNames.contains(name.lowercased()) || Self.reservedWords.contains(name.lowercased()) else {
      return
    }
    report(path + ".name", "\"\(name)\" is reserved for the predicate language or for a property of every object")
  }

  mutating func checkAttribute(_ attribute: ModelDraft.Attribute) {
    let kind = attribute.kind
    let known = mistakes.count
    if kind == .enumeration {
      switch attribute.enumeration {
      case nil: report(attribute.path + ".enumeration", "is missing")
      case let name? where enumerations[name] == nil:
        report(attribute.path + ".enumeration", "there is no enumeration \"\(name)\"")
      default: break
      }
    } else if attribute.enumeration != nil {
      report(attribute.path + ".enumeration", "is only allowed for the type enumeration")
    }
    for member in ["default", "minimum", "maximum"] {
      guard let json = attribute.json[member], json != .null else { continue }
      if member != "default", ![.integer, .double, .decimal, .date].contains(kind) {
        report("\(attribute.path).\(member)", "is not allowed for the type \(kind.rawValue)")
      } else if value(json, of: attribute) == nil {
        let cases = attribute.enumeration.flatMap { enumerations[$0] }?.cases.joined(separator: ", ")
        report(
          "\(attribute.path).\(member)", cases.map { "is not one of \($0)" } ?? "is not of the type \(kind.rawValue)")
      }
    }
    func bound(_ name: String) -> Value? {
      attribute.json[name].flatMap { $0 == .null ? nil : value($0, of: attribute) }
    }
    if let low = bound("minimum"), let high = bound("maximum"), Value.order(low, high) == .descending {
      report(attribute.path + ".maximum", "is less than the minimum")
    }
    let hasLength = attribute.minimumLength != nil || attribute.maximumLength != nil
    if hasLength, ![.string, .text, .uri, .data].contains(kind) {
      report(attribute.path, "a length is not allowed for the type \(kind.rawValue)")
    }
    if let low = attribute.minimumLength, let high = attribute.maximumLength, low > high {
      report(attribute.path + ".maximumLength", "is less than the minimumLength")
    }
    checkPattern(of: attribute)
    checkTransient(attribute)
    if attribute.isFullText, ![.string, .text].contains(kind) {
      report(attribute.path + ".fullText", "is not allowed for the type \(kind.rawValue)")
    }
    let expected = attribute.assignment.map(\.kind)
    if let expected, expected != kind {
      report(attribute.path + ".assigned", "is only allowed for the type \(expected.rawValue)")
    }
    if attribute.assignment == .sequence, bound("minimum") != nil || bound("maximum") != nil {
      report(attribute.path + ".assigned", "a sequence counts from 1: it can't have a minimum or a maximum")
    }
    if attribute.assignment != nil, let start = attribute.json["default"], start != .null {
      report(attribute.path + ".default", "the server assigns the value of this attribute")
    }
    // A default can only be checked against rules that are valid.
    if mistakes.count == known { checkDefault(of: attribute) }
  }

  private mutating func checkRelationship(_ relationship: ModelDraft.Relationship, of entity: ModelDraft.Entity) {
    let path = relationship.path
    guard let destination = byName[relationship.destination] else {
      return report(path + ".destination", "there is no entity \"\(relationship.destination)\"")
    }
    guard let inverse = destination.relationships.first(where: { $0.name == relationship.inverse }) else {
      return report(
        path + ".inverse", "\(destination.name) declares no relationship \"\(relationship.inverse)\"")
    }
    if inverse.destination != entity.name || inverse.inverse != relationship.name {
      report(
        path + ".inverse",
        "\(destination.name).\(inverse.name) has \(inverse.destination).\(inverse.inverse) as its inverse")
    } else if destination.name == entity.name, inverse.name == relationship.name {
      report(path + ".inverse", "a relationship can't be its own inverse; declare both directions")
    }
    if !relationship.isToMany, relationship.minimumCount != nil || relationship.maximumCount != nil {
      report(path, "a count is only allowed for a to-many relationship; a to-one is optional or not")
    }
    if let low = relationship.minimumCount, let high = relationship.maximumCount, low > high {
      report(path + ".maximumCount", "is less than the minimumCount")
    }
    checkOrder(of: relationship, inverse, in: destination)
  }

  private mutating func checkUnique(_ names: [String], of entity: ModelDraft.Entity, index: Int) {
    let path = "\(entity.path).unique[\(index)]"
    let line = lineage(of: entity)
    for name in names {
      let isAttribute = line.contains { $0.attributes.contains { $0.name == name && !$0.isTransient } }
      let isToOne = line.contains { $0.relationships.contains { $0.name == name && !$0.isToMany } }
      if !isAttribute && !isToOne {
        report(path, "\(entity.name) has no stored attribute and no to-one relationship \"\(name)\"")
      }
    }
    if Set(names).count != names.count { report(path, "names a property twice") }
    if names.count > Self.maximumUniqueProperties {
      report(path, "a unique constraint names at most \(Self.maximumUniqueProperties) properties")
    }
    let earlier = line.flatMap(\.unique).filter { $0 == names }.count
    if earlier > 1 { report(path, "the same constraint appears twice, here or in an ancestor") }
  }

  func value(_ json: JSON, of attribute: ModelDraft.Attribute) -> Value? {
    Value(json: json, kind: attribute.kind, cases: cases(of: attribute))
  }

  /// The cases of the attribute's enumeration; none for another type.
  private func cases(of attribute: ModelDraft.Attribute) -> [String] {
    if let name = attribute.enumeration, let enumeration = enumerations[name] { enumeration.cases } else { [] }
  }

  // MARK: Numbers and slots

  /// The linked entities, in the order of the file. Requires that `check` has found no mistake.
  func entities() -> [Entity] {
    precondition(mistakes.isEmpty, "only a model without mistakes is linked")
    let sorted = draft.entities.sorted { UTF8Comparison.order($0.name, $1.name) == .ascending }
    var entityNumbers = [String: EntityNumber]()
    var propertyNumbers = [String: PropertyNumber]()
    for entity in sorted {
      entityNumbers[entity.name] = EntityNumber(entityNumbers.count + 1)
      let names =
        entity.attributes.filter { !$0.isTransient }.map(\.name) + entity.relationships.map(\.name)
        + positions(of: entity).map(\.name) + ScopeLinker(self).attributes(of: entity).map(\.name)
      for name in names.sorted(by: { UTF8Comparison.order($0, $1) == .ascending }) {
        propertyNumbers["\(entity.name).\(name)"] = PropertyNumber(propertyNumbers.count + 1)
      }
    }
    numberTransients(of: sorted, &propertyNumbers)
    let number = { (name: String) in Self.number(of: name, in: entityNumbers) }
    return draft.entities.map { entity in
      let line = lineage(of: entity)
      var properties = [Property]()
      var slot = 0
      for ancestor in line {
        for property in linkedProperties(of: ancestor, entityNumbers, propertyNumbers, slot: &slot) {
          properties.append(property)
        }
      }
      let family = sorted.filter { candidate in lineage(of: candidate).contains { $0.name == entity.name } }
      let unique = line.flatMap(\.unique).map { names in
        names.compactMap { name in properties.first { $0.name == name }?.number }
      }
      return Entity(
        number: number(entity.name), name: entity.name, documentation: entity.documentation,
        isAbstract: entity.isAbstract, parent: entity.parent.map(number), root: number(line[0].name),
        family: family.map { number($0.name) }, properties: properties, uniquenessConstraints: unique, slotCount: slot,
        composites: linkedComposites(of: line, properties, owner: number), renamed: entity.renamed,
        scope: ScopeLinker(self).scope(of: entity, properties))
    }
  }

  /// The number of an entity or a property, whose name `check` has found valid.
  private static func number(of name: String, in numbers: [String: UInt32]) -> UInt32 {
    guard let number = numbers[name] else { preconditionFailure("a checked model has no unknown name: \(name)") }
    return number
  }

  private func linkedProperties(
    of entity: ModelDraft.Entity, _ entityNumbers: [String: EntityNumber], _ propertyNumbers: [String: PropertyNumber],
    slot: inout Int
  ) -> [Property] {
    // Slots follow the names, not the file, so that models with equal hashes have equal images.
    let stored =
      entity.attributes.filter { !$0.isTransient }.map(\.name) + positions(of: entity).map(\.name)
      + ScopeLinker(self).attributes(of: entity).map(\.name)
      + entity.relationships.filter { storage(of: $0, in: entity) != .inverse }.map(\.name)
    var slots = [String: Int]()
    for name in stored.sorted(by: { UTF8Comparison.order($0, $1) == .ascending }) {
      slots[name] = slot
      slot += 1
    }
    var properties = [Property]()
    func add(
      _ name: String, _ documentation: String, isOptional: Bool, isStored: Bool, renamed: String?, _ kind: Property.Kind
    ) {
      properties.append(
        Property(
          number: Self.number(of: "\(entity.name).\(name)", in: propertyNumbers), name: name,
          documentation: documentation,
          owner: Self.number(of: entity.name, in: entityNumbers), slot: isStored ? slots[name] : nil,
          isOptional: isOptional,
          kind: kind,
          renamed: renamed))
    }
    for draft in entity.attributes {
      add(
        draft.name, draft.documentation, isOptional: draft.isOptional, isStored: !draft.isTransient,
        renamed: draft.renamed,
        .attribute(linkedAttribute(draft, derivation(of: draft, in: entity, propertyNumbers))))
    }
    for draft in entity.relationships {
      let storage = storage(of: draft, in: entity)
      let relationship = Relationship(
        destination: Self.number(of: draft.destination, in: entityNumbers),
        inverse: Self.number(of: "\(draft.destination).\(draft.inverse)", in: propertyNumbers),
        isToMany: draft.isToMany,
        deleteRule: draft.deleteRule, minimumCount: draft.minimumCount, maximumCount: draft.maximumCount,
        storage: storage, isOrdered: draft.isOrdered,
        position: positionName(of: draft, in: entity).flatMap { propertyNumbers[$0] })
      add(
        draft.name, draft.documentation, isOptional: draft.isOptional, isStored: storage != .inverse,
        renamed: draft.renamed,
        .relationship(relationship))
    }
    for position in positions(of: entity) {
      add(
        position.name, position.documentation, isOptional: true, isStored: true, renamed: position.renamed,
        .attribute(Self.positionAttribute))
    }
    for hidden in ScopeLinker(self).attributes(of: entity) {
      add(
        hidden.name, "The key of the scope.", isOptional: true, isStored: true, renamed: nil,
        .attribute(hidden.attribute))
    }
    return properties
  }

  func linkedAttribute(
    _ draft: ModelDraft.Attribute, _ derivation: Attribute.Derivation? = nil
  ) -> Attribute {
    let constant = { (name: String) in draft.json[name].flatMap { value($0, of: draft) }.orNull }
    return Attribute(
      kind: draft.kind, defaultValue: constant("default"), minimum: constant("minimum"),
      maximum: constant("maximum"), minimumLength: draft.minimumLength, maximumLength: draft.maximumLength,
      cases: cases(of: draft), enumeration: draft.enumeration,
      assignment: draft.assignment, isIndexed: draft.isIndexed, isFullText: draft.isFullText,
      pattern: draft.pattern, expression: draft.pattern.flatMap { expressions[$0] },
      isTransient: draft.isTransient, derivation: derivation)
  }

  private func storage(of relationship: ModelDraft.Relationship, in entity: ModelDraft.Entity) -> Relationship.Storage {
    guard relationship.isToMany else { return .reference }
    guard let destination = byName[relationship.destination],
      let inverse = destination.relationships.first(where: { $0.name == relationship.inverse }), inverse.isToMany
    else { return .inverse }
    if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered ? .members : .inverse }
    // In a many-to-many, the side that the file declares first lists the members.
    let order = draft.entities.flatMap { entity in entity.relationships.map { "\(entity.name).\($0.name)" } }
    let (this, other) = ("\(entity.name).\(relationship.name)", "\(destination.name).\(inverse.name)")
    return order.first { $0 == this || $0 == other } == this ? .members : .inverse
  }
}
