/// Where the members of an ordered relationship stand: whole numbers with gaps between them, which only have to rise.
///
/// A newcomer goes midway between its neighbors, or a step behind the last. Where there is no room left, the members
/// around are spread out: those of the smallest range of numbers, doubled again and again, that has few enough of them
/// for its size. The larger the range, the fewer it may hold for its size, so a range that was spread out takes many
/// newcomers before it is too dense again, and `n` newcomers at one place move O(n log n) members in all. Positions stay
/// numbers of 64 bits whatever happens. (Bender and others, "Two Simplified Algorithms for Maintaining Order in a List".)
public enum OrderPositions {
  /// How far apart members stand that come one after the other at an end.
  public static let step: Int64 = 1 << 20
  /// No position lies outside: sums and differences of two never overflow.
  public static let bounds: ClosedRange<Int64> = -(1 << 61)...(1 << 61)

  /// Positions for `count` newcomers in a row between two neighbors; nil as a neighbor is an end of the list. Nil when
  /// there is no room.
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
      guard high - low > many else { return nil }
      return evenly(count, from: low + 1, through: high - 1)
    }
  }

  /// What makes room: the members next to the gap that have to move, and where they and the newcomers go.
  public struct Spread: Equatable, Sendable {
    /// New positions of the members before the gap, the nearest first.
    public var before = [Int64]()
    /// Positions of the newcomers, in order.
    public var added = [Int64]()
    /// New positions of the members behind the gap, the nearest first.
    public var after = [Int64]()
  }

  /// Spreads out the members around a gap in which `count` newcomers find no room.
  /// - Parameters:
  ///   - before: the position of the nth member before the gap, 0 for the nearest; nil when there are no more. Asked
  ///     for in order.
  ///   - after: the same behind the gap.
  public static func spread(
    count: Int, before: (Int) throws -> Int64?, after: (Int) throws -> Int64?
  ) rethrows -> Spread {
    guard let anchor = try before(0) ?? after(0) else {
      return Spread(added: evenly(count, from: bounds.lowerBound, through: bounds.upperBound))
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
    // All of them: only a list of tens of millions comes here.
    while try before(left) != nil { left += 1 }
    while try after(right) != nil { right += 1 }
    let all = evenly(left + count + right, from: bounds.lowerBound, through: bounds.upperBound)
    return split(left, count, right, all)
  }

  /// How much emptier a range must be than one of half its size: between 1 and 2. When ten thousand newcomers
  /// come at one place, 1.5 moves about eight members for each, 1.3 twelve and 1.8 seventeen; 1.6 moves seven, and has no
  /// room for a list of a million (docs/decisions/0009-positions.md).
  private static let thinning = 1.5

  /// How many members a range of 2ⁿ numbers may have once it is spread out.
  private static let capacities: [Double] = {
    var capacities = [1.0]
    for _ in 0..<60 { capacities.append(capacities[capacities.count - 1] * 2 / thinning) }
    return capacities
  }()

  private static func split(_ left: Int, _ count: Int, _ right: Int, _ all: [Int64]) -> Spread {
    Spread(
      before: all[..<left].reversed(), added: Array(all[left..<(left + count)]), after: Array(all[(left + count)...]))
  }

  /// `count` numbers of a range that has as many, rising, with gaps as equal as whole numbers can be.
  private static func evenly(_ count: Int, from low: Int64, through high: Int64) -> [Int64] {
    let parts = Int64(count) + 1
    let (gap, rest) = (high - low + 1).quotientAndRemainder(dividingBy: parts)
    return (1..<parts).map { low + $0 * gap + $0 * rest / parts }
  }
}
