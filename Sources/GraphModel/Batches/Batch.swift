/// A change of many objects in one commit, selected by a predicate or supplied as rows. The rules of every
/// transaction apply, but neither side ever holds the complete batch in memory. See docs/decisions/0012.
public struct Batch: Hashable, Sendable {
  /// The operation of a batch.
  public enum Operation: Hashable, Sendable {
    /// Assigns these values to all objects that match.
    case update(GraphPredicate, [Assignment])
    /// Deletes all objects that match; the delete rules apply.
    case delete(GraphPredicate)
    /// Inserts this many rows as objects. Each row has a value for each of the properties, in their order.
    case insert([PropertyNumber], rows: Int)
    /// Restores a complete graph under its own ids into a store without commits. Each row is an object: its id, and a
    /// value for each slot of its entity.
    case restore(rows: Int)
  }

  /// A property and the value that the batch assigns to it.
  public struct Assignment: Hashable, Sendable {
    /// The property, by its number in the model.
    public var property: PropertyNumber
    /// A constant, or an expression over the object as it was before the batch.
    public var value: GraphExpression

    /// Assigns `value` to `property`.
    public init(_ property: PropertyNumber, _ value: GraphExpression) {
      self.property = property
      self.value = value
    }
  }

  /// The idempotency key, as a transaction's.
  public var id: TransactionID
  /// Decides conflicts over unique keys and references to deleted objects; a batch has no other conflicts.
  public var policy: MergePolicy
  /// The entity. A predicate includes its subentities, the rows of an insert have exactly this entity; 0 for a
  /// complete graph.
  public var entity: EntityNumber
  /// The operation.
  public var operation: Operation

  /// Creates an unchecked batch; see `check(in:)`.
  public init(id: TransactionID, policy: MergePolicy = .error, entity: EntityNumber, operation: Operation) {
    self.id = id
    self.policy = policy
    self.entity = entity
    self.operation = operation
  }

  /// The most objects that a batch may touch, including cascaded deletes and objects whose references are nullified.
  public static let maximumObjects = TransactionPlanner.maximumObjects
  /// The number of objects that the writer plans and writes at a time. A batch that fits into one slice is an
  /// ordinary commit: its delta and its log entry list all changes.
  public static let sliceObjects = 1_000
  /// The approximate size in bytes at which a slice ends early.
  public static let sliceBytes = 4 << 20
  /// The most violations that the refusal of a batch lists.
  public static let maximumViolations = 100
  /// The most deleted objects to which a batch of several slices may refer. The merge policy decides about so many
  /// references; with more, the batch is refused as a conflict.
  public static let maximumDeletedTargets = 1_000
}

extension Batch {
  /// Checks the batch against the model, without reading any object.
  /// - Throws: `Refusal`, with the reason.
  public func check(in model: Model) throws {
    if case .restore = operation { return }
    guard let entity = model.entity(entity) else {
      throw Refusal(.malformed, "there is no entity number \(entity) in the model \(model.name)")
    }
    switch operation {
    case .delete, .restore: break
    case .update(_, let assignments):
      guard !assignments.isEmpty else { throw Refusal(.malformed, "the batch changes nothing") }
      try Self.check(assignments.map(\.property), of: entity, model)
      for assignment in assignments where !assignment.value.isOneValue(in: model) {
        let name = model.propertyName(assignment.property)
        throw Refusal(
          .malformed,
          "\(entity.name).\(name) is calculated from other objects: a batch reads each object's own properties only")
      }
      for number in deferredKeys(in: model) where model.property(number)?.attribute?.kind == .text {
        throw Refusal(
          .malformed,
          "\(entity.name).\(model.propertyName(number)) is part of a unique key and merges "
            + "character by character: a batch can't calculate it")
      }
    case .insert(let properties, _):
      guard !entity.isAbstract else {
        throw Refusal(.malformed, "\(entity.name) is abstract: only its subentities have objects")
      }
      try Self.check(properties, of: entity, model)
    }
  }

  private static func check(_ properties: [PropertyNumber], of entity: Entity, _ model: Model) throws {
    var seen = Set<PropertyNumber>()
    for number in properties {
      guard let property = entity.property(number) else {
        throw Refusal(
          .malformed, "\(entity.name) has no property \(model.propertyName(number))")
      }
      guard seen.insert(number).inserted else { throw Refusal(.malformed, "\(property.name) is set twice") }
      guard property.touchesOnlyItsOwner(in: model) else {
        throw Refusal(
          .malformed,
          "\(entity.name).\(property.name) is stored at the other end: set it there, in a batch of \(destination(property, model))"
        )
      }
    }
  }

  private static func destination(_ property: Property, _ model: Model) -> String {
    property.relationship.flatMap { model.entity($0.destination)?.name } ?? "the other entity"
  }

  /// The calculated properties of unique keys, derived ones included, whose keys are checked after the last slice. An
  /// object may take a key that an object of a later slice releases. Constants are not deferred: a constant never
  /// releases a key for another object.
  public func deferredKeys(in model: Model) -> Set<PropertyNumber> {
    guard case .update(_, let assignments) = operation, let family = model.entity(entity)?.family else { return [] }
    let keys = Set(family.compactMap { model.entity($0) }.flatMap { $0.uniquenessConstraints.joined() })
    let calculated = Set(
      assignments.filter { if case .value = $0.value { false } else { true } }.map(\.property))
    return keys.filter { number in
      guard let attribute = model.property(number)?.attribute else { return false }
      return calculated.contains(number) || attribute.isDerived && attribute.kind != .text
    }
  }
}

extension Property {
  /// Whether a set writes only into its owner's row. A to-one with a to-one inverse may also update the previous
  /// owner, and a relationship without storage is written in the other object's row.
  func touchesOnlyItsOwner(in model: Model) -> Bool {
    guard let relationship else { return true }
    switch relationship.storage {
    case .inverse: return false
    case .members: return true
    case .reference: return model.property(relationship.inverse)?.relationship?.isToMany == true
    }
  }
}

extension GraphExpression {
  /// Whether the expression has a single value per object that depends on this object alone.
  fileprivate func isOneValue(in model: Model) -> Bool {
    switch self {
    case .list, .expressions, .variable: false
    default: readsOnlyOwnImage(in: model)
    }
  }
}

extension ObjectImage {
  /// The approximate size in memory, in bytes.
  public var approximateSize: Int { values.reduce(64) { $0 + $1.approximateSize } }
}

extension Change {
  /// The approximate size in memory, in bytes.
  public var approximateSize: Int { edits.reduce(64) { $0 + $1.approximateSize } }
}

extension Model {
  /// Whether the owners of the relationship store a derived count of it, although its members store the references.
  public func isCounted(_ relationship: Property) -> Bool {
    relationship.relationship?.storage == .inverse
      && entities.contains {
        parts.counts[$0.number]?.contains { $0.relationship.number == relationship.number } == true
      }
  }
}
