/// An index of queries by the values that they match; finds the queries that a value could affect.
protocol PredicateIndex: Sendable {
  /// Whether the index is empty.
  var isEmpty: Bool { get }

  /// Visits the numbers of the queries that match the value.
  /// - Parameter body: returns whether to continue.
  func forEach(holding value: Value, _ body: (UInt64) -> Bool)
}

extension PredicateIndex {
  /// Appends the numbers of the queries that match the value.
  func holding(_ value: Value, into found: inout [UInt64]) {
    forEach(holding: value) { number in
      found.append(number)
      return true
    }
  }

  /// Whether any query matches the value.
  func isHolding(_ value: Value) -> Bool {
    var isFound = false
    forEach(holding: value) { _ in
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
    numbers[value]?.remove(number)
    if numbers[value]?.isEmpty == true { numbers[value] = nil }
  }

  func forEach(holding value: Value, _ body: (UInt64) -> Bool) {
    for number in numbers[value] ?? [] where !body(number) { return }
  }

  /// Visits all queries.
  func forEach(_ body: (UInt64) -> Bool) {
    for number in numbers.values.joined() where !body(number) { return }
  }
}

/// An index of all queries over one subject, with keys of any kind. It serves objects that changed themselves, for
/// which a query has the key of its most selective comparison. `TransitionIndex` serves the other objects and explains the
/// difference.
struct SubjectIndex: PredicateIndex {
  private var values = EqualityIndex()
  private var ranges = IntervalTree()
  private var words = TermIndex()
  private var parts = SubstringIndex()

  var isEmpty: Bool { values.isEmpty && ranges.isEmpty && words.isEmpty && parts.isEmpty }

  mutating func insert(_ number: UInt64, at place: IndexKey) {
    switch place {
    case .values(_, let values): for value in values { self.values.insert(number, value: value) }
    case .range(_, let low, let high): ranges.insert(.init(low: low, high: high, number: number))
    case .word(_, let word): words.insert(number, word: word)
    case .part(_, let part, let options): parts.insert(number, part: part, options)
    }
  }

  mutating func remove(_ number: UInt64, at place: IndexKey) {
    switch place {
    case .values(_, let values): for value in values { self.values.remove(number, value: value) }
    case .range(_, let low, let high): ranges.remove(.init(low: low, high: high, number: number))
    case .word(_, let word): words.remove(number, word: word)
    case .part(_, let part, let options): parts.remove(number, part: part, options)
    }
  }

  /// Visits matching queries; a query with several keys may be visited more than once.
  func forEach(holding value: Value, _ body: (UInt64) -> Bool) {
    var goesOn = true
    func go(_ number: UInt64) -> Bool {
      goesOn = body(number)
      return goesOn
    }
    values.forEach(holding: value, go)
    if goesOn, !ranges.isEmpty { ranges.forEach(holding: value, go) }
    if goesOn, !words.isEmpty { words.forEach(holding: value, go) }
    if goesOn, !parts.isEmpty { parts.forEach(holding: value, go) }
  }
}

/// The queries of one concrete entity, each under subjects that find all of its matches, or in the general list.
struct EntityQueryIndex<Reader: Sendable>: Sendable {
  /// The queries by subject, with the reader of its values.
  private(set) var subjects = [IndexedExpression: (reader: Reader, queries: SubjectIndex)]()
  /// Queries without keys, which are always evaluated.
  private(set) var general = Set<UInt64>()

  var isEmpty: Bool { subjects.isEmpty && general.isEmpty }

  /// - Parameter places: the query's keys; nil for a general query.
  mutating func insert(_ number: UInt64, at places: [IndexKey]?, reader: (IndexedExpression) -> Reader) {
    guard let places else {
      general.insert(number)
      return
    }
    for place in places {
      subjects[place.subject, default: (reader(place.subject), SubjectIndex())].queries.insert(number, at: place)
    }
  }

  /// Removes a query; the arguments must be those of its insertion.
  mutating func remove(_ number: UInt64, at places: [IndexKey]?) {
    guard let places else {
      general.remove(number)
      return
    }
    for place in places {
      subjects[place.subject]?.queries.remove(number, at: place)
      if subjects[place.subject]?.queries.isEmpty == true { subjects[place.subject] = nil }
    }
  }
}
