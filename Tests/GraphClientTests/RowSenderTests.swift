import GraphModel
import GraphWire
import Testing

@testable import GraphClient

/// Rows of a batch, sent in parts.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct RowSenderTests {
  @Test func rowsAreKeptInPartsAndInsertedInOneCommit() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      var sender = RowSender(client, id: client.newTransactionID())
      var kept = [Int]()
      for number in 0..<4_500 {
        if let count = try await sender.append([.string("\(number)"), .integer(2026)]) { kept.append(count) }
      }
      // The last two of the four full parts are unanswered.
      #expect(kept == [1_000, 2_000])
      try await sender.finish()
      #expect(sender.count == 4_500)
      let batch = BatchRequest(
        id: sender.id, policy: .error, entity: graph.project.number,
        operation: .insert(properties: [graph.title.number, graph.year.number], rows: 4_500))
      let result = try await client.run(.batch(batch), hasRows: true) { _ in }
      #expect(result.committed.revision == 1)
      #expect(try await client.count(of: graph.project) == 4_500)
      await client.close()
    }
  }

  @Test func largeRowsFillPartBySize() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      var sender = RowSender(client, id: client.newTransactionID())
      let text = String(repeating: "x", count: 100 << 10)
      var kept = [Int]()
      for number in 0..<9 {
        if let count = try await sender.append([.string("\(number) \(text)"), .integer(2026)]) { kept.append(count) }
      }
      #expect(kept == [3])
      try await sender.finish()
      await client.close()
    }
  }

  @Test func failedRowsEndBatchWithoutCommit() async throws {
    struct Failure: Error {}
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let (rows, feed) = AsyncThrowingStream.makeStream(of: [Value].self)
      feed.yield([.string("one"), .integer(2026)])
      feed.finish(throwing: Failure())
      await #expect(throws: Failure.self) {
        _ = try await client.batchInsert(graph.project, [graph.title, graph.year], rows: rows)
      }
      #expect(try await client.status().head.revision == 0)
      await client.close()
    }
  }
}
