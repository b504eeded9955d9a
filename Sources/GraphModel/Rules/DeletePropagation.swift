/// Applies the delete rules to the deletes of a transaction.
///
/// It follows `cascade` first, also in cycles. Then the set of deleted objects is final, and a reference that remains
/// under `deny`, or would dangle under `noAction`, is a violation. `DeleteSet` of the store applies the same rules to
/// the deletes of a batch, without reading whole objects.
struct DeletePropagation {
  /// Objects to be deleted, the last one next.
  private var pending = [ObjectID]()
  /// References under `deny` and `noAction`; each is checked when the set of deleted objects is final.
  private var undeletedReferences = [(id: ObjectID, property: Property, others: [ObjectID])]()
  private var removedMembers = RemovedMembers()
  /// The relationships to follow from an entity. Objects that are deleted together mostly have one entity.
  private var cachedEnds: (entity: Entity, ends: [(Property, Relationship)])?
  /// The objects at the other ends of the one being deleted; reused for its memory.
  private var related = [(Property, Relationship, [ObjectID])]()

  /// Deletes objects and all that the delete rules delete with them, and removes the references to them.
  mutating func delete(_ objects: [ObjectID], in graph: inout DraftGraph, _ findings: inout PlanFindings) throws {
    pending = objects
    while let id = pending.popLast() {
      guard let draft = try graph.touch(id) else { continue }
      graph.current = draft
      try applyRules(to: draft, in: &graph)
    }
    removeMembers(in: graph)
    checkRemainingReferences(in: &graph, &findings)
  }

  /// Deletes an object, and applies the delete rule of each of its relationships.
  private mutating func applyRules(to draft: Draft, in graph: inout DraftGraph) throws {
    assert(!draft.isDeleted, "an object is deleted once")
    let id = draft.after.id
    let ends: [(Property, Relationship)]
    if let cachedEnds, cachedEnds.entity === draft.entity {
      ends = cachedEnds.ends
    } else {
      ends = Self.ends(ofDeletesOf: draft.entity, in: graph.model)
      cachedEnds = (draft.entity, ends)
    }
    // Read all references before the object is marked as deleted.
    related.removeAll(keepingCapacity: true)
    for (property, relationship) in ends {
      let others = try graph.related(to: id, through: property)
      if !others.isEmpty { related.append((property, relationship, others)) }
    }
    draft.isDeleted = true
    for (property, relationship, others) in related {
      switch relationship.deleteRule {
      case .cascade: pending += others
      // `checkRemainingReferences` decides: the transaction may delete the other objects, too.
      case .deny, .noAction: undeletedReferences.append((id, property, others))
      case .nullify: try nullify(others, from: id, property, relationship, in: &graph)
      }
    }
  }

  /// The relationships through which a delete affects other objects. A reference that only the deleted object stores
  /// is removed with it; if no rule depends on it, the object at the other end need not be found.
  private static func ends(ofDeletesOf entity: Entity, in model: Model) -> [(Property, Relationship)] {
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
    var references = [DraftGraph.Reference]()
    var members = [DraftGraph.Reference: Set<ObjectID>]()

    mutating func insert(_ member: ObjectID, _ reference: DraftGraph.Reference) {
      if members[reference] == nil { references.append(reference) }
      members[reference, default: []].insert(member)
    }
  }

  private func removeMembers(in graph: DraftGraph) {
    for reference in removedMembers.references {
      guard let draft = graph.draft(of: reference.target), let property = graph.model.property(reference.property),
        let members = removedMembers.members[reference]
      else { continue }
      draft.after[property] = .objects(draft.after[property].objectIDs.filter { !members.contains($0) })
    }
  }

  private mutating func nullify(
    _ others: [ObjectID], from id: ObjectID, _ property: Property, _ relationship: Relationship,
    in graph: inout DraftGraph
  ) throws {
    let (inverse, inverseRelationship) = try graph.inverse(of: relationship)
    // The other end stores nothing: the reference is removed with the object.
    if inverseRelationship.storage == .inverse {
      if inverseRelationship.minimumCount != nil {
        for other in others { graph.changedCounts[other, default: []].insert(inverse.number) }
      }
      return
    }
    for other in others where !graph.isDeleted(other) {
      guard let draft = try graph.touch(other) else { continue }
      if inverseRelationship.minimumCount != nil { graph.changedCounts[other, default: []].insert(inverse.number) }
      if inverseRelationship.isToMany {
        removedMembers.insert(id, DraftGraph.Reference(target: draft.after.id, property: inverse.number))
      } else {
        graph.removePlace(draft, through: inverse)
        draft.after[inverse] = .null
      }
    }
  }

  /// Finds the references that `deny` and `noAction` forbid, once the set of deleted objects is final.
  private func checkRemainingReferences(in graph: inout DraftGraph, _ findings: inout PlanFindings) {
    for (id, property, others) in undeletedReferences {
      let remaining = others.filter { !graph.isDeleted($0) }
      guard !remaining.isEmpty, let relationship = property.relationship,
        let entity = graph.draft(of: id)?.entity.name, let inverse = graph.model.property(relationship.inverse)
      else { continue }
      if relationship.deleteRule == .deny {
        for other in remaining.prefix(Violation.maximumDenials) {
          findings.add(.denied(id, entity, by: other, of: remaining.count, property))
        }
      } else if inverse.slot != nil, let first = remaining.first {
        findings.add(.dangling(id, entity, from: first, of: remaining.count, property))
      } else if inverse.relationship?.minimumCount != nil {
        // The other end has no reference, but one member less.
        for other in remaining { graph.changedCounts[other, default: []].insert(inverse.number) }
      }
    }
  }
}
