// Tests: ChildContextTests.swift, ContextTwinTests.swift
import GraphModel

/// Child contexts: scratch pads.
///
/// A child reads through to its parent, unsaved edits and live queries included, and keeps its own edits until
/// `saveIntoParent` makes them unsaved edits of the parent. It sends nothing to the server, and a released child leaves
/// nothing behind. It has instances of its own for the same ids.
///
/// A child's state refers to the parent's state of the object as `parentState`, whose values take the place of the
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
  func localState(of object: ManagedObject) -> ObjectState {
    object.context === self ? object.state : stateOrFault(object.id) ?? object.state
  }

  /// Makes a state on top of the parent's; nil if the parent has none and can't make one.
  func makeState(onParent id: ObjectID) -> ObjectState? {
    guard let parentState = parent?.stateOrFault(id) else { return nil }
    let state = ObjectState(id: id, entity: parentState.entity, stored: nil)
    state.parentState = parentState
    add(state)
    return state
  }

  /// The parent's members of a to-many, with this context's edits applied.
  func relatedThroughParent(to state: ObjectState, _ property: Property, _ inverse: Property) -> [ObjectID] {
    var known = [ObjectID]()
    if let parent, let parentState = state.parentState { known = parent.related(to: parentState, through: property) }
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
    return state.localEdits(of: property).reduce(list) { $1.moving($0) }
  }

  // MARK: - Saving into the parent

  /// Makes a child's edits unsaved edits of its parent, at once and without the server; `client.save()` then sends
  /// those of the client's own context. It traps in a context that is no child.
  ///
  /// They replace the parent's own edits, and the values that
  /// other clients have committed since. An object's base stays at the oldest revision that its edits have seen, so
  /// that the server detects conflicts when the parent saves.
  public func saveIntoParent() {
    guard let parent else {
      preconditionFailure("only a child context saves into its parent; call save() of the client")
    }
    // Temporary ids ascend in the order of creation.
    let changed = dirty.values.sorted { $0.id < $1.id }
    for state in changed where state.isInserted {
      let made = ObjectState(id: state.id, entity: state.entity, stored: nil)
      made.isInserted = true
      parent.add(made)
      parent.dirty[made.id] = made
      state.parentState = made
      state.isInserted = false
    }
    for state in changed where !state.isDeleted {
      guard let parentState = state.parentState, !parentState.isDeleted else { continue }
      parent.applyEdits(of: state, to: parentState)
    }
    // The parent has edited the other ends of one-to-ones by now; the child may have seen them at an older revision.
    for state in changed where !state.isDeleted && state.edits.values.contains(where: \.isInverseEdit) {
      if let parentState = state.parentState, !parentState.edits.isEmpty {
        parentState.base = min(parentState.base, state.base)
      }
    }
    for state in heldStates {
      if let parentState = state.parentState {
        for (number, value) in state.transients { parentState.transients[number] = value }
      }
      state.transients = [:]
    }
    for state in changed where state.isDeleted {
      if let parentState = state.parentState, !parentState.isDeleted { parent.delete(parent.instance(of: parentState)) }
    }
    for state in changed {
      state.edits = [:]
      // From here on the parent decides whether it is deleted.
      state.isDeleted = false
    }
    dirty = [:]
  }

  private func applyEdits(of state: ObjectState, to parentState: ObjectState) {
    for (number, local) in state.edits.sorted(by: { $0.key < $1.key }) where !local.isInverseEdit {
      guard let property = parentState.entity.property(number) else { continue }
      let wasClean = parentState.edits.isEmpty
      if property.relationship?.isToMany == true {
        begin(parentState)
        parentState.edits[number] = parentState.edits[number].map { $0.merged(with: local) } ?? local
      } else if let text = rebasedText(local, property, onto: parentState) {
        begin(parentState)
        parentState.edits[number] = parentState.edits[number].map { $0.merged(with: text) } ?? text
      } else {
        set(local.value, property, of: parentState)
      }
      parentState.base = wasClean ? state.base : min(parentState.base, state.base)
    }
  }

  /// A text's edit, rebased onto the parent's current text, so that the parts that it left alone stay. Nil where the
  /// text is set as a whole.
  private func rebasedText(
    _ local: ObjectState.PropertyEdit, _ property: Property, onto parentState: ObjectState
  ) -> ObjectState.PropertyEdit? {
    guard local.textBase != nil, !parentState.isInserted, let present = parentState.value(property).stringValue else {
      return nil
    }
    let moved = local.rebased(onto: present)
    return moved.textBase.map { UTF8Comparison.equal($0, present) } == true ? moved : nil
  }

  // MARK: - What happens to the parent

  /// Replaces temporary ids of the parent by permanent ones. Unsaved objects of this context keep theirs.
  func replaceParentIDs(_ identities: [ObjectID: ObjectID]) {
    for (temporary, permanent) in identities.sorted(by: { $0.key < $1.key }) {
      guard let state = state(temporary) else { continue }
      remove(temporary)
      state.id = permanent
      state.parentState = parent?.state(permanent) ?? state.parentState
      if let known = self.state(permanent) {
        // Two states turned out to be of one object.
        known.edits.merge(state.edits) { _, mine in mine }
        known.transients.merge(state.transients) { _, mine in mine }
        if let instance = state.instance {
          instance.state = known
          known.instance = known.instance ?? instance
        }
        known.identity = known.identity ?? state.identity
        if dirty.removeValue(forKey: temporary) != nil { dirty[permanent] = known }
      } else {
        add(state)
        if dirty.removeValue(forKey: temporary) != nil { dirty[permanent] = state }
      }
    }
    for state in dirty.values { state.replace(identities) }
    for child in children { child.context?.replaceParentIDs(identities) }
  }
}

struct WeakContext {
  weak var context: ObjectContext?
}
