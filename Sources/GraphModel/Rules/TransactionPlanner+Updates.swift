/// Merging: what the transaction says against what others have committed since its base revision.
extension TransactionPlanner {
  mutating func applyUpdate(_ change: Change) throws {
    guard let named = permanent(change.id) else {
      throw Refusal(.malformed, "an update names a temporary id that this transaction does not insert")
    }
    guard let draft = try touch(named) else { return try reportMissing(named) }
    // At or below the base there is nothing to compare.
    guard let before = draft.before, before.revision > change.base else {
      for edit in change.edits { try apply(edit, to: draft, isInsert: false) }
      return
    }
    // With its concrete entity, whatever the client believed.
    let id = before.id
    let past = try reader.history(of: id, after: change.base)
    // What was deleted meanwhile and came back is not what the edit was made on.
    if change.base > 0, let revival = past.first(where: { $0.kind == .inserted }) {
      conflicts.append(
        Conflict(kind: .deleted, id: id, author: revival.author, revision: revival.revision, mineWon: false))
      return
    }
    let edits = merge(change.edits, of: before, past: past)
    for edit in edits { try apply(edit, to: draft, isInsert: false) }
  }

  /// The edits that remain once others' are considered; conflicts are noted on the way.
  private mutating func merge(_ edits: [Edit], of stored: ObjectImage, past: [PastChange]) -> [Edit] {
    var remaining = [Edit]()
    var lost = false
    for edit in edits {
      let all = past.filter { $0.edits.contains { $0.property == edit.property } }
      // A replica's own commits come in order, so it has no conflict with itself; its splices speak of the base all the same.
      var theirs = all.filter { $0.replica != transaction.id.replica }
      if case .splice = edit.action { theirs = all }
      guard let last = theirs.last, let property = model.property(edit.property) else {
        remaining.append(edit)
        continue
      }
      // Nobody may make it: it is refused, and no conflict.
      if property.attribute?.isDerived == true {
        remaining.append(edit)
        continue
      }
      switch edit.action {
      case .members: remaining.append(edit)
      case .splice(let splices):
        if let rebased = rebase(splices, over: theirs, property: edit.property) {
          remaining.append(Edit(edit.property, .splice(rebased)))
        } else {
          lost = note(edit, of: stored, property, last) || lost
          if transaction.policy == .overwrite || transaction.policy == .objectTrump { remaining.append(edit) }
        }
      case .set(let value):
        if stored[property] == value { continue }
        let mineWins = note(edit, of: stored, property, last)
        lost = lost || !mineWins
        if mineWins { remaining.append(edit) }
      }
    }
    return lost && transaction.policy == .rollback ? [] : remaining
  }

  /// Notes a conflict; true when the transaction's side prevails.
  private mutating func note(_ edit: Edit, of stored: ObjectImage, _ property: Property, _ last: PastChange) -> Bool {
    let mineWins = transaction.policy == .objectTrump || transaction.policy == .overwrite
    var mine = Value.null
    if case .set(let value) = edit.action { mine = value }
    conflicts.append(
      Conflict(
        kind: .changed, id: stored.id, property: property.number, mine: mine, theirs: stored[property],
        author: last.author, revision: last.revision, mineWon: mineWins))
    return mineWins
  }

  /// Nil when one of the others replaced the text as a whole, so that no place in it means anything any more.
  private func rebase(_ splices: [TextSplice], over past: [PastChange], property: PropertyNumber) -> [TextSplice]? {
    var splices = splices
    for change in past {
      for edit in change.edits where edit.property == property {
        guard case .splice(let earlier) = edit.action else { return nil }
        splices = TextSplice.rebase(splices, over: earlier)
      }
    }
    return splices
  }

  /// An update of a deleted object loses, and says so, whatever the policy.
  mutating func reportMissing(_ id: ObjectID) throws {
    if let deletion = try reader.deletion(of: id) {
      conflicts.append(
        Conflict(kind: .deleted, id: id, author: deletion.author, revision: deletion.revision, mineWon: false))
    } else if drafts[id]?.isDeleted == true {
      conflicts.append(Conflict(kind: .deleted, id: id))
    } else {
      throw Refusal(.notFound, "there is no \(model.entity(id.entity)?.name ?? "object") with the id \(id)")
    }
  }
}
