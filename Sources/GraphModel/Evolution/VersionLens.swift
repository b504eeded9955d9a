/// A lens from one version of a model to the next: which parts correspond, and how values are converted.
struct VersionLens: Sendable {
  /// The conversion of a property's values by a lens.
  enum ValueConversion: Sendable {
    /// The values are the same in both versions.
    case same
    /// Integers in the older version, any numbers in the newer: shown without their fractions, clamped to 64 bits.
    case truncated
    /// Values that the older version does not allow, null among them, are shown as this value.
    case fallback(Value)
  }

  /// A stored property of the older version and its counterpart in the newer.
  struct Slot: Sendable {
    let old: Property
    let new: Property
    let conversion: ValueConversion
  }

  let old: Model
  let new: Model
  /// The newer number of each entity, by the older one.
  private(set) var upgradedEntities = [EntityNumber: EntityNumber]()
  /// The older number of each entity, by the newer one; for an added subentity, its nearest known ancestor.
  private(set) var downgradedEntities = [EntityNumber: EntityNumber]()
  /// The newer number of each property, by the older one.
  private(set) var upgradedProperties = [PropertyNumber: PropertyNumber]()
  /// The older number of each property, by the newer one.
  private(set) var downgradedProperties = [PropertyNumber: PropertyNumber]()
  /// The forms other than `same`, by the older property number.
  private(set) var conversions = [PropertyNumber: ValueConversion]()
  /// The cases of each enumeration that has more of them in the newer version, by the older property number.
  private(set) var knownNames = [PropertyNumber: Set<ByteKey>]()
  /// The slots of each entity, by its older number, in slot order.
  private(set) var slots = [EntityNumber: [Slot]]()

  /// - Throws: all differences that rule out a lens, with their paths.
  init(from old: Model, to new: Model) throws(MigrationPlan.Problems) {
    self.old = old
    self.new = new
    let plan = try MigrationPlan.infer(from: old, to: new)
    var check = LensCompatibilityCheck(plan)
    check.run()
    guard check.problems.isEmpty else { throw MigrationPlan.Problems(all: check.problems) }
    for (entity, before) in plan.entities {
      upgradedEntities[before] = entity
      downgradedEntities[entity] = before
    }
    for entity in new.entities where downgradedEntities[entity.number] == nil {
      downgradedEntities[entity.number] = LensCompatibilityCheck.ancestor(of: entity, plan)?.number
    }
    upgradedProperties = check.upgradedProperties
    for (before, property) in upgradedProperties { downgradedProperties[property] = before }
    conversions = check.conversions
    for number in conversions.keys {
      if let attribute = old.property(number)?.attribute, attribute.kind == .enumeration {
        knownNames[number] = Set(attribute.cases.map { ByteKey($0) })
      }
    }
    for entity in old.entities {
      let known = entity.storedProperties.compactMap { property in
        upgradedProperties[property.number].flatMap { new.property($0) }.map {
          Slot(old: property, new: $0, conversion: conversions[property.number, default: .same])
        }
      }
      // Otherwise the values of an older image were in the wrong slots.
      precondition(known.count == entity.storedProperties.count, "a lens shows each slot of \(entity.name)")
      slots[entity.number] = known
    }
  }
}
