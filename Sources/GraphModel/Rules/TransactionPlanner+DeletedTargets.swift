/// Handling references to deleted objects. Such an edit is an update of a deleted object, stated from the other end:
/// the reference is dropped, the conflict reports the delete, and the merge policy decides on the rest of the
/// transaction.
///
/// Most transactions have no such reference, so the first pass does not search for them. `destination` records each
/// deleted object that it finds, and the transaction is planned again without the references. The steps that compare
/// values, look up unique keys or arrange members thus never see a value that can't be stored.
extension TransactionPlanner {
  /// Whether an edit refers to a deleted object that the relationship could have referred to. The object is then
  /// recorded. A batch has no base revision and no such conflicts: there the reference is a violation of its row.
  mutating func recordIfDeleted(_ id: ObjectID, of wanted: Entity?) throws -> Bool {
    guard !isSlice, !deletedTargets.contains(id), let claimed = model.entity(id.entity),
      wanted.map({ claimed.isKind(of: $0) }) != false, try reader.deletion(of: id) != nil
    else { return false }
    foundDeletedTargets.insert(id)
    return true
  }

  /// Removes the references to deleted objects from the transaction, and reports the deletes.
  mutating func dropReferencesToDeleted() throws {
    guard !deletedTargets.isEmpty else { return }
    var met = [ObjectID]()
    for index in transaction.changes.indices {
      let change = transaction.changes[index]
      let edits = change.edits.compactMap { edit -> Edit? in
        let (remaining, dropped) = edit.without(deletedTargets)
        guard !dropped.isEmpty else { return edit }
        met += dropped
        droppedReferences[change.id, default: []].insert(edit.property)
        return remaining
      }
      transaction.changes[index].edits = edits
    }
    for id in ListReorderer.unique(met) { try reportMissing(id) }
  }

  /// Refuses the transaction, under every policy, if a required reference was dropped. The refusal is a conflict with
  /// the delete.
  func refuseIfReferencesAreRequired() throws {
    guard !droppedReferences.isEmpty, !violations.isEmpty else { return }
    var dropped = [ObjectID: Set<PropertyNumber>]()
    for (id, properties) in droppedReferences { dropped[permanent(id) ?? id] = properties }
    guard violations.allSatisfy({ isCaused($0, by: dropped[$0.id, default: []]) }) else { return }
    let deletes = conflicts.filter { $0.kind == .deleted && deletedTargets.contains($0.id) }
    throw Refusal(.conflict, message(for: deletes), conflicts: deletes, violations: withTemporaryIDs(violations))
  }

  private func isCaused(_ violation: Violation, by dropped: Set<PropertyNumber>) -> Bool {
    if dropped.isEmpty { return false }
    if violation.property != 0 {
      return dropped.contains(violation.property) && [.required, .count].contains(violation.commonRule)
    }
    let rule = model.rules(of: violation.id.entity).first { $0.name == violation.rule }
    return rule.map { !$0.sources.isDisjoint(with: dropped) } == true
  }
}

extension Edit {
  /// The edit without references to `targets`, and the removed ones; a nil edit if nothing remains.
  fileprivate func without(_ targets: Set<ObjectID>) -> (remaining: Edit?, dropped: [ObjectID]) {
    func split(_ ids: [ObjectID]) -> (staying: [ObjectID], dropped: [ObjectID]) {
      (ids.filter { !targets.contains($0) }, ids.filter { targets.contains($0) })
    }
    switch action {
    case .set(.object(let id)): return targets.contains(id) ? (nil, [id]) : (self, [])
    case .set(.objects(let ids)):
      let (staying, dropped) = split(ids)
      return (Edit(property, .set(.objects(staying))), dropped)
    case .members(let added, let removed):
      let (staying, dropped) = split(added)
      let isEmpty = staying.isEmpty && removed.isEmpty
      return (isEmpty ? nil : Edit(property, .members(added: staying, removed: removed)), dropped)
    case .place(let ids, let anchor):
      let (staying, dropped) = split(ids)
      return (staying.isEmpty ? nil : Edit(property, .place(staying, after: anchor)), dropped)
    case .set, .splice: return (self, [])
    }
  }
}
