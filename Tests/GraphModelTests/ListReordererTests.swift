import GraphModel
import GraphTesting
import Testing

@Suite struct ListReordererTests {
  private func ids(_ numbers: [UInt64]) -> [ObjectID] {
    numbers.map { ObjectID(key: UniqueID(high: 1, low: $0), entity: 1) }
  }

  /// The longest selection that keeps its order, by trying all of them.
  private func longestStay(_ current: [ObjectID], _ wanted: [ObjectID]) -> Int {
    var best = 0
    for choice in 0..<(1 << wanted.count) {
      let chosen = wanted.indices.filter { choice & (1 << $0) != 0 }.compactMap { current.firstIndex(of: wanted[$0]) }
      guard chosen.count == choice.nonzeroBitCount, zip(chosen, chosen.dropFirst()).allSatisfy({ $0 < $1 }) else {
        continue
      }
      best = max(best, chosen.count)
    }
    return best
  }

  @Test(arguments: UInt64(1)...40)
  func listIsReorderedWithMinimalMoves(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let all = ids(Array(0..<9))
    let current = Array(all.shuffled(using: &random).prefix(7))
    let wanted = Array(all.shuffled(using: &random).prefix(Int.random(in: 0...8, using: &random)))
    let runs = ListReorderer.runs(from: current, to: wanted)
    var list = current
    for run in runs { list = ListReorderer.placing(run.objects, after: run.after, in: list) }
    let wantedSet = Set(wanted)
    #expect(list.filter { wantedSet.contains($0) } == wanted, "seed \(seed)")
    let moved = runs.reduce(0) { $0 + $1.objects.count }
    #expect(moved == wanted.count - longestStay(current, wanted), "seed \(seed)")
  }

  @Test func singleMoveIsOneRun() {
    let list = ids([1, 2, 3, 4, 5])
    #expect(
      ListReorderer.runs(from: list, to: ids([5, 1, 2, 3, 4])) == [ListReorderer.Run(ids([5]), after: nil)])
    #expect(
      ListReorderer.runs(from: list, to: ids([2, 3, 4, 1, 5])) == [ListReorderer.Run(ids([1]), after: ids([4])[0])])
    #expect(ListReorderer.runs(from: list, to: list).isEmpty)
    #expect(
      ListReorderer.runs(from: list, to: ids([1, 8, 9, 2, 3, 4, 5])) == [
        ListReorderer.Run(ids([8, 9]), after: ids([1])[0])
      ])
  }

  @Test func unknownAnchorMeansEnd() {
    let list = ids([1, 2, 3])
    #expect(ListReorderer.placing(ids([3, 9]), after: nil, in: list) == ids([3, 9, 1, 2]))
    #expect(ListReorderer.placing(ids([1]), after: ids([7])[0], in: list) == ids([2, 3, 1]))
    // A member that is itself moved can't be the anchor of another one.
    #expect(ListReorderer.placing(ids([1, 2]), after: ids([1])[0], in: list) == ids([3, 1, 2]))
    #expect(ListReorderer.placing(ids([2, 2]), after: nil, in: list) == ids([2, 1, 3]))
  }
}
