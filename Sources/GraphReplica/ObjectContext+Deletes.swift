import GraphModel

/// Objects that others have deleted: how the context learns of it, and what goes with them.
extension ObjectContext {
  /// The server has the object no more. What is unsaved of it goes along: who restores the object brings back what was
  /// stored, and no edits that nobody can save.
  func bury(_ state: ObjectState) {
    forgetEchoes(of: state)
    state.isDeleted = true
    state.stored = nil
    state.edits = [:]
    dirty[state.id] = nil
  }

  /// A save names what the server has never heard of: the store was restored to a state before it. It is gone with what is
  /// unsaved of it, or no later save would get past it; the rest stays unsaved.
  func buryMissing(_ refusal: Refusal) {
    var change = ObjectsDidChange()
    for violation in refusal.violations where violation.commonRule == .missing {
      guard !violation.id.isTemporary, let state = state(violation.id) else { continue }
      bury(state)
      change.deleted.append(violation.id)
    }
    if !change.deleted.isEmpty { post(change) }
  }

  /// What was said of the object's one-to-ones goes along with it, at the other ends too: whom it was given to, and whom that one
  /// had left for it.
  private func forgetEchoes(of state: ObjectState) {
    for (number, local) in state.edits where !local.isEcho {
      guard let other = local.value.objectID.flatMap({ self.state($0) }),
        let property = state.entity.property(number), let inverse = inverseOfOneToOne(property),
        other.isEchoing(.object(state.id), inverse)
      else { continue }
      other.edits[inverse.number] = nil
      if let left = other.value(inverse).objectID.flatMap({ self.state($0) }), left.isEchoing(.null, property) {
        left.edits[number] = nil
        settle(left)
      }
      settle(other)
    }
  }

  /// A whole result of a query without a condition names all objects of its entity that there are. Who follows no longer
  /// hears of each delete, as after a reset, learns of it here: what somebody still holds would else stay a member of
  /// whatever it was in.
  /// - Returns: what turned out to be gone, ascending.
  func buryMissing(from result: [ObjectID: ObjectState], of query: QueryID, at revision: Revision) -> [ObjectID] {
    guard let subscribe = replica.queries[query]?.subscribe, subscribe.predicate.isEmpty, subscribe.window == nil,
      let entity = model.entity(subscribe.entity)
    else { return [] }
    var gone = [ObjectID]()
    for state in held where entity.family.contains(state.id.entity) && result[state.id] == nil {
      // What is newer than the result may be an object that it could not know yet; of one without an image, or with the
      // image of its own save alone, nobody here knows how old it is.
      guard let stored = state.stored, stored.revision > 0, stored.revision <= revision else { continue }
      burials.note(state.id, at: revision)
      bury(state)
      gone.append(state.id)
    }
    return gone
  }
}

extension ObjectState {
  /// Others have deleted it: there is nothing to edit or to save any more.
  var isGone: Bool { isDeleted && stored == nil && !isInserted }
}
