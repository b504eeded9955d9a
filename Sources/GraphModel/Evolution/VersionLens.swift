/// A lens from one version of a model to the next: which part of the one is which of the other, and what becomes of
/// values on the way.
struct VersionLens: Sendable {
  /// What becomes of a property's values on the way.
  enum Form: Sendable {
    /// They are the same in both.
    case same
    /// Whole numbers in the older version, any in the newer: seen without their fractions, as near as 64 bits come.
    case whole
    /// What the older version does not take, null among it, is seen as this.
    case settled(Value)
  }

  /// A stored property of the older version, and what it is in the newer.
  struct Slot: Sendable {
    let old: Property
    let new: Property
    let form: Form
  }

  let old: Model
  let new: Model
  /// By the older numbers.
  private(set) var entities = [EntityNumber: EntityNumber]()
  /// By the newer numbers: the entity that stands for it, of an added subentity the nearest ancestor that was there.
  private(set) var views = [EntityNumber: EntityNumber]()
  /// By the older numbers.
  private(set) var later = [PropertyNumber: PropertyNumber]()
  /// By the newer numbers.
  private(set) var earlier = [PropertyNumber: PropertyNumber]()
  /// What is not `same`, by the older numbers.
  private(set) var forms = [PropertyNumber: Form]()
  /// By the older numbers of entities, in the order of their slots.
  private(set) var slots = [EntityNumber: [Slot]]()

  /// - Throws: all that stands in the way, with its path.
  init(from old: Model, to new: Model) throws(MigrationPlan.Problems) {
    self.old = old
    self.new = new
    let plan = try MigrationPlan.infer(from: old, to: new)
    var check = LensCheck(plan)
    check.run()
    guard check.problems.isEmpty else { throw MigrationPlan.Problems(all: check.problems) }
    for (entity, before) in plan.entities {
      entities[before] = entity
      views[entity] = before
    }
    for entity in new.entities where views[entity.number] == nil {
      views[entity.number] = LensCheck.ancestor(of: entity, plan)?.number
    }
    later = check.later
    for (before, property) in later { earlier[property] = before }
    forms = check.forms
    for entity in old.entities {
      slots[entity.number] = entity.storedProperties.compactMap { property in
        later[property.number].flatMap { new.property($0) }.map {
          Slot(old: property, new: $0, form: forms[property.number] ?? .same)
        }
      }
    }
  }
}
