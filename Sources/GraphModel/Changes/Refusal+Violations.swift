extension Refusal {
  /// Creates a refusal for broken rules; `violations` must not be empty.
  public init(violations: [Violation], conflicts: [Conflict] = []) {
    precondition(!violations.isEmpty, "a refusal for broken rules has a violation")
    // A batch stops at this number, so the total is unknown.
    let least = violations.count == Batch.maximumViolations ? "at least " : ""
    // The denials of one delete differ only in the object, and their message already has the count.
    let others = Set(violations.map { $0.commonRule == .deny ? "\($0.id) \($0.property)" : "\($0)" }).count - 1
    let more = others > 0 ? " (and \(least)\(others) more)" : ""
    let code: Code =
      if violations.allSatisfy({ $0.commonRule == .deny }) {
        .denied
      } else if violations.allSatisfy({ $0.commonRule == .unique }) {
        .unique
      } else if violations.allSatisfy({ $0.commonRule == .missing }) {
        .notFound
      } else {
        .invalid
      }
    self.init(code, violations[0].message + more, conflicts: conflicts, violations: violations)
  }
}
