import GraphModel

/// The live queries of all sessions. Equal queries are one, with many readers: one number, one delta, one encoding.
struct QueryTable {
  struct Entry {
    let query: LiveQuery
    let family: [EntityNumber]
    let evaluator: PredicateEvaluator
    var readers = Set<SessionID>()
  }

  private let model: Model
  private var entries = [UInt64: Entry]()
  private var numbers = [LiveQuery: UInt64]()
  private var index: LiveQueryIndex
  /// The newest number given; numbers are never used twice.
  private(set) var lastNumber: UInt64 = 0
  /// How many registrations there are, over all sessions.
  private(set) var registrations = 0

  init(model: Model) {
    self.model = model
    index = LiveQueryIndex(model: model)
  }

  subscript(number: UInt64) -> Entry? { entries[number] }

  /// Makes `session` a reader of the query.
  mutating func register(_ query: LiveQuery, for session: SessionID) -> UInt64 {
    registrations += 1
    if let number = numbers[query], entries[number]?.readers.contains(session) == false {
      entries[number]?.readers.insert(session)
      return number
    }
    // A session that follows one query twice has two of them: each of its numbers lives a life of its own.
    lastNumber += 1
    var entry = Entry(
      query: query, family: model.entity(query.entity)?.family ?? [],
      evaluator: PredicateEvaluator(query.predicate, model: model))
    entry.readers.insert(session)
    entries[lastNumber] = entry
    numbers[query] = numbers[query] ?? lastNumber
    index.insert(query, number: lastNumber)
    return lastNumber
  }

  /// The session reads it no more; the last reader takes the query along.
  mutating func unregister(_ number: UInt64, for session: SessionID) {
    guard entries[number]?.readers.remove(session) != nil, let entry = entries[number] else { return }
    registrations -= 1
    guard entry.readers.isEmpty else { return }
    entries[number] = nil
    if numbers[entry.query] == number { numbers[entry.query] = nil }
    index.remove(entry.query, number: number)
  }

  /// What a commit does to each query that it touches, by ascending number.
  func effects(of record: CommitRecord) -> [(number: UInt64, changes: [LiveQueryChange])] {
    var effects = [UInt64: [LiveQueryChange]]()
    for change in record.changes {
      for number in index.candidates(for: change) {
        guard let entry = entries[number],
          let effect = entry.evaluator.effect(of: change, family: entry.family)
        else { continue }
        effects[number, default: []].append(effect)
      }
    }
    return effects.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
  }

  /// What a commit does to one query.
  func effects(of record: CommitRecord, on number: UInt64) -> [LiveQueryChange] {
    guard let entry = entries[number] else { return [] }
    return record.changes.compactMap { entry.evaluator.effect(of: $0, family: entry.family) }
  }
}
