// Tests: HubTests.swift, HubBatchTests.swift, StatementCounterTests.swift
import GraphModel

/// The live queries of all sessions.
///
/// Sessions with equal queries share one entry: one number, one delta, one encoding. The same query through another
/// lens is a different entry.
struct QueryTable {
  private struct Key: Hashable {
    let query: LiveQuery
    let lens: ModelLens?
    let visibility: Visibility?
  }

  struct Entry {
    let query: LiveQuery
    /// The lens of its readers.
    let lens: ModelLens?
    /// The objects that its readers see; nil for all.
    var visibility: Visibility?
    /// For readers who do not see everything: the entry that matches the predicate; nil if that predicate does not
    /// decide on the stored objects.
    var base: UInt64?
    /// The root entities to whose objects the results and the predicate's paths refer; empty for readers who see
    /// everything.
    var refersTo = Set<EntityNumber>()
    /// The root entities of all objects on which the results depend; empty for readers who see everything.
    var reads = Set<EntityNumber>()
    let family: [EntityNumber]
    let evaluator: PredicateEvaluator
    /// The estimated steps of evaluating an object before and after a change.
    let steps: Int
    /// Whether the predicate reads other objects than the evaluated one. The writer computes a commit's effect on
    /// such a query.
    let isRelated: Bool
    /// For a class: whether the predicate compares references that it may not see. The object as the class sees it
    /// decides, not the stored one.
    let comparesReduced: Bool
    /// The window that its readers see; nil when they see the complete result.
    var window: WindowKey?
    /// Ascending, so that deltas are sent in a deterministic order.
    var readers = [SessionID]()

    /// The index at which the session is, or would be inserted.
    private func place(of session: SessionID) -> Int {
      var (low, high) = (0, readers.count)
      while low < high {
        let middle = (low + high) / 2
        if readers[middle] < session { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// - Returns: false when the session is a reader already.
    mutating func insert(_ session: SessionID) -> Bool {
      let place = place(of: session)
      if place < readers.count, readers[place] == session { return false }
      readers.insert(session, at: place)
      return true
    }

    /// - Returns: false when the session was no reader.
    mutating func remove(_ session: SessionID) -> Bool {
      let place = place(of: session)
      guard place < readers.count, readers[place] == session else { return false }
      readers.remove(at: place)
      return true
    }
  }

  let model: Model
  /// The steps of evaluating all queries for one commit.
  private let commitSteps: Int
  private(set) var entries = [UInt64: Entry]()
  /// The queries of readers who do not see everything, by their visibility.
  var classes = [Visibility: Set<UInt64>]()
  /// Those of them whose predicates decide on the objects as the class sees them.
  var reducedEntries = Set<UInt64>()
  /// The entries that match the predicates of these queries, and the queries of each.
  var bases = [LiveQuery: UInt64]()
  var dependents = [UInt64: [UInt64]]()
  private var numbers = [Key: UInt64]()
  private var windowNumbers = [WindowKey: UInt64]()
  private var index: LiveQueryIndex
  /// The last assigned number; numbers are never reused.
  private(set) var lastNumber: UInt64 = 0
  /// The number of registrations of all sessions.
  private(set) var registrations = 0
  /// The key-path queries, ascending.
  private(set) var related = [UInt64]()
  /// Pending `.watch` and `.unwatch` actions for the writer.
  var pendingWatches = [HubAction]()

  init(model: Model, commitSteps: Int) {
    (self.model, self.commitSteps) = (model, commitSteps)
    index = LiveQueryIndex(model: model)
  }

  subscript(number: UInt64) -> Entry? { entries[number] }

  /// Registers `session` as a reader of the query.
  mutating func register(
    _ query: LiveQuery, through lens: ModelLens?, seenBy visibility: Visibility? = nil, for session: SessionID
  ) -> UInt64 {
    registrations += 1
    let key = Key(query: query, lens: lens, visibility: visibility)
    if let number = numbers[key], insert(session, into: number) { return number }
    // A session that follows the same query twice gets two entries with independent numbers.
    var entry = entry(query, lens, visibility)
    entry.readers = [session]
    let number = add(entry)
    numbers[key] = numbers[key] ?? number
    return number
  }

  /// Adds the query of an order, which never gets readers. `effects` includes it.
  mutating func add(_ query: LiveQuery, seenBy visibility: Visibility? = nil) -> UInt64 {
    add(entry(query, nil, visibility))
  }

  mutating func add(_ entry: Entry) -> UInt64 {
    var entry = entry
    let query = entry.query
    if entry.visibility != nil, !entry.isRelated, !entry.comparesReduced { entry.base = base(of: query) }
    lastNumber += 1
    entries[lastNumber] = entry
    if let visibility = entry.visibility { attach(entry, visibility, number: lastNumber) }
    if entry.isRelated {
      related.append(lastNumber)
      pendingWatches.append(.watch(query, number: lastNumber, seenBy: entry.visibility))
    } else if entry.visibility == nil {
      index.insert(query, number: lastNumber)
    }
    return lastNumber
  }

  /// Registers `session` as a reader of a window. The index does not contain it, because its changes come from its
  /// order.
  mutating func register(_ window: WindowKey, of query: LiveQuery, for session: SessionID) -> UInt64 {
    registrations += 1
    if let number = windowNumbers[window], insert(session, into: number) { return number }
    lastNumber += 1
    var entry = entry(query, window.lens, nil)
    entry.window = window
    entry.readers = [session]
    entries[lastNumber] = entry
    windowNumbers[window] = windowNumbers[window] ?? lastNumber
    return lastNumber
  }

  /// - Returns: false when the session is a reader already.
  private mutating func insert(_ session: SessionID, into number: UInt64) -> Bool {
    guard let index = entries.index(forKey: number) else {
      assertionFailure("a query is found until it is removed")
      return false
    }
    return entries.values[index].insert(session)
  }

  func entry(_ query: LiveQuery, _ lens: ModelLens?, _ visibility: Visibility?) -> Entry {
    let entity = model.entity(query.entity)
    assert(entity != nil, "a query is registered once its entity is known")
    let isRelated = !query.predicate.readsOnlyOwnImage(in: model)
    return Entry(
      query: query, lens: lens, visibility: visibility,
      refersTo: visibility == nil ? [] : model.referencedRoots(of: query),
      reads: visibility == nil ? [] : model.readRoots(of: query), family: entity.map(\.family) ?? [],
      evaluator: PredicateEvaluator(query.predicate, model: model), steps: 2 * query.predicate.evaluationSteps,
      isRelated: isRelated,
      comparesReduced: !isRelated && visibility?.judge.mayHideReferences(of: query.predicate) == true)
  }

  /// Removes the session from the query's readers, and the query with its last reader.
  mutating func unregister(_ number: UInt64, for session: SessionID) {
    guard let index = entries.index(forKey: number), entries.values[index].remove(session) else {
      return assertionFailure("a session leaves a query that it reads")
    }
    registrations -= 1
    assert(registrations >= 0, "a registration ends once")
    let entry = entries.values[index]
    if !entry.readers.isEmpty { return }
    if let window = entry.window {
      entries[number] = nil
      if windowNumbers[window] == number { windowNumbers[window] = nil }
      return
    }
    remove(number)
  }

  /// Removes a query that has no readers.
  mutating func remove(_ number: UInt64) {
    guard let entry = entries.removeValue(forKey: number) else { return assertionFailure("a query is removed once") }
    let key = Key(query: entry.query, lens: entry.lens, visibility: entry.visibility)
    if numbers[key] == number { numbers[key] = nil }
    if entry.isRelated {
      related.removeAll { $0 == number }
      pendingWatches.append(.unwatch(number))
    } else if entry.visibility == nil {
      index.remove(entry.query, number: number)
    }
    if let visibility = entry.visibility { detach(entry, visibility, number: number) }
  }

  mutating func removePendingWatches() -> [HubAction] {
    defer { pendingWatches = [] }
    return pendingWatches
  }

  /// The effects of a commit on the queries that it touches.
  struct CommitEffects {
    /// The changes of each query, by ascending number.
    var known: [(number: UInt64, changes: [LiveQueryChange])]
    /// The queries whose evaluation was stopped, ascending; their readers reload.
    var stopped: [UInt64]
  }

  /// The effects of a commit on each query that it touches.
  mutating func effects(of record: CommitRecord) -> CommitEffects {
    var effects = [UInt64: [LiveQueryChange]]()
    let meter = LiveEvaluationMeter(total: commitSteps)
    for change in record.changes {
      let candidates = index.candidates(for: change)
      let isLong = !candidates.isEmpty && change.hasLongText
      for number in candidates {
        guard let entry = entries[number] else {
          assertionFailure("the index has no query that was removed")
          continue
        }
        let effect = meter.evaluate(number, steps: entry.steps, isLong: isLong) {
          entry.evaluator.effect(of: change, family: entry.family)
        }
        if case let effect?? = effect { effects[number, default: []].append(effect) }
      }
    }
    for number in meter.stopped { effects[number] = nil }
    if let related = record.related {
      // A query may have ended while the commit was in progress.
      for effect in related.effects where entries[effect.query] != nil { effects[effect.query] = effect.changes }
    }
    var stopped = meter.stopped
    addClasses(to: &effects, stopped: &stopped, of: record, meter)
    return CommitEffects(
      known: effects.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }, stopped: stopped.sorted())
  }

  /// Whether a commit could change the query's result, if only the entities of its changes are known. A key-path
  /// query may depend on any entity.
  func mayAffect(_ summary: ChangeSummary, to number: UInt64) -> Bool {
    guard let entry = entries[number] else {
      assertionFailure("only a registered query can be touched")
      return false
    }
    if entry.isRelated || summary.entities.contains(where: { entry.family.contains($0) }) { return true }
    // An object to which the results refer may have become visible or invisible.
    return !entry.refersTo.isEmpty
      && summary.entities.contains { model.entity($0).map { entry.refersTo.contains($0.root) } != false }
  }

  /// The queries on which the commit's effect is missing in the record; their readers reload.
  func unknown(to record: CommitRecord) -> [UInt64] {
    guard let effects = record.related else { return related.reversed() }
    let later = related.reversed().prefix { $0 > effects.knownThrough }
    return effects.unknown.filter { entries[$0] != nil } + later
  }

  /// Whether the effects on the query are computed by the hub.
  func isEvaluatedHere(_ number: UInt64) -> Bool {
    guard let entry = entries[number] else { return false }
    return !entry.isRelated && entry.window == nil
  }

  /// Whether some commits have an effect on the query that their records do not contain.
  func hasUnrecordedEffects(_ number: UInt64) -> Bool {
    guard let entry = entries[number] else {
      assertionFailure("only a registered query has readers")
      return false
    }
    return entry.isRelated || entry.window != nil
  }

  /// The effect of a commit on one query; nil when the record does not contain it.
  func effects(of record: CommitRecord, on number: UInt64) -> [LiveQueryChange]? {
    guard let entry = entries[number] else {
      assertionFailure("only a registered query has readers")
      return []
    }
    // The rows of a window are known for the present only.
    if entry.window != nil { return nil }
    if entry.isRelated {
      guard let related = record.related, number <= related.knownThrough else {
        return mayAffect(record, entry) ? nil : []
      }
      if related.unknown.contains(number) || concernsReferences(record, of: entry) { return nil }
      guard let effect = related.effects.first(where: { $0.query == number }) else { return [] }
      return effect.changes
    }
    let meter = LiveEvaluationMeter(total: commitSteps)
    if entry.comparesReduced {
      return concernsReferences(record, of: entry) ? nil : reducedEffects(of: record, on: number, entry, meter)
    }
    var changes = [LiveQueryChange]()
    for change in record.changes {
      let effect = meter.evaluate(number, steps: entry.steps, isLong: change.hasLongText) {
        entry.evaluator.effect(of: change, family: entry.family)
      }
      guard let effect else { return nil }
      if let effect { changes.append(effect) }
    }
    guard let visibility = entry.visibility else { return changes }
    return classEffects(of: record, on: entry, visibility, changes)
  }
}
