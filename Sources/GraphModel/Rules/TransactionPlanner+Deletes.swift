/// Deletes: the delete rules propagate them, also in cycles; `deny` is checked last, on the final set.
extension TransactionPlanner {
  mutating func propagateDeletes() throws {
    var pending = [ObjectID]()
    for index in transaction.changes.indices where transaction.changes[index].kind == .delete {
      let change = transaction.changes[index]
      guard let id = permanent(change.id) else {
        throw Refusal(.malformed, "a delete names a temporary id that this transaction does not insert")
      }
      guard let draft = try touch(id) else {
        // Two deletes of one object agree.
        if try reader.deletion(of: id) == nil, drafts[id] == nil {
          reportUnknown(id)
        }
        continue
      }
      if try losesDelete(draft, against: change) { continue }
      pending.append(draft.after.id)
    }
    guard !pending.isEmpty else { return }
    var undeletedReferences = [(id: ObjectID, property: Property, others: [ObjectID])]()
    var removedMembers = RemovedMembers()
    // Objects that are deleted together mostly have one entity.
    var cachedEnds: (entity: Entity, ends: [(Property, Relationship)])?
    var cascades = [(Property, Relationship, [ObjectID])]()
    while let id = pending.popLast() {
      guard let draft = try touch(id) else { continue }
      current = draft
      let ends: [(Property, Relationship)]
      if let cachedEnds, cachedEnds.entity === draft.entity {
        ends = cachedEnds.ends
      } else {
        ends = self.ends(ofDeletesOf: draft.entity)
        cachedEnds = (draft.entity, ends)
      }
      // Read all references before the object is marked as deleted.
      cascades.removeAll(keepingCapacity: true)
      for (property, relationship) in ends {
        let others = try related(to: id, through: property)
        if !others.isEmpty { cascades.append((property, relationship, others)) }
      }
      draft.isDeleted = true
      for (property, relationship, others) in cascades {
        switch relationship.deleteRule {
        case .cascade: pending += others
        case .deny, .noAction: undeletedReferences.append((id, property, others))
        case .nullify: try nullify(others, from: id, property, relationship, &removedMembers)
        }
      }
    }
    for reference in removedMembers.references {
      guard let draft = drafts[reference.target], let property = model.property(reference.property),
        let members = removedMembers.members[reference]
      else { continue }
      draft.after[property] = .objects(draft.after[property].objectIDs.filter { !members.contains($0) })
    }
    checkRemainingReferences(undeletedReferences)
  }

  /// The relationships through which a delete affects other objects. A reference that only the deleted object stores
  /// is removed with it; if no rule depends on it, the object at the other end need not be found.
  private func ends(ofDeletesOf entity: Entity) -> [(Property, Relationship)] {
    entity.relationships.compactMap { property in
      guard let relationship = property.relationship, let inverse = model.property(relationship.inverse)?.relationship
      else { return nil }
      let isRemovedWithObject =
        relationship.deleteRule == .nullify && inverse.storage == .inverse && inverse.minimumCount == nil
      return isRemovedWithObject ? nil : (property, relationship)
    }
  }

  /// The members to remove from stored lists. Removing them from each list once avoids a pass over a long list for
  /// every deleted member; until then the lists contain deleted objects, which the planner ignores here.
  private struct RemovedMembers {
    /// The lists, in the order of their first loss.
    var references = [Reference]()
    var members = [Reference: Set<ObjectID>]()

    mutating func insert(_ member: ObjectID, _ reference: Reference) {
      if members[reference] == nil { references.append(reference) }
      members[reference, default: []].insert(member)
    }
  }

  /// Whether a delete loses to another client's later change of the object, as the merge policy decides.
  private mutating func losesDelete(_ draft: Draft, against change: Change) throws -> Bool {
    guard let before = draft.before, isStale(before, since: change.base), change.base > 0 else { return false }
    let past = try past(of: before.id, after: change.base)
    try refuseUnborn(before.id, in: past, at: change.base)
    let others = past.filter { $0.replica != transaction.id.replica && $0.isUserEdit(in: model) }
    guard let last = others.last else { return false }
    let mineWins = transaction.policy == .objectTrump || transaction.policy == .overwrite
    conflicts.append(
      Conflict(kind: .changed, id: before.id, author: last.author, revision: last.revision, mineWon: mineWins))
    return !mineWins && transaction.policy != .error
  }

  private mutating func nullify(
    _ others: [ObjectID], from id: ObjectID, _ property: Property, _ relationship: Relationship,
    _ removedMembers: inout RemovedMembers
  ) throws {
    guard let inverse = model.property(relationship.inverse), let inverseRelationship = inverse.relationship else {
      return
    }
    // The other end stores nothing: the reference is removed with the object.
    if inverseRelationship.storage == .inverse {
      if inverseRelationship.minimumCount != nil {
        for other in others { countsToCheck[other, default: []].insert(inverse.number) }
      }
      return
    }
    for other in others where drafts[other]?.isDeleted != true {
      guard let draft = try touch(other) else { continue }
      if inverseRelationship.minimumCount != nil { countsToCheck[other, default: []].insert(inverse.number) }
      if inverseRelationship.isToMany {
        removedMembers.insert(id, Reference(target: draft.after.id, property: inverse.number))
      } else {
        removePlace(draft, through: inverse)
        draft.after[inverse] = .null
      }
    }
  }

  private mutating func checkRemainingReferences(_ cases: [(id: ObjectID, property: Property, others: [ObjectID])]) {
    for (id, property, others) in cases {
      let remaining = others.filter { drafts[$0]?.isDeleted != true }
      guard !remaining.isEmpty, let relationship = property.relationship,
        let entity = drafts[id]?.entity.name, let inverse = model.property(relationship.inverse)
      else { continue }
      if relationship.deleteRule == .deny {
        violations += remaining.prefix(Violation.maximumDenials).map {
          .denied(id, entity, by: $0, of: remaining.count, property)
        }
      } else if inverse.slot != nil, let first = remaining.first {
        violations.append(.dangling(id, entity, from: first, of: remaining.count, property))
      } else if inverse.relationship?.minimumCount != nil {
        // The other end has no reference, but one member less.
        for other in remaining { countsToCheck[other, default: []].insert(inverse.number) }
      }
    }
  }
}
