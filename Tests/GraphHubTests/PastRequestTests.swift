import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Requests for past states in the hub.
@Suite struct PastRequestTests {
  private func asked(_ body: ToServer.Body) throws -> ReadRequest? {
    var script = try HubTranscript()
    try script.open(1)
    var hub = script.hub
    for action in hub.handle(.received(ToServer(100, body), from: 1)) {
      if case .read(_, let request, 1, 100) = action { return request }
    }
    return nil
  }

  @Test func revisionIsPassedToStore() throws {
    let entity = try #require(try Fixtures.stickies().entity(named: "Note")).number
    for revision in [nil, 0, 7, .max] as [Revision?] {
      guard case .objects(let fetch)? = try asked(.fetch(Fetch(entity: entity, at: revision))) else {
        Issue.record("revision \(revision ?? -1) was not read")
        continue
      }
      #expect(fetch.at == revision)
    }
    #expect(try asked(.revisionAt(-5)) == .message(.revisionAt(-5), author: "author 1"))
  }

  @Test func negativeRevisionIsRefused() throws {
    let entity = try #require(try Fixtures.stickies().entity(named: "Note")).number
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.send(.fetch(Fetch(entity: entity, at: -1)), 1) == ["1 < refused: malformed"])
    #expect(try script.send(.fetch(Fetch(entity: entity, at: .min)), 1) == ["1 < refused: malformed"])
  }

  @Test func timeIsResolvedAfterEarlierCommits() throws {
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.send(.revisionAt(0), 1) == [])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1", "read #2 for 1"])
    #expect(try script.finishRead(2, at: 1) == ["1 < last chunk at 1"])
    #expect(try script.send(.revisionAt(0), 1) == ["read #3 for 1"])
    #expect(
      try script.handle(.readFinished(StoreRequestID(3), .failure(Refusal(.notFound, "gone")))) == [
        "1 < refused: notFound"
      ])
    #expect(try script.send(.revisionAt(0), 1) == ["read #4 for 1"])
    #expect(try script.handle(.closed(1)) == ["cancel #4"])
  }
}
