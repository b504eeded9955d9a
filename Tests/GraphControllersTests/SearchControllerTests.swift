import GraphControllers
import GraphModel
import Testing

/// Search over a live list, as a front end observes it.
@Suite struct SearchControllerTests {
  /// Shows rows, and does not know whether they are the complete list or the result of a search.
  private final class SearchDelegate: SearchControllerDelegate {
    private(set) var lines = [String]()
    var place = ListViewState()

    func taken() -> [String] {
      defer { lines = [] }
      return lines
    }

    private func text(_ rows: ResultsSnapshot) -> String { rows.map { "\($0.key.low)" }.joined(separator: " ") }

    func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?) {
      lines.append("\(query?.words.joined(separator: " ") ?? "all"): \(text(rows))")
    }

    func search(_ controller: SearchController, didChange rows: ResultsSnapshot, by difference: ResultsDifference) {
      lines.append("changed: \(text(rows))")
    }

    func search(_ controller: SearchController, isBusy: Bool) { lines.append(isBusy ? "busy" : "idle") }

    func search(_ controller: SearchController, didFail refusal: Refusal) { lines.append("failed: \(refusal.message)") }

    func stateToSave(for controller: SearchController) -> ListViewState { place }

    func search(_ controller: SearchController, didReturnTo place: ListViewState) {
      let selection = place.selection.map(\.key.low).sorted()
      lines.append("selected \(selection), at \(place.first.map { "\($0.key.low)" } ?? "the top")")
    }
  }

  /// - Parameter answers: false holds back the rows until `LiveGraph.answer`.
  private func script(answers: Bool = true) throws -> (LiveGraph, SearchController, SearchDelegate) {
    let graph = try LiveGraph()
    graph.answers = answers
    try graph.commit(
      ["milk and bread", "breakfast", "tunnel", "milk"].enumerated().map {
        .set(UInt64($0 + 1), ["title": .string($1), "rank": .integer(Int64($0))])
      })
    let request = try graph.request()
    let title = GraphPredicate.Path.property(try graph.property("title"))
    func results(_ request: ResultsRequest) -> ResultsController {
      ResultsController(request, in: graph.context)
    }
    let controller = SearchController(all: results(request)) { query in
      var found = request
      found.predicate = query.predicate(in: [title])
      return results(found)
    }
    let instance = SearchDelegate()
    controller.delegate = instance
    controller.start()
    #expect(instance.taken() == (answers ? ["changed: 1 2 3 4"] : []))
    return (graph, controller, instance)
  }

  private func find(_ text: String, _ controller: SearchController, at now: Milliseconds) throws {
    controller.type(text, at: now)
    controller.tick(at: try #require(controller.deadline))
  }

  @Test func everyWordPrefixMatchesAndResultStaysLive() throws {
    let (graph, controller, instance) = try script()
    try find("mil", controller, at: 0)
    #expect(instance.taken() == ["busy", "idle", "mil: 1 4"])
    try find("br mil", controller, at: 500)
    #expect(instance.taken() == ["busy", "idle", "br mil: 1"])
    try graph.commit([.set(3, ["title": .string("miles of brick")]), .set(9, ["title": .string("other")])])
    #expect(instance.taken() == ["changed: 1 3"])
    #expect(controller.rows.count == 2 && controller.query?.words == ["br", "mil"])
  }

  @Test func allRowsAreLoadedOnceAndRestoredWithSelection() throws {
    let (graph, controller, instance) = try script()
    instance.place = ListViewState(selection: [try graph.id(2), try graph.id(3)], first: try graph.id(3))
    try find("milk", controller, at: 0)
    _ = instance.taken()
    instance.place = ListViewState()
    try find("milk bread", controller, at: 500)
    // Meanwhile a selected object disappears, and a row appears that the search does not show.
    try graph.commit([.delete(3), .set(5, ["title": .string("new"), "rank": .integer(9)])])
    _ = instance.taken()
    controller.clear()
    #expect(instance.taken() == ["all: 1 2 4 5", "selected [2], at the top"])
    // One for all rows, two for the searches.
    #expect(graph.subscriptions == 3 && graph.followed == 1)
    #expect(controller.query == nil)
    try graph.commit([.delete(5)])
    #expect(instance.taken() == ["changed: 1 2 4"])
  }

  @Test func scrollPositionIsRestoredAfterSearch() throws {
    let (graph, controller, instance) = try script()
    // Without a search there is no state to restore.
    controller.saveState()
    instance.place = ListViewState(selection: [try graph.id(2)], first: try graph.id(2))
    try find("milk", controller, at: 0)
    instance.place = ListViewState(selection: [try graph.id(4)])
    controller.saveState()
    instance.place = ListViewState()
    _ = instance.taken()
    controller.clear()
    #expect(instance.taken() == ["all: 1 2 3 4", "selected [4], at the top"])
  }

  /// The list may be slower than the search.
  @Test func positionIsRestoredBeforeAllRowsAreLoaded() throws {
    let (graph, controller, instance) = try script(answers: false)
    instance.place = ListViewState(selection: [try graph.id(2)], first: try graph.id(3))
    try find("milk", controller, at: 0)
    _ = instance.taken()
    controller.clear()
    #expect(instance.taken() == ["idle", "all: ", "selected [2], at 3"])
    graph.answer()
    #expect(instance.taken() == ["changed: 1 2 3 4"])
  }

  @Test func positionIsRestoredAfterAllRowsFailed() throws {
    let (graph, controller, instance) = try script(answers: false)
    graph.refuseUnanswered("too many")
    graph.answers = true
    instance.place = ListViewState(selection: [try graph.id(2)])
    try find("milk", controller, at: 0)
    #expect(instance.taken() == ["failed: too many", "busy", "idle", "milk: 1 4"])
    controller.clear()
    #expect(instance.taken() == ["all: ", "selected [2], at the top"])
  }

  @Test func staleAnswerIsNotShown() throws {
    let (graph, controller, instance) = try script()
    graph.answers = false
    try find("tun", controller, at: 0)
    #expect(instance.taken() == ["busy"])
    try find("milk", controller, at: 500)
    #expect(controller.rows.count == 4)
    graph.answer()
    #expect(instance.taken() == ["idle", "milk: 1 4"])
    #expect(graph.followed == 2)
  }

  @Test func clearingDropsPendingAnswer() throws {
    let (graph, controller, instance) = try script()
    graph.answers = false
    try find("tun", controller, at: 0)
    controller.clear()
    graph.answer()
    #expect(instance.taken() == ["busy", "idle", "all: 1 2 3 4", "selected [], at the top"])
    #expect(graph.followed == 1)
  }

  @Test func refusedSearchIsReportedAndKeepsShownRows() throws {
    let (graph, controller, instance) = try script()
    graph.answers = false
    try find("milk", controller, at: 0)
    graph.refuseUnanswered("no index")
    #expect(instance.taken() == ["busy", "idle", "failed: no index"])
    #expect(controller.rows.count == 4)
    graph.answers = true
    try find("milk", controller, at: 500)
    #expect(instance.taken() == ["busy", "idle", "milk: 1 4"])
  }
}
