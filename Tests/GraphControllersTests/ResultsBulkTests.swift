import GraphControllers
import GraphModel
import GraphTesting
import Testing

/// Commits and loads that touch most rows of a result. The controller walks over all rows then, and must report the
/// same differences as otherwise.
@Suite struct ResultsBulkTests {
  private static let books: UInt64 = 400

  private func values(_ random: inout SeededGenerator) -> [String: Value] {
    [
      "rank": .integer(.random(in: 1...50, using: &random)),
      "shelf": .string(random.pick(["a", "B", "b", "ä", ""]) ?? ""),
    ]
  }

  /// Numbers of some of the books, each once.
  private func some(_ percent: Int, _ random: inout SeededGenerator) -> [UInt64] {
    (1...Self.books).filter { _ in random.chance(percent) }
  }

  @Test(arguments: [("rank", nil), ("", nil), ("rank", "shelf"), ("-shelf,rank", "shelf")] as [(String, String?)])
  func bulkChangeIsReportedRowByRow(sort: String, section: String?) throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let graph = try LiveGraph()
    let request = try graph.request(sort: sort, section: section)
    let controller = ResultsController(request, in: graph.context)
    let rows = ListReplayer()
    controller.delegate = rows
    controller.performFetch()
    var (largest, emptied) = (0, 0)
    for step in 0..<40 {
      var steps = [LiveGraph.Step]()
      switch step % 8 {
      // From none to many, and from all to none.
      case 0: steps = some(90, &random).map { .set($0, values(&random)) }
      case 7: steps = graph.stored.keys.sorted().map { .delete($0.key.low) }
      default:
        for number in some(50, &random) {
          steps.append(random.chance(25) ? .delete(number) : .set(number, values(&random)))
        }
      }
      if random.chance(50) { try graph.reset(steps) } else { try graph.commit(steps) }
      let context = "step \(step) of seed \(seed)"
      var keys = request.sort
      if let section = request.section, keys.first?.path != section { keys.insert(SortKey(section), at: 0) }
      let fetched = SortOrder(keys, model: graph.model).sorted(graph.stored.values).map(\.id)
      try #require(controller.snapshot.map { $0 } == fetched, "\(context)")
      try #require(rows.sections.flatMap(\.ids) == fetched, "\(context)")
      try #require(rows.sections.map(\.name) == controller.snapshot.sections.map(\.name), "\(context)")
      try #require(rows.sections.map(\.ids) == controller.snapshot.sections.map { $0.map { $0 } }, "\(context)")
      try #require(rows.mistakes == [], "\(context)")
      largest = max(largest, fetched.count)
      if fetched.isEmpty { emptied += 1 }
    }
    #expect(largest > 200 && emptied == 5 && rows.calls > 35)
  }
}
