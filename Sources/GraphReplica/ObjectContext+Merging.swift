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
      restartPrefetch(query)
    case .loadedWindow(let query, let rows, let at):
      load(rows, into: query, at: at.revision)
      restartPrefetch(query)
    case .resumed(let query, _): prefetchMissing(query)
    case .diverged:
      for index in queuedSaves.indices where queuedSaves[index].request != nil { queuedSaves[index].isOutdated = true }
      tombstones.removeAll()
      // From here on any image of the current store counts as newer.
      for state in heldStates {
        if dirty[state.id] != nil { state.seenInOtherPast = state.seenInOtherPast ?? state.stored }
        state.stored?.revision = -1
        state.loadedMembers = [:]
        // The store may not have the deletes of other clients.
        if state.isGone, state.sent.isEmpty, dirty[state.id] == nil { state.isDeleted = false }
      }
    case .outdated(let transaction):
      if queuedSaves.first?.id == transaction.id { sendNextSave() } else { resend(transaction) }
    case .changed(let update):
      apply(update)
      prefetch(update)
    case .refusedQuery(let query, let refusal):
      windows[query] = nil
      loads.prefetches[query] = nil
      guard results.removeValue(forKey: query) != nil else { return }
      var change = ObjectsDidChange()
      change.refused = [query: refusal]
      post(change)
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
    // Ids only, so that departed objects are not kept alive while observers run.
    guard let old = results[query].map({ Set($0.keys) }) else { return }
    var change = ObjectsDidChange()
    change.windows[query] = window
    change.queries = [query]
    change.loaded = [query]
    change.loadedRevision = revision
    var result = [ObjectID: ObjectState]()
    let batch = FetchBatch()
    for image in images {
      let known = state(image.id)?.stored
      guard let state = register(image, in: batch) else { continue }
      result[image.id] = state
      if known == nil {
        change.inserted.append(image.id)
      } else if known?.revision != state.stored?.revision {
        change.refreshed.append(image.id)
      }
    }
    if isWhole { change.deleted = deleteMissing(from: result, of: query, at: revision) }
    change.departed = old.subtracting(change.deleted).filter { result[$0] == nil }.sorted()
    results[query] = result
    post(change)
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
      change.windows[query] = windows[query]?.apply(changes, total: update.totals[query])
    }
    guard !change.queries.isEmpty else { return }
    post(change)
  }

  private func apply(_ item: Delta.Change, _ revision: Revision, _ query: QueryID, _ change: inout ObjectsDidChange) {
    switch item.kind {
    case .inserted:
      guard let image = item.object else { return }
      let isNew = state(image.id)?.stored == nil
      guard let state = register(image) else { return }
      results[query]?[image.id] = state
      // Another client restored it.
      if dirty[image.id] == nil { state.isDeleted = false }
      if isNew { change.inserted.append(image.id) } else { change.refreshed.append(image.id) }
    case .updated:
      guard let state = results[query]?[item.id] ?? state(item.id) else { return }
      results[query]?[item.id] = state
      merge(item, revision, into: state)
      change.updated[item.id, default: []].formUnion(item.edits.map(\.property))
    case .removed:
      let state = results[query]?.removeValue(forKey: item.id) ?? state(item.id)
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

  /// Replaces the stored image. Unsaved texts are rebased over what other clients wrote, so that both stay.
  private func replaceStored(of state: ObjectState, by image: ObjectImage) {
    state.stored = image
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
  private static let oldestBase: Revision = 1

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
        let sent = state.sent.first { $0.transaction == queuedSaves[index].id }
        let begun = queuedSaves[index].states[place].base
        queuedSaves[index].states[place].base = base(sent?.edits ?? [:], begun: begun, isDelete: sent?.isDelete == true)
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
      rebased.changes[index].onlyIf?.revision = Self.oldestBase
    }
    handle(.save(rebased))
  }
}
