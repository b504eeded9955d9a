/// Queries that are filed by what they wait for in one property: asked which of them a value could matter to.
protocol QueryShelf: Sendable {
  /// Whether nothing is filed.
  var isEmpty: Bool { get }

  /// Walks over the numbers of the queries that wait for the value.
  /// - Parameter body: whether to go on.
  func forEach(holding value: Value, _ body: (UInt64) -> Bool)
}

extension QueryShelf {
  /// Their numbers.
  func holding(_ value: Value, into found: inout [UInt64]) {
    forEach(holding: value) { number in
      found.append(number)
      return true
    }
  }

  /// Whether there is one.
  func isHolding(_ value: Value) -> Bool {
    var isFound = false
    forEach(holding: value) { _ in
      isFound = true
      return false
    }
    return isFound
  }
}

/// Queries that wait for certain values.
struct ValueTable: QueryShelf {
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

  /// Whatever they wait for.
  func forEach(_ body: (UInt64) -> Bool) {
    for number in numbers.values.joined() where !body(number) { return }
  }
}

/// All queries that are filed under one subject, whatever value of it they wait for: for an object that changed itself, by the most
/// selective of a query's comparisons. `TurnShelf` is for the others, and says why there are two.
struct SubjectShelf: QueryShelf {
  private var values = ValueTable()
  private var ranges = IntervalTree()
  private var words = WordTable()
  private var parts = PartTable()

  var isEmpty: Bool { values.isEmpty && ranges.isEmpty && words.isEmpty && parts.isEmpty }

  mutating func insert(_ number: UInt64, at place: QueryPlace) {
    switch place {
    case .values(_, let values): for value in values { self.values.insert(number, value: value) }
    case .range(_, let low, let high): ranges.insert(.init(low: low, high: high, number: number))
    case .word(_, let word): words.insert(number, word: word)
    case .part(_, let part, let options): parts.insert(number, part: part, options)
    }
  }

  mutating func remove(_ number: UInt64, at place: QueryPlace) {
    switch place {
    case .values(_, let values): for value in values { self.values.remove(number, value: value) }
    case .range(_, let low, let high): ranges.remove(.init(low: low, high: high, number: number))
    case .word(_, let word): words.remove(number, word: word)
    case .part(_, let part, let options): parts.remove(number, part: part, options)
    }
  }

  /// A query that is filed in several ways may come several times.
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

/// The queries of one concrete entity, each filed under the subjects where everything that satisfies it is found, or among the
/// general ones.
struct QueryShelves<Reader: Sendable>: Sendable {
  /// Under each subject, with what reads its values.
  private(set) var subjects = [QuerySubject: (reader: Reader, queries: SubjectShelf)]()
  /// Only their predicates can tell.
  private(set) var general = Set<UInt64>()

  var isEmpty: Bool { subjects.isEmpty && general.isEmpty }

  /// - Parameter places: nil for a general one.
  mutating func insert(_ number: UInt64, at places: [QueryPlace]?, reader: (QuerySubject) -> Reader) {
    guard let places else {
      general.insert(number)
      return
    }
    for place in places {
      subjects[place.subject, default: (reader(place.subject), SubjectShelf())].queries.insert(number, at: place)
    }
  }

  /// Both arguments as the query was filed.
  mutating func remove(_ number: UInt64, at places: [QueryPlace]?) {
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
