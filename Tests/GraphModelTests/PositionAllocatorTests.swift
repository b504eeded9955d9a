import GraphModel
import GraphTesting
import Testing

/// The positions of the members of an ordered relationship, compared with the order of a plain array.
@Suite struct PositionAllocatorTests {
  /// A list of numbered members and the positions that the algorithm gave them.
  private struct List {
    private(set) var members = [Int]()
    private(set) var positions = [Int64]()
    private(set) var moves = 0
    private(set) var worst = 0

    mutating func insert(_ new: [Int], at index: Int) {
      let low = index > 0 ? positions[index - 1] : nil
      let high = index < positions.count ? positions[index] : nil
      var places = PositionAllocator.between(low, high, count: new.count)
      if places == nil {
        let spread = PositionAllocator.spread(
          count: new.count, before: { index > $0 ? positions[index - 1 - $0] : nil },
          after: { index + $0 < positions.count ? positions[index + $0] : nil })
        var moved = 0
        for (offset, position) in spread.before.enumerated() { moved += move(index - 1 - offset, to: position) }
        for (offset, position) in spread.after.enumerated() { moved += move(index + offset, to: position) }
        moves += moved
        worst = max(worst, moved)
        places = spread.added
      }
      positions.insert(contentsOf: places ?? [], at: index)
      members.insert(contentsOf: new, at: index)
    }

    private mutating func move(_ index: Int, to position: Int64) -> Int {
      defer { positions[index] = position }
      return positions[index] == position ? 0 : 1
    }

    mutating func remove(at index: Int) {
      positions.remove(at: index)
      members.remove(at: index)
    }

    var rises: Bool { zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 } }
  }

  /// The place at which ten thousand members are inserted, one after the other, into a list of two.
  enum InsertionPattern: String, CaseIterable, Sendable { case behindTheFirst, beforeTheLast, inTheMiddle }

  @Test(arguments: InsertionPattern.allCases)
  func tenThousandInsertsAtOnePlaceMoveFewMembersAndStayWithin64Bits(place: InsertionPattern) {
    var list = List()
    list.insert([0, 1], at: 0)
    var twin = [0, 1]
    for member in 2..<10_002 {
      let index =
        switch place {
        case .behindTheFirst: 1
        case .beforeTheLast: twin.count - 1
        case .inTheMiddle: twin.count / 2
        }
      list.insert([member], at: index)
      twin.insert(member, at: index)
    }
    #expect(list.members == twin)
    #expect(list.positions.count == twin.count && list.rises)
    #expect(list.positions.allSatisfy { abs($0) < 1 << 40 })
    // About eight for each insert; no room was ever made for a part of them only.
    #expect((10_000...100_000).contains(list.moves), "\(list.moves) moves, \(list.worst) at once")
  }

  @Test func appendingAtEndsMovesNoMember() {
    var list = List()
    for member in 0..<20_000 { list.insert([member], at: member % 2 == 0 ? 0 : list.members.count) }
    #expect(list.moves == 0 && list.rises)
    #expect(list.members.first == 19_998 && list.members.last == 19_999)
  }

  /// A list that was renumbered grows on without another look at most of its members.
  @Test func movesOfInsertGrowLogarithmically() {
    var perInsert = [Double]()
    for count in [1_000, 4_000, 16_000] {
      var list = List()
      list.insert([0, 1], at: 0)
      for member in 0..<count { list.insert([member], at: 1) }
      perInsert.append(Double(list.moves) / Double(count))
    }
    #expect(perInsert.allSatisfy { $0 < 12 }, "\(perInsert)")
    #expect(perInsert[2] < perInsert[0] + 8, "\(perInsert)")
  }

  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
  func randomInsertsMovesAndDeletesComeOutAsInAnArray(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = List()
    var twin = [Int]()
    var next = 0
    // One place is the favorite, so that room runs out there.
    for step in 0..<6_000 {
      let favorite = min(twin.count, 3)
      let index = random.chance(70) ? favorite : Int.random(in: 0...twin.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where !twin.isEmpty:
        let gone = Int.random(in: 0..<twin.count, using: &random)
        twin.remove(at: gone)
        list.remove(at: gone)
      case 1...2 where !twin.isEmpty:
        let from = Int.random(in: 0..<twin.count, using: &random)
        let member = twin.remove(at: from)
        list.remove(at: from)
        let to = min(index, twin.count)
        twin.insert(member, at: to)
        list.insert([member], at: to)
      default:
        let count = random.chance(80) ? 1 : Int.random(in: 2...40, using: &random)
        let new = Array(next..<(next + count))
        next += count
        twin.insert(contentsOf: new, at: index)
        list.insert(new, at: index)
      }
      if step % 50 == 0 { #expect(list.members == twin && list.rises, "seed \(seed), step \(step)") }
    }
    #expect(list.members == twin && list.rises && list.positions.count == twin.count, "seed \(seed)")
    #expect(list.moves > 0, "seed \(seed): room never ran out")
  }

  @Test func manyInsertsFindPositionsBetweenAdjacentNeighbors() {
    let spread = PositionAllocator.spread(count: 1_000, before: { $0 == 0 ? 7 : nil }, after: { $0 == 0 ? 8 : nil })
    let all = spread.before + spread.added + spread.after
    #expect(all.count == 1_002 && zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    #expect(PositionAllocator.between(7, 8, count: 1) == nil)
    #expect(PositionAllocator.between(7, 9, count: 1) == [8])
    #expect(PositionAllocator.between(7, 7, count: 1) == nil)
    #expect(PositionAllocator.between(7, 10, count: 2) == [8, 9])
  }

  @Test func endOfNumberRangeIsRespaced() {
    let bounds = PositionAllocator.bounds
    #expect(PositionAllocator.between(bounds.upperBound, nil, count: 1) == nil)
    #expect(PositionAllocator.between(nil, bounds.lowerBound, count: 1) == nil)
    for (before, after) in [(bounds.upperBound, Int64?.none), (Int64?.none, bounds.lowerBound)] as [(Int64?, Int64?)] {
      let spread = PositionAllocator.spread(
        count: 3, before: { $0 == 0 ? before : nil }, after: { $0 == 0 ? after : nil })
      let all = spread.before + spread.added + spread.after
      #expect(all.count == 4 && zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
      #expect(all.allSatisfy { bounds.contains($0) })
    }
  }
}
