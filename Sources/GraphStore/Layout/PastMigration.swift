import GraphModel

/// One past migration of a store, which converts values of earlier commits to the later version.
///
/// Its plan is inferred again from the two versions that the store keeps. Properties that were added, removed, renamed,
/// widened, converted or filled can be read in any earlier state, because each value is converted independently; an
/// expression over the object is computed for each of its states. Two kinds of values can't be computed for earlier
/// states: those of a mapping, whose source properties may be removed, and a new order, which has no source. In earlier
/// states such a property has the value that the migration gave it, just as an added property has its default. An
/// earlier count is derived from its value at the migration (`PastCounts`).
final class PastMigration: Sendable {
  /// The revision of the migration.
  let since: Revision
  /// The reason why earlier states can't be read in the later version's terms; nil if they can.
  let obstacle: String?
  /// A description of the values that it changed without commits; nil if there are none.
  ///
  /// It is the rest of a sentence. Readers that follow commits from before the migration would miss these changes.
  let mapped: String?
  /// The properties that it changed without commits, by the later version's numbers.
  let mappedProperties: [PropertyNumber]
  /// Counts of referring objects that it added, by the later version's numbers.
  let countedProperties: [PropertyNumber]
  private let earlier: StoreVersion
  private let later: StoreVersion
  /// Nil if no plan can be inferred from the two versions as they are read now.
  private let plan: MigrationPlan?
  /// The successors, by the earlier version's numbers.
  private let successors: [PropertyNumber: Successor]
  /// The predecessors, by the later version's numbers.
  private let predecessors: [PropertyNumber: Property]
  private let fills: [PropertyNumber: Value]

  private struct Successor {
    let property: Property
    let isConverted: Bool
  }

  init(from earlier: StoreVersion, to later: StoreVersion) {
    (self.earlier, self.later) = (earlier, later)
    since = later.since
    let plan = try? MigrationPlan.infer(from: earlier.model, to: later.model)
    self.plan = plan
    var successors = [PropertyNumber: Successor]()
    var predecessors = [PropertyNumber: Property]()
    var obstacle = plan == nil ? "no migration leads from the one model to the other, as they are read now" : nil
    var (mapped, mappedProperties, countedProperties) = (String?.none, [PropertyNumber](), [PropertyNumber]())
    var seen = Set<PropertyNumber>()
    for entity in later.model.entities {
      for property in entity.storedProperties where seen.insert(property.number).inserted {
        let stored = later.numbers.stored(property: property.number)
        // The store's numbers decide which property continues another, even if the model files have changed since.
        if let old = earlier.model.property(earlier.numbers.present(property: stored)) {
          successors[old.number] = Successor(property: property, isConverted: false)
          predecessors[property.number] = old
        } else if case .converted(let number)? = plan?.origins[property.number],
          let old = earlier.model.property(number)
        {
          successors[old.number] = Successor(property: property, isConverted: true)
          predecessors[property.number] = old
        } else if let plan {
          let name = later.model.qualifiedName(of: property)
          switch plan.origins[property.number] {
          case .mapped:
            if mapped == nil { mapped = "computed \(name) by a mapping" }
            mappedProperties.append(property.number)
          case .place:
            guard let list = Self.kept(placedBy: property, plan) else { break }
            if mapped == nil { mapped = "put \(list) in order" }
            mappedProperties.append(property.number)
          case .derived:
            if later.model.countedEnd(of: property) != nil { countedProperties.append(property.number) }
          case .kept:
            if obstacle == nil {
              obstacle = "the models describe \(name) differently than when the store was migrated"
            }
          case .converted, .constant, .empty, nil: break
          }
        }
      }
    }
    (self.successors, self.predecessors) = (successors, predecessors)
    (self.obstacle, self.mapped) = (obstacle, mapped)
    (self.mappedProperties, self.countedProperties) = (mappedProperties, countedProperties)
    var fills = [PropertyNumber: Value]()
    if let plan {
      for (property, value) in plan.fills where fills[property.number] == nil { fills[property.number] = value }
    }
    self.fills = fills
  }

  /// The name of an existing relationship that the migration ordered by a property.
  ///
  /// Nil for a new relationship, which had no members to order.
  private static func kept(placedBy property: Property, _ plan: MigrationPlan) -> String? {
    let reference = plan.new.entity(property.owner)?.relationships.first {
      $0.relationship?.position == property.number
    }
    guard let reference, plan.kept(reference.number) != nil, let list = reference.relationship?.inverse,
      let property = plan.new.property(list)
    else { return nil }
    return plan.new.qualifiedName(of: property)
  }

  /// The later version's property that continues an earlier one.
  func successor(of property: PropertyNumber) -> Property? { successors[property]?.property }

  /// The earlier version's property that was converted to a later one.
  func converted(to property: PropertyNumber) -> Property? {
    guard let old = predecessors[property], successors[old.number]?.isConverted == true else { return nil }
    return old
  }

  /// Converts a value of an earlier property to its successor.
  func value(_ value: Value, of old: Property) -> Value {
    guard let successor = successors[old.number] else { return .null }
    let property = successor.property
    let next = successor.isConverted ? property.converted(value, of: old) : property.widened(value)
    return next.isNull ? fills[property.number] ?? next : next
  }

  /// Converts a complete object; nil if its entity was removed. Properties without a predecessor get the values of a
  /// new object.
  func image(_ image: ObjectImage) -> ObjectImage? {
    let stored = earlier.numbers.stored(entity: image.id.entity)
    guard let entity = later.model.entity(later.numbers.present(entity: stored)) else { return nil }
    var planned = [Value?]()
    if let plan, let values = plan.values(from: image) { planned = values }
    let values = zip(entity.storedProperties, entity.initialValues).enumerated().map { slot, pair in
      if let old = predecessors[pair.0.number] { return value(image[old], of: old) }
      return (slot < planned.count ? planned[slot] : nil) ?? pair.1
    }
    var next = ObjectImage(
      id: ObjectID(key: image.id.key, entity: entity.number), revision: image.revision, values: values)
    // Derived values by the rules of the later version, because the next version may convert them.
    for property in entity.storedProperties where property.attribute?.isDerived == true {
      guard later.model.countedEnd(of: property) == nil else { continue }
      next[property] = later.model.derivedValue(of: property, in: next)
    }
    return next
  }
}

/// The present successor of an older version's property, with the conversion of its values.
struct PropertySuccessor {
  let property: Property
  fileprivate let path: [(step: PastMigration, old: Property)]

  func value(_ value: Value) -> Value { path.reduce(value) { $1.step.value($0, of: $1.old) } }
}

extension StoreLayout {
  /// The first revision that can be read in the present model's terms, and the obstacle for earlier ones.
  ///
  /// Nil if all revisions can be read.
  var unreadable: (before: Revision, obstacle: String)? {
    for step in steps.reversed() {
      if let obstacle = step.obstacle { return (step.since, obstacle) }
    }
    return nil
  }

  /// The newest migration that changed objects without commits, with a description; nil for none.
  ///
  /// The description is the rest of a sentence.
  var mapped: (since: Revision, what: String)? {
    for step in steps.reversed() {
      if let mapped = step.mapped { return (step.since, mapped) }
    }
    return nil
  }

  /// A migration that changed objects without commits, by properties of the present model.
  struct UnloggedMigrationStep {
    let since: Revision
    /// The properties that earlier states have with the migration's values.
    let properties: [Property]
    /// The counts that the migration added.
    let counts: [(attribute: Property, end: Property)]
  }

  /// Whether a migration after a revision added counts. A single object does not determine them for earlier states.
  func addsCounts(behind revision: Revision) -> Bool {
    mappedSteps.contains { revision < $0.since && !$0.counts.isEmpty }
  }

  /// Returns the migrations that changed objects without commits.
  func findMappedSteps() -> [UnloggedMigrationStep] {
    steps.enumerated().compactMap { index, step in
      guard step.mapped != nil || !step.countedProperties.isEmpty else { return nil }
      let version = versions[index + 1]
      func successor(_ number: PropertyNumber) -> Property? {
        self.successor(of: version.numbers.stored(property: number), from: version)?.property
      }
      return UnloggedMigrationStep(
        since: step.since, properties: step.mappedProperties.compactMap(successor),
        counts: step.countedProperties.compactMap(successor).compactMap { attribute in
          model.countedEnd(of: attribute).map { (attribute, $0) }
        })
    }
  }

  /// Returns the present successor of a property; nil if it was removed.
  /// - Parameter stored: the property's number in the store.
  func successor(of stored: PropertyNumber, from version: StoreVersion) -> PropertySuccessor? {
    guard let first = versions.firstIndex(where: { $0.number == version.number }),
      var property = version.model.property(version.numbers.present(property: stored))
    else { return nil }
    var path = [(step: PastMigration, old: Property)]()
    for step in steps[first...] {
      guard let successor = step.successor(of: property.number) else { return nil }
      path.append((step, property))
      property = successor
    }
    // The newest version's model may differ from the present one of the same hash.
    return model.property(property.number).map { PropertySuccessor(property: $0, path: path) }
  }

  /// Converts the values of a complete object of an older version to the present slots. Empty if its entity was
  /// removed.
  /// - Parameter id: the stored id; ids among the values are in stored form too, before and after the conversion.
  func values(_ values: [Value], of id: ObjectID, from version: StoreVersion) -> [Value] {
    guard let first = versions.firstIndex(where: { $0.number == version.number }) else { return [] }
    let entity = version.numbers.present(entity: id.entity)
    guard version.model.entity(entity) != nil else { return [] }
    var image = ObjectImage(id: ObjectID(key: id.key, entity: entity), revision: 0, values: values)
    for step in steps[first...] {
      guard let next = step.image(image) else { return [] }
      image = next
    }
    guard let now = model.entity(image.id.entity) else { return [] }
    // Properties that are required by now get their defaults.
    return zip(now.storedProperties, now.initialValues).enumerated().map { slot, pair in
      let value = slot < image.values.count ? image.values[slot] : pair.1
      return value.isNull && !pair.0.isOptional ? pair.1 : value
    }
  }

  /// The revision of the migration that added or computed a property; 0 for none. A converted property counts from its
  /// predecessor.
  func beginning(of property: PropertyNumber) -> Revision {
    PastMigration.beginning(of: property, versions, steps)
  }
}

extension PastMigration {
  /// Returns the attributes that a migration made derived, each with its revision.
  ///
  /// Only attributes that depend on their own object alone are included.
  static func expressions(
    of model: Model, _ versions: [StoreVersion], _ steps: [PastMigration]
  ) -> [(property: Property, since: Revision)] {
    var seen = Set<PropertyNumber>()
    return model.entities.flatMap(\.storedProperties).compactMap { property in
      guard property.attribute?.isDerived == true, model.countedEnd(of: property) == nil,
        seen.insert(property.number).inserted
      else { return nil }
      let since = beginning(of: property.number, versions, steps)
      return since > 0 ? (property, since) : nil
    }
  }

  static func beginning(
    of property: PropertyNumber, _ versions: [StoreVersion], _ steps: [PastMigration]
  ) -> Revision {
    var property = property
    for (index, step) in steps.enumerated().reversed() {
      let stored = versions[index + 1].numbers.stored(property: property)
      let earlier = versions[index].numbers.present(property: stored)
      if versions[index].model.property(earlier) != nil {
        property = earlier
      } else if let old = step.converted(to: property) {
        property = old.number
      } else {
        return step.since
      }
    }
    return 0
  }
}
