import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// An answer in parts: each part is requested when the previous one has been consumed.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ReplyStreamTests {
  private let at = Token(store: UniqueID(high: 1, low: 1), revision: 7, fingerprint: 0)

  private func image(_ number: UInt64) -> ObjectImage {
    ObjectImage(id: ObjectID(key: UniqueID(high: 1, low: number), entity: 1), revision: 1, values: [])
  }

  @Test func partIsRequestedWhenPreviousOneIsConsumed() async throws {
    var requests = 0
    let stream = ReplyStream { requests += 1 }
    stream.put(.chunk(Chunk(objects: [image(1)])), isLast: false)
    stream.put(.chunk(Chunk(objects: [image(2)])), isLast: false)
    #expect(requests == 0)
    #expect(try await stream.nextChunk() == [image(1)])
    #expect(requests == 1)
    #expect(try await stream.nextChunk() == [image(2)])
    #expect(requests == 2)
    stream.put(.chunk(Chunk(objects: [image(3)], end: (at, 3))), isLast: true)
    #expect(stream.token == nil)
    #expect(try await stream.nextChunk() == [image(3)])
    #expect(requests == 2, "nothing follows the last part")
    #expect(stream.token == at && stream.count == 3 && stream.next == nil)
    #expect(try await stream.nextChunk() == nil)
  }

  @Test func waitingReaderReceivesPart() async throws {
    let stream = ReplyStream {}
    async let chunk = stream.nextChunk()
    await Task.yield()
    stream.put(.chunk(Chunk(objects: [image(1)], end: (at, 1))), isLast: true)
    #expect(try await chunk == [image(1)])
  }

  @Test func failureFollowsReceivedParts() async throws {
    let stream = ReplyStream {}
    stream.put(.chunk(Chunk(objects: [image(1)])), isLast: false)
    stream.end(Refusal(.unavailable, "the connection was lost"))
    #expect(try await stream.nextChunk() == [image(1)])
    let refusal = await #expect(throws: Refusal.self) { try await stream.nextChunk() }
    #expect(refusal?.code == .unavailable)
  }

  @Test func otherRequestsAreAnsweredBetweenChunks() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.insertMany(3_000, by: client)
      let stream = client.images(of: graph.project)
      var (chunks, objects) = (0, 0)
      for try await chunk in stream {
        chunks += 1
        objects += chunk.count
        _ = try await client.status()
      }
      #expect(objects == 3_000 && stream.count == 3_000)
      #expect(chunks > 4, "the answer has only \(chunks) chunks")
      await client.close()
    }
  }

  @Test func abandonedFetchDelaysNoOtherRequest() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.insertMany(3_000, by: client)
      #expect(try await client.images(of: graph.project).nextChunk()?.isEmpty == false)
      #expect(try await client.count(of: graph.project) == 3_000)
      #expect(try await client.commit([graph.insertion("one")], policy: .error).committed.revision == 2)
      await client.close()
    }
  }

  @Test func fetchFailsWithItsConnection() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.insertMany(3_000, by: client)
      let stream = client.images(of: graph.project)
      #expect(try await stream.nextChunk() != nil)
      await client.close()
      let refusal = await #expect(throws: Refusal.self) { while try await stream.nextChunk() != nil {} }
      #expect(refusal == Refusal(.unavailable, "the client was closed"))
    }
  }
}
