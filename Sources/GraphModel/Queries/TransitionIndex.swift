/// An index of the transitions of queries over one expression. Finds those that a change of its values could cause.
///
/// A comparison with a bound turns when the maximum, or the minimum, of the values crosses the bound; ten thousand
/// such queries that all hold are not visited when a value changes slightly.
///
/// It does not replace the `ExpressionIndex` with the same queries for changed objects, nor vice versa. There a query
/// has one key, for its most selective comparison, and every value that matches the key finds it; here it has keys for
/// all of its comparisons, and only added or removed values find it. A common index would also find a query by its
/// least selective comparison, which it may share with ten thousand others.
struct TransitionIndex: Sendable {
  private var values = ExpressionIndex()
  private var onlyValues = EqualityIndex()
  /// The bounds that the maximum, or the minimum, crosses, each as an interval of one value.
  private var maxima = IntervalTree()
  private var minima = IntervalTree()

  var isEmpty: Bool { values.isEmpty && onlyValues.isEmpty && maxima.isEmpty && minima.isEmpty }

  mutating func insert(_ number: UInt64, under transition: MembershipTransition) {
    switch transition {
    case .onlyValue(_, let value): onlyValues.insert(number, value: value)
    case .key(let key): values.insert(number, under: key)
    case .maximum(_, let value): maxima.insert(.init(low: value, high: value, number: number))
    case .minimum(_, let value): minima.insert(.init(low: value, high: value, number: number))
    }
  }

  mutating func remove(_ number: UInt64, under transition: MembershipTransition) {
    switch transition {
    case .onlyValue(_, let value): onlyValues.remove(number, value: value)
    case .key(let key): values.remove(number, under: key)
    case .maximum(_, let value): maxima.remove(.init(low: value, high: value, number: number))
    case .minimum(_, let value): minima.remove(.init(low: value, high: value, number: number))
    }
  }

  /// Visits the numbers of the queries with a comparison that could turn. A query may be visited more than once.
  /// - Parameter body: returns whether to continue.
  func forEach(from old: [Value], to new: [Value], _ body: (UInt64) -> Bool) {
    let (before, after) = (Set(old), Set(new))
    guard before != after else { return }
    var continues = true
    func visit(_ number: UInt64) -> Bool {
      continues = body(number)
      return continues
    }
    for value in before.symmetricDifference(after) where continues { values.forEach(matching: value, visit) }
    for values in [before, after] where continues && !onlyValues.isEmpty {
      // Without values, every comparison with ALL holds.
      if values.isEmpty { onlyValues.forEach(visit) }
      if values.count == 1, let value = values.first { onlyValues.forEach(matching: value, visit) }
    }
    guard continues, !maxima.isEmpty || !minima.isEmpty else { return }
    // Order comparisons with null are false.
    let known = [before, after].map { $0.filter { !$0.isNull } }
    let isEmptied = known.contains(where: \.isEmpty)
    let upper = known.compactMap { $0.max(by: precedes) }.sorted(by: precedes)
    let lower = known.compactMap { $0.min(by: precedes) }.sorted(by: precedes)
    assert(isEmptied || upper.count == 2 && lower.count == 2, "both sides have extremes")
    if let end = upper.last, isEmptied || upper[0] != end {
      maxima.forEach(from: isEmptied ? nil : upper[0], through: end, visit)
    }
    if continues, let start = lower.first, isEmptied || lower[1] != start {
      minima.forEach(from: start, through: isEmptied ? nil : lower[1], visit)
    }
  }

  private func precedes(_ first: Value, _ second: Value) -> Bool { Value.order(first, second) == .ascending }
}
