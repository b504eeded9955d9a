import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Objects that a replica has made without its server, when they get the server's ids.
@Suite struct ServerIDTests {
  @Test func objectKeepsInstanceEditsAndResultUnderItsNewID() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["text": .string("plan")])])
    let query = try #require(script.changes.last?.loaded.first)
    note["x"] = .double(10)
    script.context.assign([script.id(5): script.id(50), script.id(6): script.id(60)])
    #expect(note.id == script.id(50) && note["x"] == .double(10) && note["text"] == .string("plan"))
    #expect(script.context.object(script.id(50)) === note && script.context.object(script.id(5)) == nil)
    #expect(script.context.result(of: query).map(\.id) == [script.id(50)])
    let change = try #require(script.changes.last)
    #expect(change.identified == [script.id(5): script.id(50)])
    #expect(change.departed == [script.id(5)] && change.inserted == [script.id(50)] && change.queries == [query])
    #expect(script.context.save() != nil)
    let sent = script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
    #expect(sent.map(\.id) == [script.id(50)])
  }

  @Test func queryThatNamesAnObjectFollowsItUnderItsNewID() throws {
    let script = try ReplicaTranscript()
    let property = try #require(script.note.property(named: "board"))
    let entity = try #require(script.model.entity(named: "Board"))
    func id(_ number: UInt64) -> ObjectID { ObjectID(key: UniqueID(high: 9, low: number), entity: entity.number) }
    let (old, new) = (id(1), id(2))
    #expect(script.connect(head: 1) == ["welcomed"])
    let values = entity.storedProperties.map { $0.attribute?.defaultValue ?? .null }
    let registered = script.context.register([ObjectImage(id: old, revision: 1, values: values)])
    let board = try #require(registered.first)
    let query = script.context.follow(entity: script.note, predicate: .equal(property, .object(old)))
    _ = script.lines()
    script.context.assign([old: new])
    #expect(board.id == new)
    #expect(script.handle(.disconnected) == [])
    script.context.handle(.connected)
    _ = script.context.takeActions()
    let welcome = Welcome(
      model: script.model, head: script.token(1), session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
      heartbeatMilliseconds: 15_000, lastSequence: 0, principal: "ann", role: .editor)
    script.context.handle(.received(ToClient(1, .welcome(welcome))))
    let predicates = script.context.takeActions().compactMap { action -> String? in
      guard case .send(let message) = action, case .subscribe(let subscribe) = message.body else { return nil }
      return subscribe.predicate
    }
    #expect(predicates.count == 1)
    #expect(predicates.first?.contains(new.description) == true && predicates.first?.contains(old.description) == false)
    withExtendedLifetime((query, board)) {}
  }
}
