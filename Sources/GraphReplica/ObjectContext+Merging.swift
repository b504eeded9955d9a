// Tests: ReplicaTests.swift, RefusedSaveTests.swift, DeletedObjectTests.swift, ServerIDTests.swift
import GraphModel
import GraphWire

/// Merges messages from the server underneath unsaved edits.
extension ObjectContext {
  func merge(_ action: ReplicaAction) {
    switch action {
    case .saved(let id, .success(let saved)): confirm(id, saved)
    case .saved(let id, .failure(let refusal)):
      restoreUnsavedEdits(of: id)
      deleteMissing(refusal)
    case .loaded(let query, let images, let at):
      load(images, into: query, at: at.revision, isWhole: true)
    case .loadedWindow(let query, let rows, let at):
      load(rows, into: query, at: at.revision)
    case .resumed(let query, _): loads.prefetchMissing(of: query)
    case .welcomed(let welcome): loads.recordRoles(of: welcome)
    case .rights(let grants): loads.recordRoles(grants)
    case .diverged:
      for index in queuedSaves.indices where queuedSaves[index].request != nil { queuedSaves[index].isOutdated = true }
      tombstones.removeAll()
      // From here on any image of the current store counts as newer.
      for state in heldStates {
        if dirty[state.id] != nil { state.seenInOtherPast = state.seenInOtherPast ?? state.stored }
        if var stored = state.stored {
          stored.revision = -1
          state.stored = stored
        }
        state.loadedMembers = [:]
        // The store may not have the deletes of other clients.
        if state.isGone, state.sent.isEmpty, dirty[state.id] == nil { state.isDeleted = false }
      }
    case .outdated(let transaction):
      if queuedSaves.first?.id == transaction.id { sendNextSave() } else { resend(transaction) }
    case .changed(let update): apply(update)
    case .refusedQuery(let query, let refusal):
      let unchecked = loads.uncheckedObjects(of: query)
      windows[query] = nil
      loads.removePrefetch(of: query, refusal)
      // Unless an observer has ended the query.
      if results.removeValue(forKey: query) != nil {
        loads.checkDeparted(unchecked, from: query)
        var change = ObjectsDidChange()
        change.refused = [query: refusal]
        post(change)
      }
    default: break
    }
  }

  // MARK: - Results and deltas

  /// Replaces a live query's result.
  /// - Parameters:
  ///   - revision: the state of the graph that the result was read at.
  ///   - isWhole: the result is complete, so that an object that it lacks is not in it; false for a window.
  func load(
    _ images: [ObjectImage], into query: QueryID, at revision: Revision, isWhole: Bool = false,
    window: WindowDifference? = nil
  ) {
    // Ids only, so that departed objects are not kept alive while observers run. One of them may have ended the query.
    guard let old = results[query].map({ Set($0.keys) }) else { return }
    var change = ObjectsDidChange()
    change.windows[query] = window
    change.queries = [query]
    change.loaded = [query]
    change.loadedRevision = revision
    var result = [ObjectID: ObjectState]()
    let batch = FetchBatch(readAt: revision)
    for image in images {
      let known = state(image.id)?.stored
      guard let state = register(image, in: batch) else { continue }
      replaceReferences(of: state, by: image)
      result[image.id] = state
      if known == nil {
        change.inserted.append(image.id)
      } else if known != state.stored {
        change.refreshed.append(image.id)
      }
    }
    if isWhole { change.deleted = deleteMissing(from: result, of: query, at: revision) }
    change.departed = old.subtracting(change.deleted).filter { result[$0] == nil }.sorted()
    results[query] = result
    loads.checkDeparted(change.departed, from: query)
    // Before observers run: they may ask what is missing.
    loads.restartPrefetch(of: query)
    post(change)
  }

  /// Takes over an image of the held revision with other references: an object to which it refers has become visible
  /// or invisible to the user, which changes no revision. If other values differ, the client has added its own edits to
  /// the held image after their save.
  func replaceReferences(of state: ObjectState, by image: ObjectImage) {
    if let stored = state.stored, stored.revision == image.revision, stored != image,
      state.entity.storedProperties.allSatisfy({ $0.relationship != nil || stored[$0] == image[$0] })
    {
      merge(image, into: state)
    }
  }

  /// Replaces a window's rows.
  func load(_ rows: WindowRows, into query: QueryID, at revision: Revision) {
    // An observer may have ended the query.
    guard let old = windows[query] else { return }
    let news = Dictionary(rows.objects.map { ($0.id, $0) }) { first, _ in first }
    let images = rows.rows.compactMap { news[$0] ?? results[query]?[$0]?.stored }
    let updated = Set(images.filter { $0 != state($0.id)?.stored }.map(\.id))
    let total = Int(clamping: rows.total)
    windows[query] = WindowState(
      rows: images.map(\.id), offset: Int(clamping: rows.offset), limit: Int(clamping: rows.limit), total: total)
    load(
      images, into: query, at: revision,
      window: WindowDifference(
        from: old.rows, to: images.map(\.id), updated: updated, total: total == old.total ? nil : total))
  }

  private func apply(_ update: CommitUpdate) {
    var change = ObjectsDidChange()
    change.revision = update.revision
    change.author = update.author
    change.time = update.time
    for (query, changes) in update.changes {
      guard results[query] != nil else { continue }
      change.queries.insert(query)
      for item in changes { apply(item, update.revision, query, &change) }
      change.windows[query] = windows.modifyIfPresent(query) { $0.apply(changes, total: update.totals[query]) }
    }
    loads.prefetch(for: update)
    if !change.queries.isEmpty { post(change) }
  }

  private func apply(_ item: Delta.Change, _ revision: Revision, _ query: QueryID, _ change: inout ObjectsDidChange) {
    switch item.kind {
    case .inserted:
      // A delta without the object, against the protocol, inserts nothing.
      guard let image = item.object else { return }
      let isNew = state(image.id)?.stored == nil
      // Another query has already received the object's later delete.
      guard let state = register(image, readAt: revision) else { return }
      replaceReferences(of: state, by: image)
      results.modify(query) { $0[image.id] = state }
      // Another client restored it.
      if dirty[image.id] == nil { state.isDeleted = false }
      if isNew { change.inserted.append(image.id) } else { change.refreshed.append(image.id) }
    case .updated:
      // The result that the delta changes lacks objects whose later delete was known.
      guard let state = results[query]?[item.id] ?? state(item.id) else { return }
      results.modify(query) { $0[item.id] = state }
      merge(item, revision, into: state)
      change.updated[item.id, default: []].formUnion(item.edits.map(\.property))
    case .removed:
      var member: ObjectState?
      results.modify(query) { member = $0.removeValue(forKey: item.id) }
      let state = member ?? state(item.id)
      guard item.deleted else {
        change.departed.append(item.id)
        return
      }
      tombstones.record(item.id, at: revision)
      if let state, !state.isDeleted || state.stored != nil { recordDeletion(of: state) }
      if !change.deleted.contains(item.id) { change.deleted.append(item.id) }
    }
  }

  private func merge(_ item: Delta.Change, _ revision: Revision, into state: ObjectState) {
    // A fault has no image, and an image that was read later includes the change.
    guard var image = state.stored, image.revision < revision else { return }
    if let whole = item.object { return merge(whole, into: state) }
    image.apply(item.edits, model: model)
    image.revision = revision
    state.recordTextMoves(item.edits, at: revision)
    replaceStored(of: state, by: image)
  }

  /// Replaces the stored image; the edits in between are unknown.
  func merge(_ image: ObjectImage, into state: ObjectState) {
    state.markTextsUntracked()
    replaceStored(of: state, by: image)
  }

  /// Replaces the stored image. Unsaved texts are rebased over the edits of other clients, so that both stay.
  private func replaceStored(of state: ObjectState, by image: ObjectImage) {
    let wasFault = state.isFault
    state.stored = image
    if wasFault { changeCounter.signalLoad(of: state.entity) }
    state.uncertainTexts = []
    if let seen = state.seenInOtherPast {
      state.seenInOtherPast = nil
      adjustBases(of: state, seen: seen, current: image)
    }
    if state.sent.isEmpty { state.rebaseTexts() }
  }

  // MARK: - Another past

  /// The base of an edit whose true base is unknown. It is the first revision, so that any later change of the same
  /// property by another client is a conflict.
  static let oldestBase: Revision = 1

  /// Adjusts the bases of unsaved and queued edits of a past that the store does not have.
  ///
  /// If an edit was begun on the last visible state, and the object still has the values that it replaces, the
  /// current revision becomes its base. Otherwise the user has never seen the current values, and the base is
  /// `oldestBase`.
  private func adjustBases(of state: ObjectState, seen: ObjectImage, current image: ObjectImage) {
    func base(_ edits: [PropertyNumber: ObjectState.PropertyEdit], begun: Revision, isDelete: Bool) -> Revision {
      guard begun >= seen.revision else { return min(Self.oldestBase, image.revision) }
      let isSeen =
        isDelete
        ? seen.values == image.values
        : edits.allSatisfy { number, local in
          guard let property = state.entity.property(number), local.textBase == nil,
            property.relationship?.isToMany != true
          else { return true }
          return seen[property] == image[property]
        }
      return isSeen ? image.revision : min(Self.oldestBase, image.revision)
    }
    state.base = base(state.edits, begun: state.base, isDelete: state.isDeleted)
    for index in queuedSaves.indices {
      for place in queuedSaves[index].states.indices where queuedSaves[index].states[place].state === state {
        guard let sent = state.sent.first(where: { $0.transaction == queuedSaves[index].id }) else {
          assertionFailure("an object of a queued save has its edits")
          continue
        }
        let begun = queuedSaves[index].states[place].base
        queuedSaves[index].states[place].base = base(sent.edits, begun: begun, isDelete: sent.isDelete)
      }
      // A requirement on the other past can't be checked in this one: the object counts as changed.
      for place in queuedSaves[index].preconditions.indices
      where queuedSaves[index].preconditions[place].state === state {
        queuedSaves[index].preconditions[place].condition.revision = min(Self.oldestBase, image.revision)
      }
    }
  }

  /// Resends a transaction of another past that was made outside the context. It is refused if it contains text
  /// splices, whose positions are invalid; its other edits are compared with all changes of other clients.
  private func resend(_ transaction: Transaction) {
    var rebased = transaction
    for index in rebased.changes.indices where rebased.changes[index].base > 0 {
      let hasPlaces = rebased.changes[index].edits.contains { if case .splice = $0.action { true } else { false } }
      if hasPlaces { return actions.append(.saved(transaction.id, .failure(Replica.otherPast))) }
      rebased.changes[index].base = Self.oldestBase
      if var condition = rebased.changes[index].onlyIf {
        condition.revision = Self.oldestBase
        rebased.changes[index].onlyIf = condition
      }
    }
    handle(.save(rebased))
  }

  // MARK: - Deletes by other clients

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

  /// Discards the inverse edits that follow from the object's one-to-one edits. They are at the new partner, and at
  /// that partner's previous one.
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
    guard let followed = replica.queries[query], followed.subscribe.predicate.isEmpty,
      followed.subscribe.window == nil, let entity = model.entity(followed.subscribe.entity)
    else { return [] }
    let damaged = Set(followed.damage.objects)
    var gone = [ObjectID]()
    for state in heldStates where entity.family.contains(state.id.entity) && result[state.id] == nil {
      if damaged.contains(state.id) { continue }
      // An object newer than the result may have been inserted after it. The age of an object is unknown without an
      // image, or with only the image of its own save.
      guard let stored = state.stored, stored.revision > 0, stored.revision <= revision else { continue }
      tombstones.record(state.id, at: revision)
      recordDeletion(of: state)
      gone.append(state.id)
    }
    return gone
  }

  // MARK: - Ids of the server

  /// Gives objects the ids that the server has assigned. Instances, unsaved edits and results of live queries stay, and
  /// queries that name the objects follow them under the new ids. Observers receive one change.
  /// - Parameter ids: by the id that the context knows; ids of other objects are ignored.
  package func assign(_ ids: [ObjectID: ObjectID]) {
    let known = ids.filter { state($0.key) != nil && $0.key != $0.value }
    if known.isEmpty { return }
    precondition(parent == nil, "a server assigns ids to the objects of a client's own context")
    for (old, new) in known.sorted(by: { $0.key < $1.key }) {
      guard let state = state(old) else { continue }
      assignPermanentID(to: state, CommitResult.IDAssignment(temporary: old, permanent: new))
      removeIfClean(self.state(new) ?? state)
    }
    for state in dirty.values { state.replace(known) }
    for child in children { child.context?.replaceParentIDs(known) }
    var change = ObjectsDidChange()
    change.identified = known
    for state in heldStates {
      guard var stored = state.stored, stored.refers(to: known) else { continue }
      stored.replace(known, in: state.entity)
      state.stored = stored
      change.refreshed.append(state.id)
    }
    for query in results.keys.sorted() { assign(known, in: query, &change) }
    replica.assign(known)
    change.departed = known.keys.sorted()
    change.inserted = known.values.sorted()
    post(change)
  }

  /// Renames the members of a query's result.
  private func assign(_ ids: [ObjectID: ObjectID], in query: QueryID, _ change: inout ObjectsDidChange) {
    let members = results[query, default: [:]].keys.filter { ids[$0] != nil }
    if members.isEmpty { return }
    change.queries.insert(query)
    for old in members {
      guard let new = ids[old], let state = state(new) else { continue }
      results.modify(query) { result in
        result[old] = nil
        result[new] = state
      }
    }
    windows.modifyIfPresent(query) { window in window.rows = window.rows.map { ids[$0] ?? $0 } }
  }
}
