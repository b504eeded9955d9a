/// Resolving `overwrite` and `rollback`: a conflict over one property decides the complete object. Either others'
/// changes of its other properties are reverted to the values that the transaction's author saw, or the transaction's
/// edits of it are dropped.
///
/// To-manys are excluded, as they are from Core Data's snapshots: an overwrite merges them.
extension TransactionPlanner {
  /// An object in conflict, with the state on which the transaction is based.
  struct ObjectConflict {
    /// The oldest and the newest base of the transaction's changes of it.
    var since: Revision
    var seen: Revision
    /// All edits of it, each with its base.
    var edits = [(edit: Edit, base: Revision)]()
    /// The properties of it that edits of other objects change.
    var editedThroughOthers = Set<PropertyNumber>()
    /// The newest conflicting change by others, which decides about all of its edits.
    var decision: PastChange
    var isResolved = false
  }

  /// Fills `objectConflicts`; empty under other policies, or if nothing is stale.
  mutating func findObjectConflicts() throws {
    guard transaction.policy == .overwrite || transaction.policy == .rollback else { return }
    var stale = [ObjectID: (since: Revision, seen: Revision)]()
    var decisions = [ObjectID: PastChange]()
    var reached = [ObjectID: Set<PropertyNumber>]()
    for change in transaction.changes where isBehind && (change.kind == .update || change.kind == .insert) {
      guard let named = graph.permanent(change.id), try !isInvisible(named), let draft = try graph.touch(named) else {
        continue
      }
      for (end, last) in try affectedEnds(of: change, draft) {
        let id = end.holder.after.id
        reached[id, default: []].insert(end.property.number)
        if let last { decisions[id] = newer(last, decisions[id]) }
      }
      guard change.kind == .update, let stored = draft.before, stored.revision > change.base else { continue }
      stale[stored.id] = (since: change.base, seen: change.base)
      let past = try merger.past(of: stored.id, after: change.base)
      if change.base > 0, past.contains(where: \.isRevival) { continue }
      for edit in change.edits {
        if case .conflicting(_, let last) = try merger.compare(edit, with: stored, past: past) {
          decisions[stored.id] = newer(last, decisions[stored.id])
        }
      }
    }
    guard !decisions.isEmpty else { return }
    for change in transaction.changes where change.kind == .update {
      guard let named = graph.permanent(change.id), let id = graph.draft(of: named)?.after.id,
        let decision = decisions[id],
        var conflict = objectConflicts[id]
          ?? stale[id].map({ ObjectConflict(since: $0.since, seen: $0.seen, decision: decision) })
      else { continue }
      conflict.since = min(conflict.since, change.base)
      conflict.seen = max(conflict.seen, change.base)
      conflict.edits += change.edits.map { ($0, change.base) }
      conflict.editedThroughOthers = reached[id, default: []]
      objectConflicts[id] = conflict
    }
  }

  private func newer(_ change: PastChange, _ other: PastChange?) -> PastChange {
    guard let other, other.revision > change.revision else { return change }
    return other
  }

  mutating func resolveObjectConflict(_ draft: Draft) throws {
    guard let stored = draft.before, var conflict = objectConflicts[stored.id], !conflict.isResolved else { return }
    assert(conflict.since <= conflict.seen, "the oldest base is not after the newest one")
    conflict.isResolved = true
    objectConflicts[stored.id] = conflict
    let past = try merger.past(of: stored.id, after: conflict.since)
    if try recordRevival(of: stored.id, in: past, after: conflict.since) { return }
    if let pruned = past.first(where: \.isPruned) {
      // The author's view, and the result of a splice, are unknown.
      let spliced = conflict.edits.first { if case .splice = $0.edit.action { true } else { false } }
      if transaction.policy == .overwrite || spliced != nil {
        throw merger.unknownPast(of: stored, spliced.flatMap { graph.model.property($0.edit.property) }, pruned)
      }
    }
    if transaction.policy == .overwrite {
      try revertUnseenChanges(draft, stored, conflict, past)
      for (edit, base) in conflict.edits {
        try overwrite(edit, of: draft, stored, past.filter { $0.revision > base }, base)
      }
    } else {
      for (edit, base) in conflict.edits {
        let since = past.filter { $0.revision > base }
        let wanted = wanted(edit, stored, since)
        let property = graph.model.property(edit.property)
        if let property, property.slot != nil, stored[property] == wanted { continue }
        // If others have not changed this property, their change of another property of the object decides.
        let last = property.flatMap { merger.conflictingChange($0, since) }
        record(
          edit.property, of: stored, mine: wanted, last ?? conflict.decision, mineWon: false, isCollateral: last == nil)
      }
    }
  }

  /// Reverts others' changes to properties that the transaction does not edit and its author has not seen.
  private mutating func revertUnseenChanges(
    _ draft: Draft, _ stored: ObjectImage, _ conflict: ObjectConflict, _ past: [PastChange]
  ) throws {
    let unseen = past.filter { $0.revision > conflict.seen }
    // An author that has not read the object has no state to restore, nor has one that has read it in a lost past.
    if conflict.seen == 0 || merger.foreignInsert(in: unseen) != nil { return }
    let edited = Set(conflict.edits.map(\.edit.property)).union(conflict.editedThroughOthers)
    for property in draft.entity.storedProperties where !edited.contains(property.number) {
      guard property.attribute?.assignment == nil, property.attribute?.isDerived != true,
        property.relationship?.isToMany != true,
        let last = unseen.last(where: { change in
          change.replica != merger.replica && change.edits.contains { $0.property == property.number }
        })
      else { continue }
      let seen = merger.value(of: property, in: stored, before: unseen, keepsOwn: true)
      guard seen != stored[property] else { continue }
      // The object that it referred to was deleted, or was not the one that the author saw: the reference can't be
      // restored.
      if let other = seen.objectID, try graph.entity(of: other) == nil || isInvisible(other) { continue }
      record(property.number, of: stored, mine: seen, last, mineWon: true, isCollateral: true)
      try apply(Edit(property.number, .set(seen)), to: draft, isInsert: false)
    }
  }

  private mutating func overwrite(
    _ edit: Edit, of draft: Draft, _ stored: ObjectImage, _ past: [PastChange], _ base: Revision
  ) throws {
    switch edit.action {
    case .members, .place: return try applyUncontested(edit, to: draft, since: base)
    case .set, .splice: break
    }
    let last = past.last { change in
      change.replica != merger.replica && change.edits.contains { $0.property == edit.property }
    }
    if case .merged(let merged) = try merger.compare(edit, with: stored, past: past),
      last == nil || hasOwnEdit(edit.property, past)
    {
      return try applyUncontested(merged, to: draft, since: base)
    }
    let wanted = wanted(edit, stored, past)
    if let property = graph.model.property(edit.property), stored[property] == wanted { return }
    record(edit.property, of: stored, mine: wanted, last, mineWon: true)
    try applyUncontested(Edit(edit.property, .set(wanted)), to: draft, since: base)
  }

  /// Whether the replica committed several edits of a property from one base. The text that its author saw
  /// can then only be found by merging.
  private func hasOwnEdit(_ property: PropertyNumber, _ past: [PastChange]) -> Bool {
    past.contains { change in
      change.replica == merger.replica && change.edits.contains { $0.property == property }
    }
  }

  /// The value that an edit would have produced without others' changes; null for members and their places.
  private func wanted(_ edit: Edit, _ stored: ObjectImage, _ past: [PastChange]) -> Value {
    switch edit.action {
    case .set(let value): return value
    case .members, .place: return .null
    case .splice:
      guard let property = graph.model.property(edit.property) else { return .null }
      return edit.applied(to: merger.value(of: property, in: stored, before: past, keepsOwn: false)).orNull
    }
  }
}
