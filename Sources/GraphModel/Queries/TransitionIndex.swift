/// An index of the transitions of queries over one subject. Finds those that a change of its values could cause.
///
/// A comparison with a bound turns when the maximum, or the minimum, of the values crosses the bound; ten thousand
/// such queries that all hold are not visited when a value changes slightly.
///
/// It does not replace the `SubjectIndex` with the same queries for changed objects, nor vice versa. There a query
/// has one key, that of its most selective comparison, and every value that matches the key finds it; here it has
/// keys for all of its comparisons, and only added or removed values find it. A common index would also find a query
/// by its least selective comparison, which it may share with ten thousand others.
struct TransitionIndex: Sendable {
  private var places = SubjectIndex()
  private var alone = EqualityIndex()
  /// The bounds that the maximum, or the minimum, crosses, each as an interval of one value.
  private var greatest = IntervalTree()
  private var least = IntervalTree()

  var isEmpty: Bool { places.isEmpty && alone.isEmpty && greatest.isEmpty && least.isEmpty }

  mutating func insert(_ number: UInt64, at turn: MembershipTransition) {
    switch turn {
    case .alone(_, let value): alone.insert(number, value: value)
    case .among(let place): places.insert(number, at: place)
    case .greatest(_, let value): greatest.insert(.init(low: value, high: value, number: number))
    case .least(_, let value): least.insert(.init(low: value, high: value, number: number))
    }
  }

  mutating func remove(_ number: UInt64, at turn: MembershipTransition) {
    switch turn {
    case .alone(_, let value): alone.remove(number, value: value)
    case .among(let place): places.remove(number, at: place)
    case .greatest(_, let value): greatest.remove(.init(low: value, high: value, number: number))
    case .least(_, let value): least.remove(.init(low: value, high: value, number: number))
    }
  }

  /// Visits the numbers of the queries with a comparison that could turn. A query may be visited more than once.
  /// - Parameter body: returns whether to continue.
  func forEach(from old: [Value], to new: [Value], _ body: (UInt64) -> Bool) {
    let (before, after) = (Set(old), Set(new))
    guard before != after else { return }
    var goesOn = true
    func go(_ number: UInt64) -> Bool {
      goesOn = body(number)
      return goesOn
    }
    for value in before.symmetricDifference(after) where goesOn { places.forEach(holding: value, go) }
    for values in [before, after] where goesOn && !alone.isEmpty {
      // Without values, every comparison with ALL holds.
      if values.isEmpty { alone.forEach(go) }
      if values.count == 1, let value = values.first { alone.forEach(holding: value, go) }
    }
    guard goesOn, !greatest.isEmpty || !least.isEmpty else { return }
    // Order comparisons with null are false.
    let known = [before, after].map { $0.filter { !$0.isNull } }
    let isEmptied = known.contains(where: \.isEmpty)
    let upper = known.compactMap { $0.max(by: precedes) }.sorted(by: precedes)
    let lower = known.compactMap { $0.min(by: precedes) }.sorted(by: precedes)
    if let end = upper.last, isEmptied || upper[0] != end {
      greatest.forEach(from: isEmptied ? nil : upper[0], through: end, go)
    }
    if goesOn, let start = lower.first, isEmptied || lower[1] != start {
      least.forEach(from: start, through: isEmptied ? nil : lower[1], go)
    }
  }

  private func precedes(_ one: Value, _ other: Value) -> Bool { Value.order(one, other) == .ascending }
}
