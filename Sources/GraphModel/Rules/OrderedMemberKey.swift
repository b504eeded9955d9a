/// An object's place among the members of an ordered relationship. The id breaks ties of positions, which an undo can
/// cause.
public struct OrderedMemberKey: Hashable, Comparable, Sendable {
  /// The position; lower comes first, and ids break ties.
  public var position: Int64
  /// The member.
  public var id: ObjectID

  /// Creates the place of a member.
  public init(position: Int64, id: ObjectID) {
    self.position = position
    self.id = id
  }

  public static func < (left: OrderedMemberKey, right: OrderedMemberKey) -> Bool {
    (left.position, left.id) < (right.position, right.id)
  }
}

/// A sorted list of the places that a transaction assigns. Stored in blocks, so that the cost of an insertion hardly
/// depends on the count.
public struct SortedPositions: Sendable {
  /// The blocks; none is empty.
  private var blocks = [[OrderedMemberKey]]()
  private static let blockSize = 512

  /// Creates an empty list.
  public init() {}

  /// Inserts a place, which must not be in the list.
  public mutating func insert(_ place: OrderedMemberKey) {
    guard !blocks.isEmpty else { return blocks.append([place]) }
    let block = min(firstBlock { $0[$0.count - 1] >= place }, blocks.count - 1)
    let index = Self.first(in: blocks[block]) { $0 >= place }
    assert(index == blocks[block].count || blocks[block][index] != place, "a place is listed once")
    blocks[block].insert(place, at: index)
    guard blocks[block].count > Self.blockSize else { return }
    let half = blocks[block].count / 2
    blocks.insert(Array(blocks[block][half...]), at: block + 1)
    blocks[block].removeSubrange(half...)
    assert(!blocks[block].isEmpty && !blocks[block + 1].isEmpty, "no block is empty")
  }

  /// Removes a place, if it is in the list.
  public mutating func remove(_ place: OrderedMemberKey) {
    let block = firstBlock { $0[$0.count - 1] >= place }
    guard block < blocks.count else { return }
    let index = Self.first(in: blocks[block]) { $0 >= place }
    guard blocks[block][index] == place else { return }
    blocks[block].remove(at: index)
    if blocks[block].isEmpty { blocks.remove(at: block) }
  }

  /// The nearest place after, or before, the given one; the first, or the last, for nil.
  public func next(beyond place: OrderedMemberKey?, ascending: Bool) -> OrderedMemberKey? {
    guard let place else { return ascending ? blocks.first?.first : blocks.last?.last }
    if ascending {
      let block = firstBlock { $0[$0.count - 1] > place }
      return block < blocks.count ? blocks[block][Self.first(in: blocks[block]) { $0 > place }] : nil
    }
    let block = firstBlock { $0[0] >= place } - 1
    return block >= 0 ? blocks[block][Self.first(in: blocks[block]) { $0 >= place } - 1] : nil
  }

  private func firstBlock(where isBehind: ([OrderedMemberKey]) -> Bool) -> Int {
    Self.first(in: blocks, where: isBehind)
  }

  /// The index of the first element for which `isBehind` is true, by binary search. The count if there is none.
  private static func first<Element>(in list: [Element], where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(list[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
