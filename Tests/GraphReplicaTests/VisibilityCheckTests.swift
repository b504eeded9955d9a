import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Held objects outside live queries, after the roles of the user or the server's rules have changed.
@Suite struct VisibilityCheckTests {
  /// The roles that a server sends.
  private static func rights(_ scopes: UInt64...) -> ToClient.Body {
    let grants = scopes.map { Grant(.editor, on: UniqueID(high: 2, low: $0)) }
    return .rights(Welcome.GrantEntry.all(of: Rights(user: "user:1", grants: grants)))
  }

  /// The messages that the client sends in answer to one of the server.
  private static func requests(_ script: ReplicaTranscript, _ body: ToClient.Body) -> [String] {
    script.receive(body).filter { $0.hasPrefix(">") }
  }

  @Test func fetchedObjectThatIsNoLongerVisibleIsRemoved() throws {
    let script = try ReplicaTranscript()
    let home = try script.id(1, of: "Board")
    let notes = try FaultTests.fetched(script, [script.image(5, 1, ["board": .object(home)]), script.image(6, 1)])
    #expect(Self.requests(script, Self.rights(1)) == ["> fetch Note: id IN {5, 6}"])
    #expect(!notes[0].isDeleted && !notes[1].isDeleted)
    // The board is not visible: its note shows no reference, at the same revision.
    #expect(script.receive(script.last([try script.image(5, 1)], at: 4), 2) == [])
    #expect(!notes[0].isDeleted && notes[1].isDeleted)
    #expect(notes[0]["board"] == .null)
    #expect(script.changes.map(\.deleted) == [[script.id(6)]] && script.changes.map(\.refreshed) == [[script.id(5)]])
    // Equal roles need no check.
    #expect(Self.requests(script, Self.rights(1)) == [])
  }

  /// The server refuses a read that was under way, so the check does not wait for it.
  @Test func checkRequestsWhatAnEarlierRequestNames() throws {
    let script = try ReplicaTranscript()
    let home = try script.id(1, of: "Board")
    let note = try FaultTests.fetched(script, [script.image(5, 1, ["board": .object(home)])])[0]
    let board = try #require(note.object(try script.number("board"), ManagedObject.self))
    let load = script.context.load([board])
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {1}"])
    #expect(Self.requests(script, Self.rights(1)) == ["> fetch Note: id IN {5}"])
    #expect(script.receive(.refused(Refusal(.unavailable, "")), 2) == ["load \(load) failed: unavailable"])
    #expect(Self.requests(script, Self.rights(2)) == ["> fetch Note: id IN {5}"])
    // The answer to the first check is refused by the second change of roles.
    #expect(script.receive(.refused(Refusal(.unavailable, "")), 3) == [])
    #expect(script.receive(script.last([], at: 2), 4) == [])
    #expect(note.isDeleted)
  }

  /// With other roles the object is visible again, before the first answer arrives.
  @Test func answerForEarlierRolesRemovesNothing() throws {
    let script = try ReplicaTranscript()
    let note = try FaultTests.fetched(script, [script.image(5, 1)])[0]
    #expect(Self.requests(script, Self.rights(1)) == ["> fetch Note: id IN {5}"])
    #expect(Self.requests(script, Self.rights(2)) == ["> fetch Note: id IN {5}"])
    #expect(script.receive(script.last([], at: 1), 2) == [])
    #expect(!note.isDeleted)
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 3) == [])
    #expect(!note.isDeleted && script.changes.isEmpty)
  }

  @Test func checkIsRepeatedOnTheNextConnection() throws {
    let script = try ReplicaTranscript()
    let note = try FaultTests.fetched(script, [script.image(5, 1)])[0]
    #expect(Self.requests(script, Self.rights(1)) == ["> fetch Note: id IN {5}"])
    #expect(script.handle(.disconnected) == [])
    // The roles of the welcome are those of the last message.
    let rights = Rights(user: "ann", grants: [Grant(.editor, on: UniqueID(high: 2, low: 1))])
    #expect(script.connect(head: 1, rights: rights) == ["welcomed", "> fetch Note: id IN {5}"])
    #expect(script.receive(script.last([], at: 1), 2) == [])
    #expect(note.isDeleted)
    // The check is complete, and the next connection needs none.
    #expect(script.handle(.disconnected) == [])
    _ = script.context.register([try script.image(6, 1)])
    #expect(script.connect(head: 1, rights: rights) == ["welcomed"])
  }

  @Test func rolesThatChangedWithoutConnectionAreChecked() throws {
    let script = try ReplicaTranscript()
    let note = try FaultTests.fetched(script, [script.image(5, 1)])[0]
    #expect(script.handle(.disconnected) == [])
    let rights = Rights(user: "ann", grants: [Grant(.reader, on: UniqueID(high: 2, low: 1))])
    #expect(script.connect(head: 1, rights: rights) == ["welcomed", "> fetch Note: id IN {5}"])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 2) == [])
    #expect(!note.isDeleted && script.changes.isEmpty)
  }

  /// The server was restarted with a model that has other rules for reading, and the same hash.
  @Test func rulesThatChangedWithoutConnectionAreChecked() throws {
    let script = try ReplicaTranscript()
    let rights = Rights(user: "ann", role: .editor)
    #expect(script.connect(head: 1, rights: rights, rules: 7) == ["welcomed"])
    let objects = script.context.register([try script.image(5, 1), try script.image(6, 1)])
    #expect(script.handle(.disconnected) == [])
    // A connection with equal rules reads nothing again.
    #expect(script.connect(head: 1, rights: rights, rules: 7) == ["welcomed"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 1, rights: rights, rules: 8) == ["welcomed", "> fetch Note: id IN {5, 6}"])
    #expect(script.receive(script.last([try script.image(6, 1)], at: 1), 2) == [])
    #expect(objects.map(\.isDeleted) == [true, false])
    #expect(script.changes.map(\.deleted) == [[script.id(5)]])
    // The check is answered, and changed roles keep the rules.
    #expect(Self.requests(script, Self.rights(1)) == ["> fetch Note: id IN {6}"])
    #expect(script.receive(script.last([try script.image(6, 1)], at: 1), 3) == [])
    #expect(!objects[1].isDeleted)
  }

  /// The query ends before it has shown what is visible with the new roles.
  @Test func objectsOfAQueryThatEndsAreChecked() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1), script.image(6, 1)])
    #expect(Self.requests(script, Self.rights(1)) == [])
    script.context.unfollow(1)
    script.context.sendLoads()
    // Nothing holds the other note.
    #expect(script.lines() == ["> unfollow 4", "> fetch Note: id IN {5}"])
    #expect(script.receive(script.last([], at: 1), 4) == [])
    #expect(note.isDeleted)
    // Without other roles an end needs no check.
    let query = script.context.follow(entity: script.note)
    script.context.unfollow(query)
    script.context.sendLoads()
    #expect(!script.lines().contains { $0.hasPrefix("> fetch") })
  }

  /// A query with a condition does not say whether an object that leaves it still exists.
  @Test func objectThatLeavesAReloadedQueryIsChecked() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let condition = try GraphPredicate(parsing: "x >= 0", entity: script.note, model: script.model)
    let query = script.context.follow(entity: script.note, predicate: condition)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let images = try (5...7).map { try script.image($0, 1) }
    #expect(script.receive(script.last(images, at: 1), 2) == [])
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 3 at 1"])
    let notes = Array(script.context.result(of: query).prefix(2))
    #expect(notes.map(\.id) == [script.id(5), script.id(6)])
    // All held objects are in the query.
    #expect(Self.requests(script, Self.rights(1)) == [])
    #expect(script.receive(.reset(query: 4, reason: "your rights were changed")) == [])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == [])
    #expect(script.receive(script.last([images[0]], at: 1), 2) == [])
    // Nothing holds the third one.
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 1 at 1", "> fetch Note: id IN {6}"])
    #expect(script.receive(script.last([], at: 1), 3) == [])
    #expect(!notes[0].isDeleted && notes[1].isDeleted)
    #expect(script.changes.last?.deleted == [script.id(6)])
  }
}
