/// All turns of queries that are filed under one path: asked which of them the values at its end could bring about, as they
/// were and as they are.
///
/// A range without a lower end, or without an upper one, turns when the least, or the greatest, of the values passes its
/// other end; so ten thousand of them that all hold a value are not looked at when it moves a little.
struct TurnShelf: Sendable {
  private var values = ValueTable()
  private var alone = ValueTable()
  private var ranges = IntervalTree()
  /// Of ranges without an upper end the lower one, and the other way around; each as an interval of one value.
  private var lows = IntervalTree()
  private var highs = IntervalTree()
  private var words = WordTable()
  private var parts = PartTable()

  var isEmpty: Bool {
    values.isEmpty && alone.isEmpty && ranges.isEmpty && lows.isEmpty && highs.isEmpty && words.isEmpty && parts.isEmpty
  }

  mutating func insert(_ number: UInt64, at turn: QueryTurn) {
    switch turn {
    case .alone(_, let value): alone.insert(number, value: value)
    case .among(.values(_, let values)): for value in values { self.values.insert(number, value: value) }
    case .among(.range(_, let low?, nil)): lows.insert(.init(low: low, high: low, number: number))
    case .among(.range(_, nil, let high?)): highs.insert(.init(low: high, high: high, number: number))
    case .among(.range(_, let low, let high)): ranges.insert(.init(low: low, high: high, number: number))
    case .among(.word(_, let word)): words.insert(number, word: word)
    case .among(.part(_, let part, let options)): parts.insert(number, part: part, options)
    }
  }

  mutating func remove(_ number: UInt64, at turn: QueryTurn) {
    switch turn {
    case .alone(_, let value): alone.remove(number, value: value)
    case .among(.values(_, let values)): for value in values { self.values.remove(number, value: value) }
    case .among(.range(_, let low?, nil)): lows.remove(.init(low: low, high: low, number: number))
    case .among(.range(_, nil, let high?)): highs.remove(.init(low: high, high: high, number: number))
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
    guard goesOn, !lows.isEmpty || !highs.isEmpty else { return }
    // No order holds with null.
    let known = [before, after].map { $0.filter { !$0.isNull } }
    let isEmptied = known.contains(where: \.isEmpty)
    let greatest = known.compactMap { $0.max(by: precedes) }.sorted(by: precedes)
    let least = known.compactMap { $0.min(by: precedes) }.sorted(by: precedes)
    if let end = greatest.last, isEmptied || greatest[0] != end {
      lows.forEach(from: isEmptied ? nil : greatest[0], through: end, go)
    }
    if goesOn, let end = least.first, isEmptied || least[1] != end {
      highs.forEach(from: end, through: isEmptied ? nil : least[1], go)
    }
  }

  private func precedes(_ one: Value, _ other: Value) -> Bool { Value.order(one, other) == .ascending }
}
