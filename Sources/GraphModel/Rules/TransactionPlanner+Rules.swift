/// The model's predicate rules, checked on every object whose own values the transaction changes.
extension TransactionPlanner {
  mutating func validateRules() {
    guard touchedEntities.contains(where: { !model.rules(of: $0.number).isEmpty }) else { return }
    for draft in order where !draft.isDeleted {
      let rules = model.rules(of: draft.entity.number)
      guard !rules.isEmpty, draft.before?.values != draft.after.values else { continue }
      let unread = unreadable(in: draft)
      for rule in rules where rule.sources.isDisjoint(with: unread) && !rule.holds(for: draft.after) {
        addViolation(draft.after.id, nil, rule.name, .null, rule.message)
      }
    }
  }

  /// Properties whose edits failed, and properties derived from them. Rules that read them can't be evaluated.
  private func unreadable(in draft: Draft) -> Set<PropertyNumber> {
    guard var unread = unset[draft.after.id] else { return [] }
    for derived in model.parts.expressions[draft.entity.number, default: []]
    where !derived.sources.isDisjoint(with: unread) {
      unread.insert(derived.attribute.number)
    }
    return unread
  }
}
