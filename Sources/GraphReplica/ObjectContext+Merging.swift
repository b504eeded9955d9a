import GraphModel
import GraphWire

/// What comes from the server, merged under what is unsaved here.
extension ObjectContext {
  func merge(_ action: ReplicaAction) {
    switch action {
    case .saved(let id, .success(let saved)): confirm(id, saved)
    case .saved(let id, .failure): giveBack(id)
    case .loaded(let query, let images, _): load(images, into: query)
    case .changed(let update): apply(update)
    case .refusedQuery(let query, _): results[query] = nil
    default: break
    }
  }

  // MARK: - Saves

  private func confirm(_ id: TransactionID, _ saved: Saved) {
    for identity in saved.committed.identities {
      guard let state = state(identity.temporary) else { continue }
      forget(identity.temporary)
      dirty[identity.temporary] = nil
      state.id = identity.permanent
      state.isInserted = false
      // The echo may have come first, under its permanent id: then the two are one.
      if let echo = self.state(identity.permanent), echo !== state {
        state.stored = state.stored ?? echo.stored
        for (query, result) in results where result[identity.permanent] != nil {
          results[query]?[identity.permanent] = state
        }
      }
      keep(state)
      dirty[state.id] = state
      for other in dirty.values { other.replace(identity.temporary, by: identity.permanent) }
    }
    for image in saved.objects { register(image) }
    for state in Array(dirty.values) {
      state.sent.removeAll { $0.transaction == id }
      settle(state)
    }
  }

  /// A refused transaction's edits are unsaved again, under what was edited since.
  private func giveBack(_ id: TransactionID) {
    for state in Array(dirty.values) {
      for save in state.sent where save.transaction == id {
        state.edits.merge(save.edits) { newer, _ in newer }
      }
      state.sent.removeAll { $0.transaction == id }
      settle(state)
    }
  }

  private func settle(_ state: ObjectState) {
    guard state.sent.isEmpty, state.edits.isEmpty, !state.isInserted else { return }
    if !state.isDeleted { dirty[state.id] = nil }
  }

  // MARK: - Results and deltas

  private func load(_ images: [ObjectImage], into query: QueryID) {
    guard let old = results[query] else { return }
    var change = ObjectsDidChange()
    change.queries = [query]
    var result = [ObjectID: ObjectState]()
    for image in images {
      let known = state(image.id)?.stored
      guard let state = register(image) else { continue }
      result[image.id] = state
      if known == nil {
        change.inserted.append(image.id)
      } else if known?.revision != state.stored?.revision {
        change.refreshed.append(image.id)
      }
    }
    change.departed = old.keys.filter { result[$0] == nil }.sorted()
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
      if let state, !state.isDeleted || state.stored != nil {
        state.isDeleted = true
        state.stored = nil
        dirty[item.id] = nil
      }
      if !change.deleted.contains(item.id) { change.deleted.append(item.id) }
    }
  }

  private func merge(_ item: Delta.Change, _ revision: Revision, into state: ObjectState) {
    guard var image = state.stored, image.revision < revision else { return }
    if let whole = item.object { return merge(whole, into: state) }
    for edit in item.edits {
      guard let property = model.property(edit.property), let value = edit.applied(to: image[property]) else {
        continue
      }
      image[property] = value
    }
    image.revision = revision
    merge(image, into: state)
  }

  /// The stored image moves on; an unsaved text is rebased over what others wrote, so that both stay.
  func merge(_ image: ObjectImage, into state: ObjectState) {
    if state.sent.isEmpty, let old = state.stored {
      for (number, local) in state.edits {
        guard let property = model.property(number), property.attribute?.kind == .text,
          let before = old[property].stringValue, let after = image[property].stringValue, before != after,
          let mine = local.value.stringValue
        else { continue }
        let rebased = TextSplice.rebase(
          [TextSplice.smallest(from: before, to: mine)], over: [TextSplice.smallest(from: before, to: after)])
        if let merged = TextSplice.apply(rebased, to: after) { state.edits[number]?.value = .string(merged) }
      }
    }
    state.stored = image
  }
}

extension ObjectState {
  /// A temporary id became permanent: whatever is unsaved here and names it, names the object now.
  func replace(_ temporary: ObjectID, by permanent: ObjectID) {
    func replaced(_ local: LocalValue) -> LocalValue {
      var local = local
      if local.value.objectID == temporary { local.value = .object(permanent) }
      if local.added.remove(temporary) != nil { local.added.insert(permanent) }
      if local.removed.remove(temporary) != nil { local.removed.insert(permanent) }
      return local
    }
    edits = edits.mapValues(replaced)
    for index in sent.indices { sent[index].edits = sent[index].edits.mapValues(replaced) }
  }
}
