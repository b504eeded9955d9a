import Foundation
import FreedMemory
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

  /// The next fetch runs, and the server has no work left of the others.
  private static func expectIdle(_ graph: ServedGraph, _ client: GraphClient) async throws {
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
      try await Self.expectIdle(graph, client)
    }
  }

  /// Twenty at a time, which is more than the server reads at once.
  @Test func thousandFirstResultsOfEndedLoopsLeaveNothing() async throws {
    try await Self.serve { graph, client in
      for _ in 0..<50 {
        let loops = (0..<20).map { _ in
          Task { @MainActor in for try await _ in client.live(Project.self) {} }
        }
        await Task.yield()
        for loop in loops { loop.cancel() }
        for loop in loops { try await loop.value }
      }
      try await Self.expectIdle(graph, client)
    }
  }

  /// The resident memory of this process, client and server alike, in bytes.
  private static func residentMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return 1_024 * (try #require(line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first))
  }

  /// Abandons 1,000 streams after their first chunk, and compares the memory before and after them. A hundred earlier
  /// ones fill caches and pools.
  fileprivate static func expectBoundedMemory() async throws {
    try await serve { graph, client in
      var memory = [Int]()
      for count in [100, 1_000] {
        for _ in 0..<count {
          let chunk = try await client.images(of: graph.project).nextChunk()
          #expect(chunk?.isEmpty == false)
        }
        try await expectIdle(graph, client)
        releaseFreedMemory()
        memory.append(try residentMemory())
      }
      // A chunk has 64 KiB: a thousand of them would be twice the limit, and the answers ten times as much.
      #expect(memory[1] - memory[0] < 32 << 20, "1,000 abandoned streams keep \(memory[1] - memory[0]) bytes")
    }
  }

  /// In a process of its own, because other tests also need memory.
  @Test func memoryOfAbandonedStreamsReturns() async throws {
    await #expect(processExitsWith: .success) { try await CancelledRequestTests.expectBoundedMemory() }
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
      try await Self.expectIdle(graph, client)
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
      try await Self.expectIdle(graph, client)
    }
  }

  @Test func cancelledWaitForCommitsEndsAtServer() async throws {
    try await Self.serve { graph, client in
      let head = try await client.token(of: 1)
      let waiting = Task { for try await _ in client.commits(since: head) {} }
      while client.replies.isEmpty { await Task.yield() }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      try await Self.expectIdle(graph, client)
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
      try await Self.expectIdle(graph, client)
    }
  }

  @Test func cancelledWaitForTheServerEnds() async throws {
    try await Self.serve { graph, client in
      let head = try await client.token(of: 1)
      let following = Task { for try await _ in client.commits(since: head) {} }
      while client.replies.isEmpty { await Task.yield() }
      try await graph.stop()
      while client.reconnection.waitCount == 0 { await Task.yield() }
      following.cancel()
      await #expect(throws: CancellationError.self) { try await following.value }
      #expect(client.reconnection.waitCount == 0)
      try await graph.start()
    }
  }

  /// The proxy drops the answer, and refuses further connections.
  @Test func cancelledBatchIsNotSentAgain() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: 3, isLast: true)
      defer { proxy.stop() }
      let client = try await graph.connect(to: proxy.address)
      let update = Task { try await client.batchUpdate(graph.project, set: [(graph.year, .value(.integer(1)))]) }
      while client.reconnection.waitCount == 0 { await Task.yield() }
      update.cancel()
      await #expect(throws: GraphClient.unknownOutcome) { _ = try await update.value }
      await client.close()
    }
  }

  @Test func batchInCancelledTaskSendsNoRows() async throws {
    try await Self.serve { graph, client in
      let insertion = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await graph.insertMany(5_000, by: client)
      }
      await #expect(throws: CancellationError.self) { try await insertion.value }
      while try await graph.workInProgress().keptRows > 0 { await Task.yield() }
      try await Self.expectIdle(graph, client)
    }
  }
}
