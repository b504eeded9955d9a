import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// The messages that each role allows. The writer judges commits and undos by their effect: `WriteAccessTests`.
@Suite struct RoleTests {
  private let ann = Principal(id: "user:a", name: "ann")
  private let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1)

  private func script(_ role: Role) throws -> HubTranscript {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    _ = try script.handle(.opened(1, of: .network))
    let hello = Hello(model: script.model.hash, replica: id.replica, author: "eve", credential: "t")
    _ = try script.send(.hello(hello), 1)
    let identity = ClientIdentity.user(ann, token: 7, access: GrantedAccess(role, of: ann))
    #expect(try script.handle(.authenticated(.success(identity), session: 1)) == ["1 < welcome"])
    return script
  }

  private func writes(_ script: HubTranscript) -> [ToServer.Body] {
    let entity = script.note.number
    return [
      .restore(RestoreRequest(id, .object(ObjectID(key: id.replica, entity: entity)), at: 0)),
      .batchRows(BatchRows(id: id, rows: [[.null]])),
      .batch(BatchRequest(id: id, entity: entity, operation: .delete(predicate: ""))),
      .importGraph(ImportRequest(id: id, rows: 0)), .presence([1]),
    ]
  }

  @Test func readerBeginsNoWriteWithoutAnEffectToJudge() throws {
    var script = try script(.reader)
    for body in writes(script) { #expect(try script.send(body, 1) == ["1 < refused: notAllowed"], "\(body)") }
    // The hub keeps no state of them.
    #expect(script.hub.counts.registrations == 0 && script.hub.openReads == 0)
    #expect(try script.send(.ping, 1) == ["1 < pong 0"])
  }

  @Test func writerJudgesCommitsAndUndosOfReader() throws {
    var script = try script(.reader)
    let entity = script.note.number
    let change = Change(.delete, ObjectID(key: id.replica, entity: entity), base: .max)
    let bodies: [ToServer.Body] = [
      .commit(Transaction(id: id, changes: [change])), .undo(UndoRequest(id)), .undo(UndoRequest(id, redo: true)),
    ]
    for (index, body) in bodies.enumerated() { #expect(try script.send(body, 1) == ["commit #\(index + 1)"]) }
  }

  @Test func readerReads() throws {
    var script = try script(.reader)
    let reads: [ToServer.Body] = [
      .model, .fetch(Fetch(entity: script.note.number)), .exportGraph, .status, .undoState(scope: nil),
      .subscribe(Subscribe(entity: script.note.number, predicate: "")),
    ]
    for body in reads {
      let lines = try script.send(body, 1)
      #expect(!lines.isEmpty && !lines.contains { $0.contains("refused") }, "\(lines)")
    }
  }

  @Test(arguments: [Role.commenter, .editor, .owner]) func othersChangeEverything(role: Role) throws {
    var script = try script(role)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.send(.undo(UndoRequest(id)), 1) == ["commit #2"])
  }

  @Test func messagesBeforeTheWelcomeAreJudged() throws {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    _ = try script.handle(.opened(1, of: .network))
    let hello = Hello(model: script.model.hash, replica: id.replica, author: "eve", credential: "t")
    _ = try script.send(.hello(hello), 1)
    _ = try script.send(.restore(RestoreRequest(id, .everything, at: 0)), 1)
    let identity = ClientIdentity.user(ann, token: 7, access: GrantedAccess(.reader, of: ann))
    let lines = try script.handle(.authenticated(.success(identity), session: 1))
    #expect(lines.contains("1 < refused: notAllowed") && !lines.contains { $0.hasPrefix("commit") }, "\(lines)")
  }

  @Test func modelIsNotDescribedToClientWithoutToken() throws {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    for session in [1, 2] as [SessionID] {
      _ = try script.handle(.opened(session, of: .network))
      let hello = Hello(
        model: ModelHash(bytes: [UInt8](repeating: 9, count: 16)), replica: id.replica, author: "eve", credential: "t")
      #expect(try script.send(.hello(hello), session) == ["authenticate \(session) by t"])
    }
    let refusal = Refusal(.notAllowed, "the token is wrong")
    guard case .send(let bytes, _)? = script.hub.handle(.authenticated(.failure(refusal), session: 1)).first else {
      Issue.record("a refused client gets no answer")
      return
    }
    #expect(!String(decoding: bytes, as: UTF8.self).contains(script.model.name))
    // After the token, the refusal says which models differ.
    let identity = ClientIdentity.user(ann, token: 7, access: GrantedAccess(.editor, of: ann))
    guard case .send(let answer, _)? = script.hub.handle(.authenticated(.success(identity), session: 2)).first else {
      Issue.record("a client with another model gets no answer")
      return
    }
    #expect(String(decoding: answer, as: UTF8.self).contains(script.model.name))
  }

  @Test func peersHaveTheRoleOfTheirConnection() throws {
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    // Another user of the machine is an editor.
    _ = try script.handle(.opened(2, of: .user(Principal(id: "uid:7", name: "eve"))))
    let hello = Hello(model: script.model.hash, replica: UniqueID(high: 1, low: 2), author: "x")
    #expect(try script.send(.hello(hello), 2) == ["2 < welcome"])
    #expect(try script.save(2, sequence: 1) == ["commit #2"])
  }
}
