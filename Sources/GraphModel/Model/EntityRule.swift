/// A rule over several properties of one object, which the model states as a predicate: `end == NULL OR start <= end`.
/// It reads the object's own properties alone, and holds for the objects of every subentity too.
public struct EntityRule: Sendable {
  /// What a violation calls it; unique within an entity and its ancestors, case aside.
  public let name: String
  /// For people; empty when the file says nothing.
  public let documentation: String
  /// What must hold, as the file has it.
  public let predicate: String
  /// What a person is told when it does not hold.
  public let message: String
  /// The entity that declares it.
  public let owner: EntityNumber

  /// The properties that it reads.
  public let sources: Set<PropertyNumber>
  let evaluator: PredicateEvaluator

  /// Whether the object, of the rule's entity or one that inherits it, keeps the rule.
  public func holds(for image: ObjectImage) -> Bool { evaluator.matches(image) }
}

extension Model {
  /// The rules of an entity, inherited ones first, in the order of the file.
  public func rules(of entity: EntityNumber) -> [EntityRule] { parts.rules[entity] ?? [] }
}
