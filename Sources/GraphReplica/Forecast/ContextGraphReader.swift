// Tests: ForecastTests.swift
import GraphModel

/// The objects that a context holds, as the rule engine reads them. They are as the server has them, without unsaved
/// edits. A referenced object that is not held is assumed to exist. Tables of keys are built on first use, and live
/// as long as this reader.
final class ContextGraphReader: PlannerReader {
  let model: Model
  private let root: ObjectContext
  private let checksKeys: Bool
  private lazy var images = root.unsortedStates.compactMap(\.stored).filter(\.isFromServer)
  private var keys = [Constraint: [[Value]: ObjectID]]()

  private struct Constraint: Hashable {
    let entity: EntityNumber
    let properties: [PropertyNumber]
  }

  /// A reader of the outermost context.
  /// - Parameter checksKeys: false if unique keys need not be checked.
  init(_ context: ObjectContext, checksKeys: Bool = true) {
    var root = context
    while let parent = root.parent { root = parent }
    self.root = root
    model = context.model
    self.checksKeys = checksKeys
  }

  /// Whether a violation would also occur with the complete graph. Only the server knows whether an object exists, how
  /// many members it has (unless it was inserted here), the principal, and the values that the server counts and
  /// stamps.
  /// - Parameter isTimed: the values that are stamped are known.
  func isCertain(_ violation: Violation, isTimed: Bool) -> Bool {
    switch violation.commonRule {
    case .count: return violation.id.isTemporary
    case .destination, .missing: return false
    default: break
    }
    guard let entity = model.entity(violation.id.entity) else { return false }
    var unknown = Set(
      entity.assignedProperties.filter { !isTimed || [.sequence, .creator].contains($0.attribute?.assignment) }
        .map(\.number))
    for derived in model.derivedAttributes(of: entity.number) where !derived.sources.isDisjoint(with: unknown) {
      unknown.insert(derived.attribute)
    }
    return rule(of: violation)?.sources.isDisjoint(with: unknown) ?? !unknown.contains(violation.property)
  }

  /// The rule over several properties that a violation names, if any.
  func rule(of violation: Violation) -> EntityRule? {
    guard violation.property == 0 else { return nil }
    return model.rules(of: violation.id.entity).first { $0.name == violation.rule }
  }

  func image(of id: ObjectID) -> ObjectImage? { root.state(id)?.stored.flatMap { $0.isFromServer ? $0 : nil } }

  func entity(of id: ObjectID) -> EntityNumber? {
    if let state = root.state(id), state.isDeleted, state.stored == nil { return nil }
    return id.entity
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    root.storedReferrers.referrers(to: id, through: property, in: root).filter { image(of: $0) != nil }
  }

  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) -> [OrderedMemberKey] {
    guard let position = reference.relationship?.position.flatMap({ model.property($0) }) else { return [] }
    let places = referrers(to: parent, through: reference).compactMap { id -> OrderedMemberKey? in
      guard case .integer(let number)? = image(of: id)?[position] else { return nil }
      return OrderedMemberKey(position: number, id: id)
    }.filter { each in
      guard let place else { return true }
      return ascending ? each > place : each < place
    }.sorted()
    return Array((ascending ? places : places.reversed()).prefix(limit))
  }

  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) -> ObjectID? {
    guard checksKeys else { return nil }
    let key = Constraint(entity: entity.number, properties: constraint)
    if let known = keys[key] { return known[values] }
    var all = [[Value]: ObjectID]()
    for image in images where entity.family.contains(image.id.entity) {
      guard let entity = model.entity(image.id.entity) else {
        assertionFailure("a held object has an entity: \(image.id)")
        continue
      }
      let values = constraint.map { number -> Value in
        guard let property = entity.property(number) else {
          assertionFailure("an entity inherits the properties of its keys: \(number)")
          return .null
        }
        return image[property]
      }
      all[values] = all[values].map { min($0, image.id) } ?? image.id
    }
    keys[key] = all
    return all[values]
  }

  // Local edits are based on the held objects: nothing has happened since.

  /// The context learns that an object was deleted, not who deleted it.
  func deletion(of id: ObjectID) -> (revision: Revision, author: String)? {
    entity(of: id) == nil ? (root.tombstones.deletion(of: id), "") : nil
  }
  func history(of id: ObjectID, after revision: Revision) -> [PastChange] { [] }
  func nextInSequence(_ property: PropertyNumber) -> Int64 { 1 }
}

extension ObjectImage {
  /// Whether it came from the server, and from the present past. An image that was assumed after a save has no
  /// revision.
  fileprivate var isFromServer: Bool { revision > 0 }
}
