/// Where one object stands among the members of an ordered relationship: by position, and by id where two positions are
/// equal, as an undo may leave them.
public struct MemberPlace: Hashable, Comparable, Sendable {
  /// Lower stands before; of equal ones the id decides.
  public var position: Int64
  /// The member.
  public var id: ObjectID

  /// A member at a position.
  public init(position: Int64, id: ObjectID) {
    self.position = position
    self.id = id
  }

  public static func < (left: MemberPlace, right: MemberPlace) -> Bool {
    (left.position, left.id) < (right.position, right.id)
  }
}

/// Places in ascending order, as those that a transaction has given. In blocks, so that a place more costs the same among
/// ten and among a hundred thousand, more or less.
public struct SortedPlaces: Sendable {
  /// None is empty.
  private var blocks = [[MemberPlace]]()
  private static let blockSize = 512

  /// No places.
  public init() {}

  /// Adds a place that is not there.
  public mutating func insert(_ place: MemberPlace) {
    guard !blocks.isEmpty else { return blocks.append([place]) }
    let block = min(firstBlock { $0[$0.count - 1] >= place }, blocks.count - 1)
    blocks[block].insert(place, at: Self.first(in: blocks[block]) { $0 >= place })
    guard blocks[block].count > Self.blockSize else { return }
    let half = blocks[block].count / 2
    blocks.insert(Array(blocks[block][half...]), at: block + 1)
    blocks[block].removeSubrange(half...)
  }

  /// Takes a place out, if it is there.
  public mutating func remove(_ place: MemberPlace) {
    let block = firstBlock { $0[$0.count - 1] >= place }
    guard block < blocks.count else { return }
    let index = Self.first(in: blocks[block]) { $0 >= place }
    guard blocks[block][index] == place else { return }
    blocks[block].remove(at: index)
    if blocks[block].isEmpty { blocks.remove(at: block) }
  }

  /// The nearest place behind the given one, or before it; from the beginning, or the end, for nil.
  public func next(beyond place: MemberPlace?, ascending: Bool) -> MemberPlace? {
    guard let place else { return ascending ? blocks.first?.first : blocks.last?.last }
    if ascending {
      let block = firstBlock { $0[$0.count - 1] > place }
      return block < blocks.count ? blocks[block][Self.first(in: blocks[block]) { $0 > place }] : nil
    }
    let block = firstBlock { $0[0] >= place } - 1
    return block >= 0 ? blocks[block][Self.first(in: blocks[block]) { $0 >= place } - 1] : nil
  }

  private func firstBlock(where isBehind: ([MemberPlace]) -> Bool) -> Int { Self.first(in: blocks, where: isBehind) }

  /// The first index whose element is behind, where all elements after one that is behind are; the count if none is.
  private static func first<Element>(in list: [Element], where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(list[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
