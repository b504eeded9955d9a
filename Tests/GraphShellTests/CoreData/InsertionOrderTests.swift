import CoreDataStore
import GraphTesting
import Testing

@testable import GraphShell

/// New rows come after the rows that they refer to; rows that require each other come together.
@Suite struct InsertionOrderTests {
  private typealias RowKey = StoreLayout.RowKey

  private func key(_ number: Int64) -> RowKey { RowKey(table: 0, key: number) }

  /// The groups of rows 1 to `count`.
  private func groups(
    _ count: Int64, required: [(Int64, Int64)] = [], optional: [(Int64, Int64)] = []
  ) -> [[Int64]] {
    var order = InsertionOrder()
    for number in 1...count { order.add(key(number)) }
    for (from, to) in required { order.addReference(from: key(from), to: key(to), isRequired: true) }
    for (from, to) in optional { order.addReference(from: key(from), to: key(to), isRequired: false) }
    return order.groups().map { $0.map(\.key) }
  }

  @Test func rowsWithoutReferencesKeepTheirOrder() {
    #expect(groups(3) == [[1], [2], [3]])
  }

  @Test func targetComesFirst() {
    #expect(groups(3, optional: [(1, 3)]) == [[3], [1], [2]])
    #expect(groups(4, required: [(1, 4), (4, 2)]) == [[2], [4], [1], [3]])
  }

  @Test func circleOfRequiredReferencesIsOneGroup() {
    #expect(groups(3, required: [(1, 2), (2, 1)]) == [[2, 1], [3]])
    #expect(groups(4, required: [(1, 2), (2, 3), (3, 1)]) == [[3, 2, 1], [4]])
  }

  @Test func circleOfOptionalReferencesIsCut() {
    #expect(groups(2, optional: [(1, 2), (2, 1)]) == [[2], [1]])
  }

  /// The required reference of an optional circle is kept, and the optional one is left for later.
  @Test func requiredReferenceWins() {
    #expect(groups(2, required: [(2, 1)], optional: [(1, 2)]) == [[1], [2]])
    #expect(groups(2, required: [(1, 2)], optional: [(2, 1)]) == [[2], [1]])
  }

  @Test func optionalReferencesBetweenCirclesDoNotJoinThem() {
    let pairs = stride(from: Int64(1), to: 100, by: 2).map { ($0, $0 + 1) }
    let groups = groups(
      100, required: pairs + pairs.map { ($0.1, $0.0) }, optional: pairs.dropLast().map { ($0.1, $0.1 + 1) })
    #expect(groups.count == 50 && groups.allSatisfy { $0.count == 2 })
  }

  @Test func referenceToItselfOrToAnOldRowDoesNotMatter() {
    #expect(groups(2, required: [(1, 1), (2, 99)]) == [[1], [2]])
  }

  @Test func longChainNeedsNoStack() {
    let count: Int64 = 200_000
    let groups = groups(count, optional: (1..<count).map { ($0, $0 + 1) })
    #expect(groups.count == Int(count) && groups.first == [count] && groups.last == [1])
  }

  /// Each row once, and after the rows that it requires, unless both are in one group.
  @Test(arguments: SeedSweep.seeds(50))
  func randomReferencesAreRespected(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count: Int64 = 40
    func pair() -> (Int64, Int64) { (Int64(random.next() % 40) + 1, Int64(random.next() % 40) + 1) }
    let required = (0..<(random.next() % 50)).map { _ in pair() }
    let optional = (0..<(random.next() % 50)).map { _ in pair() }
    let groups = groups(count, required: required, optional: optional)
    #expect(groups.joined().sorted() == Array(1...count))
    var places = [Int64: Int]()
    for (place, group) in groups.enumerated() {
      for row in group { places[row] = place }
    }
    for (from, to) in required { #expect(places[to, default: .max] <= places[from, default: -1], "seed \(seed)") }
  }
}
