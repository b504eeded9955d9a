import CoreDataStore

/// The order in which new rows are inserted: a row after those that it refers to, as far as there are no circles.
///
/// A row can't be inserted before one that it requires. Rows that require each other in a circle form a group, which one
/// commit inserts.
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
  func groups() -> [[RowKey]] {
    let order = sorted()
    var places = [RowKey: Int](minimumCapacity: order.count)
    for (place, row) in order.enumerated() { places[row] = place }
    var groups = [[RowKey]]()
    var group = [RowKey]()
    // The last place that a row of the group requires.
    var reach = 0
    for (place, row) in order.enumerated() {
      group.append(row)
      for target in required[row, default: []] {
        if let place = places[target] { reach = max(reach, place) }
      }
      guard reach <= place else { continue }
      groups.append(group)
      group = []
    }
    assert(group.isEmpty, "no row reaches beyond the last place")
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
