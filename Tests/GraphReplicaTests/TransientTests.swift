import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Transient values, which a context holds for its objects and never sends.
@Suite struct TransientTests {
  private func script() throws -> ReplicaTranscript { try ReplicaTranscript(Fixtures.workplace(), entity: "Person") }

  @Test func transientIsNeverSaved() throws {
    let script = try script()
    let person = try ReplicaTests.following(script, [script.image(5, 1, ["name": .string("Ann")])])
    #expect(person["isSelected"] == .bool(false))
    #expect(person["draft"] == .null)
    person["isSelected"] = .bool(true)
    person["draft"] = .string("hm")
    #expect(person["isSelected"] == .bool(true))
    #expect(person["draft"] == .string("hm"))
    #expect(!person.hasChanges && !script.context.hasChanges)
    #expect(script.context.save() == nil)
    #expect(script.lines() == [])
  }

  @Test func invalidTransientValueIsIgnored() throws {
    let script = try script()
    let person = try ReplicaTests.following(script, [script.image(5, 1)])
    person["isSelected"] = .bool(true)
    person["isSelected"] = .integer(1)
    #expect(person["isSelected"] == .bool(true))
    person["isSelected"] = .null
    #expect(person["isSelected"] == .null)
  }

  @Test func transientSurvivesRemoteChangesAndRollback() throws {
    let script = try script()
    let person = try ReplicaTests.following(script, [script.image(5, 1, ["name": .string("Ann")])])
    person["isSelected"] = .bool(true)
    person["rate"] = .integer(9)
    let edits = [Edit(try script.number("name"), .set(.string("Bob")))]
    #expect(script.receive(script.delta(4, 2, [script.update(5, edits, previous: 1)])) == ["revision 2 changes [1]"])
    #expect(person["name"] == .string("Bob"))
    #expect(person["isSelected"] == .bool(true))
    script.context.rollback()
    #expect(person["rate"] == .integer(2))
    #expect(person["isSelected"] == .bool(true))
  }

  @Test func newObjectKeepsTransientsAfterSave() throws {
    let script = try script()
    #expect(script.connect() == ["welcomed"])
    let person = try #require(script.context.insert(script.note))
    person["name"] = .string("Ann")
    person["isSelected"] = .bool(true)
    let before = person.id
    #expect(script.context.save() != nil)
    let sent = script.context.takeActions().compactMap { action -> Transaction? in
      if case .send(let message) = action, case .commit(let transaction) = message.body { transaction } else { nil }
    }
    #expect(sent.flatMap(\.changes).flatMap(\.edits) == [Edit(try script.number("name"), .set(.string("Ann")))])
    let stored = try script.image(5, 1, ["name": .string("Ann")])
    let reply = script.committed(1, [.init(temporary: before, permanent: stored.id)], objects: [stored])
    #expect(script.receive(reply, 2) == ["saved 1 as 1"])
    #expect(person.id == stored.id)
    #expect(person["isSelected"] == .bool(true))
  }

  @Test func insertMatchingExistingObjectKeepsTransients() throws {
    let script = try script()
    let known = try ReplicaTests.following(script, [script.image(5, 1, ["name": .string("Ann")])])
    known["draft"] = .string("old")
    let made = try #require(script.context.insert(script.note))
    made["isSelected"] = .bool(true)
    let before = made.id
    #expect(script.context.save(policy: .objectTrump)?.sequence == 1)
    #expect(script.lines() == ["> commit 1: insert"])
    let reply = script.committed(2, [.init(temporary: before, permanent: known.id)])
    #expect(script.receive(reply, 3) == ["saved 1 as 2"])
    #expect(made.id == known.id)
    for instance in [made, known] {
      #expect(instance["isSelected"] == .bool(true))
      #expect(instance["draft"] == .string("old"))
    }
  }

  @Test func welcomeOmitsTransients() throws {
    let model = try Fixtures.workplace()
    let welcome = Welcome(
      model: model, head: Token(store: .zero, revision: 0, fingerprint: 0), session: 1, server: "", resumed: false,
      maximumFrameSize: 1 << 20, heartbeatMilliseconds: 1, principal: "ann", role: .editor)
    let person = try #require(welcome.entities.first { $0.name == "Person" })
    let names = person.properties.map(\.name)
    #expect(!names.contains("isSelected") && !names.contains("draft"))
    #expect(names.contains("home.street") && names.contains("reports"))
    #expect(person.properties.filter(\.isStored).count == model.entity(named: "Person")?.slotCount)
  }
}
