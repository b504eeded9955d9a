import GraphControllers
import GraphModel
import GraphReplica
import Testing

/// A result that is requested completely or not at all.
@Suite struct ResultsLimitTests {
  private func library(_ count: Int) throws -> LiveGraph {
    let graph = try LiveGraph()
    try graph.commit((0..<count).map { .set(UInt64($0 + 1), ["rank": .integer(Int64($0))]) })
    return graph
  }

  private func controller(_ graph: LiveGraph, atMost most: Int) throws -> (ResultsController, ResultsTranscript) {
    var request = try graph.request()
    request.maximumCount = most
    let controller = ResultsController(request, in: graph.context)
    let transcript = ResultsTranscript()
    controller.delegate = transcript
    return (controller, transcript)
  }

  private func isTooMany(_ state: ResultsController.State) -> Bool {
    if case .failed(let refusal) = state { refusal.code == .limit } else { false }
  }

  @Test func resultAtLimitIsDelivered() throws {
    let graph = try library(3)
    let (controller, _) = try controller(graph, atMost: 3)
    controller.performFetch()
    #expect(controller.state == .loaded && controller.count == 3 && controller.totalCount == 3)
    #expect(graph.followed == 1)
  }

  @Test func firstResultAboveLimitFailsAndEndsQuery() throws {
    let graph = try library(4)
    let (controller, _) = try controller(graph, atMost: 3)
    controller.performFetch()
    #expect(isTooMany(controller.state) && controller.count == 0)
    #expect(graph.followed == 0)
    // The controller keeps nothing of it.
    #expect(graph.context.object(try graph.id(1)) == nil)
  }

  @Test func resultGrowingAboveLimitIsDeliveredThenFails() throws {
    let graph = try library(3)
    let (controller, transcript) = try controller(graph, atMost: 3)
    controller.performFetch()
    _ = transcript.taken()
    try graph.commit([.set(9, ["rank": .integer(9)])])
    #expect(isTooMany(controller.state) && controller.count == 4)
    #expect(transcript.taken().last?.contains("failed") == true)
    #expect(graph.followed == 0)
    try graph.commit([.delete(9)])
    #expect(controller.count == 4)
  }

  @Test func reloadAboveLimitFails() throws {
    let graph = try library(3)
    let (controller, _) = try controller(graph, atMost: 3)
    controller.performFetch()
    try graph.reset([.set(9, ["rank": .integer(9)])])
    #expect(isTooMany(controller.state) && controller.count == 3)
    #expect(graph.followed == 0)
  }
}
