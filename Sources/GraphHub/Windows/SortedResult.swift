import GraphModel

/// The sorted objects of one query, with access by position.
///
/// A treap: a search tree by sort key in which each node counts its subtree, and a heap by priorities hashed from the
/// ids, which keeps it balanced for every insertion sequence. Finding, inserting and removing take logarithmic time.
/// Nodes are in one chunked array and are reused, because a commit changes few of the rows of a large result and no
/// reader holds earlier rows. GraphControllers' `RankedSequence` copies nodes instead: its readers compare versions.
struct SortedResult {
  private struct Node {
    var image: ObjectImage
    /// The sort key; the id breaks ties.
    var key: [Value]
    var size: Int
    let priority: UInt64
    var left = SortedResult.none
    var right = SortedResult.none
    /// The number of rows in this subtree.
    var count = 1
  }

  private static let none = -1

  private let order: SortOrder
  private var nodes = ChunkedArray<Node>()
  private var free = [Int]()
  private var root = Self.none
  private var indices = RowIndexTable()
  /// The numbers of rows appended without a search and inserted by search, for a test.
  private(set) var counts = (appended: 0, searched: 0)
  /// The approximate size of the rows in memory, in bytes.
  private(set) var size = 0

  /// Creates an empty collection.
  init(order: SortOrder) { self.order = order }

  var count: Int { indices.count }

  // MARK: - Modifying

  /// Inserts the object at the position of its sort key, or replaces its previous row.
  mutating func insert(_ image: ObjectImage) { insert(image, order.values(of: image)) }

  private mutating func insert(_ image: ObjectImage, _ key: [Value]) {
    if let index = indices[image.id] {
      if nodes[index].key == key {
        size -= nodes[index].size
        nodes[index].image = image
        nodes[index].size = Self.size(of: image, key)
        size += nodes[index].size
        return
      }
      remove(image.id)
    }
    counts.searched += 1
    root = insert(store(image, key), below: root)
  }

  /// Stores a node that is not in the tree yet.
  private mutating func store(_ image: ObjectImage, _ key: [Value]) -> Int {
    let node = Node(image: image, key: key, size: Self.size(of: image, key), priority: Self.priority(of: image.id.key))
    size += node.size
    let index: Int
    if let old = free.popLast() {
      nodes[old] = node
      index = old
    } else {
      index = nodes.count
      nodes.append(node)
    }
    assert(indices[image.id] == nil, "an object has one row")
    indices[image.id] = index
    return index
  }

  /// Inserts objects that are mostly sorted: each object after all others costs one comparison and no search.
  mutating func append(_ objects: [SortedObject]) {
    // The rows on the path from the root to the last row.
    var spine = [Int]()
    func finish(_ rows: inout Self) {
      while let node = spine.popLast() { rows.recount(node) }
    }
    for object in objects {
      let (image, key) = (object.image, object.key)
      assert(key.count == order.count, "a key has a value for each sort key")
      if spine.isEmpty { spine = rightSpine() }
      guard isLast(key, image.id, behind: spine.last), indices[image.id] == nil else {
        finish(&self)
        insert(image, key)
        continue
      }
      counts.appended += 1
      let index = store(image, key)
      var below = Self.none
      // Rows of lower priority go below the new one and are final.
      while let last = spine.last, nodes[last].priority < nodes[index].priority {
        spine.removeLast()
        recount(last)
        below = last
      }
      nodes[index].left = below
      if let last = spine.last { nodes[last].right = index } else { root = index }
      spine.append(index)
    }
    finish(&self)
  }

  /// Whether an object comes after the last row; true without a row.
  private func isLast(_ key: [Value], _ id: ObjectID, behind last: Int?) -> Bool {
    guard let last else { return true }
    return order.precedes(nodes[last].key, nodes[last].image.id, key, id)
  }

  private func rightSpine() -> [Int] {
    var (way, node) = ([Int](), root)
    while node != Self.none {
      way.append(node)
      node = nodes[node].right
    }
    return way
  }

  /// Removes the object, if it is there.
  mutating func remove(_ id: ObjectID) {
    if let index = indices[id] {
      root = remove(index, below: root)
      indices[id] = nil
      size -= nodes[index].size
      assert(size >= 0, "the size is the sum of all rows")
      nodes[index].image.values = []
      nodes[index].key = []
      free.append(index)
    }
  }

  private mutating func insert(_ new: Int, below root: Int) -> Int {
    guard root != Self.none else { return new }
    if nodes[new].priority > nodes[root].priority {
      let (left, right) = split(root, before: new)
      (nodes[new].left, nodes[new].right) = (left, right)
      recount(new)
      return new
    }
    return change(root, towards: new) { $0.insert(new, below: $1) }
  }

  private mutating func remove(_ index: Int, below root: Int) -> Int {
    guard root != Self.none else { return root }
    if root == index { return join(nodes[root].left, nodes[root].right) }
    return change(root, towards: index) { $0.remove(index, below: $1) }
  }

  /// Replaces the subtree of `root` on the side of `index` with the result of `change`.
  private mutating func change(_ root: Int, towards index: Int, _ change: (inout Self, Int) -> Int) -> Int {
    if precedes(index, root) {
      let left = change(&self, nodes[root].left)
      nodes[root].left = left
    } else {
      let right = change(&self, nodes[root].right)
      nodes[root].right = right
    }
    recount(root)
    return root
  }

  /// Splits the rows into those before `new`, which is not in the tree yet, and those after it.
  private mutating func split(_ root: Int, before new: Int) -> (Int, Int) {
    guard root != Self.none else { return (Self.none, Self.none) }
    if precedes(root, new) {
      let (left, right) = split(nodes[root].right, before: new)
      nodes[root].right = left
      recount(root)
      return (root, right)
    }
    let (left, right) = split(nodes[root].left, before: new)
    nodes[root].left = right
    recount(root)
    return (left, root)
  }

  private mutating func join(_ left: Int, _ right: Int) -> Int {
    if left == Self.none { return right }
    if right == Self.none { return left }
    if nodes[left].priority > nodes[right].priority {
      let joined = join(nodes[left].right, right)
      nodes[left].right = joined
      recount(left)
      return left
    }
    let joined = join(left, nodes[right].left)
    nodes[right].left = joined
    recount(right)
    return right
  }

  private mutating func recount(_ node: Int) {
    nodes[node].count = count(nodes[node].left) + count(nodes[node].right) + 1
  }

  // MARK: - Querying

  func image(of id: ObjectID) -> ObjectImage? { indices[id].map { nodes[$0].image } }

  /// The position of the object; nil when it is not there.
  func position(of id: ObjectID) -> Int? {
    indices[id].map { countBefore(nodes[$0].key, id) }
  }

  /// The position that an object with these values has or would have.
  func position(for image: ObjectImage) -> Int { countBefore(order.values(of: image), image.id) }

  /// Whether the object's sort key equals that of its current row.
  func hasSameKey(_ image: ObjectImage) -> Bool {
    guard let index = indices[image.id] else { return false }
    return nodes[index].key == order.values(of: image)
  }

  /// The ids in this range of positions, clamped to the rows.
  func ids(in range: Range<Int>) -> [ObjectID] {
    var found = [ObjectID]()
    visit(root, range) { found.append(nodes[$0].image.id) }
    return found
  }

  /// The objects in this range of positions, clamped to the rows.
  func images(in range: Range<Int>) -> [ObjectImage] {
    var found = [ObjectImage]()
    visit(root, range) { found.append(nodes[$0].image) }
    return found
  }

  private func countBefore(_ key: [Value], _ id: ObjectID) -> Int {
    var (node, before) = (root, 0)
    while node != Self.none {
      if order.precedes(nodes[node].key, nodes[node].image.id, key, id) {
        before += count(nodes[node].left) + 1
        node = nodes[node].right
      } else {
        node = nodes[node].left
      }
    }
    return before
  }

  private func visit(_ node: Int, _ range: Range<Int>, _ body: (Int) -> Void) {
    let isOutside = node == Self.none || range.upperBound <= 0 || range.lowerBound >= nodes[node].count
    if isOutside { return }
    let here = count(nodes[node].left)
    visit(nodes[node].left, range, body)
    if range.contains(here) { body(node) }
    let rest = max(range.lowerBound - here - 1, 0)
    visit(nodes[node].right, rest..<max(range.upperBound - here - 1, rest), body)
  }

  // MARK: - Nodes

  private func count(_ node: Int) -> Int { node == Self.none ? 0 : nodes[node].count }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    order.precedes(nodes[left].key, nodes[left].image.id, nodes[right].key, nodes[right].image.id)
  }

  /// The height of the tree, for a test.
  var depth: Int { depth(root) }

  private func depth(_ node: Int) -> Int {
    node == Self.none ? 0 : 1 + max(depth(nodes[node].left), depth(nodes[node].right))
  }

  private static func size(of image: ObjectImage, _ key: [Value]) -> Int {
    image.values.reduce(key.reduce(240) { $0 + $1.approximateSize }) { $0 + $1.approximateSize }
  }

  /// A hash that is the same in every process.
  private static func priority(of key: UniqueID) -> UInt64 {
    (key.low ^ (key.high &* 0x9E37_79B9_7F4A_7C15)).mixed
  }
}
