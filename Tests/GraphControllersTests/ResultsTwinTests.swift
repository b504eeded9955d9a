import GraphControllers
import GraphModel
import GraphReplica
import GraphTesting
import Testing

/// Random commits: the controller's rows equal a fresh fetch, and its differences turn the old rows of a list in
/// sections into the new ones.
@MainActor @Suite struct ResultsTwinTests {
  private func commit(_ graph: LiveGraph, _ random: inout SeededGenerator, books: UInt64) throws {
    var steps = [LiveGraph.Step]()
    for _ in 0..<Int.random(in: 1...(random.chance(10) ? 40 : 5), using: &random) {
      let number = UInt64.random(in: 1...books, using: &random)
      if random.chance(20) {
        let author = UInt64.random(in: 1...3, using: &random)
        steps.append(.set(author, ["name": .string("\(UInt8.random(in: 1...4, using: &random))")], of: "Author"))
      } else if random.chance(25) {
        steps.append(.delete(number))
      } else {
        var values = [String: Value]()
        if random.chance(60) { values["rank"] = .integer(.random(in: 1...8, using: &random)) }
        if random.chance(40) { values["shelf"] = .string(random.pick(["a", "B", "b", "ä", ""]) ?? "") }
        if random.chance(30) { values["title"] = .string("\(UInt8.random(in: 0...3, using: &random))") }
        if random.chance(30) {
          let author = UInt64.random(in: 0...3, using: &random)
          values["author"] = author == 0 ? .null : .object(try graph.id(author, of: "Author"))
        }
        steps.append(.set(number, values))
      }
    }
    if random.chance(5) { try graph.reset(steps) } else { try graph.commit(steps) }
  }

  @Test(
    arguments: [
      ("", "rank", nil), ("rank < 5", "-rank,title", nil), ("rank > 2", "title", "shelf"),
      ("", "-shelf[localized],rank", "shelf"), ("rank != 3", "", "rank"), ("", "author.name,rank", nil),
      ("rank < 7", "rank", "author.name"), ("", "author.books.@count,title", nil),
    ] as [(String, String, String?)])
  func reportedChangesReproduceNewRows(predicate: String, sort: String, section: String?) async throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let graph = try LiveGraph()
    try graph.commit([1, 2, 3].map { .set($0, ["name": .string("\($0)")], of: "Author") })
    let authors = graph.context.follow(entity: try graph.entity("Author"))
    for _ in 0..<3 { try commit(graph, &random, books: 40) }
    let request = try graph.request(predicate, sort: sort, section: section)
    let controller = ResultsController(request, in: graph.context)
    let rows = ListReplayer()
    controller.delegate = rows
    var updates = controller.updates.makeAsyncIterator()
    controller.performFetch()
    var read = 0
    var list = try await updates.next()?.snapshot.map { $0 } ?? []

    for step in 0..<250 {
      try commit(graph, &random, books: step < 200 ? 40 : 4)
      let context = "step \(step) of seed \(seed)"
      var keys = request.sort
      if let section = request.section, keys.first?.path != section { keys.insert(SortKey(section), at: 0) }
      let evaluator = PredicateEvaluator(request.predicate, model: graph.model)
      let fetched = SortOrder(keys, model: graph.model).sorted(
        graph.stored.values.filter { $0.id.entity == request.entity && evaluator.matches($0) },
        in: graph.context.storedObjects)
      try #require(controller.snapshot.map { $0 } == fetched.map(\.id), "\(context)")
      try #require(rows.sections.flatMap(\.ids) == fetched.map(\.id), "\(context)")
      try #require(rows.sections.map(\.name) == controller.snapshot.sections.map(\.name), "\(context)")
      try #require(rows.sections.map(\.ids) == controller.snapshot.sections.map { $0.map { $0 } }, "\(context)")
      try #require(rows.mistakes == [], "\(context)")
      for (offset, id) in controller.snapshot.enumerated() {
        try #require(controller.position(of: id) == controller.snapshot.position(at: offset), "\(context)")
      }
      // A reader that reads only sometimes receives all changes since its last read as one difference.
      if rows.calls > max(read, 1), random.chance(30), let update = try await updates.next() {
        let difference = try #require(update.difference)
        list = try #require(list.applying(difference.collectionDifference), "\(context)")
        try #require(list == fetched.map(\.id), "\(context)")
        read = rows.calls
      }
    }
    #expect(rows.calls > 50 && read > 1)
    withExtendedLifetime(authors) {}
  }
}
