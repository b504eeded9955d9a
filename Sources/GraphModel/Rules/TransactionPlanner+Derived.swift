/// Derived attributes: computed when the transaction's own edits and deletes are done, and by nobody else.
extension TransactionPlanner {
  /// Counts: the stored count plus what this transaction gains and loses, found in the objects that it touches. No member
  /// is read. The owner of a counted relationship is touched here, whoever else changed: that is what a count costs.
  mutating func deriveCounts() throws {
    guard !model.parts.counts.isEmpty,
      kinds.contains(where: { model.parts.countedEnds[$0.number] != nil || model.parts.counts[$0.number] != nil })
    else { return }
    var gains = [Reference: Int64]()
    var ends = [Reference]()
    for draft in order {
      for end in model.parts.countedEnds[draft.entity.number] ?? [] {
        let before = draft.before?[end.stored].objectIDs ?? []
        let after = draft.isDeleted ? [] : draft.after[end.stored].objectIDs
        if before == after { continue }
        let (old, new) = (Set(before), Set(after))
        for (ids, others, gain) in [(before, new, Int64(-1)), (after, old, 1)] {
          for id in ids where !others.contains(id) {
            let reference = Reference(target: id, property: end.counted)
            if gains[reference] == nil { ends.append(reference) }
            gains[reference, default: 0] += gain
          }
        }
      }
    }
    for draft in order where !draft.isDeleted { try countOwn(draft) }
    for end in ends {
      guard let gain = gains[end], gain != 0, let entity = try entity(of: end.target) else { continue }
      for derived in model.parts.counts[entity.number] ?? [] where derived.relationship.number == end.property {
        guard let draft = try touch(end.target) else { continue }
        var count: Int64 = 0
        if case .integer(let known) = draft.after[derived.attribute] { count = known }
        draft.after[derived.attribute] = .integer(count + gain)
      }
    }
  }

  /// What the object lists itself is counted as it is; everything else starts from none.
  private func countOwn(_ draft: Draft) throws {
    for derived in model.parts.counts[draft.entity.number] ?? [] {
      if derived.relationship.relationship?.storage == .members {
        draft.after[derived.attribute] = .integer(Int64(draft.after[derived.relationship].objectIDs.count))
      } else if draft.before == nil {
        draft.after[derived.attribute] = .integer(0)
      } else if recounts {
        let count = try related(to: draft.after.id, through: derived.relationship).count
        draft.after[derived.attribute] = .integer(Int64(count))
      }
    }
  }

  /// Expressions, over everything that the client, the merging and the server have set by now.
  func deriveExpressions() {
    guard kinds.contains(where: { model.parts.expressions[$0.number] != nil }) else { return }
    for draft in order where !draft.isDeleted {
      guard let expressions = model.parts.expressions[draft.entity.number], draft.before?.values != draft.after.values
      else { continue }
      for derived in expressions { draft.after[derived.attribute] = derived.value(for: draft.after) }
    }
  }
}

extension PastChange {
  /// Whether somebody meant it: an update in which the rules alone set something, because an object at the other end of
  /// a relationship came or went, stands in nobody's way.
  public func isSomebodysEdit(in model: Model) -> Bool {
    guard kind == .updated, !edits.isEmpty else { return true }
    return edits.contains { edit in
      guard let attribute = model.property(edit.property)?.attribute else { return true }
      if spacing.contains(edit.property) { return false }
      return [nil, .position].contains(attribute.assignment) && !attribute.isDerived
    }
  }
}
