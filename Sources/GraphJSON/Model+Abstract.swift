import GraphModel

extension Model {
  /// The message that an abstract entity has no objects of its own, with its concrete subentities.
  package func abstractSentence(_ entity: Entity) -> String {
    let names = family(of: entity).filter { !$0.isAbstract }.map(\.name)
    return "\(entity.name) is abstract: name \(names.joined(separator: " or "))"
  }
}
