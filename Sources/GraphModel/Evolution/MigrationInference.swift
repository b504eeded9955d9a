/// Finds the predecessor of each part of the new version in the old one. Entities are matched first; a property's
/// predecessor is searched in its entity's predecessor.
struct MigrationInference {
  var plan: MigrationPlan
  var problems = [MigrationPlan.Problem]()
  /// The new property by its old predecessor.
  var successors = [PropertyNumber: Property]()
  var mappings = [String: Mapping]()
  /// Entities without a definite predecessor. Problems with their properties and with relationships to them are not
  /// reported.
  var ambiguousEntities = Set<String>()

  var old: Model { plan.old }
  var new: Model { plan.new }

  init(_ plan: MigrationPlan) {
    self.plan = plan
    for mapping in plan.new.mappings { mappings[mapping.target] = mapping }
  }

  mutating func report(_ path: String, _ reason: String) { problems.append(.init(path, reason)) }

  mutating func add(_ kind: MigrationStep.Kind, _ path: String, _ text: String) {
    plan.steps.append(MigrationStep(kind: kind, path: path, text: text))
  }

  mutating func run() {
    matchEntities()
    ambiguousEntities = Set(problems.map(\.path))
    for entity in new.entities {
      guard let before = plan.entities[entity.number].flatMap({ old.entity($0) }) else { continue }
      checkFamily(entity, before)
    }
    let isSure = problems.isEmpty
    for entity in new.entities where !ambiguousEntities.contains(entity.name) { inferProperties(of: entity) }
    guard isSure else { return }
    for entity in new.entities {
      for property in entity.relationships where property.owner == entity.number { checkInverse(of: property) }
    }
    inferDerived()
    for entity in new.entities { inferKeys(of: entity) }
    for entity in new.entities where plan.entities[entity.number] != nil {
      let bereft = entity.relationships.filter { $0.owner == entity.number && plan.hasLostObjects($0) }
      if bereft.contains(where: { $0.relationship?.minimumCount != nil }) { plan.tightened.insert(entity.number) }
    }
    for entity in plan.removedEntities { add(.removeEntity, entity.name, "is removed, with all its objects") }
    for property in plan.removedProperties {
      add(.removeProperty, path(property, in: old), "is removed, with its values")
    }
  }

  func path(_ property: Property, in model: Model) -> String {
    property.isHidden ? "\(model.owner(of: property).name), scope" : model.qualifiedName(of: property)
  }

  // MARK: - Entities

  private mutating func matchEntities() {
    var taken = [EntityNumber: Entity]()
    for entity in new.entities {
      guard let before = earlier(entity) else {
        add(.addEntity, entity.name, "is new")
        continue
      }
      if let other = taken.updateValue(entity, forKey: before.number) {
        report(
          entity.name,
          "this and \(other.name) come from \(before.name) of version \(old.version): remove \"renamed\" from one")
      }
      plan.entities[entity.number] = before.number
      if before.name != entity.name { add(.renameEntity, entity.name, "was called \(before.name)") }
    }
    plan.removedEntities = old.entities.filter { taken[$0.number] == nil }
  }

  /// The predecessor of an entity. `renamed` may stay in the file in later versions: if no entity has that name, the
  /// renaming is complete.
  private mutating func earlier(_ entity: Entity) -> Entity? {
    if let name = entity.renamed {
      if let before = old.entity(named: name) { return before }
      if old.entity(named: entity.name) == nil {
        report(entity.name, "is renamed from \"\(name)\", but version \(old.version) has neither: fix \"renamed\"")
      }
    }
    return old.entity(named: entity.name)
  }

  private mutating func checkFamily(_ entity: Entity, _ before: Entity) {
    let parent = entity.parent.flatMap { plan.entities[$0] }
    if parent != before.parent || entity.parent != nil && parent == nil {
      report(
        entity.name,
        "its parent changes; objects can't be moved from one table to another: make a new entity, and move them yourself"
      )
    }
    if entity.isAbstract, !before.isAbstract {
      plan.tightened.insert(entity.number)
      add(.changeRules, entity.name, "is abstract now: it must have no objects")
    }
  }

  // MARK: - Properties

  private mutating func inferProperties(of entity: Entity) {
    let before = plan.entities[entity.number].flatMap { old.entity($0) }
    let own = entity.allProperties.filter { $0.owner == entity.number }
    for property in own {
      let mapping = mappings["\(entity.name).\(property.name)"]
      guard let before else {
        if let mapping { report(mapping.path, "\(entity.name) is new: there are no objects to take values from") }
        continue
      }
      let earlier = earlier(property, before)
      if let earlier, let other = successors.updateValue(property, forKey: earlier.number) {
        report(
          path(property, in: new),
          "this and \(other.name) come from \(earlier.name) of version \(old.version): remove \"renamed\" from one")
        continue
      }
      plan.predecessors[property.number] = earlier?.number
      if let earlier, earlier.name != property.name, property.attribute?.assignment != .position {
        add(.renameProperty, path(property, in: new), "was called \(earlier.name)")
      }
      if let mapping {
        map(property, by: mapping, of: before)
      } else if let earlier {
        inferChange(property, earlier)
      } else {
        inferNew(property)
      }
    }
    guard let before else { return }
    let gone = before.allProperties.filter { $0.owner == before.number && successors[$0.number] == nil }
    plan.removedProperties += gone.filter {
      ($0.slot != nil || $0.relationship != nil) && $0.attribute?.assignment != .position && !$0.isHidden
    }
    inferRules(entity, before)
  }

  private mutating func earlier(_ property: Property, _ before: Entity) -> Property? {
    func find(_ name: String) -> Property? {
      before.allProperties.first { $0.owner == before.number && $0.name == name && $0.attribute?.isTransient != true }
    }
    guard property.attribute?.isTransient != true else { return nil }
    if let name = property.renamed {
      if let earlier = find(name) { return earlier }
      if find(property.name) == nil, property.attribute?.assignment != .position {
        report(
          path(property, in: new),
          "is renamed from \"\(name)\", but version \(old.version) has neither: fix \"renamed\"")
      }
    }
    return find(property.name)
  }

  private mutating func map(_ property: Property, by mapping: Mapping, of before: Entity) {
    do {
      let expression = try GraphExpression(parsing: mapping.expression, entity: before, model: old)
      guard !expression.searchesText else { return report(mapping.path, "can't contain a search") }
      let type = expression.type(in: old)
      guard let attribute = property.attribute, attribute.accepts(type) else {
        return report(
          mapping.path, "gives \(type.word), but \(property.name) is \(property.attribute?.kind.rawValue ?? "to-one")")
      }
      plan.origins[property.number] = .mapped(expression)
      markUnvalidated(property)
      add(.map, path(property, in: new), "becomes \(mapping.expression)")
    } catch {
      report(mapping.path, "\(error.description) (in the names of version \(old.version))")
    }
  }

  /// Marks values that were never validated; SQL alone finds values that can only be missing.
  mutating func markUnvalidated(_ property: Property) {
    if !property.isOptional { plan.required.append(property) }
    let family = new.family(of: property.owner)
    let none = ["null", "null", nil, nil, nil]
    if let attribute = property.attribute, limits(attribute) != none { plan.tightened.insert(property.owner) }
    if family.contains(where: { !new.rules(of: $0).isEmpty }) { plan.tightened.insert(property.owner) }
  }

  private mutating func inferNew(_ property: Property) {
    let path = path(property, in: new)
    guard let attribute = property.attribute else { return inferNewRelationship(property, path) }
    guard !attribute.isTransient else { return }
    if attribute.isDerived {
      plan.origins[property.number] = .derived
      if !property.isHidden { markUnvalidated(property) }
      return add(.addProperty, path, "is new, and computed for every object")
    }
    if attribute.assignment == .position {
      plan.origins[property.number] = .place
      return
    }
    if let value = attribute.checked(attribute.defaultValue), !value.isNull {
      plan.origins[property.number] = .constant(value)
      // A default may break its own length or pattern; an insert that relies on it would be refused.
      if !attribute.violations(of: value).isEmpty { plan.tightened.insert(property.owner) }
      return add(.addProperty, path, "is new, and \(value.json(kind: attribute.kind).text) for every object")
    }
    plan.origins[property.number] = .empty
    if !property.isOptional { plan.unfilled.append(property) }
    add(.addProperty, path, property.isOptional ? "is new, and empty" : "is new, required, and has no default")
  }

  private mutating func inferNewRelationship(_ property: Property, _ path: String) {
    if property.slot != nil {
      plan.origins[property.number] = .empty
      if !property.isOptional { plan.unfilled.append(property) }
    }
    if property.requiresMembers { plan.tightened.insert(property.owner) }
    if let kept = keptInverse(of: property) {
      return add(.addProperty, path, "is new, and is the inverse of \(kept), which is kept")
    }
    add(.addProperty, path, "is new, and still empty")
  }

  /// The inverse that stores the relationship, if the earlier version had it.
  private func keptInverse(of property: Property) -> String? {
    guard property.slot == nil, let inverse = property.relationship.flatMap({ new.property($0.inverse) }),
      let before = plan.entities[inverse.owner].flatMap({ old.entity($0) })
    else { return nil }
    let names = [inverse.renamed, inverse.name]
    let had = before.allProperties.contains { names.contains($0.name) && $0.relationship != nil && $0.slot != nil }
    return had ? self.path(inverse, in: new) : nil
  }
}
