// Tests: ScopeTests.swift

/// Scopes: the hidden attributes with the keys of containers, computed after the transaction's own edits and deletes.
///
/// An object takes its scope from the object to which one of its to-ones refers. First each touched object that is new
/// or has another reference is computed. Then the objects that refer to an object with a changed scope get that scope,
/// too; they are read and touched. Entities refer to each other without a circle, so both steps end.
extension DraftGraph {
  mutating func deriveScopes() throws {
    if model.parts.scopeDependents.isEmpty || !touchedEntities.contains(where: { $0.scope != nil }) { return }
    for draft in order where !draft.isDeleted { try deriveScope(of: draft) }
    var moved = order.filter { hasMoved($0) }
    while let draft = moved.popLast() {
      for dependent in model.parts.scopeDependents[draft.entity.number, default: []] {
        guard let inverse = dependent.reference.relationship.map({ model.inverse(of: $0) }) else { continue }
        for id in try related(to: draft.after.id, through: inverse) {
          guard let other = try touch(id), other.entity.property(dependent.scope.number) != nil else { continue }
          let earlier = other.after[dependent.scope]
          try computeScope(of: other, dependent.scope, dependent.reference)
          if other.after[dependent.scope] != earlier { moved.append(other) }
        }
      }
    }
  }

  /// Whether the scope of a stored object changes.
  private func hasMoved(_ draft: Draft) -> Bool {
    guard let before = draft.before, !draft.isDeleted, let scope = draft.entity.scope else { return false }
    return draft.entity.scopeKey(of: before, scope) != draft.entity.scopeKey(of: draft.after, scope)
  }

  private func deriveScope(of draft: Draft) throws {
    if case .stored(let number, let through)? = draft.entity.scope {
      let (scope, reference) = (model.ownProperty(number), model.ownProperty(through))
      // An unchanged reference leads to the same scope, unless its object moves, which is the second step.
      if let before = draft.before, before[reference] == draft.after[reference] { return }
      try computeScope(of: draft, scope, reference)
    }
  }

  private func computeScope(of draft: Draft, _ scope: Property, _ reference: Property) throws {
    var key: UniqueID?
    if let target = draft.after[reference].objectID { key = try self.scope(of: target) }
    draft.after[scope] = key.map(Value.uuid).orNull
  }

  /// The scope of an object after the transaction's edits; nil if the object has none or will not exist.
  private func scope(of id: ObjectID) throws -> UniqueID? {
    if let draft = draft(of: id) {
      if draft.isDeleted { return nil }
      // Deeper only by one entity at a time.
      try deriveScope(of: draft)
      return draft.entity.scope.flatMap { draft.entity.scopeKey(of: draft.after, $0) }
    }
    return try reader.image(of: id).flatMap { model.scope(of: $0) }
  }
}
