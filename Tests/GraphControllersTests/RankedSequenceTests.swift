import GraphTesting
import Testing

@testable import GraphControllers

/// The ordered structure beside its naive twin, an array.
@Suite struct RankedSequenceTests {
  private struct Item: RankedElement, Equatable {
    let number: Int
    let weight: Int
  }

  /// Requires that both sequences answer everything alike.
  private func expectEqual(_ sequence: RankedSequence<Item>, _ array: [Item], _ context: String) throws {
    try #require(sequence.count == array.count, "\(context)")
    try #require(Array(sequence) == array, "\(context)")
    try #require(sequence.weight == array.reduce(0) { $0 + $1.weight }, "\(context)")
    var place = 0
    for (position, item) in array.enumerated() {
      try #require(sequence[position] == item && sequence.weight(before: position) == place, "\(context)")
      if item.weight > 0 {
        let (found, rest) = sequence.position(atWeight: place + item.weight - 1)
        try #require(found == position && rest == item.weight - 1, "\(context)")
      }
      place += item.weight
    }
    try #require(sequence.weight(before: array.count) == place, "\(context)")
    for number in [-1, 0, 17, 500, 1_000] {
      let first = array.firstIndex { $0.number >= number } ?? array.count
      try #require(sequence.firstPosition { $0.number >= number } == first, "\(context)")
    }
  }

  @Test func randomEditsMatchArrayAndKeepOlderVersions() throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for start in [0, 1, 31, 33, 100, 1_100] {
      var array = (0..<start).map { Item(number: $0, weight: .random(in: 0...3, using: &random)) }
      var sequence = RankedSequence(array)
      var kept = (sequence, array)
      try expectEqual(sequence, array, "\(start) of seed \(seed)")
      // It grows, then shrinks to nothing.
      for step in 0..<3_000 {
        let grows = step < 1_200
        if array.isEmpty || random.chance(grows ? 60 : 20) {
          let number = Int.random(in: 0...1_000, using: &random)
          let item = Item(number: number, weight: .random(in: 0...3, using: &random))
          let position = array.firstIndex { $0.number >= number } ?? array.count
          array.insert(item, at: position)
          sequence.insert(item, at: sequence.firstPosition { $0.number >= number })
        } else if random.chance(15) {
          let position = Int.random(in: 0..<array.count, using: &random)
          let item = Item(number: array[position].number, weight: .random(in: 0...3, using: &random))
          array[position] = item
          sequence.replace(at: position, with: item)
        } else {
          let position = Int.random(in: 0..<array.count, using: &random)
          array.remove(at: position)
          sequence.remove(at: position)
        }
        if step % 100 == 0 {
          try expectEqual(sequence, array, "step \(step) from \(start) of seed \(seed)")
          try expectEqual(kept.0, kept.1, "kept before step \(step) from \(start) of seed \(seed)")
          kept = (sequence, array)
        }
      }
      while !array.isEmpty {
        array.removeLast()
        sequence.remove(at: sequence.count - 1)
      }
      try expectEqual(sequence, array, "empty, from \(start) of seed \(seed)")
      #expect(sequence.count == 0 && sequence.weight == 0, "from \(start) of seed \(seed)")
    }
  }

  /// Nodes that would become nearly empty join their neighbors, so that the way down stays short.
  @Test func treeStaysShallowAfterRemovals() {
    var sequence = RankedSequence((0..<40_000).map { Item(number: $0, weight: 1) })
    for position in stride(from: sequence.count - 1, through: 0, by: -1) where position % 400 != 0 {
      sequence.remove(at: position)
    }
    #expect(sequence.count == 100)
    var (depth, node) = (0, sequence.root)
    while let next = node, case .branch(let children) = next.content { (depth, node) = (depth + 1, children.first) }
    #expect(depth <= 2)
  }
}
