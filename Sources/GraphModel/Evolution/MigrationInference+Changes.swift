/// Inferring how a property differs from its predecessor.
extension MigrationInference {
  mutating func inferChange(_ property: Property, _ before: Property) {
    let path = path(property, in: new)
    switch (property.kind, before.kind) {
    case (.attribute(let attribute), .attribute(let earlier)): inferChange(property, attribute, before, earlier, path)
    case (.relationship(let relationship), .relationship(let earlier)):
      inferChange(property, relationship, before, earlier, path)
    case (.attribute, .relationship):
      report(path, "was a relationship, and is an attribute now: give it another name or a mapping")
    case (.relationship, .attribute):
      report(path, "was an attribute, and is a relationship now: give it another name")
    }
  }

  // MARK: - Attributes

  private mutating func inferChange(
    _ property: Property, _ attribute: Attribute, _ before: Property, _ earlier: Attribute, _ path: String
  ) {
    if attribute.assignment != earlier.assignment, attribute.assignment == .sequence {
      return report(path, "becomes a sequence, but already has values: give it another name")
    }
    if attribute.isDerived, !earlier.isDerived || differs(attribute.derivation?.text, earlier.derivation?.text) {
      plan.origins[property.number] = .derived
      markUnvalidated(property)
      return add(.changeProperty, path, "is computed again for every object")
    }
    switch TypeChange(from: earlier.kind, to: attribute.kind) {
    case .same, .inPlace: plan.origins[property.number] = .kept(before.number)
    case .rewritten:
      plan.origins[property.number] = .converted(before.number)
      markUnvalidated(property)
    case .unknown:
      return report(
        path,
        "its type changes from \(earlier.kind.rawValue) to \(attribute.kind.rawValue): this needs a mapping"
      )
    }
    if earlier.assignment != nil, attribute.assignment == nil {
      add(.changeProperty, path, "is no longer set by the server")
    }
    if earlier.kind != attribute.kind {
      // Not every text is a URI or the name of a case.
      if TypeChange.mayFail(from: earlier.kind, to: attribute.kind) { plan.tightened.insert(property.owner) }
      add(.changeProperty, path, "was \(earlier.kind.rawValue), and is \(attribute.kind.rawValue) now")
    }
    inferOptionality(property, before, path)
    inferCases(property, attribute, earlier, path)
    if attribute.isFullText != earlier.isFullText {
      add(.changeProperty, path, attribute.isFullText ? "gets a full-text index" : "loses its full-text index")
    }
    if limits(attribute) != limits(earlier) {
      plan.tightened.insert(property.owner)
      add(.changeRules, path, "has other limits")
    }
  }

  /// Marks derived attributes for recomputation if the values or the meaning of their sources change.
  mutating func inferDerived() {
    var hasMore = true
    while hasMore {
      hasMore = false
      for entity in new.entities {
        for derived in new.parts.expressions[entity.number, default: []] where derived.attribute.owner == entity.number
        {
          let property = derived.attribute
          guard case .kept? = plan.origins[property.number], derived.sources.contains(where: mayDiffer) else {
            continue
          }
          plan.origins[property.number] = .derived
          markUnvalidated(property)
          add(.changeProperty, path(property, in: new), "is computed again for every object")
          hasMore = true
        }
      }
    }
  }

  /// Whether an attribute's values may differ from those of the attribute with its name in the old version.
  private func mayDiffer(_ source: PropertyNumber) -> Bool {
    guard let property = new.property(source), case .kept(let number)? = plan.origins[source],
      let before = old.property(number), before.name == property.name,
      before.attribute?.kind == property.attribute?.kind, before.attribute?.cases == property.attribute?.cases
    else { return true }
    return plan.fills.contains { $0.property.number == source }
  }

  func limits(_ attribute: Attribute) -> [String?] {
    let kind = attribute.kind
    let bounds = [attribute.minimum, attribute.maximum].map { $0.json(kind: kind).text }
    let lengths = [attribute.minimumLength, attribute.maximumLength].map { length in length.map { "\($0)" } }
    return bounds + lengths + [attribute.pattern]
  }

  private mutating func inferOptionality(_ property: Property, _ before: Property, _ path: String) {
    guard property.isOptional != before.isOptional else { return }
    guard !property.isOptional else { return add(.changeProperty, path, "may be null now") }
    let fill = property.attribute.flatMap { $0.checked($0.defaultValue) }.orNull
    plan.required.append(property)
    guard let attribute = property.attribute, !fill.isNull else {
      return add(.changeProperty, path, "is required now: every object must have a value")
    }
    plan.fills.append((property, fill))
    add(.changeProperty, path, "is required now; null becomes \(fill.json(kind: attribute.kind).text)")
  }

  private mutating func inferCases(
    _ property: Property, _ attribute: Attribute, _ earlier: Attribute, _ path: String
  ) {
    guard attribute.kind == .enumeration, earlier.kind == .enumeration, attribute.cases != earlier.cases else { return }
    let (added, gone) = (
      attribute.cases.filter { !earlier.cases.contains($0) }, earlier.cases.filter { !attribute.cases.contains($0) }
    )
    if !gone.isEmpty { plan.tightened.insert(property.owner) }
    let words = [
      added.isEmpty ? nil : "allows \(added.joined(separator: ", "))",
      gone.isEmpty ? nil : "no longer allows \(gone.joined(separator: ", "))",
    ]
    let text = words.compactMap { $0 }.joined(separator: ", and ")
    add(.changeProperty, path, text.isEmpty ? "lists its cases in another order" : text)
  }

  // MARK: - Relationships

  private mutating func inferChange(
    _ property: Property, _ relationship: Relationship, _ before: Property, _ earlier: Relationship, _ path: String
  ) {
    guard plan.entities[relationship.destination] == earlier.destination else {
      if let name = new.entity(relationship.destination)?.name, ambiguousEntities.contains(name) { return }
      return report(path, "leads to another entity now: give it another name")
    }
    guard relationship.isToMany == earlier.isToMany else {
      return inferCount(property, relationship, before, earlier, path)
    }
    switch (earlier.storage, relationship.storage) {
    case (.reference, .reference): plan.origins[property.number] = .kept(before.number)
    case (.members, .members):
      guard relationship.isOrdered || !earlier.isOrdered else {
        return report(path, "is no longer ordered, but is stored as a list: give it another name")
      }
      plan.origins[property.number] = .kept(before.number)
    case (.inverse, .inverse): plan.pairs[property.number] = before.number
    default:
      return report(
        path, "its pairs would be stored at the other end: keep the entities in the order of version \(old.version)")
    }
    if relationship.isOrdered != earlier.isOrdered {
      add(.changeProperty, path, relationship.isOrdered ? "is ordered now, by id at first" : "is no longer ordered")
    }
    if relationship.minimumCount != earlier.minimumCount || relationship.maximumCount != earlier.maximumCount {
      plan.tightened.insert(property.owner)
      add(.changeRules, path, "allows another number of objects")
    }
    if !relationship.isToMany { inferOptionality(property, before, path) }
  }

  /// Refuses a one-to-one of which one end only is kept. Each end stores the object at the other one, and several
  /// objects may have referred to the same one.
  mutating func checkInverse(of property: Property) {
    guard let relationship = property.relationship, relationship.storage == .reference,
      let inverse = new.property(relationship.inverse), inverse.relationship?.storage == .reference,
      case .kept(let number)? = plan.origins[property.number], let earlier = old.property(number)?.relationship
    else { return }
    if case .kept(earlier.inverse)? = plan.origins[inverse.number] { return }
    let far = path(inverse, in: new)
    if problems.contains(where: { UTF8Comparison.equal($0.path, far) }) { return }
    let name = new.qualifiedName(of: inverse)
    report(
      path(property, in: new),
      "its inverse is the to-one \(name) now, and several objects may refer to the same one: make \(name) a to-many, or "
        + "give \(property.name) another name")
  }

  /// Handles a to-one that becomes a to-many, or vice versa. A to-many that is found through its inverse stores
  /// nothing; the inverse decides.
  private mutating func inferCount(
    _ property: Property, _ relationship: Relationship, _ before: Property, _ earlier: Relationship, _ path: String
  ) {
    switch (earlier.storage, relationship.storage) {
    case (.reference, .members):
      plan.origins[property.number] = .converted(before.number)
      plan.tightened.insert(property.owner)
      add(.changeProperty, path, "was a to-one; its object becomes the only member")
    case (.reference, .inverse) where new.property(relationship.inverse)?.relationship?.storage == .reference:
      // A one-to-one relationship, stored at both ends: the other end keeps it.
      add(.changeProperty, path, "was a to-one, and is read through its inverse now")
    default:
      report(
        path,
        relationship.isToMany
          ? "becomes a to-many that is stored at the other end: \(remedy(property, relationship))"
          : "can't become a to-one: an object may have several; give it another name")
    }
  }

  /// The change of the model file that stores a many-to-many at this end.
  private func remedy(_ property: Property, _ relationship: Relationship) -> String {
    let owner = new.owner(of: property)
    if let inverse = new.property(relationship.inverse), inverse.owner == property.owner {
      return "declare it before \(new.qualifiedName(of: inverse))"
    }
    return "declare \(owner.name) first"
  }

  /// Compares by bytes: canonically equivalent constants are different expressions.
  private func differs(_ now: String?, _ then: String?) -> Bool {
    now.map(ByteKey.init) != then.map(ByteKey.init)
  }

  // MARK: - Keys and rules

  mutating func inferRules(_ entity: Entity, _ before: Entity) {
    let (now, then) = (new.rules(of: entity.number), old.rules(of: before.number))
    let kept = Set(then.map { ByteKey($0.predicate) })
    for rule in now where rule.owner == entity.number && !kept.contains(rule.predicate) {
      plan.tightened.insert(entity.number)
      add(.changeRules, "\(entity.name).\(rule.name)", "is a new or changed rule")
    }
  }

  mutating func inferKeys(of entity: Entity) {
    guard let before = plan.entities[entity.number].flatMap({ old.entity($0) }) else { return }
    func own(_ entity: Entity, _ model: Model) -> [[PropertyNumber]] {
      let inherited = entity.parent.flatMap { model.entity($0) }?.uniquenessConstraints ?? []
      return entity.uniquenessConstraints.filter { !inherited.contains($0) }
    }
    let then = own(before, old)
    var met = [[PropertyNumber]]()
    for key in own(entity, new) {
      let names = key.compactMap { new.property($0)?.name }.joined(separator: " and ")
      let earlier = key.compactMap { plan.kept($0) }
      if earlier.count == key.count, then.contains(earlier) {
        met.append(earlier)
      } else {
        add(.addUnique, entity.name, "\(names) must be unique now")
      }
    }
    for key in then where !met.contains(key) {
      let names = key.compactMap { old.property($0)?.name }.joined(separator: " and ")
      add(.removeUnique, entity.name, "\(names) need not be unique now")
    }
  }
}
