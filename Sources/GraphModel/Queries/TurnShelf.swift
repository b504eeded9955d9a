/// All turns of queries that are filed under one subject: asked which of them its values could bring about, as they
/// were and as they are.
///
/// What asks for a value beyond another one turns when the greatest of the values, or the least, passes that; so ten thousand
/// of them that all hold are not looked at when a value moves a little.
///
/// It is no substitute for the `SubjectShelf` that the same queries are filed in for objects that changed themselves, nor that
/// for it. There a query stands once, under the most selective of its comparisons, and is found by each value that it
/// waits for; here it stands under all of them, and is found only by a value that comes or goes. One shelf for both would
/// find a query by its least selective comparison as well, which is what ten thousand share.
struct TurnShelf: Sendable {
  private var places = SubjectShelf()
  private var alone = ValueTable()
  /// What the greatest value passes, and what the least one does; each as an interval of one value.
  private var greatest = IntervalTree()
  private var least = IntervalTree()

  var isEmpty: Bool { places.isEmpty && alone.isEmpty && greatest.isEmpty && least.isEmpty }

  mutating func insert(_ number: UInt64, at turn: QueryTurn) {
    switch turn {
    case .alone(_, let value): alone.insert(number, value: value)
    case .among(let place): places.insert(number, at: place)
    case .greatest(_, let value): greatest.insert(.init(low: value, high: value, number: number))
    case .least(_, let value): least.insert(.init(low: value, high: value, number: number))
    }
  }

  mutating func remove(_ number: UInt64, at turn: QueryTurn) {
    switch turn {
    case .alone(_, let value): alone.remove(number, value: value)
    case .among(let place): places.remove(number, at: place)
    case .greatest(_, let value): greatest.remove(.init(low: value, high: value, number: number))
    case .least(_, let value): least.remove(.init(low: value, high: value, number: number))
    }
  }

  /// Over the numbers of the queries of which a comparison could turn; one may come several times.
  /// - Parameter body: whether to go on.
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
      // Of no value every one is this one.
      if values.isEmpty { alone.forEach(go) }
      if values.count == 1, let value = values.first { alone.forEach(holding: value, go) }
    }
    guard goesOn, !greatest.isEmpty || !least.isEmpty else { return }
    // No order holds with null.
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
