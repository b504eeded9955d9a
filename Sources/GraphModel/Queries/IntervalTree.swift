/// A tree of intervals over one ordered property, which finds the intervals that contain a value. A treap by lower
/// bound, whose nodes have the greatest upper bound of their subtree. Priorities are hashes of the intervals'
/// numbers, so the shape depends on the contents only.
///
/// It is not a sequence: it has no positions and no rows. GraphHub's `SortedResult` finds rows by position, and
/// GraphControllers' `RankedSequence` keeps earlier versions. A common tree would carry the counts, the bounds and the
/// versions of all three in each node (docs/decisions/0037-ordered-trees.md).
struct IntervalTree: PredicateIndex {
  /// An interval with both ends included; nil is unbounded. Open ends may be stored as closed, because the predicate
  /// is evaluated afterward.
  struct Interval: Hashable, Sendable {
    var low: Value?
    var high: Value?
    var number: UInt64
  }

  private struct Node {
    var interval: Interval
    var priority: UInt64
    /// Nil if the subtree has an interval without upper bound.
    var greatest: Value?
    var left: Int32 = -1
    var right: Int32 = -1
  }

  private var nodes = [Node]()
  private var free = [Int32]()
  private var root: Int32 = -1

  var isEmpty: Bool { root < 0 }

  mutating func insert(_ interval: Interval) {
    let node = Node(
      interval: interval, priority: (interval.number &+ 0x9E37_79B9_7F4A_7C15).mixed, greatest: interval.high)
    let index: Int32
    if let reused = free.popLast() {
      nodes[Int(reused)] = node
      index = reused
    } else {
      index = Int32(nodes.count)
      nodes.append(node)
    }
    let (left, right) = split(root, before: interval)
    root = merge(merge(left, index), right)
    assert(root >= 0 && free.count < nodes.count, "the tree has the new interval")
  }

  mutating func remove(_ interval: Interval) {
    root = remove(interval, below: root)
  }

  /// Visits the numbers of the intervals that contain `value`.
  func forEach(matching value: Value, _ body: (UInt64) -> Bool) {
    var pending = [root]
    while let index = pending.popLast() {
      guard index >= 0 else { continue }
      let node = nodes[Int(index)]
      if let greatest = node.greatest, Value.order(greatest, value) == .ascending { continue }
      pending.append(node.left)
      if let low = node.interval.low, Value.order(low, value) == .descending { continue }
      pending.append(node.right)
      if let high = node.interval.high, Value.order(high, value) == .ascending { continue }
      guard body(node.interval.number) else { return }
    }
  }

  /// Visits the numbers of the intervals whose lower bounds lie between two values, inclusive. Nil is unbounded.
  func forEach(from low: Value?, through high: Value?, _ body: (UInt64) -> Bool) {
    var pending = [root]
    while let index = pending.popLast() {
      guard index >= 0 else { continue }
      let node = nodes[Int(index)]
      let (isBelow, isAbove): (Bool, Bool)
      if let bound = node.interval.low {
        isBelow = low.map { Value.order(bound, $0) == .ascending } == true
        isAbove = high.map { Value.order(bound, $0) == .descending } == true
      } else {
        (isBelow, isAbove) = (low != nil, false)
      }
      if !isBelow { pending.append(node.left) }
      if !isAbove { pending.append(node.right) }
      guard isBelow || isAbove || body(node.interval.number) else { return }
    }
  }

  // MARK: - The treap

  private static func precedes(_ a: Interval, _ b: Interval) -> Bool {
    let order: ValueOrdering =
      switch (a.low, b.low) {
      case (nil, nil): .same
      case (nil, _): .ascending
      case (_, nil): .descending
      case (let x?, let y?): Value.order(x, y)
      }
    return order == .same ? a.number < b.number : order == .ascending
  }

  private mutating func update(_ index: Int32) {
    let node = nodes[Int(index)]
    var greatest = node.interval.high
    for child in [node.left, node.right] where child >= 0 {
      guard let mine = greatest else { break }
      guard let theirs = nodes[Int(child)].greatest else {
        greatest = nil
        break
      }
      if Value.order(mine, theirs) == .ascending { greatest = theirs }
    }
    nodes[Int(index)].greatest = greatest
  }

  private mutating func split(_ index: Int32, before interval: Interval) -> (Int32, Int32) {
    guard index >= 0 else { return (-1, -1) }
    if Self.precedes(nodes[Int(index)].interval, interval) {
      let (left, right) = split(nodes[Int(index)].right, before: interval)
      nodes[Int(index)].right = left
      update(index)
      return (index, right)
    }
    let (left, right) = split(nodes[Int(index)].left, before: interval)
    nodes[Int(index)].left = right
    update(index)
    return (left, index)
  }

  private mutating func merge(_ left: Int32, _ right: Int32) -> Int32 {
    guard left >= 0 else { return right }
    guard right >= 0 else { return left }
    assert(!Self.precedes(nodes[Int(right)].interval, nodes[Int(left)].interval), "the trees do not overlap")
    if nodes[Int(left)].priority > nodes[Int(right)].priority {
      nodes[Int(left)].right = merge(nodes[Int(left)].right, right)
      update(left)
      return left
    }
    nodes[Int(right)].left = merge(left, nodes[Int(right)].left)
    update(right)
    return right
  }

  private mutating func remove(_ interval: Interval, below index: Int32) -> Int32 {
    guard index >= 0 else { return -1 }
    let node = nodes[Int(index)]
    if node.interval.number == interval.number, node.interval.low == interval.low {
      free.append(index)
      return merge(node.left, node.right)
    }
    if Self.precedes(interval, node.interval) {
      nodes[Int(index)].left = remove(interval, below: node.left)
    } else {
      nodes[Int(index)].right = remove(interval, below: node.right)
    }
    update(index)
    return index
  }
}
