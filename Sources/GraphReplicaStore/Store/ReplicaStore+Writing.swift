// Tests: ReplicaStoreTests.swift
import GraphModel
import GraphStore

/// Commits without the server: each is planned, and durable in the queue of unsent edits when it is acknowledged.
extension ReplicaStore {
  public func commit(_ batch: [WriteRequest], now: Timestamp) throws -> [WriteResult] {
    try batch.map { try perform($0, now: now) }
  }

  public func prepare(_ group: [WriteRequest], now: Timestamp) throws -> PreparedCommits {
    let results = try commit(group, now: now)
    return PreparedCommits { results }
  }

  private func perform(_ request: WriteRequest, now: Timestamp) throws -> WriteResult {
    do {
      return try state.withLock { state in
        if let known = state.outcomes[request.id] { return WriteResult(outcome: .committed(known), record: nil) }
        switch request {
        case .transaction(let transaction, let author, _):
          let user = if let account { account } else { author }
          return try append(transaction, user, now: now, &state)
        case .undo(let undo, _, _): return try self.undo(undo, now: now, &state)
        case .restore: throw Self.needsServer("restoring")
        case .batch: throw Self.needsServer("a batch of changes")
        }
      }
    } catch let refusal as Refusal {
      return WriteResult(outcome: .refused(refusal), record: nil)
    }
  }

  // MARK: - Saves

  private func append(
    _ transaction: Transaction, _ author: Principal, now: Timestamp, _ state: inout State
  ) throws -> WriteResult {
    let (changes, places) = try renumbered(transaction.changes, upTo: mirror.head.revision)
    var draft = Intent(
      number: 0, transaction: transaction.id, model: model, author: author.name, made: now,
      policy: transaction.policy, undo: transaction.undo, content: .changes(changes))
    let made = try unsent.madeObjects(of: changes.flatMap(\.namedObjects), model)
    draft.rename(made.ids, madeAt: made.revisions)
    draft.texts = try followedTexts(of: draft.changes)
    draft.lowerBases(to: try seenBases(of: draft.changes))
    let planned = try enqueue(draft, &state).planned
    let plan = try planned.result.get()
    let identities = plan.identities.map { identity in
      CommitResult.IDAssignment(
        temporary: places[identity.temporary] ?? identity.temporary, permanent: identity.permanent)
    }
    let result = CommitResult(
      revision: planned.revision, fingerprint: token(planned.revision).fingerprint, identities: identities,
      conflicts: plan.conflicts)
    var record = CommitRecord(
      revision: planned.revision, time: now, author: author.name, transaction: transaction.id,
      fingerprint: result.fingerprint, undo: transaction.undo, changes: plan.changes)
    if !state.related.isEmpty { record.related = try overlay.effects(of: plan.changes, on: state.related) }
    state.keep(record, result)
    return WriteResult(outcome: .committed(result), record: record)
  }

  /// Appends an intent, unless the rules do not allow it.
  func enqueue(_ draft: Intent, _ state: inout State) throws -> (intent: Intent, planned: PlannedEdit) {
    let appended: (intent: Intent, planned: PlannedEdit) = try overlay.append(above: state.head) { change, plan in
      var planned: PlannedEdit?
      let added = try unsent.append(draft, form: form, after: change, restores: restores) { intent, used in
        let edit = try invariant(intent.edit(usedNumbers: used, of: account), "an edit that is planned changes objects")
        let shown = try plan(edit)
        planned = shown
        // Refused at once, as the server would.
        return try shown.result.get().provisionalNumbers(model)
      }
      let shown = try invariant(planned, "an edit that was appended has a plan")
      return ((intent: added.intent, planned: shown), added.change)
    }
    state.head = appended.planned.revision
    return appended
  }

  /// The changes with temporary ids from 1, and with bases that the server knows.
  ///
  /// An object without unsent edits has the server's revision, which is its base. One with unsent edits has a revision
  /// of this store; its base is the object's revision in the mirror at that time. Another process may have synchronized
  /// the mirror since, so that its present revision would hide conflicts. The mirror's own revision is higher: a server
  /// that was restored may have given it to another change of the object.
  /// - Parameter newest: the newest revision of the mirror.
  /// - Returns: the changes, and the client's id of each temporary one.
  private func renumbered(
    _ changes: [Change], upTo newest: Revision
  ) throws -> (changes: [Change], places: [ObjectID: ObjectID]) {
    var ids = [ObjectID: ObjectID]()
    var places = [ObjectID: ObjectID]()
    for change in changes where change.kind == .insert {
      guard change.id.isTemporary, ids[change.id] == nil, ids.count < ProvisionalID.maximumPlaces - 1 else {
        throw Refusal(.malformed, "an insert needs a temporary id of its own")
      }
      let place = ObjectID.temporary(UInt64(ids.count + 1), entity: change.id.entity)
      ids[change.id] = place
      places[place] = change.id
    }
    var renumbered = Transaction(
      id: TransactionID(replica: .zero, sequence: 0), changes: changes
    ).renaming(ids).changes
    for index in renumbered.indices {
      if renumbered[index].kind == .revive { throw Self.needsServer("bringing back a deleted object") }
      // An object of an unsent edit has no revision that the server knows.
      let isNew = ProvisionalID.parts(of: renumbered[index].id) != nil
      let id = renumbered[index].id
      func base(of revision: Revision) throws -> Revision {
        let known = min(overlay.base(of: revision), newest)
        guard revision >= ProvisionalRevision.base, let image = try mirror.image(of: id) else { return known }
        return min(known, image.revision)
      }
      renumbered[index].base = isNew ? 0 : try base(of: renumbered[index].base)
      if let condition = renumbered[index].onlyIf {
        let revision = max(1, try base(of: condition.revision))
        renumbered[index].onlyIf = isNew ? nil : Precondition(revision: revision, properties: condition.properties)
      }
    }
    return (renumbered, places)
  }

  /// The bases of objects that earlier unsent edits change, if the mirror lacks their changes since then.
  ///
  /// A mirror that was loaded again does not have the commits before its load, so an edit from before it is shown even
  /// if it will be in conflict. A later edit of the same object then has the earlier base, too: its user has not seen
  /// the values of the load.
  private func seenBases(of changes: [Change]) throws -> [ObjectID: Revision] {
    let ids = Set(changes.filter { $0.kind != .insert && $0.base > 0 }.map(\.id))
    if ids.isEmpty { return [:] }
    var bases = [ObjectID: Revision]()
    for (id, numbers) in try overlay.edits(changing: ids) {
      for number in numbers {
        // Another process may have sent it.
        guard let intent = try unsent.entry(number, form: form)?.intent,
          let base = intent.changes.map(\.base).filter({ $0 > 0 }).min(), try mirror.lacksChanges(of: id, since: base)
        else { continue }
        bases[id] = min(base, bases[id, default: base])
      }
    }
    return bases
  }

  /// The texts to which splices refer that an unsent edit changes, too, as the user sees them.
  private func followedTexts(of changes: [Change]) throws -> [ObjectID: [PropertyNumber: String]] {
    var texts = [ObjectID: [PropertyNumber: String]]()
    for change in changes where change.kind == .update {
      for edit in change.edits {
        guard case .splice = edit.action, let property = model.property(edit.property),
          try overlay.editsText(change.id, edit.property), let image = try overlay.image(of: change.id)
        else { continue }
        texts[change.id, default: [:]][edit.property] = if let text = image[property].stringValue { text } else { "" }
      }
    }
    return texts
  }
}

extension TransactionPlan {
  /// The provisional numbers of the inserted objects.
  func provisionalNumbers(_ model: Model) -> [(number: Int64, object: ObjectID)] {
    changes.flatMap { change -> [(number: Int64, object: ObjectID)] in
      guard change.kind == .inserted, let image = change.after, let entity = model.entity(change.id.entity) else {
        return []
      }
      return entity.assignedProperties.compactMap { property in
        guard property.attribute?.assignment == .sequence, case .integer(let number) = image[property],
          number > ProvisionalNumber.base
        else { return nil }
        return (number, change.id)
      }
    }
  }
}
