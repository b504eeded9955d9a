import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Reads of random classes over random graphs, against the naive reference: the reduced graph, and then the answer.
@Suite struct VisibleRandomTests {
  private func fetch(
    _ store: TestStore, _ request: FetchRequest, _ visibility: Visibility?
  ) throws -> (images: [ObjectImage], count: Int) {
    var images = [ObjectImage]()
    let end = try store.store.answer(request, seenBy: visibility, while: { true }) {
      if case .object(let image) = $0 { images.append(image) }
    }
    return (images, end.count)
  }

  private func check(
    _ store: TestStore, _ graph: ReducedGraph, _ visibility: Visibility?, at revision: Revision?,
    _ predicates: inout RandomPredicate, _ note: String
  ) throws -> Int {
    var found = 0
    for entity in store.model.entities {
      let everything = try fetch(store, FetchRequest(entity: entity.number, at: revision), visibility)
      #expect(everything.images == graph.all(entity, where: .always), "\(note), \(entity.name)")
      for _ in 0..<6 {
        let text = predicates.text(for: entity)
        let predicate = try GraphPredicate(parsing: text, entity: entity, model: store.model).bound(now: store.now)
        let expected = graph.all(entity, where: predicate)
        var request = FetchRequest(entity: entity.number, predicate: predicate, at: revision)
        #expect(try fetch(store, request, visibility).images == expected, "\(note), \(entity.name): \(text)")
        request.result = .count
        #expect(try fetch(store, request, visibility).count == expected.count, "\(note), \(entity.name): \(text)")
        found += expected.count
      }
    }
    return found
  }

  @Test(arguments: SeedSweep.seeds(6))
  func fetchesEqualThoseOfTheReducedGraph(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try ScopedGraph.model(sharesTags: seed % 2 == 1))
    var predicates = RandomPredicate(model: store.model, seed: seed)
    var (found, hidden) = (0, 0)
    for round in 0..<8 {
      for _ in 0..<12 { _ = try ScopedGraph.step(store, &random) }
      let all = try ScopedGraph.everything(in: store)
      let boards = try store.all("Board").map(\.id)
      for _ in 0..<4 {
        let rights = ScopedGraph.rights(boards, &random)
        let visibility = Visibility(rights, model: store.model)
        let graph = ReducedGraph(all, seenBy: visibility, model: store.model)
        hidden += all.count - graph.images.count
        found += try check(store, graph, visibility, at: nil, &predicates, "seed \(seed), round \(round), \(rights)")
      }
    }
    #expect(found > 0 && hidden > 0)
  }

  @Test(arguments: SeedSweep.seeds(4))
  func fetchesOfThePastEqualThoseOfTheReducedGraph(seed: UInt64) throws {
    var random = SeededGenerator(seed: 100 + seed)
    let store = try TestStore(try ScopedGraph.model(sharesTags: seed % 2 == 1))
    var predicates = RandomPredicate(model: store.model, seed: 100 + seed)
    for _ in 0..<60 { _ = try ScopedGraph.step(store, &random) }
    let boards = try store.all("Board").map(\.id)
    let head = try store.store.head.revision
    for _ in 0..<8 {
      let revision = Revision.random(in: 1...head, using: &random)
      let all = try ScopedGraph.everything(in: store, at: revision)
      let rights = ScopedGraph.rights(boards, &random)
      let visibility = Visibility(rights, model: store.model)
      let graph = ReducedGraph(all, seenBy: visibility, model: store.model)
      _ = try check(store, graph, visibility, at: revision, &predicates, "seed \(seed), at \(revision), \(rights)")
      // A commit in between, and the present on the same store.
      _ = try ScopedGraph.step(store, &random)
    }
  }

  @Test(arguments: SeedSweep.seeds(3))
  func exportIsTheReducedGraph(seed: UInt64) throws {
    var random = SeededGenerator(seed: 200 + seed)
    let store = try TestStore(try ScopedGraph.model())
    for _ in 0..<60 { _ = try ScopedGraph.step(store, &random) }
    let all = try ScopedGraph.everything(in: store)
    for _ in 0..<4 {
      let visibility = Visibility(ScopedGraph.rights(try store.all("Board").map(\.id), &random), model: store.model)
      let graph = ReducedGraph(all, seenBy: visibility, model: store.model)
      var (count, exported) = (0, [ObjectID: ObjectImage]())
      _ = try store.store.export(seenBy: visibility) {
        count = $1
      } body: {
        exported[$0.id] = $0
      }
      #expect(exported == graph.images && count == graph.images.count, "seed \(seed)")
    }
  }

  /// Pages by a cursor, in several orders, are the pages of the reduced graph.
  @Test(arguments: SeedSweep.seeds(3))
  func pagesAndOrdersAreThoseOfTheReducedGraph(seed: UInt64) throws {
    var random = SeededGenerator(seed: 300 + seed)
    let store = try TestStore(try ScopedGraph.model())
    for _ in 0..<80 { _ = try ScopedGraph.step(store, &random) }
    let all = try ScopedGraph.everything(in: store)
    let note = try store.entity("Note")
    for sort in ["x", "-x,text", "board.title,-x", "-tags.@count", "next.x,owner"] {
      let visibility = Visibility(ScopedGraph.rights(try store.all("Board").map(\.id), &random), model: store.model)
      let graph = ReducedGraph(all, seenBy: visibility, model: store.model)
      let keys = try [SortKey](parsing: sort, entity: note, model: store.model)
      let expected = SortOrder(keys, model: store.model).sorted(graph.all(note, where: .always), in: graph)
      var request = FetchRequest(entity: note.number, sort: keys, limit: 3)
      var pages = [ObjectImage]()
      repeat {
        let end = try store.store.answer(request, seenBy: visibility, while: { true }) {
          if case .object(let image) = $0 { pages.append(image) }
        }
        request.after = end.next
      } while request.after != nil && pages.count <= expected.count
      #expect(pages == expected, "seed \(seed), \(sort)")
    }
  }
}
