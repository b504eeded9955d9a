import GraphControllers
import GraphModel
import Testing

/// A result as a sequence: a fast reader gets every state, a slow one the newest.
@MainActor @Suite struct ResultsUpdatesTests {
  private func controller(_ graph: LiveGraph) throws -> ResultsController {
    ResultsController(try graph.request(), in: graph.context)
  }

  /// A graph with one object, and a running controller.
  private func oneObject() throws -> (graph: LiveGraph, controller: ResultsController) {
    let graph = try LiveGraph()
    try graph.commit([.set(1, [:])])
    let controller = try controller(graph)
    controller.performFetch()
    return (graph, controller)
  }

  private func line(_ update: ResultsUpdate?) -> String {
    guard let update else { return "end" }
    let ids = update.snapshot.map { "\($0.key.low)" }.joined(separator: " ")
    guard let difference = update.difference else { return "first, \(update.snapshot.revision): \(ids)" }
    return "\(update.snapshot.revision): \(ids), \(difference.objects.count) changes"
  }

  @Test func slowReaderReceivesNewestStateWithOneDifference() async throws {
    let graph = try LiveGraph()
    try graph.commit([.set(1, ["rank": .integer(10)]), .set(2, ["rank": .integer(20)])])
    let controller = try controller(graph)
    var reader = controller.updates.makeAsyncIterator()
    controller.performFetch()
    #expect(line(try await reader.next()) == "first, 1: 1 2")
    try graph.commit([.set(3, ["rank": .integer(5)])])
    #expect(line(try await reader.next()) == "2: 3 1 2, 1 changes")
    // One object appears and disappears unseen, one moves twice, one disappears.
    try graph.commit([.set(4, ["rank": .integer(7)]), .set(3, ["rank": .integer(15)])])
    try graph.commit([.delete(4), .set(3, ["rank": .integer(25)])])
    try graph.commit([.delete(1)])
    #expect(line(try await reader.next()) == "5: 2 3, 2 changes")
    // Another reader begins with the present rows.
    var late = controller.updates.makeAsyncIterator()
    #expect(line(try await late.next()) == "first, 5: 2 3")
  }

  @Test func concurrentReadersReceiveOneUpdateEach() async throws {
    let (graph, controller) = try oneObject()
    var reader = controller.updates.makeAsyncIterator()
    #expect(line(try await reader.next()) == "first, 1: 1")
    let first = Task { line(try await reader.next()) }
    let second = Task { line(try await reader.next()) }
    for _ in 0..<3 { await Task.yield() }
    try graph.commit([.set(2, [:])])
    #expect(try await first.value == "2: 1 2, 1 changes")
    try graph.commit([.set(3, [:])])
    #expect(try await second.value == "3: 1 2 3, 1 changes")
  }

  @Test func waitingReaderIsResumed() async throws {
    let (graph, controller) = try oneObject()
    var reader = controller.updates.makeAsyncIterator()
    #expect(line(try await reader.next()) == "first, 1: 1")
    Task { @MainActor in try graph.commit([.set(2, [:])]) }
    #expect(line(try await reader.next()) == "2: 1 2, 1 changes")
  }

  @Test func sequenceEndsWithControllerAndThrowsItsFailure() async throws {
    let graph = try LiveGraph()
    try graph.commit([.set(1, [:])])
    var stopped: ResultsController? = try controller(graph)
    stopped?.performFetch()
    var reader = try #require(stopped).updates.makeAsyncIterator()
    #expect(line(try await reader.next()) == "first, 1: 1")
    stopped = nil
    #expect(line(try await reader.next()) == "end")

    let failing = try controller(graph)
    failing.performFetch()
    var other = failing.updates.makeAsyncIterator()
    #expect(line(try await other.next()) == "first, 1: 1")
    graph.refuse("the limit")
    await #expect(throws: Refusal(.limit, "the limit")) { try await other.next() }
  }

  @Test func cancelledReaderFinishes() async throws {
    let graph = try LiveGraph()
    let controller = try controller(graph)
    let reading = Task { @MainActor in
      var lines = [String]()
      for try await update in controller.updates { lines.append(line(update)) }
      return lines
    }
    reading.cancel()
    #expect(try await reading.value == [])
  }
}
