/// Finds the differences between two versions that rule out a lens. A migration allows more than a lens: it happens
/// once and discards the old values, while through a lens both versions stay in use.
struct LensCompatibilityCheck {
  let plan: MigrationPlan
  var problems = [MigrationPlan.Problem]()
  var upgradedProperties = [PropertyNumber: PropertyNumber]()
  var conversions = [PropertyNumber: VersionLens.ValueConversion]()

  private var old: Model { plan.old }
  private var new: Model { plan.new }

  init(_ plan: MigrationPlan) { self.plan = plan }

  /// The nearest ancestor that the older version has, as declared in that version.
  static func ancestor(of entity: Entity, _ plan: MigrationPlan) -> Entity? {
    var next = entity.parent
    while let number = next, let parent = plan.new.entity(number) {
      if let before = plan.entities[number] { return plan.old.entity(before) }
      next = parent.parent
    }
    return nil
  }

  private mutating func report(_ path: String, _ reason: String) { problems.append(.init(path, reason)) }

  private func path(_ property: Property) -> String { new.qualifiedName(of: property) }

  mutating func run() {
    for entity in new.entities {
      guard let before = plan.entities[entity.number].flatMap({ old.entity($0) }) else {
        checkNew(entity)
        continue
      }
      if entity.isAbstract != before.isAbstract {
        report(entity.name, entity.isAbstract ? "is abstract now" : "is no longer abstract")
      }
      for property in entity.allProperties where property.owner == entity.number { check(property) }
    }
    for step in plan.steps where step.kind == .removeUnique { report(step.path, step.text) }
    for entity in plan.removedEntities { report(entity.name, "was removed") }
    for property in plan.removedProperties {
      report(old.qualifiedName(of: property), "was removed")
    }
  }

  /// Objects of a new subentity appear as objects of their nearest known ancestor.
  private mutating func checkNew(_ entity: Entity) {
    guard !entity.isAbstract, let ancestor = Self.ancestor(of: entity, plan), ancestor.isAbstract else { return }
    report(
      entity.name, "is new, and its ancestor \(ancestor.name) is abstract: older clients can't show its objects")
  }

  private mutating func check(_ property: Property) {
    guard property.attribute?.isTransient != true else { return }
    guard let before = plan.predecessors[property.number].flatMap({ old.property($0) }) else {
      return checkNew(property)
    }
    upgradedProperties[before.number] = property.number
    switch (property.kind, before.kind) {
    case (.attribute(let attribute), .attribute(let earlier)): check(property, attribute, before, earlier)
    case (.relationship(let relationship), .relationship(let earlier)):
      check(property, relationship, before, earlier)
    default: report(path(property), "is another kind of property now")
    }
  }

  /// A client without the property inserts objects without a value for it.
  private mutating func checkNew(_ property: Property) {
    switch property.kind {
    case .attribute(let attribute):
      guard !property.isOptional, !attribute.isDerived, attribute.assignment == nil,
        attribute.checked(attribute.defaultValue).orNull.isNull
      else { return }
      report(path(property), "is new, required, and has no default")
    case .relationship(let relationship):
      if !relationship.isToMany, !property.isOptional { report(path(property), "is new, and required") }
      if let minimum = relationship.minimumCount, minimum > 0 {
        report(path(property), "is new, and needs \(minimum) object\(minimum == 1 ? "" : "s")")
      }
    }
  }

  private mutating func check(
    _ property: Property, _ attribute: Attribute, _ before: Property, _ earlier: Attribute
  ) {
    let path = path(property)
    if case .mapped? = plan.origins[property.number] {
      return report(path, "has other values now: a mapping computes them")
    }
    guard attribute.assignment == earlier.assignment, attribute.isDerived == earlier.isDerived else {
      return report(path, "is now set by the other side, the server or the client")
    }
    if earlier.isFullText, !attribute.isFullText { report(path, "can no longer be searched") }
    let gone = earlier.cases.filter { !attribute.cases.contains($0) }
    if attribute.kind == .enumeration, earlier.kind == .enumeration, !gone.isEmpty {
      report(path, "no longer allows \(gone.joined(separator: ", "))")
    }
    guard property.isOptional == before.isOptional || property.isOptional else {
      return report(path, "is required now")
    }
    checkForm(property, attribute, before, earlier)
  }

  private mutating func checkForm(
    _ property: Property, _ attribute: Attribute, _ before: Property, _ earlier: Attribute
  ) {
    let path = path(property)
    let isFree = property.isOptional && !before.isOptional
    // The value shown for values that the older version does not allow.
    let standIn = earlier.checked(earlier.defaultValue).orNull
    let hasStandIn = before.isOptional || !standIn.isNull
    let texts: Set<Attribute.Kind> = [.string, .text]
    switch (earlier.kind, attribute.kind) {
    case (.integer, .double), (.integer, .decimal):
      guard !isFree else { return report(path, "has another type, and may be null now") }
      conversions[before.number] = .truncated
    case (.enumeration, .enumeration):
      let isWider = attribute.cases.contains { !earlier.cases.contains($0) }
      guard isFree || isWider else { return }
      guard hasStandIn else {
        return report(path, isWider ? "allows more cases, and has no default to show instead" : Self.noDefault)
      }
      conversions[before.number] = .fallback(standIn)
    case _ where earlier.kind == attribute.kind || earlier.kind == .string && attribute.kind == .text:
      guard isFree else { return }
      guard hasStandIn else { return report(path, Self.noDefault) }
      conversions[before.number] = .fallback(standIn)
    case (.enumeration, let now) where texts.contains(now), (.uri, let now) where texts.contains(now):
      guard hasStandIn else { return report(path, "allows any text now, and has no default to show instead") }
      conversions[before.number] = .fallback(standIn)
    default:
      report(path, "was \(earlier.kind.rawValue), and is \(attribute.kind.rawValue) now")
    }
  }

  private static let noDefault = "may be null now, and has no default to show instead"

  private mutating func check(
    _ property: Property, _ relationship: Relationship, _ before: Property, _ earlier: Relationship
  ) {
    let path = path(property)
    guard plan.entities[relationship.destination] == earlier.destination,
      plan.predecessors[relationship.inverse] == earlier.inverse
    else { return report(path, "has another destination or inverse now") }
    guard relationship.isToMany == earlier.isToMany, relationship.isOrdered == earlier.isOrdered,
      relationship.storage == earlier.storage
    else { return report(path, "is another kind of relationship now") }
    if !relationship.isToMany, property.isOptional != before.isOptional {
      report(path, property.isOptional ? "may be null now" : "is required now")
    }
    // Position attributes are named after their relationship and match with it.
    if let place = relationship.position, let placeBefore = earlier.position { upgradedProperties[placeBefore] = place }
  }
}
