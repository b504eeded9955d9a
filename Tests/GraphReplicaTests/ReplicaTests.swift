import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The client half as a state machine: events, messages to the server, and actions for the owner.
@Suite struct ReplicaTests {
  @Test func instanceStaysSameWhenIDBecomesPermanent() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let note = try #require(script.context.insert(script.note))
    note["text"] = .string("hello")
    let before = note.id
    #expect(before.isTemporary && note.isInserted)
    #expect(script.context.save()?.sequence == 1)
    #expect(script.lines() == ["> commit 1: insert"])
    let stored = try script.image(5, 1, ["text": .string("hello"), "number": .integer(3)])
    let reply = script.committed(1, [.init(temporary: before, permanent: stored.id)], objects: [stored])
    #expect(script.receive(reply, 2) == ["saved 1 as 1"])
    #expect(note.id == stored.id && !note.isInserted && !note.hasChanges)
    // The server's version of it is available without another request.
    #expect(note["number"] == .integer(3))
    #expect(script.context.object(stored.id) === note)
    #expect(script.context.object(before) == nil)
  }

  @Test func unansweredSaveIsResentUnderItsID() throws {
    let script = try ReplicaTranscript()
    #expect(script.context.insert(script.note) != nil)
    #expect(script.context.save() != nil)
    // Without a connection it waits.
    #expect(script.lines() == [])
    #expect(script.connect() == ["welcomed", "> commit 1: insert"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.context.replica.pendingTransactions.map(\.sequence) == [1])
    #expect(script.connect() == ["welcomed", "> commit 1: insert"])
    let identity = CommitResult.IDAssignment(
      temporary: .temporary(1, entity: script.note.number), permanent: script.id(5))
    #expect(script.receive(script.committed(1, [identity]), 2) == ["saved 1 as 1"])
    #expect(script.context.replica.pendingTransactions == [])
    // The save is answered, so the next connection does not repeat it.
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 1) == ["welcomed"])
  }

  @Test func unsavedEditSurvivesRemoteChanges() throws {
    let script = try ReplicaTranscript()
    let note = try Self.following(script, [script.image(5, 1, ["text": .string("one two")])])
    note["x"] = .double(10)
    note["text"] = .string("one two three")
    let (x, y, text) = (try script.number("x"), try script.number("y"), try script.number("text"))
    let theirs = [
      Edit(x, .set(.double(99))), Edit(y, .set(.double(7))),
      Edit(text, .splice([TextSplice(offset: 0, length: 3, insertion: "ONE")])),
    ]
    #expect(script.receive(script.delta(4, 2, [script.update(5, theirs, previous: 1)])) == ["revision 2 changes [1]"])
    // The local value stays, the other client's value arrives, and the text has both edits.
    #expect(note["x"] == .double(10))
    #expect(note["y"] == .double(7))
    #expect(note["text"] == .string("ONE two three"))
    #expect(script.changes.last?.updated[script.id(5)] == [x, y, text])
    #expect(note.hasChanges)
  }

  @Test func rollbackDiscardsUnsavedEdits() throws {
    let script = try ReplicaTranscript()
    let note = try Self.following(script, [script.image(5, 1, ["x": .double(1)])])
    note["x"] = .double(2)
    let made = try #require(script.context.insert(script.note))
    #expect(script.context.hasChanges)
    script.context.rollback()
    #expect(note["x"] == .double(1) && !note.hasChanges)
    #expect(made.isDeleted && script.context.object(made.id) == nil)
    script.context.delete(note)
    #expect(note.isDeleted)
    script.context.rollback()
    #expect(!note.isDeleted && script.context.object(script.id(5)) === note)
    #expect(!script.context.hasChanges && script.context.save() == nil)
    #expect(script.lines() == [])
  }

  @Test func refusedEditsAreUnsavedBelowNewerOnes() throws {
    let script = try ReplicaTranscript()
    let note = try Self.following(script, [script.image(5, 1)])
    note["x"] = .double(1)
    note["y"] = .double(1)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    note["y"] = .double(2)
    #expect(script.receive(.refused(Refusal(.invalid, "no")), 3) == ["1 was refused: invalid"])
    #expect(note["x"] == .double(1) && note["y"] == .double(2) && note.hasChanges)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 2: update"])
  }

  @Test func revisionIsShownOnlyWhenComplete() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    _ = script.context.follow(entity: script.note)
    _ = script.context.follow(entity: script.note, predicate: .never)
    #expect(script.lines() == ["> follow", "> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 2) == [])
    #expect(script.receive(.subscribed(query: 5, resumed: false), 3) == [])
    #expect(script.receive(script.last([], at: 1), 3) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 1 at 1", "query 2 has 0 at 1"])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(4, 2, [script.update(5, [edit], previous: 1)])) == [])
    let fit = Delta.Change(kind: .inserted, id: script.id(5), object: try script.image(5, 2, ["x": .double(3)]))
    #expect(script.receive(script.delta(5, 2, [fit])) == [])
    #expect(script.context.object(script.id(5))?["x"] == .double(0))
    #expect(script.receive(.advance(revision: 2, fingerprint: 2_000)) == ["revision 2 changes [1, 2]"])
    #expect(script.context.object(script.id(5))?["x"] == .double(3))
  }

  @Test func resumedQueryContinuesFromItsToken() throws {
    let script = try ReplicaTranscript()
    let note = try Self.following(script, [script.image(5, 1)])
    let x = try script.number("x")
    let edit = Edit(x, .set(.double(3)))
    #expect(script.receive(script.delta(4, 2, [script.update(5, [edit], previous: 1)])) == ["revision 2 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 2"])
    #expect(script.receive(.subscribed(query: 9, resumed: true), 2) == ["query 1 goes on from 2"])
    let missed = Edit(x, .set(.double(4)))
    #expect(script.receive(script.delta(9, 3, [script.update(5, [missed], previous: 2)])) == ["revision 3 changes [1]"])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == [])
    #expect(note["x"] == .double(4))
  }

  @Test func reloadingQueryNeitherBlocksNorOvertakesOthers() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let dropped = script.context.follow(entity: script.note)
    let kept = script.context.follow(entity: script.note)
    #expect(script.lines() == ["> follow", "> follow"])
    script.context.unfollow(dropped)
    #expect(script.lines() == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == ["> unfollow 4"])
    // The server has sent a reset of the dropped query. The other query is not answered yet, and the shown state waits
    // for its answer.
    #expect(script.receive(.reset(query: 4, reason: "too many changes")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == [])
    #expect(script.receive(.subscribed(query: 5, resumed: false), 3) == [])
    #expect(script.receive(script.last([try script.image(5, 3)], at: 3), 3) == [])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == ["query \(kept) has 1 at 3"])
  }

  @Test func resetQueryShowsOldResultUntilNewOneIsComplete() throws {
    let script = try ReplicaTranscript()
    let note = try Self.following(script, [script.image(5, 1, ["x": .double(1)])])
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let first = try script.image(5, 8, ["x": .double(8)])
    #expect(script.receive(.chunk(Chunk(objects: [first])), 2) == ["> more of 2"])
    #expect(script.context.result(of: 1).map(\.id) == [script.id(5)] && note["x"] == .double(1))
    #expect(script.receive(script.last([try script.image(6, 7)], at: 9), 2) == [])
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 2 at 9"])
    #expect(script.context.result(of: 1).map(\.id) == [script.id(5), script.id(6)])
    #expect(note["x"] == .double(8))
  }

  /// After a change of rights the server loads the query again under another number.
  @Test func reloadedQueryMayHaveAnotherNumber() throws {
    let script = try ReplicaTranscript()
    let note = try Self.following(script, [script.image(5, 1), script.image(6, 1)])
    #expect(script.receive(.reset(query: 4, reason: "your rights were changed")) == [])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == [])
    // The query has this number no longer.
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(4, 2, [script.update(5, [edit], previous: 1)])) == [])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 2), 2) == [])
    #expect(script.receive(.advance(revision: 2, fingerprint: 2_000)) == ["query 1 has 1 at 2"])
    #expect(script.context.result(of: 1).map(\.id) == [script.id(5)] && note["x"] == .double(0))
    #expect(script.receive(script.delta(9, 3, [script.update(5, [edit], previous: 1)])) == ["revision 3 changes [1]"])
    #expect(note["x"] == .double(3))
  }

  /// The new result lacks two held objects: one is damaged, the other was deleted.
  @Test func damagedObjectIsNotTakenForDeleted() throws {
    let script = try ReplicaTranscript()
    let images = try (5...7).map { try script.image($0, 1) }
    let note = try Self.following(script, images)
    let deleted = try #require(script.context.object(script.id(7)))
    note["x"] = .double(10)
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let last = Chunk(
      objects: [try script.image(6, 1)], end: (at: script.token(9), count: 1),
      damage: DamageNotice(objects: [script.id(5)]))
    #expect(script.receive(.chunk(last), 2) == [])
    #expect(
      script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 lacks [5]", "query 1 has 1 at 9"])
    #expect(script.context.result(of: 1).map(\.id) == [script.id(6)])
    #expect(script.context.object(script.id(5)) === note && note["x"] == .double(10))
    #expect(script.context.object(script.id(7)) == nil && deleted.isDeleted)
    // A repair is no commit, so the next connection loads the result again.
    #expect(script.handle(.disconnected) == [])
    let lines = script.connect(head: 9)
    #expect(lines.contains("> follow") && !lines.contains { $0.hasPrefix("> follow since") }, "\(lines)")
  }

  /// Follows all notes as query 1, the server's query 4, from a first result at revision 1; returns its first object.
  static func following(_ script: ReplicaTranscript, _ images: [ObjectImage]) throws -> ManagedObject {
    #expect(script.connect(head: 1) == ["welcomed"])
    let query = script.context.follow(entity: script.note)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last(images, at: 1), 2) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query \(query) has \(images.count) at 1"])
    return try #require(script.context.result(of: query).first)
  }
}
