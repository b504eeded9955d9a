/// What becomes of a store of one version of a model when the next one is to hold: inferred from the two models alone.
///
/// Everything that the new version has is there because something of the old one stands for it, or because it is new. A
/// name stands for the same name, or for what `renamed` says; nothing is guessed from types or places. Where there is more
/// than one way, or none, the plan says so, all of it at once, each with its path, and nothing is migrated.
public struct MigrationPlan: Sendable {
  /// Where a stored property's values come from.
  public enum Origin: Sendable {
    /// From this property of the old version, as they are: nothing is rewritten.
    case kept(PropertyNumber)
    /// From this property, in another form.
    case converted(PropertyNumber)
    /// From an expression over the object as it was.
    case mapped(GraphExpression)
    /// One value for all.
    case constant(Value)
    /// Null, or no members.
    case empty
    /// The rules compute it.
    case derived
    /// The place among the members of a relationship that has become ordered: by id.
    case place
  }

  /// Why there is no plan: what has no one way, with its path.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// `Person.age`, or `mapping.Person.age`, in the names of the new version where it has them.
    public let path: String
    /// A sentence that begins behind the path.
    public let reason: String

    public var description: String { "\(path): \(reason)" }

    init(_ path: String, _ reason: String) { (self.path, self.reason) = (path, reason) }
  }

  /// All of them, never empty.
  public struct Problems: Error, Sendable, CustomStringConvertible {
    /// In the order of the new version's file; what the old one had comes last.
    public let all: [Problem]

    public var description: String { all.map(\.description).joined(separator: "\n") }
  }

  /// The version that the store has.
  public let old: Model
  /// The version that it is to have.
  public let new: Model
  /// What happens, for people, in the order of the new version's file; what goes comes last.
  public internal(set) var steps = [MigrationStep]()
  /// The old entity that stands for a new one.
  public internal(set) var entities = [EntityNumber: EntityNumber]()
  /// Of each stored property of an entity that was there.
  public internal(set) var origins = [PropertyNumber: Origin]()
  /// The old property of a relationship that is found through its inverse.
  public internal(set) var pairs = [PropertyNumber: PropertyNumber]()
  /// The old property that a new one's name, or its `renamed`, stands for, whatever became of its values.
  public internal(set) var predecessors = [PropertyNumber: PropertyNumber]()
  /// What is gone, of the old version.
  public internal(set) var removedEntities = [Entity]()
  /// Stored properties of entities that stay.
  public internal(set) var removedProperties = [Property]()
  /// Required properties that nothing fills: there may be no object that would need one.
  public internal(set) var unfilled = [Property]()
  /// What null becomes where it is no longer allowed.
  public internal(set) var fills = [(property: Property, value: Value)]()
  /// Properties that must not be null, and may be.
  public internal(set) var required = [Property]()
  /// New entities whose objects may break a rule that held of none of them before.
  public internal(set) var tightened = Set<EntityNumber>()

  /// Infers the plan.
  /// - Throws: everything that has no one way.
  public static func infer(from old: Model, to new: Model) throws(Problems) -> MigrationPlan {
    var inference = MigrationInference(MigrationPlan(old: old, new: new))
    inference.run()
    guard inference.problems.isEmpty else { throw Problems(all: inference.problems) }
    return inference.plan
  }

  /// What a version of the same hash as the one before says of values: no migration carries it out, since a store is of both
  /// versions. Nil for one that says nothing of them, and where the hashes differ.
  /// - Returns: the end of a sentence about the version.
  public static func unnoticedChange(from old: Model, to new: Model) -> String? {
    guard old.hash == new.hash else { return nil }
    if !new.mappings.isEmpty { return "has a mapping" }
    let steps = (try? infer(from: old, to: new))?.steps ?? []
    return steps.contains { $0.kind == .renameEntity || $0.kind == .renameProperty } ? "gives names to others" : nil
  }

  /// The same for objects of which nobody knows whether they keep what the old version asks: whatever the new one asks of
  /// values is looked at, not only what it asks more.
  public func judgingEverything() -> MigrationPlan {
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

  /// The old property that goes on under a new one's name, its values as they are.
  public func kept(_ property: PropertyNumber) -> PropertyNumber? {
    if case .kept(let old)? = origins[property] { old } else { nil }
  }

  /// Whether objects that a to-many of the new version leads to are gone, because their entity is.
  public func hasLostObjects(_ property: Property) -> Bool {
    guard let destination = property.relationship?.destination,
      let family = entities[destination].flatMap({ old.entity($0) })?.family
    else { return false }
    return removedEntities.contains { family.contains($0.number) }
  }

  /// The old properties that end: removed, converted or mapped to something else.
  public var endedProperties: [Property] {
    let going = Set(new.entities.flatMap(\.storedProperties).compactMap { kept($0.number) })
    let staying = Set(entities.values)
    var seen = Set<PropertyNumber>()
    return old.entities.flatMap(\.storedProperties)
      .filter { staying.contains($0.owner) && !going.contains($0.number) && seen.insert($0.number).inserted }
      .sorted { $0.number < $1.number }
  }
}

/// One thing that a migration does.
public struct MigrationStep: Sendable, Equatable, CustomStringConvertible {
  /// What it is; the names are for programs.
  public enum Kind: String, Sendable, CaseIterable {
    /// An entity is new, goes with all its objects, or has another name.
    case addEntity, removeEntity, renameEntity
    /// A property is new, goes with its values, or has another name.
    case addProperty, removeProperty, renameProperty
    /// What may be null, which type, which cases, which relationship.
    case changeProperty
    /// Values come from an expression.
    case map
    /// No two objects may share a key any more, or they may again.
    case addUnique, removeUnique
    /// What objects must keep is another: limits, counts, rules, or that an entity is abstract now.
    case changeRules
  }

  /// What it is.
  public let kind: Kind
  /// `Person.age`.
  public let path: String
  /// What a person is told, behind the path.
  public let text: String

  public var description: String { "\(path) \(text)" }
}
