import GraphModel

/// Deletes by other clients: how the context learns of them, and what it discards with them.
extension ObjectContext {
  /// Marks an object as deleted on the server, and discards its unsaved edits. A restore brings back the stored
  /// object, and not edits that can no longer be saved.
  func recordDeletion(of state: ObjectState) {
    removeInverseEdits(of: state)
    state.isDeleted = true
    state.stored = nil
    state.edits = [:]
    dirty[state.id] = nil
  }

  /// Deletes the objects that the server does not know (rule `missing`). The store was restored to a state before
  /// them. Their unsaved edits are discarded, because no later save could succeed with them; all other edits stay
  /// unsaved.
  func deleteMissing(_ refusal: Refusal) {
    var change = ObjectsDidChange()
    for violation in refusal.violations where violation.commonRule == .missing {
      guard !violation.id.isTemporary, let state = state(violation.id) else { continue }
      recordDeletion(of: state)
      change.deleted.append(violation.id)
    }
    if !change.deleted.isEmpty { post(change) }
  }

  /// Discards the echoes of the object's one-to-one edits. They are at the new partner, and at that partner's
  /// previous one.
  private func removeInverseEdits(of state: ObjectState) {
    for (number, local) in state.edits where !local.isInverseEdit {
      guard let other = local.value.objectID.flatMap({ self.state($0) }),
        let property = state.entity.property(number), let inverse = inverseOfOneToOne(property),
        other.hasInverseEdit(.object(state.id), inverse)
      else { continue }
      other.edits[inverse.number] = nil
      if let left = other.value(inverse).objectID.flatMap({ self.state($0) }), left.hasInverseEdit(.null, property) {
        left.edits[number] = nil
        removeIfClean(left)
      }
      removeIfClean(other)
    }
  }

  /// Deletes held objects that a complete result does not contain.
  ///
  /// The result of a query without a condition contains all objects of its entity. After a reset the client is not
  /// notified of each delete, so it detects them here; otherwise a held object would remain a member of its
  /// relationships.
  /// - Returns: the ids of the deleted objects, ascending.
  func deleteMissing(from result: [ObjectID: ObjectState], of query: QueryID, at revision: Revision) -> [ObjectID] {
    guard let subscribe = replica.queries[query]?.subscribe, subscribe.predicate.isEmpty, subscribe.window == nil,
      let entity = model.entity(subscribe.entity)
    else { return [] }
    var gone = [ObjectID]()
    for state in heldStates where entity.family.contains(state.id.entity) && result[state.id] == nil {
      // An object newer than the result may have been inserted after it. The age of an object is unknown without an
      // image, or with only the image of its own save.
      guard let stored = state.stored, stored.revision > 0, stored.revision <= revision else { continue }
      tombstones.record(state.id, at: revision)
      recordDeletion(of: state)
      gone.append(state.id)
    }
    return gone
  }
}

extension ObjectState {
  /// Whether another client deleted the object, so that nothing is left to edit or save.
  var isGone: Bool { isDeleted && stored == nil && !isInserted }
}
