import GraphModel

/// Saving. A context has one transaction under way at a time: the next is made when the one before is answered, so that
/// it can name the objects which that one inserted, and say its texts as splices of what is stored by then.
struct QueuedSave {
  let id: TransactionID
  let policy: MergePolicy
  let undo: UndoGroup?
  /// What must not have been changed by others.
  var preconditions = [(state: ObjectState, condition: Precondition)]()
  /// The objects that it changes, as they were dirty then.
  var states: [(state: ObjectState, kind: Change.Kind, base: Revision)]
  /// An undo, a redo or a restore, which waits its turn as a save does: it speaks of the saves before it.
  var request: ReplicaEvent?
  /// The request speaks of a past that the store does not have.
  var isOutdated = false
}

extension ObjectContext {
  /// Saves all changes as one transaction; nil when there are none. It goes out now, or when the one before it has been
  /// answered.
  ///
  /// A child's changes become unsaved changes of its parent instead; it returns nil.
  /// - Parameters:
  ///   - requirements: what other clients must not have changed; if they have, the save is refused under every policy. A
  ///     child's save reaches no server: the requirements belong to the save of the outermost context.
  ///   - undo: nil for the open or a new group of `undoScope`, if there is one.
  @discardableResult
  public func save(
    policy: MergePolicy = .error, requiring requirements: [Requirement] = [], undo: UndoGroup? = nil
  ) -> TransactionID? {
    if parent != nil {
      precondition(requirements.isEmpty, "a child context's save takes no requirements")
      saveIntoParent()
      return nil
    }
    var states = [(state: ObjectState, kind: Change.Kind, base: Revision)]()
    let id = TransactionID(replica: replica.id, sequence: lastSequence + 1)
    // Before the edits count as sent: they say when they were begun.
    let preconditions = requirements.compactMap { $0.precondition() }
    // Inserts in the order of their temporary ids, which is the order in which they were made.
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
      state.base = state.stored?.revision ?? 0
    }
    guard !states.isEmpty else { return nil }
    lastSequence += 1
    queuedSaves.append(
      QueuedSave(
        id: id, policy: policy, undo: undo ?? undoScope?.group(), preconditions: preconditions, states: states))
    if queuedSaves.count == 1 { sendNextSave() }
    return id
  }

  /// An id for a transaction that is made beside the context's own saves. All of a replica's ids come from one counter: a
  /// server whose history was pruned takes what is behind a pruned one for something that it may have committed.
  public func newTransactionID() -> TransactionID {
    if let parent { return parent.newTransactionID() }
    lastSequence += 1
    return TransactionID(replica: replica.id, sequence: lastSequence)
  }

  /// Undoes or redoes, now or when the saves before it have been answered; answered as a save is.
  public func undo(_ request: UndoRequest) {
    if refusesEdit("nothing can be undone") { return }
    if let parent { return parent.undo(request) }
    enqueue(.undo(request), request.id)
  }

  /// Brings back what was there, now or when the saves before it have been answered; answered as a save is.
  public func restore(_ request: RestoreRequest) {
    if let parent { return parent.restore(request) }
    enqueue(.restore(request), request.id)
  }

  private func enqueue(_ request: ReplicaEvent, _ id: TransactionID) {
    queuedSaves.append(QueuedSave(id: id, policy: .error, undo: nil, states: [], request: request))
    if queuedSaves.count == 1 { sendNextSave() }
  }

  func sendNextSave() {
    guard let save = queuedSaves.first else { return }
    if let request = save.request {
      guard save.isOutdated else { return handle(request) }
      actions.append(.saved(save.id, .failure(Replica.otherPast)))
      queuedSaves.removeFirst()
      return sendNextSave()
    }
    // Each in a change of its own, which says that much and no more.
    var changes = save.preconditions.map { state, condition in
      let id = (self.state(state.id) ?? state).id
      return Change(.update, id, base: condition.revision, onlyIf: condition)
    }
    // Behind everything else: what was put behind an object comes to stand there wherever its joining is said.
    var moves = [Change]()
    for (made, kind, begun) in save.states {
      // Its object may have come as another's before the answer named it: then that one counts.
      let state = self.state(made.id) ?? made
      // A store that went back to a backup has not come so far yet, and what has not come anew is of no revision.
      let base = max(0, min(begun, state.stored?.revision ?? begun))
      // It may have waited for another save: what was heard meanwhile goes in under it.
      state.settleTexts()
      guard let sent = state.sent.first(where: { $0.transaction == save.id }) else { continue }
      // An insert that was refused: what changes it is the insert now.
      let isInsert = kind == .insert || state.isInserted
      let placing = edits(sent.edits.filter { isPlacedByMembers($0.key) })
      let others = sent.edits.filter { !isPlacedByMembers($0.key) }
      if kind == .delete {
        // Behind a base of 0 it would delete whatever happened to what was seen here.
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

  /// An ordered relationship whose members hold their places: moves are all that its owner says of it.
  func isPlacedByMembers(_ property: PropertyNumber) -> Bool {
    model.property(property)?.relationship.map { $0.isToMany && $0.position != nil } ?? false
  }

  func edits(_ locals: [PropertyNumber: ObjectState.LocalValue]) -> [Edit] {
    locals.sorted { $0.key < $1.key }.flatMap { number, local -> [Edit] in
      guard !local.isEcho, let property = model.property(number) else { return [] }
      if property.relationship?.isOrdered == true { return local.orderedEdits(number) }
      if property.relationship?.isToMany == true {
        return [Edit(number, .members(added: local.added.sorted(), removed: local.removed.sorted()))]
      }
      return [Edit(number, .set(local.value))]
    }
  }

  /// Texts travel as splices of what is stored now; everything else against the revision that the edit began at, so
  /// that a conflict shows. An overwrite also says up to where the rest of the object was seen, and so does who comes to
  /// lead to another object by what is said of that.
  private func updates(
    of state: ObjectState, _ locals: [PropertyNumber: ObjectState.LocalValue], base: Revision, _ policy: MergePolicy
  ) -> [Change] {
    var plain = locals
    var texts = [Edit]()
    // What it says here may be of a time that the store has forgotten, until it has come anew.
    let seen = state.stored?.revision ?? 0
    let isKnown = seen >= 0
    for (number, local) in locals.sorted(by: { $0.key < $1.key })
    where isKnown && !state.uncertainTexts.contains(number) {
      guard let base = local.textBase, let property = model.property(number),
        let stored = state.storedValue(property).stringValue ?? (base.isEmpty ? "" : nil),
        let splices = local.rebased(onto: stored).splices
      else { continue }
      plain[number] = nil
      // What was typed and taken back is still an edit, if of nothing.
      let none = TextSplice(offset: 0, length: 0, insertion: "")
      texts.append(Edit(number, .splice(splices.isEmpty ? [none] : splices)))
    }
    var changes = [Change]()
    if plain.values.contains(where: { !$0.isEcho || !$0.value.isNull }) {
      changes.append(Change(.update, state.id, base: base, edits: edits(plain)))
    }
    if !texts.isEmpty || (policy == .overwrite && seen > base) {
      changes.append(Change(.update, state.id, base: seen, edits: texts))
    }
    return changes
  }

  // MARK: - Answers

  func confirm(_ id: TransactionID, _ saved: Saved) {
    let save = takeQueuedSave(id)
    if let save { nameStep(of: save, at: saved.committed.revision) }
    var identities = [ObjectID: ObjectID]()
    for identity in saved.committed.identities {
      guard let state = state(identity.temporary), state.sent.contains(where: { $0.transaction == id }) else {
        continue
      }
      identify(state, identity)
      identities[identity.temporary] = identity.permanent
    }
    if !identities.isEmpty {
      for state in dirty.values { state.replace(identities) }
      for child in children { child.context?.followParent(identities) }
    }
    let made = Set(identities.values)
    for image in saved.objects { register(image) }
    for (state, _, _) in save?.states ?? [] {
      // After `identify` the state that counts may be another one.
      let state = self.state(state.id) ?? state
      guard let index = state.sent.firstIndex(where: { $0.transaction == id }) else { continue }
      let sent = state.sent.remove(at: index)
      let conflicts = saved.committed.conflicts.filter { $0.id == state.id && !$0.mineWon }
      if sent.isDelete {
        // Under some policies a change of somebody else outweighs a delete. And who brought it back since may have been heard
        // of before the answer.
        let isBack = state.stored?.revision ?? 0 > saved.committed.revision
        let isGone = !isBack && !conflicts.contains { $0.kind == .changed }
        state.isDeleted = isGone
        if isGone {
          state.stored = nil
          burials.note(state.id, at: saved.committed.revision)
        }
      } else if !saved.isComplete, conflicts.isEmpty, state.stored != nil || made.contains(state.id),
        state.stored?.revision ?? 0 < saved.committed.revision,
        !results.values.contains(where: { $0[state.id] != nil })
      {
        // The reply did not hold the object and no query will bring it: what was sent is what is stored, as far as this
        // context knows. What was lost at the other end of a relationship is named there.
        let lost = Set(saved.committed.conflicts.filter { !$0.mineWon }.map(\.id))
        fold(sent.edits.filter { !$0.value.names(lost) }, into: state)
      }
      state.settleTexts(after: sent.edits, committedAt: saved.committed.revision)
      settle(state)
    }
    sendNextSave()
  }

  /// An undo that waited for the save means what that did, be it nothing: not the step before it.
  private func nameStep(of save: QueuedSave, at revision: Revision) {
    guard var undo = undoBehind(save) else { return }
    undo.revision = revision
    queuedSaves[0].request = .undo(undo)
  }

  /// The undo that waited for a save and means its step; nil where it may mean another: of another stack, or a commit that
  /// was made beside the queue.
  private func undoBehind(_ save: QueuedSave) -> UndoRequest? {
    guard !save.states.isEmpty, case .undo(let undo)? = queuedSaves.first?.request, undo.revision == nil, !undo.redo,
      undo.scope == nil || undo.scope == save.undo?.scope ?? .zero, undo.id.sequence == save.id.sequence + 1
    else { return nil }
    return undo
  }

  /// A temporary id has become an object. Its echo may have come first, or it met an object that was there: then the
  /// two are one, and both faces stand for it.
  private func identify(_ state: ObjectState, _ identity: Committed.Identity) {
    forget(identity.temporary)
    dirty[identity.temporary] = nil
    state.isInserted = false
    if let known = self.state(identity.permanent), known !== state {
      known.edits.merge(state.edits) { _, mine in mine }
      known.sent += state.sent
      known.transients.merge(state.transients) { _, mine in mine }
      if let face = state.face {
        face.state = known
        known.face = known.face ?? face
      }
      state.id = identity.permanent
      dirty[known.id] = known
    } else {
      state.id = identity.permanent
      keep(state)
      dirty[state.id] = state
    }
  }

  private func fold(_ edits: [PropertyNumber: ObjectState.LocalValue], into state: ObjectState) {
    var image =
      state.stored
      ?? ObjectImage(
        id: state.id, revision: 0,
        values: state.entity.storedProperties.map { $0.attribute?.defaultValue ?? .null })
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

  /// A refused transaction's edits are unsaved again, under what was edited since. They speak of what was seen when they were
  /// made, however often they are saved: a conflict stands until `refresh`.
  func giveBack(_ id: TransactionID) {
    let save = takeQueuedSave(id)
    if let save, let undo = undoBehind(save) {
      // It was of what has been refused, and not of the step before.
      queuedSaves.removeFirst()
      actions.append(.saved(undo.id, .failure(Self.nothingToUndo)))
    }
    var unmade = [ObjectID]()
    for (state, _, begun) in save?.states ?? [] {
      let state = self.state(state.id) ?? state
      guard let index = state.sent.firstIndex(where: { $0.transaction == id }) else { continue }
      let sent = state.sent.remove(at: index)
      if state.isInserted, state.isDeleted {
        abandon(state)
        unmade.append(state.id)
        continue
      }
      // A later save of the same object stands on this one: it takes the edits along. Those of an object that others have
      // deleted are gone with it.
      if state.isGone {
        state.edits = [:]
      } else if let next = state.sent.indices.first {
        state.sent[next].edits = sent.edits.merging(state.sent[next].edits) { $0.merged(with: $1) }
        lowerBase(of: state, in: state.sent[next].transaction, to: begun)
      } else {
        state.edits = sent.edits.merging(state.edits) { $0.merged(with: $1) }
        state.base = min(state.base, begun)
        // It may have been deleted and brought back meanwhile.
        dirty[state.id] = state
      }
      state.settleTexts()
      settle(state)
    }
    for id in unmade { nullify(referencesTo: id) }
    sendNextSave()
  }

  /// Its insert was refused, and it was deleted meanwhile: the server never hears of it again.
  private func abandon(_ state: ObjectState) {
    for index in queuedSaves.indices { queuedSaves[index].states.removeAll { $0.state === state } }
    (state.sent, state.edits) = ([], [:])
    dirty[state.id] = nil
    forget(state.id)
  }

  private static let nothingToUndo = Refusal(.conflict, "there is nothing to undo: the change was refused")

  private func lowerBase(of state: ObjectState, in id: TransactionID, to base: Revision) {
    guard let save = queuedSaves.firstIndex(where: { $0.id == id }),
      let place = queuedSaves[save].states.firstIndex(where: { $0.state === state || $0.state.id == state.id })
    else { return }
    queuedSaves[save].states[place].base = min(queuedSaves[save].states[place].base, base)
  }

  private func takeQueuedSave(_ id: TransactionID) -> QueuedSave? {
    guard let index = queuedSaves.firstIndex(where: { $0.id == id }) else { return nil }
    return queuedSaves.remove(at: index)
  }

  func settle(_ state: ObjectState) {
    guard state.sent.isEmpty, state.edits.isEmpty, !state.isInserted else { return }
    if !state.isDeleted || state.stored == nil { dirty[state.id] = nil }
  }
}
