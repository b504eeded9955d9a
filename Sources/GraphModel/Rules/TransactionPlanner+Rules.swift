/// The rules that a model states as predicates, on every object whose own values the transaction changes.
extension TransactionPlanner {
  mutating func validateRules() {
    for draft in order where !draft.isDeleted {
      let rules = model.rules(of: draft.entity.number)
      guard !rules.isEmpty, draft.before?.values != draft.after.values, unset[draft.after.id] == nil else { continue }
      for rule in rules where !rule.holds(for: draft.after) {
        violate(draft.after.id, nil, rule.name, .null, rule.message)
      }
    }
  }
}
