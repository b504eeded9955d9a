import GraphModel

/// A window of a query, as equal ones of several sessions share it.
struct WindowKey: Hashable {
  /// The order's number.
  let order: UInt64
  let range: WindowRange
  let wholeObjects: Bool
  /// What its readers see it through; the order is one for all.
  var lens: ModelLens?
}

/// The orders that windows are cut from: one for each distinct query and sort, whoever looks at it and wherever.
///
/// An order is filed among the live queries under a number of its own, as one that nobody reads; what a commit does to it
/// goes through it to its windows. It is filled by one statement and kept up to date by commits alone. One without windows
/// stays for whoever comes back, as long as there is room: then the one that has waited longest goes first.
struct OrderTable {
  struct Key: Hashable {
    let query: LiveQuery
    let sort: [SortKey]
  }

  enum State {
    /// Its objects are being read; a read as of a state before `from` is of no use.
    case loading(Ticket, from: Revision)
    /// Its objects are all here as of this state; what commits did to it since is being carried over.
    case carrying(Ticket, at: Token)
    /// It is as of the hub's head, or of this state where that is newer.
    case ready(Token)
  }

  struct Entry {
    let key: Key
    var rows: OrderedRows
    var state: State
    /// What commits did to it while it was being read: which of them the read has seen is known when it ends.
    var kept = [(revision: Revision, changes: [LiveQueryChange])]()
    var keptChanges = 0
    /// Its windows, each with its number and how large its readers want deltas.
    var windows = [UInt64: WindowKey]()
    /// Rises: when it was last left by its last window.
    var leftAt: UInt64 = 0
    /// The time of that, in milliseconds.
    var leftTime: Int64 = 0
  }

  private var entries = [UInt64: Entry]()
  private var byKey = [Key: UInt64]()
  private var lastLeft: UInt64 = 0
  /// About how many bytes all of them take in memory.
  private(set) var size = 0
  /// Those that have outgrown what one may have, and have not been ended yet.
  var outgrown = [UInt64]()

  /// Not to be held while rows change: they would be copied.
  subscript(number: UInt64) -> Entry? { entries[number] }
  subscript(key: Key) -> UInt64? { byKey[key] }

  func contains(_ number: UInt64) -> Bool { entries[number] != nil }

  /// All of them, ascending.
  var numbers: [UInt64] { entries.keys.sorted() }

  /// Those that have no windows, the one that has waited longest first.
  var idle: [UInt64] {
    entries.filter { $0.value.windows.isEmpty }.sorted { $0.value.leftAt < $1.value.leftAt }.map(\.key)
  }

  /// Those that have had no windows since a time or longer.
  func idle(since time: Int64) -> [UInt64] { idle.filter { entries[$0]?.leftTime ?? 0 <= time } }

  /// The one that has to go when there is no room: what is still being read before what is looked at, and the largest.
  var largest: UInt64? {
    entries.max { left, right in
      let (one, other) = (left.value.isLoading ? 1 : 0, right.value.isLoading ? 1 : 0)
      return (one, left.value.rows.size, left.key) < (other, right.value.rows.size, right.key)
    }?.key
  }

  mutating func insert(_ key: Key, number: UInt64, rows: OrderedRows, ticket: Ticket, from: Revision) {
    entries[number] = Entry(key: key, rows: rows, state: .loading(ticket, from: from))
    byKey[key] = number
  }

  mutating func remove(_ number: UInt64) -> Entry? {
    guard let entry = entries.removeValue(forKey: number) else { return nil }
    size -= entry.rows.size
    byKey[entry.key] = nil
    outgrown.removeAll { $0 == number }
    return entry
  }

  mutating func add(_ window: WindowKey, number: UInt64) { entries[window.order]?.windows[number] = window }

  /// - Returns: whether it was the order's last window.
  mutating func remove(window number: UInt64, of order: UInt64, at time: Int64) -> Bool {
    guard entries[order]?.windows.removeValue(forKey: number) != nil, entries[order]?.windows.isEmpty == true else {
      return false
    }
    lastLeft += 1
    entries[order]?.leftAt = lastLeft
    entries[order]?.leftTime = time
    return true
  }

  mutating func set(_ state: State, of number: UInt64) { entries[number]?.state = state }

  func state(of number: UInt64) -> State? { entries[number]?.state }

  /// The windows of an order, ascending.
  func windows(of number: UInt64) -> [(number: UInt64, key: WindowKey)] {
    entries[number]?.windows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } ?? []
  }

  /// Puts aside what a commit did to an order that is being read. What is too much to be kept the read has to have seen.
  mutating func keep(_ changes: [LiveQueryChange], of revision: Revision, for number: UInt64, atMost limit: Int) {
    guard let ticket = entries[number]?.ticket else { return }
    entries[number]?.kept.append((revision, changes))
    entries[number]?.keptChanges += changes.count
    guard entries[number]?.keptChanges ?? 0 > limit else { return }
    forgetKept(of: number)
    entries[number]?.state = .loading(ticket, from: revision)
  }

  mutating func forgetKept(of number: UInt64) {
    entries[number]?.kept = []
    entries[number]?.keptChanges = 0
  }

  /// Takes the oldest of what was put aside, about so many changes.
  mutating func takeKept(of number: UInt64, atMost limit: Int) -> [(revision: Revision, changes: [LiveQueryChange])] {
    guard var kept = entries[number]?.kept else { return [] }
    entries[number]?.kept = []
    defer { entries[number]?.kept = kept }
    var (taken, count) = ([(revision: Revision, changes: [LiveQueryChange])](), 0)
    for (revision, changes) in kept where count < limit {
      let part = changes.prefix(limit - count)
      taken.append((revision, Array(part)))
      count += part.count
    }
    let (last, taking) = (taken.count - 1, taken.last?.changes.count ?? 0)
    if last >= 0, taking < kept[last].changes.count {
      kept[last].changes.removeFirst(taking)
      kept.removeFirst(last)
    } else {
      kept.removeFirst(taken.count)
    }
    entries[number]?.keptChanges -= count
    return taken
  }

  /// Changes the rows of an order.
  mutating func update<Result>(_ number: UInt64, maximumRows: Int, _ body: (inout OrderedRows) -> Result) -> Result? {
    guard let index = entries.index(forKey: number) else { return nil }
    let before = entries.values[index].rows.size
    let result = body(&entries.values[index].rows)
    size += entries.values[index].rows.size - before
    if entries.values[index].rows.count > maximumRows, !outgrown.contains(number) { outgrown.append(number) }
    return result
  }
}

extension OrderTable.Entry {
  /// Of the read that fills it; nil when it can be cut from.
  var ticket: Ticket? {
    switch state {
    case .loading(let ticket, _), .carrying(let ticket, _): ticket
    case .ready: nil
    }
  }

  var isLoading: Bool { ticket != nil }
}
