/// The migration of a store from one version of a model to the next, inferred from the two models alone.
///
/// Each part of the new version either has a predecessor in the old one or is new. The predecessor has the same name
/// or the name that `renamed` states; types and order are never used to guess. If a change is ambiguous or
/// impossible, `infer(from:to:)` throws all problems with their paths, and nothing is migrated.
public struct MigrationPlan: Sendable {
  /// The source of a stored property's values.
  public enum Origin: Sendable {
    /// The values of this property of the old version, unchanged; no row is rewritten.
    case kept(PropertyNumber)
    /// The values of this property of the old version, converted.
    case converted(PropertyNumber)
    /// An expression over the old object.
    case mapped(GraphExpression)
    /// The same value for all objects.
    case constant(Value)
    /// Null, or no members.
    case empty
    /// Computed by the rules.
    case derived
    /// The position among the members of a relationship that has become ordered, initially by id.
    case place
  }

  /// A change that is ambiguous or impossible.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The path, `Person.age` or `mapping.Person.age`, in the names of the new version where it has them.
    public let path: String
    /// The rest of the sentence after the path.
    public let reason: String

    public var description: String { "\(path): \(reason)" }

    init(_ path: String, _ reason: String) { (self.path, self.reason) = (path, reason) }
  }

  /// All problems of an inference; never empty.
  public struct Problems: Error, Sendable, CustomStringConvertible {
    /// The problems, in the order of the new version's file; problems of removed parts come last.
    public let all: [Problem]

    public var description: String { all.map(\.description).joined(separator: "\n") }
  }

  /// The store's version.
  public let old: Model
  /// The version to migrate to.
  public let new: Model
  /// The steps, for people, in the order of the new version's file; removals come last.
  public internal(set) var steps = [MigrationStep]()
  /// The old entity by its new successor.
  public internal(set) var entities = [EntityNumber: EntityNumber]()
  /// The source of each stored property's values, for entities that have a predecessor.
  public internal(set) var origins = [PropertyNumber: Origin]()
  /// The old property of each relationship that is found through its inverse.
  public internal(set) var pairs = [PropertyNumber: PropertyNumber]()
  /// The old property that a new one's name or `renamed` refers to, regardless of the values.
  public internal(set) var predecessors = [PropertyNumber: PropertyNumber]()
  /// Entities of the old version without a successor.
  public internal(set) var removedEntities = [Entity]()
  /// Removed stored properties of entities that stay.
  public internal(set) var removedProperties = [Property]()
  /// New required properties without a value: a store with objects that need one can't be migrated.
  public internal(set) var unfilled = [Property]()
  /// The value that replaces null in properties that have become required.
  public internal(set) var fills = [(property: Property, value: Value)]()
  /// Properties that must not be null and may be in the old store.
  public internal(set) var required = [Property]()
  /// New entities with rules that the old version did not have, so that objects may break them.
  public internal(set) var tightened = Set<EntityNumber>()

  /// Infers the plan.
  /// - Throws: all ambiguous or impossible changes.
  public static func infer(from old: Model, to new: Model) throws(Problems) -> MigrationPlan {
    var inference = MigrationInference(MigrationPlan(old: old, new: new))
    inference.run()
    guard inference.problems.isEmpty else { throw Problems(all: inference.problems) }
    return inference.plan
  }

  /// A difference about values between two versions of equal hash. A store belongs to both versions, so no migration
  /// would apply it. Nil if there is none, or if the hashes differ.
  /// - Returns: the rest of a sentence that begins with the version.
  public static func undetectedChange(from old: Model, to new: Model) -> String? {
    guard old.hash == new.hash else { return nil }
    if !new.mappings.isEmpty { return "has a mapping" }
    guard let plan = try? infer(from: old, to: new) else { return nil }
    return plan.steps.contains { $0.kind == .renameEntity || $0.kind == .renameProperty }
      ? "renames entities or properties" : nil
  }

  /// The plan with every rule of the new version checked, not only the additional ones. For objects that may break
  /// the rules of the old version.
  public func checkingAllRules() -> MigrationPlan {
    var plan = self
    for entity in new.entities where entities[entity.number] != nil {
      guard !new.rules(of: entity.number).isEmpty || entity.properties.contains(where: Self.isLimited) else { continue }
      plan.tightened.insert(entity.number)
    }
    return plan
  }

  private static func isLimited(_ property: Property) -> Bool {
    switch property.kind {
    case .attribute(let attribute):
      !attribute.minimum.isNull || !attribute.maximum.isNull || attribute.minimumLength != nil
        || attribute.maximumLength != nil || attribute.pattern != nil
    case .relationship(let relationship): relationship.minimumCount != nil || relationship.maximumCount != nil
    }
  }

  private init(old: Model, new: Model) {
    self.old = old
    self.new = new
  }

  /// The old property whose unchanged values a new property keeps.
  public func kept(_ property: PropertyNumber) -> PropertyNumber? {
    if case .kept(let old)? = origins[property] { old } else { nil }
  }

  /// Whether a to-many of the new version loses members because their entity is removed.
  public func hasLostObjects(_ property: Property) -> Bool {
    guard let destination = property.relationship?.destination,
      let family = entities[destination].flatMap({ old.entity($0) })?.family
    else { return false }
    return removedEntities.contains { family.contains($0.number) }
  }

  /// The old properties whose values are not kept: removed, converted or mapped to something else.
  public var endedProperties: [Property] {
    let going = Set(new.entities.flatMap(\.storedProperties).compactMap { kept($0.number) })
    let staying = Set(entities.values)
    var seen = Set<PropertyNumber>()
    return old.entities.flatMap(\.storedProperties)
      .filter { staying.contains($0.owner) && !going.contains($0.number) && seen.insert($0.number).inserted }
      .sorted { $0.number < $1.number }
  }
}

/// One step of a migration.
public struct MigrationStep: Sendable, Equatable, CustomStringConvertible {
  /// The kind of step; the raw values are for programs.
  public enum Kind: String, Sendable, CaseIterable {
    /// An entity is added, removed with all its objects, or renamed.
    case addEntity, removeEntity, renameEntity
    /// A property is added, removed with its values, or renamed.
    case addProperty, removeProperty, renameProperty
    /// A property's optionality, type, cases or relationship changes.
    case changeProperty
    /// An expression supplies the values.
    case map
    /// A unique key is added or removed.
    case addUnique, removeUnique
    /// The rules change: limits, counts, entity rules, or an entity that becomes abstract.
    case changeRules
  }

  /// The kind of step.
  public let kind: Kind
  /// The entity or property: `Person.age`.
  public let path: String
  /// The rest of the sentence after the path, for a person.
  public let text: String

  public var description: String { "\(path) \(text)" }
}
