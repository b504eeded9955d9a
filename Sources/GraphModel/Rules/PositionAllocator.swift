/// The positions of an ordered relationship's members: integers with gaps that only have to ascend.
///
/// A new member gets a position midway between its neighbors, or one step after the last one. If there is no free
/// position, the surrounding members are spread out: those in the smallest range of numbers, doubled repeatedly, that
/// has few enough members for its size. A larger range may have fewer members for its size, so after a spread it can
/// take many new members, and `n` insertions at one place move O(n log n) members in all. Positions always remain
/// 64-bit numbers. (Bender and others, "Two Simplified Algorithms for Maintaining Order in a List".)
public enum PositionAllocator {
  /// The distance between members that are appended at an end.
  public static let step: Int64 = 1 << 20
  /// The range of all positions; sums and differences of two never overflow.
  public static let bounds: ClosedRange<Int64> = -(1 << 61)...(1 << 61)

  /// The positions of `count` successive new members between two neighbors. A nil neighbor is an end of the list. Nil
  /// if there is not enough space.
  public static func between(_ low: Int64?, _ high: Int64?, count: Int) -> [Int64]? {
    let many = Int64(count)
    switch (low, high) {
    case (nil, nil): return many <= bounds.upperBound / step ? (0..<many).map { $0 * step } : nil
    case (let low?, nil):
      guard many <= (bounds.upperBound - low) / step else { return nil }
      return (0..<many).map { low + ($0 + 1) * step }
    case (nil, let high?):
      guard many <= (high - bounds.lowerBound) / step else { return nil }
      return (0..<many).map { high - (many - $0) * step }
    case (let low?, let high?):
      assert(low <= high, "neighbors are in order")
      guard high - low > many else { return nil }
      return evenly(count, from: low + 1, through: high - 1)
    }
  }

  /// New positions that make space: the positions of the members around the gap, and of the new members.
  public struct Renumbering: Equatable, Sendable {
    /// The new positions of the members before the gap, nearest first.
    public var before = [Int64]()
    /// The positions of the new members, in order.
    public var added = [Int64]()
    /// The new positions of the members after the gap, nearest first.
    public var after = [Int64]()
  }

  /// Spreads out the members around a gap that is too small for `count` new members.
  /// - Parameters:
  ///   - before: returns the position of the nth member before the gap, with 0 for the nearest; nil if there is none.
  ///     Called in order.
  ///   - after: the same for the members after the gap.
  public static func spread(
    count: Int, before: (Int) throws -> Int64?, after: (Int) throws -> Int64?
  ) rethrows -> Renumbering {
    guard let anchor = try before(0) ?? after(0) else {
      return Renumbering(added: evenly(count, from: bounds.lowerBound, through: bounds.upperBound))
    }
    var (left, right) = (0, 0)
    for bits in 1...60 {
      let low = (anchor >> Int64(bits)) << Int64(bits)
      let high = low + (1 << Int64(bits)) - 1
      guard bounds.contains(low), bounds.contains(high) else { break }
      while let position = try before(left), position >= low { left += 1 }
      while let position = try after(right), position <= high { right += 1 }
      let total = left + right + count
      if Double(total) <= capacities[bits] { return split(left, count, right, evenly(total, from: low, through: high)) }
    }
    // Spread the complete list; this needs tens of millions of members.
    while try before(left) != nil { left += 1 }
    while try after(right) != nil { right += 1 }
    let all = evenly(left + count + right, from: bounds.lowerBound, through: bounds.upperBound)
    return split(left, count, right, all)
  }

  /// The ratio of the densities of a range and of one twice its size, between 1 and 2. With ten thousand insertions
  /// at one place, 1.5 moves about eight members per insertion, 1.3 twelve, 1.8 seventeen; 1.6 moves seven, but has
  /// no space for a list of a million (docs/decisions/0009-positions.md).
  private static let thinning = 1.5

  /// The maximum number of members in a range of 2ⁿ numbers for a spread.
  private static let capacities: [Double] = {
    var capacities = [1.0]
    for _ in 0..<60 { capacities.append(capacities[capacities.count - 1] * 2 / thinning) }
    return capacities
  }()

  private static func split(_ left: Int, _ count: Int, _ right: Int, _ all: [Int64]) -> Renumbering {
    assert(all.count == left + count + right, "each member gets one position")
    return Renumbering(
      before: all[..<left].reversed(), added: Array(all[left..<(left + count)]), after: Array(all[(left + count)...]))
  }

  /// `count` ascending numbers in a range of at least as many, with gaps as equal as possible.
  private static func evenly(_ count: Int, from low: Int64, through high: Int64) -> [Int64] {
    assert(count >= 0 && Int64(count) <= high - low + 1, "the range has a number for each member")
    let parts = Int64(count) + 1
    let (gap, rest) = (high - low + 1).quotientAndRemainder(dividingBy: parts)
    return (1..<parts).map { low + $0 * gap + $0 * rest / parts }
  }
}
