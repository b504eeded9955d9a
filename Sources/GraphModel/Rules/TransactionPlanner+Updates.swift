/// Merging: comparing the transaction's edits with the commits since its base revision.
extension TransactionPlanner {
  mutating func applyUpdate(_ change: Change) throws {
    guard let named = graph.permanent(change.id) else {
      throw Refusal(.malformed, "an update names a temporary id that this transaction does not insert")
    }
    if try isInvisible(named) { return findings.addUnknown(named, in: graph) }
    guard let draft = try graph.touch(named) else { return try findings.addMissing(named, in: graph) }
    let id = draft.after.id
    // All changes of the object were resolved together with its first one.
    if objectConflicts[id] != nil { return try resolveObjectConflict(draft) }
    // At or below the base there is nothing to compare.
    guard let before = draft.before, before.hasChanged(since: change.base) else {
      for edit in change.edits { try applyUncontested(edit, to: draft, since: change.base) }
      return
    }
    let past = try merger.past(of: id, after: change.base)
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
      switch try merger.compare(edit, with: stored, past: past) {
      case .merged(let edit): remaining.append(edit)
      case .unchanged:
        // This reverts an earlier edit of this transaction.
        let isChangedHere = graph.model.property(edit.property).map { draft.after[$0] != stored[$0] } == true
        if isChangedHere || remaining.contains(where: { $0.property == edit.property }) { remaining.append(edit) }
      case .conflicting(let wanted, let last):
        let mineWins = transaction.policy.prefersTransaction
        record(edit.property, of: stored, mine: wanted, last, mineWon: mineWins)
        if mineWins { remaining.append(Edit(edit.property, .set(wanted))) }
      }
    }
    return remaining
  }

  /// Records a conflict if the object was deleted and revived after the edit's base. If the principal did not see it
  /// meanwhile, the same holds for what the principal sees.
  mutating func recordRevival(of id: ObjectID, in past: [PastChange], after base: Revision) throws -> Bool {
    if let change = try judge?.appearance(of: id, after: base, in: graph) {
      findings.add(
        Conflict(kind: .deleted, id: id, author: change.author, revision: change.revision, mineWon: false))
      return true
    }
    guard base > 0 else { return false }
    guard let revival = past.first(where: \.isRevival) else { return false }
    findings.add(
      Conflict(kind: .deleted, id: id, author: revival.author, revision: revival.revision, mineWon: false))
    return true
  }

  /// Records a conflict over one property.
  /// - Parameters:
  ///   - last: the change that set the stored value; for a collateral conflict, the change that decided the object.
  ///   - isCollateral: whether the property was decided together with its object.
  mutating func record(
    _ property: PropertyNumber, of stored: ObjectImage, mine: Value, _ last: PastChange?, mineWon: Bool,
    kind: Conflict.Kind = .changed, isCollateral: Bool = false
  ) {
    let conflict = Conflict(
      kind: kind, id: stored.id, property: property, mine: mine,
      theirs: graph.model.property(property).map { stored[$0] }.orNull, author: last.origin.author,
      revision: last.origin.revision, mineWon: mineWon, isCollateral: isCollateral)
    // Both ends of a relationship may report the same conflict.
    findings.addOnce(conflict)
  }
}
