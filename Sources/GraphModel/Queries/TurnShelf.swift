/// All turns of queries that are filed under one path: asked which of them the values at its end could bring about, as they
/// were and as they are.
///
/// What asks for a value beyond another one turns when the greatest of the values, or the least, passes that; so ten thousand
/// of them that all hold are not looked at when a value moves a little.
struct TurnShelf: Sendable {
  private var values = ValueTable()
  private var alone = ValueTable()
  private var ranges = IntervalTree()
  /// What the greatest value passes, and what the least one does; each as an interval of one value.
  private var greatest = IntervalTree()
  private var least = IntervalTree()
  private var words = WordTable()
  private var parts = PartTable()

  var isEmpty: Bool {
    values.isEmpty && alone.isEmpty && ranges.isEmpty && greatest.isEmpty && least.isEmpty && words.isEmpty
      && parts.isEmpty
  }

  mutating func insert(_ number: UInt64, at turn: QueryTurn) {
    switch turn {
    case .alone(_, let value): alone.insert(number, value: value)
    case .among(.values(_, let values)): for value in values { self.values.insert(number, value: value) }
    case .greatest(_, let value): greatest.insert(.init(low: value, high: value, number: number))
    case .least(_, let value): least.insert(.init(low: value, high: value, number: number))
    case .among(.range(_, let low, let high)): ranges.insert(.init(low: low, high: high, number: number))
    case .among(.word(_, let word)): words.insert(number, word: word)
    case .among(.part(_, let part, let options)): parts.insert(number, part: part, options)
    }
  }

  mutating func remove(_ number: UInt64, at turn: QueryTurn) {
    switch turn {
    case .alone(_, let value): alone.remove(number, value: value)
    case .among(.values(_, let values)): for value in values { self.values.remove(number, value: value) }
    case .greatest(_, let value): greatest.remove(.init(low: value, high: value, number: number))
    case .least(_, let value): least.remove(.init(low: value, high: value, number: number))
    case .among(.range(_, let low, let high)): ranges.remove(.init(low: low, high: high, number: number))
    case .among(.word(_, let word)): words.remove(number, word: word)
    case .among(.part(_, let part, let options)): parts.remove(number, part: part, options)
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
    for value in before.symmetricDifference(after) where goesOn {
      values.forEach(holding: value, go)
      if goesOn, !ranges.isEmpty { ranges.forEach(holding: value, go) }
      if goesOn, !words.isEmpty { words.forEach(holding: value, go) }
      if goesOn, !parts.isEmpty { parts.forEach(holding: value, go) }
    }
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
