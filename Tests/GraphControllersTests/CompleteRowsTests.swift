import GraphControllers
import GraphModel
import GraphReplica
import Testing

/// Results whose rows are shown with the relationships that their query prefetches.
@Suite struct CompleteRowsTests {
  /// Authors "A" and "B", and a book of the first; a controller of books with their authors, and one of books alone.
  private struct Library {
    let graph: LiveGraph
    let source: LiveQuerySource
    let complete: ResultsController
    let plain: ResultsController

    init() throws {
      graph = try LiveGraph()
      try graph.commit([
        .set(1, ["name": .string("A")], of: "Author"), .set(2, ["name": .string("B")], of: "Author"),
      ])
      var request = try graph.request()
      plain = ResultsController(request, in: graph.context)
      request.prefetch = RelationshipTree([[try graph.property("author")]])
      source = LiveQuerySource(request, in: graph.context, showsCompleteObjects: true)
      complete = ResultsController(source, in: graph.context)
      try insert(1, by: 1)
      plain.performFetch()
      complete.performFetch()
    }

    /// Inserts a book, or changes its author.
    func insert(_ number: UInt64, by author: UInt64) throws {
      try graph.commit([
        .set(number, ["rank": .integer(Int64(number)), "author": .object(try graph.id(author, of: "Author"))])
      ])
    }

    /// The names of the shown books' authors; nil for a fault.
    func authors() throws -> [String?] {
      let property = try graph.property("author")
      return (0..<complete.count).map { row in
        let author = complete.object(at: row)?.object(property, ManagedObject.self)
        return author.flatMap { $0.isFault ? nil : $0["name"].stringValue }
      }
    }
  }

  /// The revisions of the reported differences.
  private final class Revisions: ResultsControllerDelegate {
    private(set) var reported = [Revision]()

    func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
      reported.append(difference.revision)
    }
  }

  @Test func firstResultWaits() throws {
    let library = try Library()
    #expect(library.complete.state == .fetching && library.plain.count == 1)
    library.graph.answerFetches()
    #expect(library.complete.state == .loaded)
    #expect(try library.authors() == ["A"])
  }

  /// The other query shows the commit at once.
  @Test func objectThatJoinsWaits() throws {
    let library = try Library()
    library.graph.answerFetches()
    let revisions = Revisions()
    library.complete.delegate = revisions
    try library.insert(2, by: 2)
    #expect(library.complete.count == 1 && library.plain.count == 2)
    // It needs nothing, and keeps its place behind the commit that waits.
    try library.insert(3, by: 1)
    #expect(library.complete.count == 1 && library.plain.count == 3)
    library.graph.answerFetches()
    #expect(try library.authors() == ["A", "B", "A"])
    #expect(revisions.reported == [3, 4])
  }

  @Test func objectThatRefersToAnotherOneWaits() throws {
    let library = try Library()
    library.graph.answerFetches()
    let revisions = Revisions()
    library.complete.delegate = revisions
    try library.insert(1, by: 2)
    #expect(revisions.reported.isEmpty)
    library.graph.answerFetches()
    #expect(revisions.reported == [3])
    #expect(try library.authors() == ["B"])
  }

  /// A row that is shown must not refer to a fault either.
  @Test func commitWaitsForRowsOfLaterCommits() throws {
    let library = try Library()
    library.graph.answerFetches()
    try library.insert(2, by: 2)
    try library.graph.commit([.set(3, ["name": .string("C")], of: "Author")])
    try library.insert(1, by: 3)
    // The second book is complete now, but the first one, which is shown, is not.
    library.graph.answerFetches(atMost: 1)
    #expect(library.complete.count == 1)
    library.graph.answerFetches()
    #expect(try library.authors() == ["C", "B"])
  }

  @Test func refusedReadFailsTheQuery() throws {
    let library = try Library()
    library.graph.answerFetches()
    try library.insert(2, by: 2)
    let refusal = Refusal(.limit, "too much")
    library.graph.answerFetches(refusal: refusal)
    #expect(library.complete.state == .failed(refusal) && library.complete.count == 1)
    #expect(library.plain.count == 2 && library.graph.followed == 1)
  }

  /// The reader sleeps again, because the query is being loaded, and the loaded result may have no difference.
  @Test @MainActor func readerThatWasNotReadyIsResumed() async throws {
    let library = try Library()
    let (graph, complete) = (library.graph, library.complete)
    graph.answerFetches()
    var reader = complete.updates.makeAsyncIterator()
    #expect(try await reader.next()?.snapshot.count == 1)
    try library.insert(2, by: 1)
    try graph.reset([])
    var checks = 0
    Task { @MainActor in
      #expect(checks > 0)
      graph.answerFetches()
    }
    let update = try await reader.next {
      checks += 1
      return library.source.isComplete
    }
    #expect(update?.snapshot.count == 2 && checks > 1)
  }

  @Test func stoppedSourceShowsNothing() throws {
    let library = try Library()
    library.graph.answerFetches()
    try library.insert(2, by: 2)
    library.complete.stop()
    library.graph.answerFetches()
    #expect(library.complete.count == 1 && library.graph.followed == 1)
  }
}
