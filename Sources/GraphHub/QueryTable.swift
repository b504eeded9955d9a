import GraphModel

/// The live queries of all sessions. Equal queries are one, with many readers: one number, one delta, one encoding. Seen
/// through a lens a query is another one.
struct QueryTable {
  private struct Key: Hashable {
    let query: LiveQuery
    let lens: ModelLens?
  }

  struct Entry {
    let query: LiveQuery
    /// What its readers see it through.
    let lens: ModelLens?
    let family: [EntityNumber]
    let evaluator: PredicateEvaluator
    /// It reads other objects than the one that is judged: the writer says what a commit does to it.
    let isRelated: Bool
    /// The part of an order that its readers see; nil where they see all of the result.
    var window: WindowKey?
    /// Ascending: a delta goes to them in this order, and no order may come from hashing.
    var readers = [SessionID]()

    /// There are commits of which the record does not say what they did to it.
    var isToldByOthers: Bool { isRelated || window != nil }

    /// Where the session stands or would stand.
    private func place(of session: SessionID) -> Int {
      var (low, high) = (0, readers.count)
      while low < high {
        let middle = (low + high) / 2
        if readers[middle] < session { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// False when it is one already.
    mutating func insert(_ session: SessionID) -> Bool {
      let place = place(of: session)
      if place < readers.count, readers[place] == session { return false }
      readers.insert(session, at: place)
      return true
    }

    /// False when it was none.
    mutating func remove(_ session: SessionID) -> Bool {
      let place = place(of: session)
      guard place < readers.count, readers[place] == session else { return false }
      readers.remove(at: place)
      return true
    }
  }

  private let model: Model
  private var entries = [UInt64: Entry]()
  private var numbers = [Key: UInt64]()
  private var windowNumbers = [WindowKey: UInt64]()
  private var index: LiveQueryIndex
  /// The newest number given; numbers are never used twice.
  private(set) var lastNumber: UInt64 = 0
  /// How many registrations there are, over all sessions.
  private(set) var registrations = 0
  /// Those that follow paths, ascending.
  private(set) var related = [UInt64]()
  /// What the writer has to be told of them.
  private(set) var watches = [HubAction]()

  init(model: Model) {
    self.model = model
    index = LiveQueryIndex(model: model)
  }

  subscript(number: UInt64) -> Entry? { entries[number] }

  /// Makes `session` a reader of the query.
  mutating func register(_ query: LiveQuery, through lens: ModelLens?, for session: SessionID) -> UInt64 {
    registrations += 1
    let key = Key(query: query, lens: lens)
    if let number = numbers[key], entries[number]?.insert(session) == true { return number }
    // A session that follows one query twice has two of them: each of its numbers lives a life of its own.
    let number = file(query, through: lens)
    entries[number]?.readers = [session]
    numbers[key] = numbers[key] ?? number
    return number
  }

  /// Follows the query for an order's sake: it has no readers, and effects name it.
  mutating func file(_ query: LiveQuery, through lens: ModelLens? = nil) -> UInt64 {
    lastNumber += 1
    let entry = entry(query, lens)
    entries[lastNumber] = entry
    if entry.isRelated {
      related.append(lastNumber)
      watches.append(.watch(query, number: lastNumber))
    } else {
      index.insert(query, number: lastNumber)
    }
    return lastNumber
  }

  /// Makes `session` a reader of a window; nothing is filed, for what happens to it comes from its order.
  mutating func register(_ window: WindowKey, of query: LiveQuery, for session: SessionID) -> UInt64 {
    registrations += 1
    if let number = windowNumbers[window], entries[number]?.insert(session) == true { return number }
    lastNumber += 1
    var entry = entry(query, window.lens)
    entry.window = window
    entry.readers = [session]
    entries[lastNumber] = entry
    windowNumbers[window] = windowNumbers[window] ?? lastNumber
    return lastNumber
  }

  private func entry(_ query: LiveQuery, _ lens: ModelLens?) -> Entry {
    Entry(
      query: query, lens: lens, family: model.entity(query.entity)?.family ?? [],
      evaluator: PredicateEvaluator(query.predicate, model: model),
      isRelated: !query.predicate.readsOnlyOwnImage(in: model))
  }

  /// The session reads it no more; the last reader takes the query along.
  mutating func unregister(_ number: UInt64, for session: SessionID) {
    guard entries[number]?.remove(session) == true, let entry = entries[number] else { return }
    registrations -= 1
    guard entry.readers.isEmpty else { return }
    if let window = entry.window {
      entries[number] = nil
      if windowNumbers[window] == number { windowNumbers[window] = nil }
      return
    }
    unfile(number)
  }

  /// Nobody follows the query any more.
  mutating func unfile(_ number: UInt64) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    let key = Key(query: entry.query, lens: entry.lens)
    if numbers[key] == number { numbers[key] = nil }
    if entry.isRelated {
      related.removeAll { $0 == number }
      watches.append(.unwatch(number))
    } else {
      index.remove(entry.query, number: number)
    }
  }

  mutating func takeWatches() -> [HubAction] {
    defer { watches = [] }
    return watches
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
    for effect in record.related?.effects ?? [] where entries[effect.query] != nil {
      effects[effect.query] = effect.changes
    }
    return effects.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
  }

  /// Whether a commit of which only the entities are known could change the query's result. One that follows paths may
  /// have been reached from anywhere.
  func couldMatter(_ summary: ChangeSummary, to number: UInt64) -> Bool {
    guard let entry = entries[number] else { return false }
    return entry.isRelated || summary.entities.contains { entry.family.contains($0) }
  }

  /// Queries of which the record can't say what the commit did to them: their readers read a fresh result.
  func unknown(to record: CommitRecord) -> [UInt64] {
    let known = record.related?.knownThrough ?? 0
    var unknown = record.related?.unknown.filter { entries[$0] != nil } ?? []
    for number in related.reversed() {
      if number <= known { break }
      unknown.append(number)
    }
    return unknown
  }

  /// What a commit does to one query; nil when the record can't say.
  func effects(of record: CommitRecord, on number: UInt64) -> [LiveQueryChange]? {
    guard let entry = entries[number] else { return [] }
    // Which rows were where is known of the present alone.
    if entry.window != nil { return nil }
    if entry.isRelated {
      guard let related = record.related, number <= related.knownThrough, !related.unknown.contains(number) else {
        return nil
      }
      return related.effects.first { $0.query == number }?.changes ?? []
    }
    return record.changes.compactMap { entry.evaluator.effect(of: $0, family: entry.family) }
  }
}
