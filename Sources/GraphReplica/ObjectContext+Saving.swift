// Tests: ReplicaTests.swift, RefusedSaveTests.swift, SaveRequirementTests.swift, TextSavingTests.swift
import GraphModel

/// An unanswered save. A context has one transaction in flight: it builds the next one after the answer, which allows
/// it to use the permanent ids of inserted objects, and to express texts as splices of the stored text.
struct QueuedSave {
  let id: TransactionID
  let policy: MergePolicy
  let undo: UndoGroup?
  /// Conditions on objects that other clients must not have changed.
  var preconditions = [(state: ObjectState, condition: Precondition)]()
  /// The objects that it changes, with their bases at the time of the save.
  var states: [(state: ObjectState, kind: Change.Kind, base: Revision)]
  /// An undo, a redo or a restore; nil for a save. It is queued like a save because it refers to the saves before it.
  var request: ReplicaEvent?
  /// Whether the request refers to a history that the store does not have.
  var isOutdated = false

  /// The undo stack of its step; zero without a group.
  var scope: UniqueID { if let undo { undo.scope } else { .zero } }

  /// Refers to another state of the same object.
  fileprivate mutating func replace(_ state: ObjectState, with other: ObjectState) {
    for index in states.indices where states[index].state === state { states[index].state = other }
    for index in preconditions.indices where preconditions[index].state === state {
      preconditions[index].state = other
    }
  }
}

extension ObjectContext {
  /// Saves all changes as one transaction; nil if there are none. It is sent now, or when the previous one has been
  /// answered. The context does not report the outcome: programs call the client's `save`, which waits for it.
  ///
  /// A child's changes become unsaved changes of its parent instead, and the result is nil.
  /// - Parameters:
  ///   - requirements: conditions on objects that other clients must not have changed; otherwise the save is refused
  ///     under every policy. A child's save reaches no server: the requirements belong to the save of the outermost
  ///     context.
  ///   - undo: nil for the open or a new group of `undoScope`, if there is one.
  @discardableResult
  package func save(
    policy: MergePolicy = .error, requiring requirements: [SaveRequirement] = [], undo: UndoGroup? = nil
  ) -> TransactionID? {
    if parent != nil {
      precondition(requirements.isEmpty, "the save of a child context can't have requirements")
      saveIntoParent()
      return nil
    }
    var states = [(state: ObjectState, kind: Change.Kind, base: Revision)]()
    let id = TransactionID(replica: replica.id, sequence: lastSequence + 1)
    // Must precede the move of edits to `sent`: it reads the revision at which they were begun.
    let preconditions = requirements.compactMap { $0.precondition() }
    // Inserts are in the order of their temporary ids, which is the order of creation.
    for state in dirty.values.sorted(by: { $0.id < $1.id }) {
      let kind: Change.Kind
      if state.isDeleted {
        if state.sent.contains(where: \.isDelete) { continue }
        kind = .delete
      } else if state.isInserted, state.sent.isEmpty {
        kind = .insert
      } else if !state.edits.isEmpty {
        kind = .update
      } else {
        continue
      }
      states.append((state, kind, state.base))
      state.sent.append(.init(transaction: id, edits: state.edits, isDelete: kind == .delete))
      state.edits = [:]
      state.base = state.revision
    }
    guard !states.isEmpty else { return nil }
    lastSequence += 1
    queuedSaves.append(
      QueuedSave(
        id: id, policy: policy, undo: undo ?? undoScope?.group(), preconditions: preconditions, states: states))
    if queuedSaves.count == 1 { sendNextSave() }
    notifyOwner()
    return id
  }

  /// A new id for a transaction that is made outside the context's own saves. All of a replica's ids come from one
  /// counter: a server with pruned history assumes that an id at or below a pruned one may have been committed.
  public func newTransactionID() -> TransactionID {
    if let parent { return parent.newTransactionID() }
    lastSequence += 1
    return TransactionID(replica: replica.id, sequence: lastSequence)
  }

  /// Undoes or redoes, now or after the saves that are queued; answered like a save.
  public func undo(_ request: UndoRequest) {
    if refusesEdit("nothing can be undone") { return }
    if let parent { return parent.undo(request) }
    enqueue(.undo(request), request.id)
  }

  /// Restores an earlier state, now or after the saves that are queued; answered like a save.
  public func restore(_ request: RestoreRequest) {
    if let parent { return parent.restore(request) }
    enqueue(.restore(request), request.id)
  }

  private func enqueue(_ request: ReplicaEvent, _ id: TransactionID) {
    queuedSaves.append(QueuedSave(id: id, policy: .error, undo: nil, states: [], request: request))
    if queuedSaves.count == 1 { sendNextSave() }
    notifyOwner()
  }

  /// Sends the first save of the queue, if there is one.
  func sendNextSave() {
    guard let save = queuedSaves.first else { return }
    if let request = save.request {
      guard save.isOutdated else { return handle(request) }
      actions.append(.saved(save.id, .failure(Replica.otherPast)))
      queuedSaves.removeFirst()
      return sendNextSave()
    }
    // Each precondition is a change of its own, without edits.
    var changes = save.preconditions.map { state, condition in
      let id = (self.state(state.id) ?? state).id
      return Change(.update, id, base: condition.revision, onlyIf: condition)
    }
    // Moves come last: an anchor may become a member in any of the other changes.
    var moves = [Change]()
    for (made, kind, begun) in save.states {
      // The object may have arrived in a delta before the answer named it; then that state counts.
      let state = self.state(made.id) ?? made
      // A store restored from a backup may not have reached this revision yet, and an object that has not been
      // reloaded has no revision.
      let base = max(0, min(begun, state.stored?.revision ?? begun))
      // Deltas may have arrived while the save was queued: rebase over them.
      state.rebaseTexts()
      guard let sent = state.sent.first(where: { $0.transaction == save.id }) else {
        assertionFailure("an object of a queued save has its edits")
        continue
      }
      // If the insert was refused, this update is sent as the insert.
      let isInsert = kind == .insert || state.isInserted
      let placing = edits(sent.edits.filter { isPlacedByMembers($0.key) })
      let others = sent.edits.filter { !isPlacedByMembers($0.key) }
      if kind == .delete {
        // With a base of 0 the server would delete the object regardless of changes since it was read.
        changes.append(Change(.delete, state.id, base: begun > 0 ? max(1, base) : base))
        continue
      } else if isInsert {
        changes.append(Change(.insert, state.id, edits: edits(others)))
      } else {
        changes += updates(of: state, others, base: base, save.policy)
      }
      if !placing.isEmpty { moves.append(Change(.update, state.id, base: isInsert ? 0 : base, edits: placing)) }
    }
    handle(.save(Transaction(id: save.id, policy: save.policy, undo: save.undo, changes: changes + moves)))
  }

  /// Whether a property is an ordered relationship whose members store their positions. Its owner sends only moves.
  func isPlacedByMembers(_ property: PropertyNumber) -> Bool {
    guard let relationship = model.property(property)?.relationship else { return false }
    return relationship.isToMany && relationship.position != nil
  }

  func edits(_ locals: [PropertyNumber: ObjectState.PropertyEdit]) -> [Edit] {
    locals.sorted { $0.key < $1.key }.flatMap { number, local -> [Edit] in
      guard !local.isInverseEdit, let property = model.property(number) else { return [] }
      if property.relationship?.isOrdered == true { return local.orderedEdits(number) }
      if property.relationship?.isToMany == true {
        return [Edit(number, .members(added: local.added.sorted(), removed: local.removed.sorted()))]
      }
      return [Edit(number, .set(local.value))]
    }
  }

  /// The changes that update one object.
  ///
  /// Texts are sent as splices of the stored text, all other edits with the revision at which they were begun, so
  /// that conflicts are detected. An overwrite also sends the revision up to which the rest of the object was seen. A
  /// one-to-one that refers to another object only because of an edit at the other end is sent as a change with a
  /// base and no edits.
  private func updates(
    of state: ObjectState, _ locals: [PropertyNumber: ObjectState.PropertyEdit], base: Revision, _ policy: MergePolicy
  ) -> [Change] {
    var plain = locals
    var texts = [Edit]()
    // After a divergence the stored text may be of a lost past, until the object has been reloaded.
    let seen = state.revision
    let isKnown = seen >= 0
    for (number, local) in locals.sorted(by: { $0.key < $1.key })
    where isKnown && !state.uncertainTexts.contains(number) {
      guard let base = local.textBase, let property = model.property(number),
        let stored = state.storedValue(property).stringValue ?? (base.isEmpty ? "" : nil),
        let splices = local.rebased(onto: stored).splices
      else { continue }
      plain[number] = nil
      // Text that was typed and removed again is still an edit, although it has no effect.
      let none = TextSplice(offset: 0, length: 0, insertion: "")
      texts.append(Edit(number, .splice(splices.isEmpty ? [none] : splices)))
    }
    var changes = [Change]()
    if plain.values.contains(where: { !$0.isInverseEdit || !$0.value.isNull }) {
      changes.append(Change(.update, state.id, base: base, edits: edits(plain)))
    }
    if !texts.isEmpty || (policy == .overwrite && seen > base) {
      changes.append(Change(.update, state.id, base: seen, edits: texts))
    }
    return changes
  }

  // MARK: - Answers

  func confirm(_ id: TransactionID, _ saved: SaveResult) {
    let save = removeQueuedSave(id)
    if let save { bindUndo(to: save, at: saved.committed.revision) }
    var identities = [ObjectID: ObjectID]()
    for identity in saved.committed.identities {
      guard let state = state(identity.temporary), state.sent.contains(where: { $0.transaction == id }) else {
        continue
      }
      assignPermanentID(to: state, identity)
      identities[identity.temporary] = identity.permanent
    }
    if !identities.isEmpty {
      for state in dirty.values { state.replace(identities) }
      for child in children { child.context?.replaceParentIDs(identities) }
    }
    let made = Set(identities.values)
    var members = [ObjectID: [PropertyNumber: [ObjectState]]]()
    for image in saved.objects { register(image) }
    for (state, _, _) in objects(of: save) {
      // `assignPermanentID` may have replaced the state.
      let state = self.state(state.id) ?? state
      guard let index = state.sent.firstIndex(where: { $0.transaction == id }) else { continue }
      let sent = state.sent.remove(at: index)
      collectMembers(by: sent, of: state, ofInserted: made, into: &members)
      let conflicts = saved.committed.conflicts.filter { $0.id == state.id && !$0.mineWon }
      if sent.isDelete {
        // Under some policies another client's change outweighs a delete. A restore by another client may also have
        // arrived before the answer.
        let isBack = state.revision > saved.committed.revision
        let isGone = !isBack && !conflicts.contains { $0.kind == .changed }
        state.isDeleted = isGone
        if isGone {
          state.stored = nil
          dirty[state.id] = nil
          tombstones.record(state.id, at: saved.committed.revision)
        }
      } else if !saved.isComplete, conflicts.isEmpty, state.stored != nil || made.contains(state.id),
        state.revision < saved.committed.revision,
        !results.values.contains(where: { $0[state.id] != nil })
      {
        // The reply did not contain the object and no query delivers it: assume that the sent values are stored. Edits
        // that lost at the other end of a relationship are conflicts of that object.
        let lost = Set(saved.committed.conflicts.filter { !$0.mineWon }.map(\.id))
        fold(sent.edits.filter { !$0.value.refers(to: lost) }, into: state)
      }
      state.rebaseTexts(after: sent.edits, committedAt: saved.committed.revision)
      removeIfClean(state)
    }
    recordDeletions(by: saved)
    for id in made {
      guard let state = state(id) else { continue }
      // Under other policies, the insert may have matched an existing object that has members.
      guard save?.policy == .error || state.entity.uniquenessConstraints.isEmpty else { continue }
      recordMembers(ofInserted: state, members[id, default: [:]])
    }
    sendNextSave()
  }

  /// Marks the objects as deleted that the save's delete rules took along. The objects of a live query follow with its
  /// delta.
  private func recordDeletions(by saved: SaveResult) {
    var change = ObjectsDidChange()
    for id in saved.deleted {
      tombstones.record(id, at: saved.committed.revision)
      // Another client may have restored it, and the newer state arrived before the answer.
      guard let state = state(id), !state.isGone, state.revision <= saved.committed.revision, !isFollowed(id) else {
        continue
      }
      recordDeletion(of: state)
      change.deleted.append(id)
    }
    if !change.deleted.isEmpty { post(change) }
  }

  /// Collects the objects that a save has made members of objects that it inserted.
  private func collectMembers(
    by sent: ObjectState.SentEdits, of state: ObjectState, ofInserted made: Set<ObjectID>,
    into members: inout [ObjectID: [PropertyNumber: [ObjectState]]]
  ) {
    if made.isEmpty { return }
    for (number, local) in sent.edits {
      guard let inverse = model.property(number)?.relationship?.inverse else { continue }
      for id in local.added.union([local.value.objectID].compactMap { $0 }) where made.contains(id) {
        members[id, default: [:]][inverse, default: []].append(state)
      }
    }
  }

  /// Binds an undo that waited for the save to its commit, even an empty one. Otherwise it would undo the step
  /// before.
  private func bindUndo(to save: QueuedSave, at revision: Revision) {
    if var undo = undoRequest(after: save) {
      undo.revision = revision
      queuedSaves[0].request = .undo(undo)
    }
  }

  /// The queued undo of a save's step. Nil if it may refer to another step: one of another stack, or a commit that was
  /// made outside the queue.
  private func undoRequest(after save: QueuedSave) -> UndoRequest? {
    guard !save.states.isEmpty, case .undo(let undo)? = queuedSaves.first?.request, undo.revision == nil, !undo.redo,
      undo.scope == nil || undo.scope == save.scope, undo.id.sequence == save.id.sequence + 1
    else { return nil }
    return undo
  }

  /// Gives an inserted object its permanent id. If its delta arrived first, or the insert matched an existing object,
  /// the two states become one, and both instances refer to it.
  func assignPermanentID(to state: ObjectState, _ identity: CommitResult.IDAssignment) {
    remove(identity.temporary)
    dirty[identity.temporary] = nil
    state.isInserted = false
    if let known = self.state(identity.permanent), known !== state {
      // Other clients may have deleted the object before the answer, and nothing is left to edit then.
      if !known.isGone {
        known.edits.merge(state.edits) { _, mine in mine }
        if state.isDeleted { known.isDeleted = true }
        dirty[known.id] = known
      }
      known.sent += state.sent
      for index in queuedSaves.indices { queuedSaves[index].replace(state, with: known) }
      known.transients.merge(state.transients) { _, mine in mine }
      if let instance = state.instance {
        instance.state = known
        known.instance = known.instance ?? instance
      }
      known.identity = known.identity ?? state.identity
      // Also for children, which read the other state from here on.
      state.observed?.signalChange()
      state.id = identity.permanent
    } else {
      state.id = identity.permanent
      add(state)
      dirty[state.id] = state
    }
  }

  private func fold(_ edits: [PropertyNumber: ObjectState.PropertyEdit], into state: ObjectState) {
    var image =
      state.stored
      ?? ObjectImage(
        id: state.id, revision: 0,
        values: state.entity.storedProperties.map(\.initialValue))
    for (number, local) in edits {
      guard let property = state.entity.property(number) else { continue }
      if local.textBase != nil { state.uncertainTexts.insert(number) }
      if property.relationship?.isOrdered == true {
        image[property] = .objects(local.editing(image[property].objectIDs))
      } else if property.relationship?.isToMany == true {
        let ids = Set(image[property].objectIDs).subtracting(local.removed).union(local.added)
        image[property] = .objects(ids.sorted())
      } else {
        image[property] = local.value
      }
    }
    state.stored = image
  }

  /// Makes a refused transaction's edits unsaved again, underneath later edits. They keep the base at which they were
  /// made, however often they are saved: a conflict persists until `acceptStoredState`.
  func restoreUnsavedEdits(of id: TransactionID) {
    let save = removeQueuedSave(id)
    if let save, let undo = undoRequest(after: save) {
      // The undo was of the refused save, not of the step before it.
      queuedSaves.removeFirst()
      actions.append(.saved(undo.id, .failure(Self.nothingToUndo)))
    }
    var discarded = [ObjectID]()
    for (state, _, begun) in objects(of: save) {
      let state = self.state(state.id) ?? state
      guard let index = state.sent.firstIndex(where: { $0.transaction == id }) else { continue }
      let sent = state.sent.remove(at: index)
      if state.isInserted, state.isDeleted {
        discardInsert(state)
        discarded.append(state.id)
        continue
      }
      // A later save of the same object builds on this one and takes over its edits. Edits of a deleted object are
      // discarded. A refused delete of a fault is unsaved again, unless another client has deleted it.
      if state.isGone, !sent.isDelete || dirty[state.id] == nil {
        state.edits = [:]
      } else if let next = state.sent.indices.first {
        state.sent[next].edits = sent.edits.merging(state.sent[next].edits) { $0.merged(with: $1) }
        lowerBase(of: state, in: state.sent[next].transaction, to: begun)
      } else {
        state.edits = sent.edits.merging(state.edits) { $0.merged(with: $1) }
        state.base = min(state.base, begun)
        // It may have been deleted and restored meanwhile.
        dirty[state.id] = state
      }
      state.rebaseTexts()
      removeIfClean(state)
    }
    for id in discarded { nullify(referencesTo: id) }
    sendNextSave()
  }

  /// Discards an object whose insert was refused and which was deleted meanwhile. The server never receives it.
  private func discardInsert(_ state: ObjectState) {
    for index in queuedSaves.indices { queuedSaves[index].states.removeAll { $0.state === state } }
    (state.sent, state.edits) = ([], [:])
    dirty[state.id] = nil
    remove(state.id)
  }

  private static let nothingToUndo = Refusal(.conflict, "there is nothing to undo: the change was refused")

  private func lowerBase(of state: ObjectState, in id: TransactionID, to base: Revision) {
    guard let save = queuedSaves.firstIndex(where: { $0.id == id }),
      let place = queuedSaves[save].states.firstIndex(where: { $0.state === state || $0.state.id == state.id })
    else { return assertionFailure("the edits of an object belong to a queued save") }
    queuedSaves[save].states[place].base = min(queuedSaves[save].states[place].base, base)
  }

  /// The objects that a save changes. Empty for a transaction that was made outside the context, which has no queued
  /// save.
  private func objects(of save: QueuedSave?) -> [(state: ObjectState, kind: Change.Kind, base: Revision)] {
    guard let save else { return [] }
    return save.states
  }

  private func removeQueuedSave(_ id: TransactionID) -> QueuedSave? {
    guard let index = queuedSaves.firstIndex(where: { $0.id == id }) else { return nil }
    return queuedSaves.remove(at: index)
  }

  func removeIfClean(_ state: ObjectState) {
    // An unsaved delete stays. Confirmed deletes are removed where they arrive.
    if state.sent.isEmpty, state.edits.isEmpty, !state.isInserted, !state.isDeleted { dirty[state.id] = nil }
  }
}
