/// Handles references to deleted objects. Such an edit is an update of a deleted object, stated from the other end: the
/// reference is dropped, the conflict reports the delete, and the merge policy decides on the rest of the transaction.
///
/// Most transactions have no such reference, so the first pass does not search for them. `recordIfDeleted` records each
/// deleted object that an edit refers to, and the transaction is planned again without the references. The steps that
/// compare values, look up unique keys or arrange members thus never see a value that can't be stored.
struct DeletedTargetFilter {
  /// Deleted objects whose references are removed from the transaction.
  let excluded: Set<ObjectID>
  /// Further deleted objects that edits of this pass refer to.
  private(set) var found = Set<ObjectID>()
  /// The relationships that lost a reference to a deleted object, by the owner's id in the transaction.
  private(set) var droppedReferences = [ObjectID: Set<PropertyNumber>]()

  init(excluded: Set<ObjectID>) { self.excluded = excluded }

  /// Whether an edit refers to a deleted object that the relationship could have referred to. The object is then
  /// recorded.
  mutating func recordIfDeleted(_ id: ObjectID, of wanted: Entity?, in graph: DraftGraph) throws -> Bool {
    guard !excluded.contains(id), let claimed = graph.model.entity(id.entity),
      wanted.map({ claimed.isKind(of: $0) }) != false, try graph.reader.deletion(of: id) != nil
    else { return false }
    found.insert(id)
    return true
  }

  /// Removes the references to deleted objects from the changes.
  /// - Returns: the objects that were referred to, in the order of the references.
  mutating func dropReferences(from changes: inout [Change]) -> [ObjectID] {
    guard !excluded.isEmpty else { return [] }
    var met = [ObjectID]()
    for index in changes.indices {
      let change = changes[index]
      let edits = change.edits.compactMap { edit -> Edit? in
        let (remaining, dropped) = edit.without(excluded)
        guard !dropped.isEmpty else { return edit }
        met += dropped
        droppedReferences[change.id, default: []].insert(edit.property)
        return remaining
      }
      changes[index].edits = edits
    }
    return ListReorderer.unique(met)
  }

  /// Whether an edit lost a reference to a deleted object.
  var hasDroppedReferences: Bool { !droppedReferences.isEmpty }

  /// Refuses the transaction if a required reference was dropped. The refusal is a conflict with the delete.
  func refuseIfReferencesAreRequired(_ findings: PlanFindings, in graph: DraftGraph) throws {
    let caused = violationsByDroppedReferences(findings, in: graph)
    // Other violations refuse it as invalid.
    guard !caused.isEmpty, caused.count == findings.violations.count else { return }
    let deletes = findings.conflicts.filter { $0.kind == .deleted && excluded.contains($0.id) }
    throw Refusal(
      .conflict, try PlanFindings.message(for: deletes, in: graph), conflicts: deletes, violations: caused)
  }

  /// The violations of rules that the dropped references would have satisfied, with the temporary ids of inserts.
  func violationsByDroppedReferences(_ findings: PlanFindings, in graph: DraftGraph) -> [Violation] {
    if droppedReferences.isEmpty || findings.violations.isEmpty { return [] }
    var dropped = [ObjectID: Set<PropertyNumber>]()
    for (id, properties) in droppedReferences { dropped[graph.permanent(id) ?? id] = properties }
    return zip(findings.violations, findings.violationsWithTemporaryIDs(in: graph)).compactMap { violation, reported in
      isCaused(violation, by: dropped[violation.id, default: []], in: graph.model) ? reported : nil
    }
  }

  private func isCaused(_ violation: Violation, by dropped: Set<PropertyNumber>, in model: Model) -> Bool {
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
