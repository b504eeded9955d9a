import CoreDataStore

/// The order in which new rows are inserted: a row after the rows that it refers to, unless they form a cycle.
///
/// A row can't be inserted before one that it requires. Rows that require each other in a circle form a group, which
/// one commit inserts.
struct InsertionOrder {
  typealias RowKey = StoreLayout.RowKey

  private var rows = [RowKey]()
  /// The rows that a row refers to, the required ones first.
  private var required = [RowKey: [RowKey]]()
  private var optional = [RowKey: [RowKey]]()

  mutating func add(_ row: RowKey) { rows.append(row) }

  /// Adds a reference between two rows, also to one that is not new.
  mutating func addReference(from row: RowKey, to target: RowKey, isRequired: Bool) {
    if row == target { return }
    if isRequired {
      required[row, default: []].append(target)
    } else {
      optional[row, default: []].append(target)
    }
  }

  /// The groups, in order; most have one row.
  ///
  /// They are the strongly connected components of the required references, as Tarjan's algorithm finds them: a
  /// component after all that it leads to. Optional references only decide where it begins.
  func groups() -> [[RowKey]] {
    let order = sorted()
    var places = [RowKey: Int](minimumCapacity: order.count)
    for (place, row) in order.enumerated() { places[row] = place }
    func targets(_ place: Int) -> ArraySlice<Int> { required[order[place], default: []].compactMap { places[$0] }[...] }
    var groups = [[RowKey]]()
    /// The order in which a row was found, and the earliest row that it leads back to; -1 before.
    var found = [Int](repeating: -1, count: order.count)
    var earliest = found
    var isOpen = [Bool](repeating: false, count: order.count)
    var (open, count) = ([Int](), 0)
    var stack = [(place: Int, targets: ArraySlice<Int>)]()
    func enter(_ place: Int) {
      (found[place], earliest[place]) = (count, count)
      count += 1
      open.append(place)
      isOpen[place] = true
      stack.append((place, targets(place)))
    }
    for start in order.indices where found[start] < 0 {
      enter(start)
      while var top = stack.popLast() {
        if let target = top.targets.popFirst() {
          stack.append(top)
          if found[target] < 0 {
            enter(target)
          } else if isOpen[target] {
            earliest[top.place] = min(earliest[top.place], found[target])
          }
          continue
        }
        if let caller = stack.last { earliest[caller.place] = min(earliest[caller.place], earliest[top.place]) }
        guard earliest[top.place] == found[top.place] else { continue }
        var group = [Int]()
        repeat {
          let place = open.removeLast()
          isOpen[place] = false
          group.append(place)
        } while group.last != top.place
        groups.append(group.sorted().map { order[$0] })
      }
    }
    assert(open.isEmpty, "each row is in a group")
    return groups
  }

  /// The rows, depth first: each after its targets. It does not recur, because a chain can be as long as the store.
  private func sorted() -> [RowKey] {
    let new = Set(rows)
    var visited = Set<RowKey>(minimumCapacity: rows.count)
    var order = [RowKey]()
    order.reserveCapacity(rows.count)
    var stack = [(row: RowKey, targets: ArraySlice<RowKey>)]()
    for row in rows where visited.insert(row).inserted {
      stack.append((row, targets(of: row)))
      while var top = stack.popLast() {
        if let target = top.targets.popFirst() {
          stack.append(top)
          if new.contains(target), visited.insert(target).inserted { stack.append((target, targets(of: target))) }
        } else {
          order.append(top.row)
        }
      }
    }
    assert(order.count == rows.count, "each row has one place")
    return order
  }

  private func targets(of row: RowKey) -> ArraySlice<RowKey> {
    (required[row, default: []] + optional[row, default: []])[...]
  }
}
