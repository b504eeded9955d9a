/// An element of a `RankedSequence`, with its weight.
protocol RankedElement: Sendable {
  /// The number of rows that the element represents.
  var weight: Int { get }
}

/// Ordered elements with logarithmic search, rank, insert and remove: a B+ tree whose nodes store the count and the
/// weight of the elements below them.
///
/// Nodes are immutable: an edit copies the nodes on its path, and earlier versions of the sequence stay valid at no
/// cost. A difference can therefore read both versions, and a snapshot is free. An array was rejected because its
/// insert is linear, too slow for a million rows. Editing nodes in place was rejected because at each commit a reader
/// still holds the old ones.
struct RankedSequence<Element: RankedElement>: Sendable {
  final class Node: Sendable {
    let content: Content
    let count: Int
    let weight: Int
    /// The last element below the node; searches compare with it.
    let last: Element

    init(_ elements: [Element]) {
      content = .leaf(elements)
      count = elements.count
      weight = elements.reduce(0) { $0 + $1.weight }
      last = elements[elements.count - 1]
    }

    init(_ children: [Node]) {
      content = .branch(children)
      count = children.reduce(0) { $0 + $1.count }
      weight = children.reduce(0) { $0 + $1.weight }
      last = children[children.count - 1].last
    }
  }

  enum Content: Sendable {
    case leaf([Element])
    case branch([Node])
  }

  /// The capacity of a node; each node except the root is at least a quarter full.
  private static var width: Int { 32 }

  private(set) var root: Node?

  init() {}

  /// Builds the tree from elements that are sorted already.
  init(_ elements: some RandomAccessCollection<Element>) {
    var nodes = Self.slices(elements.count).map { range in
      Node(
        elements[
          elements.index(
            elements.startIndex, offsetBy: range.lowerBound)..<elements.index(
              elements.startIndex, offsetBy: range.upperBound)
        ].map { $0 })
    }
    while nodes.count > 1 { nodes = Self.slices(nodes.count).map { Node(Array(nodes[$0])) } }
    root = nodes.first
  }

  /// Splits a count into ranges of about equal size, three quarters of a node's capacity at most.
  private static func slices(_ count: Int) -> [Range<Int>] {
    let parts = (count + width * 3 / 4 - 1) / (width * 3 / 4)
    return (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
  }

  var count: Int { if let root { root.count } else { 0 } }

  var weight: Int { if let root { root.weight } else { 0 } }

  // MARK: - Finding

  /// The element at a position below `count`.
  subscript(position: Int) -> Element {
    guard var node = root, position >= 0, position < node.count else {
      preconditionFailure("position \(position) of \(count)")
    }
    var rest = position
    while true {
      switch node.content {
      case .leaf(let elements): return elements[rest]
      case .branch(let children):
        var index = 0
        while rest >= children[index].count {
          rest -= children[index].count
          index += 1
        }
        node = children[index]
      }
    }
  }

  /// Returns the total weight of the elements before a position.
  func weight(before position: Int) -> Int {
    guard var node = root else { return 0 }
    guard position < node.count else { return node.weight }
    var (rest, sum) = (position, 0)
    while true {
      switch node.content {
      case .leaf(let elements): return elements[..<rest].reduce(sum) { $0 + $1.weight }
      case .branch(let children):
        var index = 0
        while rest >= children[index].count {
          rest -= children[index].count
          sum += children[index].weight
          index += 1
        }
        node = children[index]
      }
    }
  }

  /// Returns the position of the element that covers an offset in weights, and the offset within that element.
  func position(atWeight place: Int) -> (position: Int, rest: Int) {
    guard var node = root, place >= 0, place < node.weight else {
      preconditionFailure("place \(place) of \(weight)")
    }
    var (rest, position) = (place, 0)
    while true {
      switch node.content {
      case .leaf(let elements):
        for element in elements {
          if rest < element.weight { break }
          rest -= element.weight
          position += 1
        }
        return (position, rest)
      case .branch(let children):
        var index = 0
        while rest >= children[index].weight {
          rest -= children[index].weight
          position += children[index].count
          index += 1
        }
        node = children[index]
      }
    }
  }

  /// Returns the first position whose element satisfies the predicate, or `count`. The predicate must be false for a
  /// prefix and true for the rest.
  func firstPosition(where fits: (Element) -> Bool) -> Int {
    guard var node = root, fits(node.last) else { return count }
    var position = 0
    while true {
      switch node.content {
      case .leaf(let elements): return position + elements.firstPlace(where: fits)
      case .branch(let children):
        let index = children.firstPlace { fits($0.last) }
        for child in children[..<index] { position += child.count }
        node = children[index]
      }
    }
  }

  // MARK: - Editing

  private enum Edit {
    case insert(Element)
    case replace(Element)
    case remove
  }

  mutating func insert(_ element: Element, at position: Int) {
    precondition(position >= 0 && position <= count)
    guard let root else { return self.root = Node([element]) }
    setRoot(Self.edit(root, position, .insert(element)))
  }

  mutating func replace(at position: Int, with element: Element) {
    guard let root, position >= 0, position < root.count else { preconditionFailure("position \(position)") }
    setRoot(Self.edit(root, position, .replace(element)))
  }

  mutating func remove(at position: Int) {
    guard let root, position >= 0, position < root.count else { preconditionFailure("position \(position)") }
    setRoot(Self.edit(root, position, .remove))
  }

  private mutating func setRoot(_ nodes: [Node]) {
    assert(nodes.count <= 2, "an edit splits a node into two at most")
    root = nodes.count > 1 ? Node(nodes) : nodes.first
    while let node = root, case .branch(let children) = node.content, children.count == 1 { root = children[0] }
  }

  /// Returns the edited node: no node if it became empty, two if it overflowed.
  private static func edit(_ node: Node, _ position: Int, _ edit: Edit) -> [Node] {
    switch node.content {
    case .leaf(var elements):
      switch edit {
      case .insert(let element): elements.insert(element, at: position)
      case .replace(let element): elements[position] = element
      case .remove: elements.remove(at: position)
      }
      return leaves(elements)
    case .branch(var children):
      var (index, rest) = (0, position)
      // An insert may also append to a child, so the position after its last element belongs to it.
      let room = if case .insert = edit { 1 } else { 0 }
      while rest >= children[index].count + room {
        rest -= children[index].count
        index += 1
      }
      let made = self.edit(children[index], rest, edit)
      children.replaceSubrange(index...index, with: made)
      if made.count == 1, made[0].isSparse(width), children.count > 1 {
        let first = index > 0 ? index - 1 : 0
        children.replaceSubrange(first...first + 1, with: joined(children[first], children[first + 1]))
      }
      return branches(children)
    }
  }

  private static func leaves(_ elements: [Element]) -> [Node] {
    if elements.isEmpty { return [] }
    guard elements.count > width else { return [Node(elements)] }
    return [Node(Array(elements[..<(elements.count / 2)])), Node(Array(elements[(elements.count / 2)...]))]
  }

  private static func branches(_ children: [Node]) -> [Node] {
    if children.isEmpty { return [] }
    guard children.count > width else { return [Node(children)] }
    return [Node(Array(children[..<(children.count / 2)])), Node(Array(children[(children.count / 2)...]))]
  }

  private static func joined(_ left: Node, _ right: Node) -> [Node] {
    switch (left.content, right.content) {
    case (.leaf(let left), .leaf(let right)): leaves(left + right)
    case (.branch(let left), .branch(let right)): branches(left + right)
    // All leaves have the same depth.
    default: [left, right]
    }
  }
}

extension RankedSequence.Node {
  fileprivate func isSparse(_ width: Int) -> Bool {
    switch content {
    case .leaf(let elements): elements.count < width / 4
    case .branch(let children): children.count < width / 4
    }
  }
}

extension RankedSequence: Sequence {
  /// Iterates from the first element to the last, in constant time for each.
  struct Iterator: IteratorProtocol {
    private var waiting: [Node]
    private var leaf = [Element]()
    private var index = 0

    init(_ root: Node?) { waiting = if let root { [root] } else { [] } }

    mutating func next() -> Element? {
      while index == leaf.count {
        guard let node = waiting.popLast() else { return nil }
        switch node.content {
        case .leaf(let elements): (leaf, index) = (elements, 0)
        case .branch(let children): waiting += children.reversed()
        }
      }
      defer { index += 1 }
      return leaf[index]
    }
  }

  func makeIterator() -> Iterator { Iterator(root) }

  var underestimatedCount: Int { count }
}
