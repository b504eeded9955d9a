/// A to-one through which the objects of an entity get their scope from the object to which it refers.
struct ScopeDependent: Sendable {
  /// The to-one, which its owner stores.
  let reference: Property
  /// The hidden attribute with the scope.
  let scope: Property
}

extension ModelExpressionCompiler {
  /// Finds, for each entity, the to-ones whose owners take their scope from its objects.
  mutating func findScopeDependents() {
    for entity in model.entities {
      guard case .stored(let hidden, let through)? = entity.scope, let scope = entity.property(hidden),
        scope.owner == entity.number, let reference = entity.property(through),
        let relationship = reference.relationship
      else { continue }
      for member in model.destination(of: relationship).family {
        parts.scopeDependents[member, default: []].append(ScopeDependent(reference: reference, scope: scope))
      }
    }
  }
}
