import GraphModel

/// Child contexts: scratch pads.
///
/// A child reads through to its parent, unsaved edits and live queries included, and keeps its own edits until `save`
/// makes them unsaved edits of the parent. It sends nothing to the server, and a child that is released leaves
/// nothing behind. It has instances of its own for the same ids.
///
/// A child's state refers to the parent's state of the object as `under`, whose values take the place of the
/// server's.
extension ObjectContext {
  /// A child context on top of this one. It belongs to the same actor, and keeps this context alive.
  public func makeChild() -> ObjectContext {
    let child = ObjectContext(on: self)
    children.removeAll { $0.context == nil }
    children.append(WeakContext(context: child))
    return child
  }

  /// This context's instance of an object of any context; a fault if its values are not held.
  public func object<Object: ManagedObject>(for other: Object) -> Object? { fault(other.id) as? Object }

  /// This context's state of an object of any context.
  func own(_ object: ManagedObject) -> ObjectState {
    object.context === self ? object.state : stateOrFault(object.id) ?? object.state
  }

  /// Makes a state on top of the parent's; nil if the parent has none and can't make one.
  func stateOnParent(_ id: ObjectID) -> ObjectState? {
    guard let under = parent?.stateOrFault(id) else { return nil }
    let state = ObjectState(id: id, entity: under.entity, stored: nil)
    state.under = under
    keep(state)
    return state
  }

  /// The parent's members of a to-many, with this context's edits applied.
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

  /// Makes this context's edits unsaved edits of the parent. They go over the parent's own edits, and over what other
  /// clients have committed since. An object's base stays at the oldest revision that its edits have seen, so that
  /// the server detects conflicts when the parent saves.
  func saveIntoParent() {
    guard let parent else { return }
    // Temporary ids ascend in the order of creation.
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
    // The parent has edited the other ends of one-to-ones by now; the child may have seen them at an older revision.
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
      // From here on the parent decides whether it is deleted.
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

  /// A text's edit, rebased onto the parent's current text, so that the parts that it left alone stay. Nil where the
  /// text is set as a whole.
  private func words(
    _ local: ObjectState.PropertyEdit, _ property: Property, onto under: ObjectState
  ) -> ObjectState.PropertyEdit? {
    guard local.textBase != nil, !under.isInserted, let present = under.value(property).stringValue else { return nil }
    let moved = local.rebased(onto: present)
    return moved.textBase.map { UTF8Comparison.equal($0, present) } == true ? moved : nil
  }

  // MARK: - What happens to the parent

  /// Replaces temporary ids of the parent by permanent ones. Unsaved objects of this context keep theirs.
  func followParent(_ identities: [ObjectID: ObjectID]) {
    for (temporary, permanent) in identities.sorted(by: { $0.key < $1.key }) {
      guard let state = state(temporary) else { continue }
      forget(temporary)
      state.id = permanent
      state.under = parent?.state(permanent) ?? state.under
      if let known = self.state(permanent) {
        // Two states turned out to be of one object.
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
