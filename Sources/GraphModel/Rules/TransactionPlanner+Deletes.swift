/// Deletes: a delete may lose to others' later changes of the object; the others are propagated by the delete rules.
extension TransactionPlanner {
  mutating func applyDeletes() throws {
    var deleted = [ObjectID]()
    for index in transaction.changes.indices where transaction.changes[index].kind == .delete {
      let change = transaction.changes[index]
      guard let id = graph.permanent(change.id) else {
        throw Refusal(.malformed, "a delete names a temporary id that this transaction does not insert")
      }
      if try isInvisible(id) {
        findings.addUnknown(id, in: graph)
        continue
      }
      guard let draft = try graph.touch(id) else {
        // Two deletes of one object agree.
        if try graph.reader.deletion(of: id) == nil, graph.draft(of: id) == nil { findings.addUnknown(id, in: graph) }
        continue
      }
      if try losesDelete(draft, against: change) { continue }
      deleted.append(draft.after.id)
    }
    guard !deleted.isEmpty else { return }
    var propagation = DeletePropagation()
    try propagation.delete(deleted, in: &graph, &findings)
  }

  /// Whether a delete loses to another client's later change of the object, as the merge policy decides.
  private mutating func losesDelete(_ draft: Draft, against change: Change) throws -> Bool {
    guard let before = draft.before, before.hasChanged(since: change.base), change.base > 0 else { return false }
    let past = try merger.past(of: before.id, after: change.base)
    // The principal can't have read the object before it became visible.
    let appearance = try judge?.appearance(of: before.id, after: change.base, in: graph)
    let edit = past.last { $0.replica != merger.replica && $0.isUserEdit(in: graph.model) }
    guard let last = edit ?? appearance, last.replica != merger.replica else { return false }
    let mineWins = transaction.policy.prefersTransaction
    findings.add(
      Conflict(kind: .changed, id: before.id, author: last.author, revision: last.revision, mineWon: mineWins))
    return !mineWins && transaction.policy != .error
  }
}
