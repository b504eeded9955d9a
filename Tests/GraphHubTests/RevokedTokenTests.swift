import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHub

/// A token that ends in the middle of a commit, a batch or a stream of its session.
@Suite struct RevokedTokenTests {
  /// A session with the token 1, and another user's that follows the notes.
  private func opened() throws -> HubTranscript {
    var script = try HubTranscript(head: 5)
    script.hub = Hub(model: script.model, head: script.token(5), authenticates: true)
    for session in [1, 2] as [SessionID] {
      _ = try script.handle(.opened(session, of: .network))
      let hello = Hello(
        model: script.model.hash, replica: UniqueID(high: 1, low: session), author: "x", credential: "t")
      _ = try script.send(.hello(hello), session)
      let principal = Principal(id: "user:\(session)", name: "user \(session)")
      let identity = ClientIdentity.user(principal, token: session, access: GrantedAccess(.editor, of: principal))
      #expect(try script.handle(.authenticated(.success(identity), session: session)) == ["\(session) < welcome"])
    }
    try script.follow(2, "", ticket: 1, at: 5)
    return script
  }

  private func revoke(_ script: inout HubTranscript) throws -> [String] {
    try script.handle(.tokensEnded([1: Refusal(.notAllowed, "the token was revoked")]))
  }

  /// It was permitted when it was requested. The session has ended, so its client does not learn the outcome.
  @Test func commitUnderWayIsMadeAndNotAnswered() throws {
    var script = try opened()
    #expect(try script.save(1, sequence: 1) == ["commit #2"])
    #expect(try revoke(&script) == ["1 < goodbye: notAllowed", "close 1"])
    #expect(try script.committed(2, script.record(6)) == ["2 < delta 1 of 6"])
    // A request that the client has sent behind it comes too late.
    #expect(try script.save(1, sequence: 2) == [])
  }

  @Test func batchUnderWayEnds() throws {
    var script = try opened()
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1)
    let batch = BatchRequest(id: id, entity: script.note.number, operation: .delete(predicate: "x < 0"))
    #expect(try script.send(.batch(batch), 1) == ["commit #2"])
    let lines = try revoke(&script)
    #expect(Set(lines) == ["1 < goodbye: notAllowed", "close 1", "end the batch #2"], "\(lines)")
    let refused = WriteResult(outcome: .refused(Refusal(.cancelled, "its client disconnected")), record: nil)
    #expect(try script.handle(.committed([(StoreRequestID(2), refused)])) == [])
  }

  @Test func streamsUnderWayEnd() throws {
    var script = try opened()
    #expect(try script.send(.exportGraph, 1) == ["read #2 for 1"])
    let query = Subscribe(entity: script.note.number, predicate: "")
    #expect(try script.send(.subscribe(query), 1) == ["1 < query 1", "read #3 for 1"])
    let lines = try revoke(&script)
    #expect(lines.first == "1 < goodbye: notAllowed" && lines.last == "close 1")
    #expect(lines.contains("cancel #2") && lines.contains("cancel #3"), "\(lines)")
    #expect(script.hub.openReads == 0 && script.hub.counts.registrations == 1)
    // Their threads may have been at their ends.
    for ticket in [2, 3] as [UInt64] { #expect(try script.finishRead(ticket, at: 5) == []) }
    #expect(try script.committed(9, script.record(6)) == ["2 < delta 1 of 6"])
  }
}
