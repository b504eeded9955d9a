import GraphModel

/// One migration that a store has been through, as its history is read across it: what becomes of a value that a commit
/// before it speaks of. The plan is inferred once more from the two versions that the store keeps.
///
/// What was only added, removed, renamed, widened, converted or filled can be told of any state before, because each value
/// leads to the next by itself; an expression over the object is computed anew for each of its states. What a mapping made
/// came from what may be gone, and an order came from nowhere: before it a property has what the migration gave it, as one
/// that was added has its default. A count is told by the way from what it was at the migration (`PastCounts`).
final class VersionStep: Sendable {
  /// The revision of the migration.
  let since: Revision
  /// Why states before it can't be told in the words behind it; nil when they can.
  let obstacle: String?
  /// What it made of values that no commit tells of, as a sentence goes on; nil when it made nothing so. Whoever follows
  /// commits from before would not hear of it.
  let mapped: String?
  /// All that it made so, by the later version's numbers.
  let mappedProperties: [PropertyNumber]
  /// Counts of objects that refer to their owner, which it began, by the later version's numbers.
  let countedProperties: [PropertyNumber]
  private let earlier: StoreVersion
  private let later: StoreVersion
  /// Nil when the two versions, as they are read now, have none.
  private let plan: MigrationPlan?
  /// By the earlier version's numbers.
  private let heirs: [PropertyNumber: Heir]
  /// By the later version's numbers.
  private let ancestors: [PropertyNumber: Property]
  private let fills: [PropertyNumber: Value]

  private struct Heir {
    let property: Property
    let isConverted: Bool
  }

  init(from earlier: StoreVersion, to later: StoreVersion) {
    (self.earlier, self.later) = (earlier, later)
    since = later.since
    let plan = try? MigrationPlan.infer(from: earlier.model, to: later.model)
    self.plan = plan
    var heirs = [PropertyNumber: Heir]()
    var ancestors = [PropertyNumber: Property]()
    var obstacle = plan == nil ? "its models, as they are read now, do not lead from one to the other" : nil
    var (mapped, mappedProperties, countedProperties) = (String?.none, [PropertyNumber](), [PropertyNumber]())
    var seen = Set<PropertyNumber>()
    for entity in later.model.entities {
      for property in entity.storedProperties where seen.insert(property.number).inserted {
        let stored = later.numbers.stored(property: property.number)
        // The store's numbers say what went on, whatever the files say by now.
        if let old = earlier.model.property(earlier.numbers.present(property: stored)) {
          heirs[old.number] = Heir(property: property, isConverted: false)
          ancestors[property.number] = old
        } else if case .converted(let number)? = plan?.origins[property.number],
          let old = earlier.model.property(number)
        {
          heirs[old.number] = Heir(property: property, isConverted: true)
          ancestors[property.number] = old
        } else if let plan {
          let name = "\(later.model.entity(property.owner)?.name ?? "").\(property.name)"
          switch plan.origins[property.number] {
          case .mapped:
            mapped = mapped ?? "computed \(name) by a mapping"
            mappedProperties.append(property.number)
          case .place:
            guard let list = Self.kept(placedBy: property, plan) else { break }
            mapped = mapped ?? "put \(list) in order"
            mappedProperties.append(property.number)
          case .derived:
            if later.model.countedEnd(of: property) != nil { countedProperties.append(property.number) }
          case .kept:
            obstacle = obstacle ?? "\(name) is told otherwise by the models than when the store was migrated"
          case .converted, .constant, .empty, nil: break
          }
        }
      }
    }
    self.heirs = heirs
    self.ancestors = ancestors
    (self.obstacle, self.mapped) = (obstacle, mapped)
    (self.mappedProperties, self.countedProperties) = (mappedProperties, countedProperties)
    fills = Dictionary(
      (plan?.fills ?? []).map { ($0.property.number, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// The relationship, by name, that was there before and has its order by a property since; nil for one that is new, of
  /// which there was nothing to put in order.
  private static func kept(placedBy property: Property, _ plan: MigrationPlan) -> String? {
    let reference = plan.new.entity(property.owner)?.relationships.first {
      $0.relationship?.position == property.number
    }
    guard let reference, plan.kept(reference.number) != nil, let list = reference.relationship?.inverse,
      let property = plan.new.property(list)
    else { return nil }
    return "\(plan.new.entity(property.owner)?.name ?? "").\(property.name)"
  }

  /// What a property of the earlier version goes on as.
  func heir(of property: PropertyNumber) -> Property? { heirs[property]?.property }

  /// The property of the earlier version that was converted to one of the later.
  func converted(to property: PropertyNumber) -> Property? {
    guard let old = ancestors[property], heirs[old.number]?.isConverted == true else { return nil }
    return old
  }

  /// A value of the earlier version's property, as one of its heir.
  func value(_ value: Value, of old: Property) -> Value {
    guard let heir = heirs[old.number] else { return .null }
    let next = heir.isConverted ? heir.property.converted(value, of: old) : heir.property.widened(value)
    return next.isNull ? fills[heir.property.number] ?? next : next
  }

  /// A whole object; nil when its entity is gone. What nothing of it leads to has what a new object has.
  func image(_ image: ObjectImage) -> ObjectImage? {
    let stored = earlier.numbers.stored(entity: image.id.entity)
    guard let entity = later.model.entity(later.numbers.present(entity: stored)) else { return nil }
    let planned = plan?.values(from: image) ?? []
    let values = zip(entity.storedProperties, entity.initialValues).enumerated().map { slot, pair in
      if let old = ancestors[pair.0.number] { return value(image[old], of: old) }
      return (slot < planned.count ? planned[slot] : nil) ?? pair.1
    }
    var next = ObjectImage(
      id: ObjectID(key: image.id.key, entity: entity.number), revision: image.revision, values: values)
    // What the rules of the later version say of the object: a version behind it may have made a value of that.
    for property in entity.storedProperties where property.attribute?.isDerived == true {
      guard later.model.countedEnd(of: property) == nil else { continue }
      next[property] = later.model.derivedValue(of: property, in: next)
    }
    return next
  }
}

/// What a property of an older version is now, and the way of its values there.
struct PropertyHeir {
  let property: Property
  fileprivate let path: [(step: VersionStep, old: Property)]

  func value(_ value: Value) -> Value { path.reduce(value) { $1.step.value($0, of: $1.old) } }
}

extension StoreLayout {
  /// The first revision whose graph can be told in the present words, and what stands in the way of those before; nil when
  /// all of them can.
  var untold: (before: Revision, obstacle: String)? {
    for step in steps.reversed() {
      if let obstacle = step.obstacle { return (step.since, obstacle) }
    }
    return nil
  }

  /// The newest migration that made something which no commit tells of, and what, as a sentence goes on; nil when none did.
  var mapped: (since: Revision, what: String)? {
    for step in steps.reversed() {
      if let mapped = step.mapped { return (step.since, mapped) }
    }
    return nil
  }

  /// A migration that has made something which no commit tells of, and what of that is there now.
  struct MappedStep {
    let since: Revision
    /// What has in every state before what it gave them.
    let properties: [Property]
    /// What was counted from then on.
    let counts: [(attribute: Property, end: Property)]
  }

  /// Whether some count was begun by a migration behind a revision: no object alone tells it of states before.
  func countsAnew(behind revision: Revision) -> Bool {
    mappedSteps.contains { revision < $0.since && !$0.counts.isEmpty }
  }

  /// All of them; none for a store without.
  func findMappedSteps() -> [MappedStep] {
    steps.enumerated().compactMap { index, step in
      guard step.mapped != nil || !step.countedProperties.isEmpty else { return nil }
      let version = versions[index + 1]
      func heir(_ number: PropertyNumber) -> Property? {
        self.heir(of: version.numbers.stored(property: number), from: version)?.property
      }
      return MappedStep(
        since: step.since, properties: step.mappedProperties.compactMap(heir),
        counts: step.countedProperties.compactMap(heir).compactMap { attribute in
          model.countedEnd(of: attribute).map { (attribute, $0) }
        })
    }
  }

  /// What a property is now; nil for one that is gone.
  /// - Parameter stored: its number in the store.
  func heir(of stored: PropertyNumber, from version: StoreVersion) -> PropertyHeir? {
    guard let first = versions.firstIndex(where: { $0.number == version.number }),
      var property = version.model.property(version.numbers.present(property: stored))
    else { return nil }
    var path = [(step: VersionStep, old: Property)]()
    for step in steps[first...] {
      guard let heir = step.heir(of: property.number) else { return nil }
      path.append((step, property))
      property = heir
    }
    // The newest version's model may be another one of the same hash.
    return model.property(property.number).map { PropertyHeir(property: $0, path: path) }
  }

  /// The values of a whole object of an older version in the present slots; none when its entity is gone.
  /// - Parameter id: as it is stored, and so are ids among the values, before and after.
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
    // What must have a value by now has its default.
    return zip(now.storedProperties, now.initialValues).enumerated().map { slot, pair in
      let value = slot < image.values.count ? image.values[slot] : pair.1
      return value.isNull && !pair.0.isOptional ? pair.1 : value
    }
  }

  /// The revision of the migration that made a property: added or computed it. One that was converted goes on as what it
  /// was before. 0 where none did.
  func beginning(of property: PropertyNumber) -> Revision {
    VersionStep.beginning(of: property, versions, steps)
  }
}

extension VersionStep {
  /// The derived attributes that their own object tells and that a migration has made, each with its revision.
  static func expressions(
    of model: Model, _ versions: [StoreVersion], _ steps: [VersionStep]
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
    of property: PropertyNumber, _ versions: [StoreVersion], _ steps: [VersionStep]
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
