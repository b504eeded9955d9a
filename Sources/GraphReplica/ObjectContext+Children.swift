import GraphModel

/// Child contexts: scratch pads. A child reads through to its parent, unsaved edits and live queries included, and keeps
/// its own edits to itself until `save` makes them unsaved edits of the parent. Nothing of it goes over the wire, and a
/// child that is dropped leaves nothing behind. Its objects are faces of its own, for the same ids.
///
/// A state of a child has the parent's state of the object *under* it, whose values stand where a context without a parent
/// has the server's.
extension ObjectContext {
  /// A scratch pad on top of this context. It belongs to the same actor, and keeps this context alive.
  public func makeChild() -> ObjectContext {
    let child = ObjectContext(on: self)
    children.removeAll { $0.context == nil }
    children.append(WeakContext(context: child))
    return child
  }

  /// This context's object of an id, wherever the object at hand belongs: as held, else a fault.
  public func object<Object: ManagedObject>(for other: Object) -> Object? { fault(other.id) as? Object }

  /// The state that this context has of somebody's object.
  func own(_ object: ManagedObject) -> ObjectState {
    object.context === self ? object.state : stateOrFault(object.id) ?? object.state
  }

  /// A state on top of the parent's; nil when that has none and can't have one.
  func stateOnParent(_ id: ObjectID) -> ObjectState? {
    guard let under = parent?.stateOrFault(id) else { return nil }
    let state = ObjectState(id: id, entity: under.entity, stored: nil)
    state.under = under
    keep(state)
    return state
  }

  /// The parent's members, but for what happened here.
  func relatedOnParent(to state: ObjectState, _ property: Property, _ inverse: Property) -> [ObjectID] {
    let known = state.under.map { parent?.related(to: $0, through: property) ?? [] } ?? []
    let left = known.filter { id in
      guard let other = self.state(id), other.isDeleted || other.edits[inverse.number] != nil else { return true }
      return !other.isDeleted && other.value(inverse).objectIDs.contains(state.id)
    }
    let members = Set(left)
    let joined = dirty.values.filter { other in
      !other.isDeleted && !members.contains(other.id) && other.edits[inverse.number] != nil
        && other.value(inverse).objectIDs.contains(state.id)
    }
    let list = left + joined.map(\.id).sorted()
    return state.locals(of: property).reduce(list) { $1.moving($0) }
  }

  // MARK: - Saving into the parent

  /// Makes what was edited here the parent's unsaved edits: over those it has, and over what others have changed since.
  /// The server is told up to where the edits had seen the object, so that conflicts show when the parent saves.
  func saveIntoParent() {
    guard let parent else { return }
    // Their temporary ids are in the order in which they were made.
    let changed = dirty.values.sorted { $0.id < $1.id }
    for state in changed where state.isInserted {
      let made = ObjectState(id: state.id, entity: state.entity, stored: nil)
      made.isInserted = true
      parent.keep(made)
      parent.dirty[made.id] = made
      state.under = made
      state.isInserted = false
    }
    for state in changed where !state.isDeleted {
      guard let under = state.under, !under.isDeleted else { continue }
      parent.take(state, onto: under)
    }
    // The other ends of one-to-ones are edited there by now; they were seen here.
    for state in changed where !state.isDeleted && state.edits.values.contains(where: \.isEcho) {
      if let under = state.under, !under.edits.isEmpty { under.base = min(under.base, state.base) }
    }
    for state in held {
      for (number, value) in state.transients { state.under?.transients[number] = value }
      state.transients = [:]
    }
    for state in changed where state.isDeleted {
      if let under = state.under, !under.isDeleted { parent.delete(parent.face(of: under)) }
    }
    for state in changed {
      state.edits = [:]
      // From here on it is deleted when the parent has it so.
      state.isDeleted = false
    }
    dirty = [:]
  }

  private func take(_ state: ObjectState, onto under: ObjectState) {
    for (number, local) in state.edits.sorted(by: { $0.key < $1.key }) where !local.isEcho {
      guard let property = under.entity.property(number) else { continue }
      let wasClean = under.edits.isEmpty
      if property.relationship?.isToMany == true {
        begin(under)
        under.edits[number] = under.edits[number].map { $0.merged(with: local) } ?? local
      } else if let words = words(local, property, onto: under) {
        begin(under)
        under.edits[number] = under.edits[number].map { $0.merged(with: words) } ?? words
      } else {
        set(local.value, property, of: under)
      }
      under.base = wasClean ? state.base : min(under.base, state.base)
    }
  }

  /// A text's edit on what the text says by now: what was left alone stays, however much was edited around it. Nil where
  /// the text is set as a whole.
  private func words(
    _ local: ObjectState.LocalValue, _ property: Property, onto under: ObjectState
  ) -> ObjectState.LocalValue? {
    guard local.textBase != nil, !under.isInserted, let present = under.value(property).stringValue else { return nil }
    let moved = local.rebased(onto: present)
    return moved.textBase.map { Bytes.equal($0, present) } == true ? moved : nil
  }

  // MARK: - What happens to the parent

  /// Temporary ids of the parent became permanent; what was made here and not saved keeps its own.
  func followParent(_ identities: [ObjectID: ObjectID]) {
    for (temporary, permanent) in identities.sorted(by: { $0.key < $1.key }) {
      guard let state = state(temporary) else { continue }
      forget(temporary)
      state.id = permanent
      state.under = parent?.state(permanent) ?? state.under
      if let known = self.state(permanent) {
        // Two objects turned out to be one.
        known.edits.merge(state.edits) { _, mine in mine }
        if let face = state.face { face.state = known }
        if dirty.removeValue(forKey: temporary) != nil { dirty[permanent] = known }
      } else {
        keep(state)
        if dirty.removeValue(forKey: temporary) != nil { dirty[permanent] = state }
      }
    }
    for state in dirty.values { state.replace(identities) }
    for child in children { child.context?.followParent(identities) }
  }
}

struct WeakContext {
  weak var context: ObjectContext?
}
