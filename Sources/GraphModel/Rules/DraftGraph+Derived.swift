/// Derived attributes: computed after the transaction's own edits and deletes.
extension DraftGraph {
  /// Updates counts: the stored count plus the gains and losses in the touched objects, so that no member is read.
  /// This touches the owner of each counted relationship, which is the price of a count.
  /// - Parameter recounts: whether counts are recounted, because members will be deleted that have no draft.
  mutating func deriveCounts(recounts: Bool) throws {
    guard !model.parts.counts.isEmpty,
      touchedEntities.contains(where: {
        model.parts.countedEnds[$0.number] != nil || model.parts.counts[$0.number] != nil
      })
    else { return }
    var gains = [Reference: Int64]()
    var ends = [Reference]()
    for draft in order {
      for end in model.parts.countedEnds[draft.entity.number, default: []] {
        let before = draft.before.objectIDs(of: end.stored)
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
    for draft in order where !draft.isDeleted { try countOwn(draft, recounts: recounts) }
    for end in ends {
      guard let gain = gains[end], gain != 0, let entity = try entity(of: end.target) else { continue }
      for derived in model.parts.counts[entity.number, default: []] where derived.relationship.number == end.property {
        guard let draft = try touch(end.target) else { continue }
        var count: Int64 = 0
        if case .integer(let known) = draft.after[derived.attribute] { count = known }
        draft.after[derived.attribute] = .integer(count + gain)
      }
    }
  }

  /// Counts the members that the object lists itself; other counts of a new object start at 0.
  private func countOwn(_ draft: Draft, recounts: Bool) throws {
    for derived in model.parts.counts[draft.entity.number, default: []] {
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

  /// Computes expressions, after clients, merging and the server have set all values.
  func deriveExpressions() {
    guard touchedEntities.contains(where: { model.parts.expressions[$0.number] != nil }) else { return }
    for draft in order where !draft.isDeleted {
      guard let expressions = model.parts.expressions[draft.entity.number], draft.before?.values != draft.after.values
      else { continue }
      for derived in expressions { draft.after[derived.attribute] = derived.value(for: draft.after) }
    }
  }
}
