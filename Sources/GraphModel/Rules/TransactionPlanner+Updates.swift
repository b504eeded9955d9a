/// Merging: comparing the transaction's edits with the commits since its base revision.
extension TransactionPlanner {
  mutating func applyUpdate(_ change: Change) throws {
    guard let named = permanent(change.id) else {
      throw Refusal(.malformed, "an update names a temporary id that this transaction does not insert")
    }
    guard let draft = try touch(named) else { return try reportMissing(named) }
    let id = draft.after.id
    // All changes of the object were resolved together with its first one.
    if objectConflicts[id] != nil { return try resolveObjectConflict(draft) }
    // At or below the base there is nothing to compare.
    guard let before = draft.before, isStale(before, since: change.base) else {
      for edit in change.edits { try applyUncontested(edit, to: draft, since: change.base) }
      return
    }
    let past = try past(of: id, after: change.base)
    if try recordRevival(of: id, in: past, after: change.base) { return }
    for edit in try merge(change.edits, of: before, past: past, into: draft) {
      try applyUncontested(edit, to: draft, since: change.base)
    }
  }

  /// Applies the part of the edit that does not lose to others' changes of the objects that it affects.
  mutating func applyUncontested(_ edit: Edit, to draft: Draft, since base: Revision) throws {
    guard let edit = try uncontestedPart(edit, of: draft, since: base) else { return }
    try apply(edit, to: draft, isInsert: false)
  }

  /// The edits that remain after the comparison with others' changes; records the conflicts.
  private mutating func merge(
    _ edits: [Edit], of stored: ObjectImage, past: [PastChange], into draft: Draft
  ) throws -> [Edit] {
    var remaining = [Edit]()
    for edit in edits {
      switch try compare(edit, with: stored, past: past) {
      case .merged(let edit): remaining.append(edit)
      case .unchanged:
        // This reverts an earlier edit of this transaction.
        let isChangedHere = model.property(edit.property).map { draft.after[$0] != stored[$0] } == true
        if isChangedHere || remaining.contains(where: { $0.property == edit.property }) { remaining.append(edit) }
      case .conflicting(let wanted, let last):
        let mineWins = transaction.policy == .objectTrump || transaction.policy == .overwrite
        record(edit.property, of: stored, mine: wanted, last, mineWon: mineWins)
        if mineWins { remaining.append(Edit(edit.property, .set(wanted))) }
      }
    }
    return remaining
  }

  /// The result of comparing an edit with others' changes of the same property.
  enum EditMergeResult {
    /// The edit, possibly rebased, can be applied.
    case merged(Edit)
    /// Both sides set the same value.
    case unchanged
    /// The value that the transaction wants, and the conflicting change.
    case conflicting(wanted: Value, last: PastChange)
  }

  func compare(_ edit: Edit, with stored: ObjectImage, past: [PastChange]) throws -> EditMergeResult {
    // Derived attributes can't be edited; the edit is refused later, without a conflict.
    guard let property = model.property(edit.property), property.attribute?.isDerived != true else {
      return .merged(edit)
    }
    let all = past.filter { $0.mayTouch(edit.property) }
    guard let last = conflictingChange(property, all) else {
      guard case .splice(let splices) = edit.action else { return .merged(edit) }
      // The offsets of its splices still refer to the base.
      return .merged(Edit(edit.property, .splice(rebase(splices, over: all, property: edit.property) ?? splices)))
    }
    switch edit.action {
    // Neither conflicts: additions and moves are kept, in the server's order.
    case .members, .place: return .merged(edit)
    case .splice(let splices):
      if let pruned = all.first(where: \.isPruned) { throw unknownPast(of: stored, property, pruned) }
      if let rebased = rebase(splices, over: all, property: edit.property) {
        return .merged(Edit(edit.property, .splice(rebased)))
      }
      let base = value(of: property, in: stored, before: past, keepsOwn: false)
      return .conflicting(wanted: edit.applied(to: base).orNull, last: last)
    case .set(var value):
      if case .objects(let ids) = value, property.relationship?.isOrdered == false { value = .objects(ids.sorted()) }
      return stored[property] == value ? .unchanged : .conflicting(wanted: value, last: last)
    }
  }

  /// The newest change of a property by others that conflicts with the transaction; nil if there is none.
  ///
  /// A replica's own commits are ordered, so it has no conflict with itself: when it replaced others' values, it had
  /// read them, regardless of the base that it states now. This does not hold for texts and to-manys, which merge.
  func conflictingChange(_ property: Property, _ past: [PastChange]) -> PastChange? {
    let all = past.filter { $0.mayTouch(property.number) }
    let merges = property.attribute?.kind == .text || property.relationship?.isToMany == true
    if !merges, all.last?.replica == transaction.id.replica { return nil }
    return all.last { $0.replica != transaction.id.replica }
  }

  /// The value of a property before `past`, calculated back from the present value.
  /// - Parameter keepsOwn: whether to stop at a commit of the transaction's own replica, because the replica sees its
  ///   value.
  func value(
    of property: Property, in stored: ObjectImage, before past: [PastChange], keepsOwn: Bool
  ) -> Value {
    var value = stored[property]
    for change in past.reversed() {
      for reversal in change.reversals.reversed() where reversal.property == property.number {
        if keepsOwn, change.replica == transaction.id.replica { return value }
        value = reversal.applied(to: value) ?? value
      }
    }
    return value
  }

  /// Records a conflict over one property.
  /// - Parameters:
  ///   - last: the change that set the stored value; for a collateral conflict, the one that decided the object.
  ///   - isCollateral: whether the property was decided together with its object.
  mutating func record(
    _ property: PropertyNumber, of stored: ObjectImage, mine: Value, _ last: PastChange?, mineWon: Bool,
    kind: Conflict.Kind = .changed, isCollateral: Bool = false
  ) {
    let conflict = Conflict(
      kind: kind, id: stored.id, property: property, mine: mine,
      theirs: model.property(property).map { stored[$0] }.orNull, author: last.origin.author,
      revision: last.origin.revision, mineWon: mineWon, isCollateral: isCollateral)
    // Both ends of a relationship may report the same conflict.
    if recorded.insert(conflict).inserted { conflicts.append(conflict) }
  }

  /// The splices rebased over `past`. Nil if another change replaced the complete text, so that offsets have lost
  /// their meaning.
  func rebase(_ splices: [TextSplice], over past: [PastChange], property: PropertyNumber) -> [TextSplice]? {
    var splices = splices
    for change in past {
      for (index, edit) in change.edits.enumerated() where edit.property == property {
        switch edit.action {
        case .splice(let earlier): splices = TextSplice.rebase(splices, over: earlier)
        case .set(.string(let text))
        where change.reversals.indices.contains(index)
          && change.reversals[index].action == .set(.null):
          // Null counts as empty, so that the first text does not replace another client's.
          splices = TextSplice.rebase(splices, over: [TextSplice(offset: 0, length: 0, insertion: text)])
        default: return nil
        }
      }
    }
    return splices
  }

  /// Records that an update of a deleted object loses, under every policy.
  mutating func reportMissing(_ id: ObjectID) throws {
    if let deletion = try reader.deletion(of: id) {
      let conflict = Conflict(kind: .deleted, id: id, author: deletion.author, revision: deletion.revision)
      // Several edits of one transaction may refer to the same deleted object.
      if recorded.insert(conflict).inserted { conflicts.append(conflict) }
    } else if drafts[id]?.isDeleted == true {
      conflicts.append(Conflict(kind: .deleted, id: id))
    } else {
      reportUnknown(id)
    }
  }

  /// Records that an object never existed, or that the store was restored to a state before it. The client can then
  /// discard the object.
  mutating func reportUnknown(_ id: ObjectID) {
    // After discarding these, a client's next attempt reports the others.
    guard unknownObjects.count < Batch.maximumViolations, unknownObjects.insert(id).inserted else { return }
    let rule = Violation.CommonRule.missing.rawValue
    addViolation(id, nil, rule, .null, "there is no \(entityName(of: id)) with the id \(id)")
  }
}
