import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// The events for the audit log. They contain only rights and reasons.
@Suite struct AuditEventTests {
  private let ann = Principal(id: "user:a", name: "ann")
  private let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1)

  private func login(_ role: Role) throws -> HubTranscript {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    _ = try script.handle(.opened(1, of: .network))
    let hello = Hello(model: script.model.hash, replica: id.replica, author: "eve", credential: "secret")
    _ = try script.send(.hello(hello), 1)
    let identity = ClientIdentity.user(ann, token: 7, access: GrantedAccess(role, of: ann))
    _ = try script.handle(.authenticated(.success(identity), session: 1))
    return script
  }

  @Test func loginNamesTheTokenAndNotTheSecret() throws {
    let script = try login(.editor)
    #expect(script.audits == [AuditEvent(.login, principal: "user:a", token: 7)])
    #expect(!"\(script.audits)".contains("secret"))
  }

  @Test func refusedRequestNamesTheMissingRight() throws {
    var script = try login(.reader)
    #expect(try script.send(.restore(RestoreRequest(id, .everything, at: 0)), 1) == ["1 < refused: notAllowed"])
    let event = try #require(script.audits.last)
    #expect(event.kind == .refusal && event.principal == "user:a" && event.token == 7)
    #expect(event.reason.contains("needs the role commenter"))
  }

  @Test func refusalOfTheWriterIsRecorded() throws {
    var script = try login(.editor)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    let refusal = Refusal(.notAllowed, "this needs the role owner")
    let result = WriteResult(outcome: .refused(refusal), record: nil)
    #expect(try script.handle(.committed([(StoreRequestID(1), result)])) == ["1 < refused: notAllowed"])
    #expect(script.audits.last == AuditEvent(.refusal, principal: "user:a", token: 7, reason: refusal.message))
  }

  @Test func otherRefusalsAreNotRecorded() throws {
    var script = try login(.editor)
    _ = try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: "no predicate")), 1)
    #expect(script.audits.map(\.kind) == [.login])
  }

  @Test func stolenReplicaIsRecorded() throws {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    script.replicas[id.replica] = KnownReplica(lastSequence: 4, author: "user:b")
    _ = try script.handle(.opened(1, of: .network))
    _ = try script.send(
      .hello(Hello(model: script.model.hash, replica: id.replica, author: "eve", credential: "t")), 1)
    let identity = ClientIdentity.user(ann, token: 7, access: GrantedAccess(.editor, of: ann))
    #expect(
      try script.handle(.authenticated(.success(identity), session: 1)) == ["1 < goodbye: notAllowed", "close 1"])
    #expect(script.audits.map(\.kind) == [.refusal])
    // The other user is not named.
    #expect(!"\(script.audits)".contains("user:b"))
  }

  @Test func ownerIsNotRecorded() throws {
    var script = try HubTranscript()
    try script.open(1)
    let foreign = TransactionID(replica: UniqueID(high: 9, low: 9), sequence: 1)
    #expect(try script.send(.commit(Transaction(id: foreign, changes: [])), 1) == ["1 < refused: notAllowed"])
    #expect(script.audits.isEmpty)
  }
}
