/// Many objects changed by one request, in one commit: named by a predicate, or handed over as rows. The rules are those
/// of every transaction; what differs is that no side ever holds all of it. docs/decisions/0012 says how.
public struct Batch: Hashable, Sendable {
  /// What is to happen.
  public enum Operation: Hashable, Sendable {
    /// All objects that match get these values.
    case update(GraphPredicate, [Assignment])
    /// All objects that match go, with what the delete rules take along.
    case delete(GraphPredicate)
    /// Objects are made of so many rows, which hold a value for each of these properties in turn.
    case insert([PropertyNumber], rows: Int)
    /// A whole graph comes back under its own ids, into a store without a commit. Each row is an object: its id, and a
    /// value for each slot of its entity.
    case restore(rows: Int)
  }

  /// What a property becomes.
  public struct Assignment: Hashable, Sendable {
    /// The property, by its number in the model.
    public var property: PropertyNumber
    /// A constant, or what is calculated from the object as it was.
    public var value: GraphExpression

    /// What one property becomes.
    public init(_ property: PropertyNumber, _ value: GraphExpression) {
      self.property = property
      self.value = value
    }
  }

  /// The idempotency key, as a transaction's.
  public var id: TransactionID
  /// What becomes of a row that meets a unique key; nothing else in a batch can conflict.
  public var policy: MergePolicy
  /// Objects of this entity and of all that inherit from it; for rows the entity itself; 0 for a whole graph.
  public var entity: EntityNumber
  /// What is to happen.
  public var operation: Operation

  /// A batch, which nothing has looked at yet.
  public init(id: TransactionID, policy: MergePolicy = .error, entity: EntityNumber, operation: Operation) {
    self.id = id
    self.policy = policy
    self.entity = entity
    self.operation = operation
  }

  /// The most objects one batch may touch, deletes by cascade and objects that let go of others included.
  public static let maximumObjects = TransactionPlanner.maximumObjects
  /// A batch is planned and written so many objects at a time. One that has no more is an ordinary commit: it is
  /// delivered and told by the log with all its changes.
  public static let sliceObjects = 1_000
  /// A slice ends earlier when its objects take about so many bytes.
  public static let sliceBytes = 4 << 20
  /// A refused batch names at most so many violations.
  public static let maximumViolations = 100
}

extension Batch {
  /// Checks what can be said without a look at any object.
  /// - Throws: `Refusal`, with what is wrong.
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
        let name = model.property(assignment.property)?.name ?? ""
        throw Refusal(
          .malformed,
          "\(entity.name).\(name) is calculated from other objects: a batch reads each object's own properties only")
      }
      for number in deferredKeys(in: model) where model.property(number)?.attribute?.kind == .text {
        throw Refusal(
          .malformed,
          "\(entity.name).\(model.property(number)?.name ?? "") is part of a unique key and merges "
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
          .malformed, "\(entity.name) has no property \(model.property(number)?.name ?? "number \(number)")")
      }
      guard seen.insert(number).inserted else { throw Refusal(.malformed, "\(property.name) is given twice") }
      guard property.touchesOnlyItsOwner(in: model) else {
        throw Refusal(
          .malformed,
          "\(entity.name).\(property.name) is stored at the other end: a batch sets it there, from \(destination(property, model))"
        )
      }
    }
  }

  private static func destination(_ property: Property, _ model: Model) -> String {
    property.relationship.flatMap { model.entity($0.destination)?.name } ?? "the other entity"
  }

  /// The parts of unique keys that are calculated, derived ones included: an object may take the key that another one,
  /// which comes later, gives up. They are judged when all objects have theirs. A constant frees no key that another
  /// object takes.
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
  /// Whether setting it writes into no other object's row. A to-one whose other end is a to-one takes the object from
  /// whoever had it, and an end without storage is written at the other one.
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
  /// One value for each object, known from the object alone.
  fileprivate func isOneValue(in model: Model) -> Bool {
    switch self {
    case .list, .expressions, .variable: false
    default: readsOnlyOwnImage(in: model)
    }
  }
}

extension ObjectImage {
  /// About how many bytes it takes in memory.
  public var approximateSize: Int { values.reduce(64) { $0 + $1.approximateSize } }
}

extension Change {
  /// About how many bytes it takes in memory.
  public var approximateSize: Int { edits.reduce(64) { $0 + $1.approximateSize } }
}

extension Model {
  /// Whether the objects that have the relationship keep a derived count of it, though its members stand at the other end.
  public func isCounted(_ relationship: Property) -> Bool {
    relationship.relationship?.storage == .inverse
      && entities.contains {
        parts.counts[$0.number]?.contains { $0.relationship.number == relationship.number } == true
      }
  }
}
