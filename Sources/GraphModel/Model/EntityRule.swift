/// A rule of the model over several properties of one object, such as `end == NULL OR start <= end`. It reads the
/// object's own properties only; subentities inherit it.
public struct EntityRule: Sendable {
  /// The name in violations; unique within an entity and its ancestors, ignoring case.
  public let name: String
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// The text of the predicate that must hold.
  public let predicate: String
  /// The message of a violation, for people.
  public let message: String
  /// The entity that declares it.
  public let owner: EntityNumber

  /// The properties that the rule reads.
  public let sources: Set<PropertyNumber>
  let evaluator: PredicateEvaluator

  /// Whether an object of the rule's entity, or of a subentity, satisfies the rule.
  public func holds(for image: ObjectImage) -> Bool { evaluator.matches(image) }
}

extension Model {
  /// The rules of an entity, inherited ones first, in the order of the file.
  public func rules(of entity: EntityNumber) -> [EntityRule] { parts.rules[entity, default: []] }

  /// The access rules of an entity; nil if it has none.
  public func accessRules(of entity: EntityNumber) -> AccessRules? { parts.accessRules[entity] }

  /// The entities with a rule for reads, in the order of their numbers.
  public var entitiesWithReadRules: [EntityNumber] {
    parts.accessRules.filter { $0.value.rules[.read] != nil }.keys.sorted()
  }

  /// Whether some class needs the values of an object of the entity to decide whether it sees the object. Otherwise
  /// ``Visibility/seesUnread(_:)`` decides for all of them.
  package func decidesSightByValues(_ number: EntityNumber) -> Bool {
    guard let entity = self.entity(number), accessRules(of: number)?.rules[.read] == nil else { return true }
    return switch entity.scope {
    case nil, .shared, .container: false
    case .reference, .stored: true
    }
  }
}
