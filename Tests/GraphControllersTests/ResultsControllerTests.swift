import GraphControllers
import GraphModel
import GraphReplica
import Testing

/// The calls of a results controller to its delegate: each line begins with the count that the controller reports at
/// that moment.
@Suite struct ResultsControllerTests {
  private func controller(
    _ graph: LiveGraph, _ predicate: String = "", sort: String = "rank", section: String? = nil
  ) throws -> (ResultsController, ResultsTranscript) {
    let request = try graph.request(predicate, sort: sort, section: section)
    let controller = ResultsController(request, in: graph.context)
    let transcript = ResultsTranscript()
    controller.delegate = transcript
    return (controller, transcript)
  }

  private func library(_ ranks: [Int64]) throws -> LiveGraph {
    let graph = try LiveGraph()
    try graph.commit(ranks.enumerated().map { .set(UInt64($0 + 1), ["rank": .integer($1)]) })
    return graph
  }

  private func order(_ controller: ResultsController) -> [UInt64] { controller.snapshot.map(\.key.low) }

  @Test func unfetchedControllerHasOneEmptySection() throws {
    let graph = try library([10])
    graph.answers = false
    for section in [nil, "shelf"] {
      let (controller, transcript) = try controller(graph, section: section)
      #expect(controller.state == .idle)
      #expect(controller.snapshot.sectionCount == 1 && controller.snapshot.section(0).isEmpty)
      controller.performFetch()
      #expect(controller.state == .fetching)
      #expect(controller.snapshot.sectionCount == 1 && controller.count == 0)
      #expect(transcript.lines == [])
    }
  }

  @Test func failedSourceIsNotFollowed() async throws {
    let graph = try library([10])
    let (controller, _) = try controller(graph)
    controller.performFetch()
    var updates = controller.updates.makeAsyncIterator()
    let first = try await updates.next()
    #expect(first?.snapshot.count == 1 && graph.followed == 1)
    let refusal = Refusal(.unavailable, "the client was closed")
    controller.fail(refusal)
    #expect(graph.followed == 0)
    #expect(controller.state == .failed(refusal) && controller.count == 1)
    await #expect(throws: refusal) { _ = try await updates.next() }
    controller.performFetch()
    #expect(controller.state == .loaded && graph.followed == 1)
  }

  @Test func firstResultIsReportedAsDifference() throws {
    let graph = try library([20, 10])
    let (controller, transcript) = try controller(graph)
    controller.performFetch()
    #expect(controller.state == .loaded)
    #expect(
      transcript.taken() == ["0: will change", "2: 2 inserted at 0.0", "2: 1 inserted at 0.1", "2: did change 0 to 2"])
    #expect(controller.object(at: 0)?["rank"] == .integer(10))
  }

  @Test func emptyFirstResultIsReported() throws {
    let graph = try library([10])
    let (controller, transcript) = try controller(graph, "rank > 100")
    controller.performFetch()
    #expect(transcript.taken() == ["0: will change", "0: did change 0 to 0"])
    #expect(controller.snapshot.sectionCount == 1)
    let (grouped, received) = try self.controller(graph, "rank > 100", section: "shelf")
    grouped.performFetch()
    #expect(received.taken() == ["0: will change", "0: section - removed from 0", "0: did change 0 to 0"])
    #expect(grouped.snapshot.sectionCount == 0)
  }

  @Test func commitReportsOldPositionsOfRemovalsAndNewOfInserts() throws {
    let graph = try library([10, 20, 30, 40, 50])
    let (controller, transcript) = try controller(graph)
    controller.performFetch()
    _ = transcript.taken()
    try graph.commit([
      .delete(1), .delete(3), .set(6, ["rank": .integer(25)]), .set(5, ["rank": .integer(5)]),
      .set(4, ["title": .string("new")]),
    ])
    #expect(order(controller) == [5, 2, 6, 4])
    #expect(
      transcript.taken() == [
        "5: will change", "4: 3 removed from 0.2", "4: 1 removed from 0.0", "4: 6 inserted at 0.2",
        "4: 5 moved from 0.4 to 0.0", "4: 4 updated from 0.3 at 0.3, 1 of it", "4: did change 5 to 4",
      ])
  }

  @Test func changeWithoutMoveIsUpdate() throws {
    let graph = try library([10, 20, 30])
    let (controller, transcript) = try controller(graph)
    controller.performFetch()
    _ = transcript.taken()
    try graph.commit([.set(2, ["rank": .integer(29)])])
    #expect(
      transcript.taken() == ["3: will change", "3: 2 updated from 0.1 at 0.1, 1 of it", "3: did change 3 to 3"])
    // If two objects exchange their places, one has moved and the other stays.
    try graph.commit([.set(2, ["rank": .integer(10)]), .set(1, ["rank": .integer(29)])])
    #expect(order(controller) == [2, 1, 3])
    #expect(
      transcript.taken() == [
        "3: will change", "3: 2 moved from 0.1 to 0.0", "3: 1 updated from 0.0 at 0.1, 1 of it", "3: did change 3 to 3",
      ])
  }

  @Test func sectionChangesPrecedeObjectChanges() throws {
    let graph = try LiveGraph()
    try graph.commit([
      .set(1, ["shelf": .string("b"), "rank": .integer(1)]), .set(2, ["shelf": .string("d"), "rank": .integer(2)]),
    ])
    let (controller, transcript) = try controller(graph, section: "shelf")
    controller.performFetch()
    #expect(
      transcript.taken() == [
        "0: will change", "2: section - removed from 0", "2: section b inserted at 0", "2: section d inserted at 1",
        "2: 1 inserted at 0.0", "2: 2 inserted at 1.0", "2: did change 0 to 2",
      ])
    try graph.commit([
      .set(1, ["shelf": .string("e")]), .set(3, ["shelf": .string("a")]), .set(4, ["shelf": .string("d")]),
    ])
    #expect(
      transcript.taken() == [
        "2: will change", "4: section b removed from 0", "4: section a inserted at 0", "4: section e inserted at 2",
        "4: 3 inserted at 0.0", "4: 4 inserted at 1.0", "4: 1 moved from 0.0 to 2.0", "4: did change 2 to 4",
      ])
    #expect(controller.snapshot.sections.map(\.name) == ["a", "d", "e"].map(Value.string))
    #expect(controller.snapshot.sections.map(\.offset) == [0, 1, 3])
    #expect(
      controller.position(of: try graph.id(1))
        == ResultsPosition(section: 2, row: 0, offset: 3))
    // Two that swap their sections leave them standing.
    try graph.commit([.set(1, ["shelf": .string("a")]), .set(3, ["shelf": .string("e")])])
    #expect(
      transcript.taken() == [
        "4: will change", "4: 1 moved from 2.0 to 0.0", "4: 3 moved from 0.0 to 2.0", "4: did change 4 to 4",
      ])
  }

  @Test func sectionsFollowDirectionOfTheirSortKey() throws {
    let graph = try LiveGraph()
    try graph.commit([.set(1, ["shelf": .string("a")]), .set(2, ["shelf": .string("B")])])
    for (sort, expected) in [("-shelf", ["a", "B"]), ("shelf[localized]", ["a", "B"]), ("title", ["B", "a"])] {
      let (controller, _) = try controller(graph, sort: sort, section: "shelf")
      controller.performFetch()
      #expect(controller.snapshot.sections.map(\.name) == expected.map(Value.string), "\(sort)")
    }
  }

  @Test func leavingFilterIsRemovalAndReturnIsInsert() throws {
    let graph = try library([10, 20])
    let (controller, transcript) = try controller(graph, "rank < 15")
    controller.performFetch()
    _ = transcript.taken()
    try graph.commit([.set(1, ["rank": .integer(50)])])
    try graph.commit([.set(2, ["title": .string("not here")])])
    try graph.commit([.set(1, ["rank": .integer(11)])])
    #expect(
      transcript.taken() == [
        "1: will change", "0: 1 removed from 0.0", "0: did change 1 to 0", "0: will change", "1: 1 inserted at 0.0",
        "1: did change 0 to 1",
      ])
  }

  @Test func delegateMayImplementOnlyDidChange() throws {
    let graph = try library([10])
    let (controller, _) = try controller(graph)
    let redrawer = ReloadingDelegate()
    controller.delegate = redrawer
    controller.performFetch()
    try graph.commit([.set(2, ["rank": .integer(5)])])
    #expect(redrawer.count == 2 && order(controller) == [2, 1])
  }

  @Test func failedFetchIsReportedAndCanBeRetried() throws {
    let graph = try library([10])
    graph.answers = false
    let (controller, transcript) = try controller(graph)
    controller.performFetch()
    graph.refuse("too many queries")
    #expect(controller.state == .failed(Refusal(.limit, "too many queries")))
    #expect(transcript.taken() == ["0: failed: too many queries"])
    #expect(controller.snapshot.sectionCount == 1)
    graph.answers = true
    controller.performFetch()
    #expect(controller.state == .loaded)
    #expect(transcript.taken().last == "1: did change 0 to 1")
  }

  @Test func reloadedResultIsReportedAsDifference() throws {
    let graph = try library([10, 20, 30])
    let (controller, transcript) = try controller(graph)
    controller.performFetch()
    _ = transcript.taken()
    try graph.reset([.delete(2), .set(4, ["rank": .integer(15)])])
    #expect(order(controller) == [1, 4, 3])
    let lines = transcript.taken()
    #expect(lines.contains("3: 2 removed from 0.1") && lines.contains("3: 4 inserted at 0.1"))
    #expect(lines.first == "3: will change" && lines.last == "3: did change 3 to 3")
  }

  @Test func sortByRelatedValueFollowsItsChanges() throws {
    let graph = try LiveGraph()
    let (first, second) = (try graph.id(1, of: "Author"), try graph.id(2, of: "Author"))
    try graph.commit([
      .set(1, ["name": .string("ann")], of: "Author"), .set(2, ["name": .string("bob")], of: "Author"),
      .set(1, ["author": .object(first)]), .set(2, ["author": .object(second)]),
    ])
    let authors = graph.context.follow(entity: try graph.entity("Author"))
    #expect(graph.context.isLoaded(authors))
    let (controller, transcript) = try controller(graph, sort: "author.name", section: "author.name")
    controller.performFetch()
    #expect(order(controller) == [1, 2])
    _ = transcript.taken()
    try graph.commit([.set(1, ["name": .string("zoe")], of: "Author")])
    #expect(order(controller) == [2, 1])
    #expect(
      transcript.taken() == [
        "2: will change", "2: section ann removed from 0", "2: section zoe inserted at 1", "2: 1 moved from 0.0 to 1.0",
        "2: did change 2 to 2",
      ])
  }

  @Test func typedRequestEqualsTextRequest() throws {
    let graph = try LiveGraph()
    let typed = ResultsRequest(
      Book.self, in: graph.model, where: { $0.rank < 5 }, sort: [\.rank.ascending], section: \.shelf.descending)
    #expect(typed == (try graph.request("rank < 5", sort: "-shelf,rank", section: "shelf")))
    #expect(ResultsRequest(UnknownEntityObject.self, in: graph.model) == nil)
  }

  @Test func stoppedControllerKeepsRowsWithoutUpdates() throws {
    let graph = try library([10])
    let (controller, transcript) = try controller(graph)
    controller.performFetch()
    _ = transcript.taken()
    controller.stop()
    try graph.commit([.set(2, ["rank": .integer(1)])])
    #expect(transcript.taken() == [] && order(controller) == [1])
    controller.performFetch()
    #expect(order(controller) == [2, 1])
    #expect(
      transcript.taken() == [
        "1: will change", "2: 2 inserted at 0.0", "2: 1 updated from 0.0 at 0.1", "2: did change 1 to 2",
      ])
  }

  @Test func releasedControllerEndsItsQuery() throws {
    let graph = try library([10])
    var following: ResultsController? = try controller(graph).0
    following?.performFetch()
    #expect(following?.state == .loaded && graph.followed == 1)
    following = nil
    #expect(graph.followed == 0)
  }
}

/// The classes have the form of generated ones.
private final class Book: ManagedObject { override class var entityName: String { "Book" } }

private final class UnknownEntityObject: ManagedObject { override class var entityName: String { "Stranger" } }

extension ObjectPath where Object: Book {
  fileprivate var shelf: TypedExpression<String, Cardinality> { TypedExpression(self, attribute: LiveGraph.shelf) }
  fileprivate var rank: TypedExpression<Int64, Cardinality> { TypedExpression(self, attribute: LiveGraph.rank) }
}
