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
    let chunk = Task { try await stream.nextChunk() }
    await Task.yield()
    stream.put(.chunk(Chunk(objects: [image(1)], end: (at, 1))), isLast: true)
    #expect(try await chunk.value == [image(1)])
  }

  @Test func failureFollowsReceivedParts() async throws {
    let stream = ReplyStream {}
    stream.put(.chunk(Chunk(objects: [image(1)])), isLast: false)
    stream.end(Refusal(.unavailable, "the connection was lost"))
    #expect(try await stream.nextChunk() == [image(1)])
    let refusal = await #expect(throws: Refusal.self) { try await stream.nextChunk() }
    #expect(refusal?.code == .unavailable)
  }

  // MARK: - Several readers

  /// Returns when a stream has this number of waiting readers.
  private func wait(for count: Int, of stream: ReplyStream) async {
    while stream.waitingReaders != count { await Task.yield() }
  }

  @Test func concurrentReadersReceivePartsInOrderOfTheirCalls() async throws {
    let stream = ReplyStream {}
    let first = Task { try await stream.nextChunk() }
    await wait(for: 1, of: stream)
    let second = Task { try await stream.nextChunk() }
    await wait(for: 2, of: stream)
    let third = Task { try await stream.nextChunk() }
    await wait(for: 3, of: stream)
    stream.put(.chunk(Chunk(objects: [image(1)])), isLast: false)
    stream.put(.chunk(Chunk(objects: [image(2)], end: (at, 2))), isLast: true)
    #expect(try await first.value == [image(1)])
    #expect(try await second.value == [image(2)])
    #expect(try await third.value == nil)
  }

  @Test func failureReachesEveryReader() async throws {
    let stream = ReplyStream {}
    let readers = [Task { try await stream.nextChunk() }, Task { try await stream.nextChunk() }]
    await wait(for: 2, of: stream)
    stream.end(Refusal(.unavailable, "the connection was lost"))
    for reader in readers { await #expect(throws: Refusal.self) { _ = try await reader.value } }
  }

  @Test func requestIsCancelledWithItsLastReader() async throws {
    var cancellations = 0
    let stream = ReplyStream(requestPart: {}, cancelRequest: { cancellations += 1 })
    let first = Task { try await stream.nextChunk() }
    await wait(for: 1, of: stream)
    let second = Task { try await stream.nextChunk() }
    await wait(for: 2, of: stream)
    first.cancel()
    await #expect(throws: CancellationError.self) { _ = try await first.value }
    #expect(cancellations == 0, "another task reads on")
    second.cancel()
    await #expect(throws: CancellationError.self) { _ = try await second.value }
    #expect(cancellations == 1)
    // The server's answers to it may be on their way.
    stream.put(.chunk(Chunk(objects: [image(1)], end: (at, 1))), isLast: true)
    await #expect(throws: CancellationError.self) { _ = try await stream.nextChunk() }
    #expect(cancellations == 1)
  }

  @Test func outcomeIsAwaitedAfterCancellation() async throws {
    var cancellations = 0
    let stream = ReplyStream(hasOutcome: true, requestPart: {}, cancelRequest: { cancellations += 1 })
    let reader = Task { try await stream.nextPart() }
    await wait(for: 1, of: stream)
    reader.cancel()
    while cancellations == 0 { await Task.yield() }
    stream.end(Refusal(.cancelled, "the batch was cancelled"))
    let refusal = await #expect(throws: Refusal.self) { _ = try await reader.value }
    #expect(refusal?.code == .cancelled)
    #expect(cancellations == 1)
  }

  @Test func releasedStreamCancelsUnlessItIsComplete() async throws {
    var cancellations = 0
    do {
      let complete = ReplyStream(requestPart: {}, cancelRequest: { cancellations += 1 })
      complete.put(.chunk(Chunk(objects: [], end: (at, 0))), isLast: true)
      let failed = ReplyStream(requestPart: {}, cancelRequest: { cancellations += 1 })
      failed.end(Refusal(.unavailable, "the connection was lost"))
    }
    do { _ = ReplyStream(requestPart: {}, cancelRequest: { cancellations += 1 }) }
    while cancellations == 0 { await Task.yield() }
    for _ in 0..<10 { await Task.yield() }
    #expect(cancellations == 1)
  }

  @Test func pagesOfConcurrentReadersFollowEachOther() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.insertMany(2_500, by: client)
      let pages: PageSequence<ObjectImage> = client.pages(of: graph.project, size: 1_000)
      let readers = (0..<5).map { _ in Task { try await pages.nextPage()?.objects.map(\.id) } }
      var found = [[ObjectID]?]()
      for reader in readers { found.append(try await reader.value) }
      #expect(found.compactMap { $0?.count }.sorted() == [500, 1_000, 1_000])
      #expect(Set(found.compactMap { $0 }.flatMap { $0 }).count == 2_500, "no object is on two pages")
      #expect(found.count { $0 == nil } == 2)
      await client.close()
    }
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
