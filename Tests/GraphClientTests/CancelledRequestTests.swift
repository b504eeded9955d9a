import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// Requests whose callers no longer need an answer: the server stops working on them.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct CancelledRequestTests {
  /// A client of a graph with projects whose complete answer has several chunks.
  private static func serve(_ body: @MainActor (ServedGraph, GraphClient) async throws -> Void) async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.insertMany(3_000, by: client)
      try await body(graph, client)
      await client.close()
    }
  }

  /// The next fetch runs, and nothing is left of the others.
  private func expectIdle(_ graph: ServedGraph, _ client: GraphClient) async throws {
    #expect(try await client.count(of: graph.project) == 3_000)
    #expect(try await graph.waitUntilIdle() == .idle)
    #expect(client.replies.isEmpty)
  }

  @Test func thousandAbandonedStreamsLeaveNothing() async throws {
    try await Self.serve { graph, client in
      for number in 0..<1_000 {
        switch number % 4 {
        // Released before anything has arrived.
        case 0: _ = client.images(of: graph.project)
        // Released in the middle.
        case 1: #expect(try await client.images(of: graph.project).nextChunk()?.isEmpty == false)
        case 2: for try await _ in client.images(of: graph.project) { break }
        default: for try await _ in client.rows(of: graph.project, "title") { break }
        }
      }
      try await expectIdle(graph, client)
    }
  }

  @Test func thousandCancelledTasksLeaveNothing() async throws {
    try await Self.serve { graph, client in
      let head = try await client.token(of: 1)
      // A server lets sixteen requests of a connection wait for the next commit.
      for _ in 0..<16 {
        let tasks = (0..<64).map { number in
          Task {
            switch number % 4 {
            case 0: _ = try await client.fetch(Project.self)
            case 1: _ = try await client.count(of: graph.project)
            case 2: _ = try await client.log(limit: 100)
            default: for try await _ in client.commits(since: head) {}
            }
          }
        }
        await Task.yield()
        for task in tasks { task.cancel() }
        for task in tasks {
          // A short request may have been answered before.
          if case .failure(let error) = await task.result { #expect(error is CancellationError, "\(error)") }
        }
      }
      try await expectIdle(graph, client)
    }
  }

  @Test func streamOfCancelledTaskEnds() async throws {
    try await Self.serve { graph, client in
      let stream = client.images(of: graph.project)
      #expect(try await stream.nextChunk() != nil)
      let other = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await stream.nextChunk()
      }
      await #expect(throws: CancellationError.self) { _ = try await other.value }
      await #expect(throws: CancellationError.self) { _ = try await stream.nextChunk() }
      try await expectIdle(graph, client)
    }
  }

  @Test func cancelledWaitForCommitsEndsAtServer() async throws {
    try await Self.serve { graph, client in
      let head = try await client.token(of: 1)
      let waiting = Task { for try await _ in client.commits(since: head) {} }
      while client.replies.isEmpty { await Task.yield() }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      try await expectIdle(graph, client)
    }
  }

  @Test func cancelledBatchIsAnsweredAndChangesNothing() async throws {
    try await Self.serve { graph, client in
      let update = Task {
        try await client.batchUpdate(graph.project, set: [(graph.year, .value(.integer(1)))])
      }
      while client.replies.isEmpty { await Task.yield() }
      update.cancel()
      // The batch is small: it may be committed when the cancellation arrives.
      let changed: Int
      switch await update.result {
      case .success(let result): changed = try #require(result.changed)
      case .failure(let error):
        #expect((error as? Refusal)?.code == .cancelled, "\(error)")
        changed = 0
      }
      let years = try await client.fetch(Project.self, where: "year == 1")
      #expect(years.count == changed)
      try await expectIdle(graph, client)
    }
  }

  @Test func batchInCancelledTaskSendsNoRows() async throws {
    try await Self.serve { graph, client in
      let insertion = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await graph.insertMany(5_000, by: client)
      }
      await #expect(throws: CancellationError.self) { try await insertion.value }
      while try await graph.census().keptRows > 0 { await Task.yield() }
      try await expectIdle(graph, client)
    }
  }
}
