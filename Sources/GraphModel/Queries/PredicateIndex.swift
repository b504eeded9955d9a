/// An index of queries by the values that they match; finds the queries that a value could affect.
protocol PredicateIndex: Sendable {
  /// Whether the index is empty.
  var isEmpty: Bool { get }

  /// Visits the numbers of the queries that match the value.
  /// - Parameter body: returns whether to continue.
  func forEach(matching value: Value, _ body: (UInt64) -> Bool)
}

extension PredicateIndex {
  /// Appends the numbers of the queries that match the value.
  func appendMatches(of value: Value, to found: inout [UInt64]) {
    forEach(matching: value) { number in
      found.append(number)
      return true
    }
  }

  /// Whether any query matches the value.
  func hasMatch(for value: Value) -> Bool {
    var isFound = false
    forEach(matching: value) { _ in
      isFound = true
      return false
    }
    return isFound
  }
}

/// An index of queries by exact values.
struct EqualityIndex: PredicateIndex {
  private var numbers = [Value: Set<UInt64>]()

  var isEmpty: Bool { numbers.isEmpty }

  mutating func insert(_ number: UInt64, value: Value) { numbers[value, default: []].insert(number) }

  mutating func remove(_ number: UInt64, value: Value) {
    numbers.modifyIfPresent(value, removingIf: \.isEmpty) { $0.remove(number) }
  }

  func forEach(matching value: Value, _ body: (UInt64) -> Bool) {
    for number in numbers[value, default: []] where !body(number) { return }
  }

  /// Visits all queries.
  func forEach(_ body: (UInt64) -> Bool) {
    for number in numbers.values.joined() where !body(number) { return }
  }
}

/// An index of all queries over one expression, with keys of any kind. It serves objects that changed themselves, for
/// which a query has the key of its most selective comparison. `TransitionIndex` serves the other objects and explains
/// the difference.
struct ExpressionIndex: PredicateIndex {
  private var values = EqualityIndex()
  private var ranges = IntervalTree()
  private var terms = TermIndex()
  private var substrings = SubstringIndex()

  var isEmpty: Bool { values.isEmpty && ranges.isEmpty && terms.isEmpty && substrings.isEmpty }

  mutating func insert(_ number: UInt64, under key: IndexKey) {
    switch key {
    case .values(_, let values): for value in values { self.values.insert(number, value: value) }
    case .range(_, let low, let high): ranges.insert(.init(low: low, high: high, number: number))
    case .term(_, let term): terms.insert(number, term: term)
    case .substring(_, let substring, let options): substrings.insert(number, substring: substring, options)
    }
  }

  mutating func remove(_ number: UInt64, under key: IndexKey) {
    switch key {
    case .values(_, let values): for value in values { self.values.remove(number, value: value) }
    case .range(_, let low, let high): ranges.remove(.init(low: low, high: high, number: number))
    case .term(_, let term): terms.remove(number, term: term)
    case .substring(_, let substring, let options): substrings.remove(number, substring: substring, options)
    }
  }

  /// Visits matching queries; a query with several keys may be visited more than once.
  func forEach(matching value: Value, _ body: (UInt64) -> Bool) {
    var continues = true
    func visit(_ number: UInt64) -> Bool {
      continues = body(number)
      return continues
    }
    values.forEach(matching: value, visit)
    if continues, !ranges.isEmpty { ranges.forEach(matching: value, visit) }
    if continues, !terms.isEmpty { terms.forEach(matching: value, visit) }
    if continues, !substrings.isEmpty { substrings.forEach(matching: value, visit) }
  }
}

/// The queries of one concrete entity, each under expressions that find all of its matches, or in the general list.
struct EntityQueryIndex<Reader: Sendable>: Sendable {
  /// The queries by expression, with the reader of its values.
  private(set) var expressions = [IndexedExpression: (reader: Reader, queries: ExpressionIndex)]()
  /// Queries without keys, which are always evaluated.
  private(set) var general = Set<UInt64>()

  var isEmpty: Bool { expressions.isEmpty && general.isEmpty }

  /// - Parameter keys: the query's keys; nil for a general query.
  mutating func insert(_ number: UInt64, under keys: [IndexKey]?, reader: (IndexedExpression) -> Reader) {
    guard let keys else {
      general.insert(number)
      return
    }
    for key in keys {
      expressions[key.expression, default: (reader(key.expression), ExpressionIndex())].queries.insert(
        number, under: key)
    }
  }

  /// Removes a query; the arguments must be those of its insertion.
  mutating func remove(_ number: UInt64, under keys: [IndexKey]?) {
    guard let keys else {
      general.remove(number)
      return
    }
    for key in keys {
      expressions.modifyIfPresent(key.expression, removingIf: { $0.queries.isEmpty }) {
        $0.queries.remove(number, under: key)
      }
    }
  }
}
