import GraphModel
import GraphWire
import Testing

/// Endless searches, each on one of the few reading threads: they delay no other session, and keep no thread forever.
@Suite struct FairReadsTests {
  @Test func searchesOfOneClientLeaveThreadsToOthers() async throws {
    // Only fair scheduling lets the test finish: the searches take longer than the test.
    let scene = try await DaemonFixture(serving: ["--search-seconds", "86400"])
    let endless = try await scene.endlessSearch()
    let other = try await scene.client()
    let hog = try await scene.client()
    var searches = [UInt64]()
    for _ in 0..<16 { searches.append(try await hog.send(.fetch(endless))) }
    // Answered in the order in which requests are read: the searches have begun, or wait for a thread.
    guard case .pong = try await hog.reply(to: hog.send(.ping)) else {
      Issue.record("a ping has another answer")
      return
    }
    for _ in 0..<3 {
      #expect(try await other.fetch(Fetch(entity: scene.entity.number, limit: 1)).objects.count == 1)
    }
    // Reads by the server itself do not wait for them either.
    guard case .status = try await other.reply(to: other.send(.status)) else {
      Issue.record("status has another answer")
      return
    }
    let (_, followed, _) = try await other.follow(scene.entity.number)
    #expect(followed.count == 2_000)
    #expect(hog.unasked.allSatisfy { !searches.contains($0.request) }, "the searches have an end")
    hog.close()
    other.close()
    try scene.end()
  }

  @Test func searchesOfManyClientsLeaveAThreadToShortReads() async throws {
    let scene = try await DaemonFixture(serving: ["--search-seconds", "86400"])
    let endless = try await scene.endlessSearch()
    var hogs = [RawClient]()
    for _ in 0..<6 {
      let hog = try await scene.client()
      for _ in 0..<4 { _ = try await hog.send(.fetch(endless)) }
      guard case .pong = try await hog.reply(to: hog.send(.ping)) else {
        Issue.record("a ping has another answer")
        return
      }
      hogs.append(hog)
    }
    let other = try await scene.client()
    for _ in 0..<5 {
      #expect(try await other.fetch(Fetch(entity: scene.entity.number, limit: 1)).objects.count == 1)
    }
    for hog in hogs { hog.close() }
    other.close()
    try scene.end()
  }

  @Test func fruitlessSearchIsRefusedWithAdvice() async throws {
    let scene = try await DaemonFixture(serving: ["--search-seconds", "3"])
    let endless = try await scene.endlessSearch()
    let client = try await scene.client()
    let fetch = try await client.send(.fetch(endless))
    let query = try await client.send(.subscribe(Subscribe(entity: endless.entity, predicate: endless.predicate)))
    let refusal = try await client.refusal(of: fetch)
    #expect(refusal?.code == .limit)
    #expect(refusal?.message.hasPrefix("the search found nothing for 3 s and was cancelled") == true)
    // The first result of a live query is a search as well; the query is gone with it.
    var answer: ToClient.Body?
    for message in client.unasked where message.request == query {
      if case .subscribed = message.body { continue }
      answer = message.body
    }
    while answer == nil {
      let body = try await client.reply(to: query)
      if case .subscribed = body { continue }
      answer = body
    }
    #expect(answer?.refusal?.code == .limit)
    // The connection and the threads continue to work.
    #expect(try await client.fetch(Fetch(entity: scene.entity.number)).objects.count == 2_000)
    guard case .status(let status) = try await scene.bystander.reply(to: scene.bystander.send(.status)) else {
      Issue.record("status has another answer")
      return
    }
    #expect(status.registrations == 0, "a query without a first result is left")
    client.close()
    try scene.end()
  }
}
