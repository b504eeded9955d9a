/// Merging: what the transaction says against what others have committed since its base revision.
extension TransactionPlanner {
  mutating func applyUpdate(_ change: Change) throws {
    guard let named = permanent(change.id) else {
      throw Refusal(.malformed, "an update names a temporary id that this transaction does not insert")
    }
    guard let draft = try touch(named) else { return try reportMissing(named) }
    let id = draft.after.id
    // Decided whole, with all changes of the object, when the first of them came.
    if contested[id] != nil { return try resolveWhole(draft) }
    // At or below the base there is nothing to compare.
    guard let before = draft.before, isStale(before, since: change.base) else {
      for edit in change.edits { try applyYielding(edit, to: draft, since: change.base) }
      return
    }
    let past = try past(of: id, after: change.base)
    if try recordRevival(of: id, in: past, after: change.base) { return }
    for edit in try merge(change.edits, of: before, past: past, into: draft) {
      try applyYielding(edit, to: draft, since: change.base)
    }
  }

  /// The edit, as far as what others did to the objects that it reaches lets it.
  mutating func applyYielding(_ edit: Edit, to draft: Draft, since base: Revision) throws {
    guard let edit = try yielding(edit, of: draft, since: base) else { return }
    try apply(edit, to: draft, isInsert: false)
  }

  /// The edits that remain once others' are considered; conflicts are noted on the way.
  private mutating func merge(
    _ edits: [Edit], of stored: ObjectImage, past: [PastChange], into draft: Draft
  ) throws -> [Edit] {
    var remaining = [Edit]()
    for edit in edits {
      switch try compare(edit, with: stored, past: past) {
      case .merged(let edit): remaining.append(edit)
      case .settled:
        // What this transaction has made of it before, it takes back here.
        let isChangedHere = model.property(edit.property).map { draft.after[$0] != stored[$0] } ?? false
        if isChangedHere || remaining.contains(where: { $0.property == edit.property }) { remaining.append(edit) }
      case .conflicting(let wanted, let last):
        let mineWins = transaction.policy == .objectTrump || transaction.policy == .overwrite
        record(edit.property, of: stored, mine: wanted, last, mineWon: mineWins)
        if mineWins { remaining.append(Edit(edit.property, .set(wanted))) }
      }
    }
    return remaining
  }

  /// What an edit is beside what others did to the same property.
  enum Comparison {
    /// It can be made as it is here.
    case merged(Edit)
    /// Both sides wanted the same.
    case settled
    /// The value that the transaction wants, and the change of the others that is in its way.
    case conflicting(wanted: Value, last: PastChange)
  }

  func compare(_ edit: Edit, with stored: ObjectImage, past: [PastChange]) throws -> Comparison {
    // A derived attribute nobody may edit: it is refused, and no conflict.
    guard let property = model.property(edit.property), property.attribute?.isDerived != true else {
      return .merged(edit)
    }
    let all = past.filter { $0.mayTouch(edit.property) }
    guard let last = opposing(property, all) else {
      guard case .splice(let splices) = edit.action else { return .merged(edit) }
      // Its splices speak of the base all the same.
      return .merged(Edit(edit.property, .splice(rebase(splices, over: all, property: edit.property) ?? splices)))
    }
    switch edit.action {
    // Neither conflicts with anything: what is added and moved stays, and the server's order decides.
    case .members, .place: return .merged(edit)
    case .splice(let splices):
      if let pruned = all.first(where: \.isPruned) { throw unknownPast(of: stored, property, pruned) }
      if let rebased = rebase(splices, over: all, property: edit.property) {
        return .merged(Edit(edit.property, .splice(rebased)))
      }
      let base = value(of: property, in: stored, before: past, keepsOwn: false)
      return .conflicting(wanted: edit.applied(to: base) ?? .null, last: last)
    case .set(var value):
      if case .objects(let ids) = value, property.relationship?.isOrdered == false { value = .objects(ids.sorted()) }
      return stored[property] == value ? .settled : .conflicting(wanted: value, last: last)
    }
  }

  /// The newest change that others made to a property and that stands in the way of the transaction; nil where there is none.
  ///
  /// A replica's own commits come in order, so it has no conflict with itself: what it set in the place of others' values it
  /// had read, whatever base it names now. Texts and to-manys merge, and prove nothing of the kind.
  func opposing(_ property: Property, _ past: [PastChange]) -> PastChange? {
    let all = past.filter { $0.mayTouch(property.number) }
    let merges = property.attribute?.kind == .text || property.relationship?.isToMany == true
    if !merges, all.last?.replica == transaction.id.replica { return nil }
    return all.last { $0.replica != transaction.id.replica }
  }

  /// A property as it was before `past`, from what it is now.
  /// - Parameter keepsOwn: whether to stop at what the transaction's own replica committed, for that is what it sees.
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

  /// Notes a conflict over one property.
  /// - Parameters:
  ///   - last: the change that the stored value is of; of a collateral conflict the one that decided the object.
  ///   - isCollateral: the property falls with its object.
  mutating func record(
    _ property: PropertyNumber, of stored: ObjectImage, mine: Value, _ last: PastChange?, mineWon: Bool,
    kind: Conflict.Kind = .changed, isCollateral: Bool = false
  ) {
    let conflict = Conflict(
      kind: kind, id: stored.id, property: property, mine: mine,
      theirs: model.property(property).map { stored[$0] } ?? .null, author: last?.author ?? "",
      revision: last?.revision ?? 0, mineWon: mineWon, isCollateral: isCollateral)
    // Both ends of a relationship may say the same.
    if recorded.insert(conflict).inserted { conflicts.append(conflict) }
  }

  /// Nil when one of the others replaced the text as a whole, so that no place in it means anything any more.
  func rebase(_ splices: [TextSplice], over past: [PastChange], property: PropertyNumber) -> [TextSplice]? {
    var splices = splices
    for change in past {
      for (index, edit) in change.edits.enumerated() where edit.property == property {
        switch edit.action {
        case .splice(let earlier): splices = TextSplice.rebase(splices, over: earlier)
        case .set(.string(let text))
        where change.reversals.indices.contains(index)
          && change.reversals[index].action == .set(.null):
          // Null counts as empty: the first words of a text push nobody else's out.
          splices = TextSplice.rebase(splices, over: [TextSplice(offset: 0, length: 0, insertion: text)])
        default: return nil
        }
      }
    }
    return splices
  }

  /// An update of a deleted object loses, and says so, whatever the policy.
  mutating func reportMissing(_ id: ObjectID) throws {
    if let deletion = try reader.deletion(of: id) {
      let conflict = Conflict(kind: .deleted, id: id, author: deletion.author, revision: deletion.revision)
      // Several edits of one transaction may meet the same delete.
      if recorded.insert(conflict).inserted { conflicts.append(conflict) }
    } else if drafts[id]?.isDeleted == true {
      conflicts.append(Conflict(kind: .deleted, id: id))
    } else {
      reportUnknown(id)
    }
  }

  /// There never was such an object, or the store was restored to a state before it: the client is told which, so that it
  /// can let go of it.
  mutating func reportUnknown(_ id: ObjectID) {
    // Whoever lets go of so many hears of the others the next time.
    guard missing.count < Batch.maximumViolations, missing.insert(id).inserted else { return }
    let rule = Violation.CommonRule.missing.rawValue
    violate(id, nil, rule, .null, "there is no \(model.entity(id.entity)?.name ?? "object") with the id \(id)")
  }
}
