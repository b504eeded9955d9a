// Tests: WindowTests.swift, StatementCounterTests.swift
import GraphModel

/// A window of an order. Sessions with equal windows share it.
struct WindowKey: Hashable {
  /// The order's number.
  let order: UInt64
  let range: WindowRange
  let wholeObjects: Bool
  /// The lens of its readers. The order itself is shared by all lenses.
  var lens: ModelLens?
}

/// The orders: sorted query results that windows are taken from, one for each distinct query and sort.
///
/// An order is registered as a live query with its own number and without readers; the effects of a commit pass through
/// it to its windows. It is filled by one statement and then maintained from commits alone. An order without windows is
/// kept, if memory allows, for clients that return; the longest idle one is evicted first.
struct SortedResultTable {
  struct Key: Hashable {
    let query: LiveQuery
    let sort: [SortKey]
    /// The objects that the readers of its windows see; nil for all.
    var visibility: Visibility?
  }

  enum State {
    /// Its objects are being read; a read of a state before `from` must be repeated.
    case loading(StoreRequestID, from: Revision)
    /// All objects have arrived, as of this state; later commits are being applied.
    case carrying(StoreRequestID, at: Token)
    /// It reflects the hub's head, or this state if that is newer.
    case ready(Token)
  }

  struct Entry {
    let key: Key
    var rows: SortedResult
    var state: State
    /// The damaged objects that the rows lack.
    var damage = DamageNotice()
    /// Effects of commits during the read. Only its end shows which of them the read already included.
    var deferred = [(revision: Revision, changes: [LiveQueryChange])]()
    var deferredCount = 0
    /// Its windows, by number.
    var windows = [UInt64: WindowKey]()
    /// The time at which its last window was removed, as a number that increases with each removal of any order's last
    /// window.
    var idleRank: UInt64 = 0
    /// The time at which its last window was removed, in milliseconds; 0 before.
    var idleSince: Int64 = 0
  }

  private var entries = [UInt64: Entry]()
  private var byKey = [Key: UInt64]()
  private var lastIdleRank: UInt64 = 0
  /// The approximate size of all orders in memory, in bytes.
  private(set) var size = 0
  /// The orders that exceed the maximum number of rows and have not been ended yet.
  var oversized = [UInt64]()

  /// Do not hold an entry while its rows change: they would be copied.
  subscript(number: UInt64) -> Entry? { entries[number] }
  subscript(key: Key) -> UInt64? { byKey[key] }

  func contains(_ number: UInt64) -> Bool { entries[number] != nil }

  /// The numbers of all orders, ascending.
  var numbers: [UInt64] { entries.keys.sorted() }

  /// The orders without windows, the longest idle one first.
  var idle: [UInt64] { idleEntries.map(\.key) }

  /// The orders that have had no windows since `time`.
  func idle(since time: Int64) -> [UInt64] { idleEntries.filter { $0.value.idleSince <= time }.map(\.key) }

  private var idleEntries: [(key: UInt64, value: Entry)] {
    entries.filter { $0.value.windows.isEmpty }.sorted { $0.value.idleRank < $1.value.idleRank }
  }

  /// The order to evict next when memory is short: the largest one that is still being read, or else the largest.
  var largest: UInt64? {
    entries.max { left, right in
      let (one, other) = (left.value.isLoading ? 1 : 0, right.value.isLoading ? 1 : 0)
      return (one, left.value.rows.size, left.key) < (other, right.value.rows.size, right.key)
    }?.key
  }

  mutating func insert(_ key: Key, number: UInt64, rows: SortedResult, ticket: StoreRequestID, from: Revision) {
    assert(entries[number] == nil && byKey[key] == nil, "a query and a sort have one order")
    entries[number] = Entry(key: key, rows: rows, state: .loading(ticket, from: from))
    byKey[key] = number
  }

  mutating func remove(_ number: UInt64) -> Entry? {
    guard let entry = entries.removeValue(forKey: number) else { return nil }
    size -= entry.rows.size
    assert(size >= 0 && (size == 0 || !entries.isEmpty), "the size is the sum of all orders")
    byKey[entry.key] = nil
    oversized.removeAll { $0 == number }
    return entry
  }

  mutating func add(_ window: WindowKey, number: UInt64) { modify(window.order) { $0.windows[number] = window } }

  /// Changes an order in place.
  private mutating func modify(_ number: UInt64, _ change: (inout Entry) -> Void) {
    guard let index = entries.index(forKey: number) else { return assertionFailure("an order changes while it exists") }
    change(&entries.values[index])
  }

  /// - Returns: whether it was the order's last window.
  mutating func remove(window number: UInt64, of order: UInt64, at time: Int64) -> Bool {
    // The windows of an order that was ended are removed after it.
    guard let index = entries.index(forKey: order) else { return false }
    let removed = entries.values[index].windows.removeValue(forKey: number)
    assert(removed != nil, "a window is removed from its order once")
    guard removed != nil, entries.values[index].windows.isEmpty else { return false }
    lastIdleRank += 1
    entries.values[index].idleRank = lastIdleRank
    entries.values[index].idleSince = time
    return true
  }

  mutating func set(_ state: State, of number: UInt64) { modify(number) { $0.state = state } }

  mutating func set(_ damage: DamageNotice, of number: UInt64) { modify(number) { $0.damage = damage } }

  func state(of number: UInt64) -> State? { entries[number]?.state }

  /// The windows of an order, ascending by number.
  func windows(of number: UInt64) -> [(number: UInt64, key: WindowKey)] {
    guard let entry = entries[number] else {
      assertionFailure("an order has windows while it exists")
      return []
    }
    return entry.windows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Keeps the effects of a commit on an order that is being read. Past `limit`, drops them: the read must then
  /// include this commit or be repeated.
  mutating func deferChanges(_ changes: [LiveQueryChange], of revision: Revision, for number: UInt64, atMost limit: Int)
  {
    modify(number) { entry in
      guard let ticket = entry.ticket else { return assertionFailure("an order that is ready applies the changes") }
      assert(entry.deferred.suffix(1).allSatisfy { $0.revision < revision }, "revisions rise")
      entry.deferred.append((revision, changes))
      entry.deferredCount += changes.count
      if entry.deferredCount > limit {
        entry.discardDeferred()
        entry.state = .loading(ticket, from: revision)
      }
    }
  }

  mutating func discardDeferred(of number: UInt64) { modify(number) { $0.discardDeferred() } }

  /// Takes the oldest deferred effects, at most `limit` changes.
  mutating func removeDeferred(of number: UInt64, atMost limit: Int) -> [(
    revision: Revision, changes: [LiveQueryChange]
  )] {
    var taken = [(revision: Revision, changes: [LiveQueryChange])]()
    modify(number) { taken = $0.removeDeferred(atMost: limit) }
    return taken
  }

  /// Runs `body` on the rows of an order and updates the sizes.
  mutating func update<Result>(_ number: UInt64, maximumRows: Int, _ body: (inout SortedResult) -> Result) -> Result? {
    guard let index = entries.index(forKey: number) else {
      assertionFailure("an order changes while it exists")
      return nil
    }
    let before = entries.values[index].rows.size
    let result = body(&entries.values[index].rows)
    size += entries.values[index].rows.size - before
    if entries.values[index].rows.count > maximumRows, !oversized.contains(number) { oversized.append(number) }
    return result
  }
}

extension SortedResultTable.Entry {
  fileprivate mutating func discardDeferred() {
    deferred = []
    deferredCount = 0
  }

  fileprivate mutating func removeDeferred(atMost limit: Int) -> [(revision: Revision, changes: [LiveQueryChange])] {
    var (taken, count) = ([(revision: Revision, changes: [LiveQueryChange])](), 0)
    for (revision, changes) in deferred where count < limit {
      let part = changes.prefix(limit - count)
      taken.append((revision, Array(part)))
      count += part.count
    }
    // Of the last commit, only the beginning may have been taken.
    if let last = taken.indices.last, taken[last].changes.count < deferred[last].changes.count {
      deferred[last].changes.removeFirst(taken[last].changes.count)
      deferred.removeFirst(last)
    } else {
      deferred.removeFirst(taken.count)
    }
    deferredCount -= count
    assert(deferredCount >= 0 && (deferredCount == 0 || !deferred.isEmpty), "each change is counted once")
    return taken
  }

  /// The ticket of the read that fills the order; nil when the order is ready.
  var ticket: StoreRequestID? {
    switch state {
    case .loading(let ticket, _), .carrying(let ticket, _): ticket
    case .ready: nil
    }
  }

  var isLoading: Bool { ticket != nil }
}
