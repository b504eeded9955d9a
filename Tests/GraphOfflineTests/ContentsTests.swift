import GraphClient
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphTesting
import Testing

@testable import GraphOffline

/// A copy of a graph that is too large for one has the scopes that the user names.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct ContentsTests {
  /// A server with the boards Home (one note) and Work (two notes).
  private func table() async throws -> (OfflineFixture, work: ObjectID) {
    let fixture = try await OfflineFixture(model: try Fixtures.notes())
    let bob = try await fixture.connect("bob")
    let temporary = ObjectID.temporary(9, entity: fixture.entity("Board").number)
    let saved = try await bob.commit(
      [
        Change(.insert, temporary, edits: [fixture.edit("Board.name", .string("Work"))]),
        fixture.insertion(1, "call Ann", on: temporary), fixture.insertion(2, "write", on: temporary),
      ], policy: .error)
    await bob.close()
    let work = try #require(saved.committed.identities.first { $0.temporary == temporary }).permanent
    return (fixture, work)
  }

  private func turnOn(_ replica: OfflineReplica, _ contents: OfflineReplica.Contents?, _ fixture: OfflineFixture)
    async throws -> SyncReport
  {
    try await replica.turnOn(keeping: contents) { try await fixture.connect("ann", replica: $0) }
  }

  private func copied(_ fixture: OfflineFixture) async throws -> [String] {
    let ann = try await fixture.offline()
    let texts = try await fixture.texts(ann)
    await ann.close()
    return texts
  }

  @Test func copyHasTheNamedScopesAndFollowsThem() async throws {
    let (fixture, work) = try await table()
    let small = fixture.replica.limited(toObjects: 4)
    let refusal = await #expect(throws: Refusal.self) { try await turnOn(small, nil, fixture) }
    #expect(refusal?.code == .limit && refusal?.message.contains("--board") == true)
    _ = try await turnOn(small, .scopes([work]), fixture)
    #expect(try fixture.replica.status()?.scopes == [work.key])
    #expect(try await copied(fixture) == ["call Ann", "write"])
    // Commits in it arrive without a load, and others are left out.
    let bob = try await fixture.connect("bob")
    _ = try await bob.commit([fixture.insertion(1, "read", on: work)], policy: .error)
    _ = try await bob.commit([fixture.insertion(1, "buy bread", on: fixture.board)], policy: .error)
    await bob.close()
    let report = try await fixture.synchronize()
    #expect(report.received == 2 && !report.isReloaded)
    #expect(try await copied(fixture) == ["call Ann", "read", "write"])
    await fixture.stop()
  }

  @Test func editsOfTheScopesAreSent() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    try await fixture.saveOffline("buy milk and bread", on: work)
    let report = try await fixture.synchronize()
    #expect(report.sent == 1 && report.parked == 0 && !report.isReloaded)
    #expect(try await copied(fixture) == ["buy milk and bread", "call Ann", "write"])
    #expect(try await fixture.served().count == 4)
    await fixture.stop()
  }

  /// A board that is made without the server stays in the copy when it was sent.
  @Test func newContainerIsKept() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    let ann = try await fixture.offline()
    let temporary = ObjectID.temporary(9, entity: fixture.entity("Board").number)
    _ = try await ann.commit(
      [
        Change(.insert, temporary, edits: [fixture.edit("Board.name", .string("Train"))]),
        fixture.insertion(1, "window seat", on: temporary),
      ], policy: .error)
    await ann.close()
    let report = try await fixture.synchronize()
    #expect(report.sent == 1 && !report.isReloaded)
    #expect(try await copied(fixture) == ["call Ann", "window seat", "write"])
    #expect(try fixture.replica.status()?.scopes?.count == 2)
    #expect(try await fixture.synchronize().isReloaded == false)
    try await reload(fixture)
    #expect(try await copied(fixture) == ["call Ann", "window seat", "write"])
    await fixture.stop()
  }

  private func reload(_ fixture: OfflineFixture) async throws {
    MirrorStore.remove(fixture.replica.path + "/" + ReplicaStore.mirrorName)
    #expect(try await fixture.synchronize().isReloaded)
  }

  @Test func otherScopesAreChosenLater() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, nil, fixture)
    #expect(try fixture.replica.status()?.scopes == nil)
    // The waiting edit is sent before the copy has less.
    try await fixture.saveOffline("buy bread")
    let report = try await turnOn(fixture.replica, .scopes([work]), fixture)
    #expect(report.sent == 1 && report.isReloaded)
    #expect(try await copied(fixture) == ["call Ann", "write"])
    #expect(try await turnOn(fixture.replica, nil, fixture).isReloaded == false)
    #expect(try await turnOn(fixture.replica, .everything, fixture).isReloaded)
    #expect(try await copied(fixture) == ["buy bread", "buy milk", "call Ann", "write"])
    await fixture.stop()
  }

  /// Writes at the beginning of "call Ann" and removes the letter behind, without the server.
  @discardableResult
  private func typeTwice(_ fixture: OfflineFixture) async throws -> ObjectID {
    let ann = try await fixture.offline()
    let note = try #require(
      try await fixture.notes(ann).first { $0[fixture.property("Note.text")] == .string("call Ann") })
    let text = fixture.property("Note.text").number
    var base = note.revision
    for splice in [
      TextSplice(offset: 0, length: 0, insertion: "XYZ"), TextSplice(offset: 3, length: 1, insertion: ""),
    ] {
      let change = Change(.update, note.id, base: base, edits: [Edit(text, .splice([splice]))])
      base = try await ann.commit([change], policy: .error).committed.revision
    }
    await ann.close()
    return note.id
  }

  /// Moves a note to the board Home as another user.
  private func move(_ note: ObjectID, _ fixture: OfflineFixture) async throws {
    try await fixture.other([
      Change(.update, note, base: .max, edits: [fixture.edit("Note.board", .object(fixture.board))])
    ])
  }

  /// The second edit continues a text that the copy no longer has: it waits, and is not sent to another place.
  @Test func textOfANoteThatLeavesIsNotChangedAtAnotherPlace() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    try await move(try await typeTwice(fixture), fixture)
    let report = try await fixture.synchronize()
    #expect(report.sent == 1 && report.parked == 1)
    #expect(try await fixture.served() == ["XYZcall Ann", "buy milk", "write"])
    let parked = try #require(try fixture.replica.conflicts(of: fixture.model).first)
    #expect(parked.message.contains("no longer in this computer's copy"))
    await fixture.stop()
  }

  /// The question whether the server has an edit is never committed.
  @Test func questionForAnEditIsAnsweredWithItsOutcome() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    try await typeTwice(fixture)
    let second = try #require(try fixture.entries().last?.intent)
    #expect(!second.texts.isEmpty)
    let ann = try await fixture.connect("ann", replica: second.transaction.replica)
    let question = second.question
    let refusal = await #expect(throws: Refusal.self) { try await send(question, ann) }
    #expect(refusal?.isTemporary == false)
    let change = fixture.insertion(1, "read", on: work)
    let known = try await send(Transaction(id: question.id, policy: .error, changes: [change]), ann)
    #expect(try await send(question, ann).committed.revision == known.committed.revision)
    #expect(try await fixture.served().count == 4)
    await ann.close()
    await fixture.stop()
  }

  private func send(_ transaction: Transaction, _ client: GraphClient) async throws -> SaveResult {
    try await withCheckedThrowingContinuation { continuation in
      client.send([(transaction.id, .save(transaction))]) { _, outcome in continuation.resume(with: outcome) }
    }
  }

  /// An answer was lost, and the note has left the part since: the edit is on the server, and not in conflict.
  @Test func committedEditOfANoteThatHasLeftIsNoConflict() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    let note = try await typeTwice(fixture)
    // As a run does that ends before the answers.
    let unsent = try fixture.replica.openUnsent()
    let form = IntentForm(fixture.model)
    let intents = try unsent.markLeft([1, 2], at: 1, form: form)
    unsent.close()
    let ann = try await fixture.connect("ann", replica: intents[0].transaction.replica)
    let mirror = try MirrorStore(
      path: fixture.replica.path + "/" + ReplicaStore.mirrorName, model: fixture.model)
    _ = try await send(try intents[0].transaction(over: mirror), ann)
    _ = try mirror.close()
    // The offsets of the second one refer to the text that the first one has made.
    var second = try #require(intents[1].edit(usedNumbers: 0)).transaction
    second.changes[0].base = .max
    _ = try await send(second, ann)
    await ann.close()
    try await move(note, fixture)
    let report = try await fixture.synchronize()
    #expect(report.sent == 2 && report.parked == 0)
    #expect(try await fixture.served() == ["XYZall Ann", "buy milk", "write"])
    await fixture.stop()
  }

  /// Edits of one text over each other are sent before the copy has less.
  @Test func waitingTextIsSentBeforeTheCopyHasLess() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, nil, fixture)
    try await typeTwice(fixture)
    let ann = try await fixture.offline()
    let temporary = ObjectID.temporary(9, entity: fixture.entity("Board").number)
    _ = try await ann.commit(
      [Change(.insert, temporary, edits: [fixture.edit("Board.name", .string("Train"))])], policy: .error)
    await ann.close()
    let report = try await turnOn(fixture.replica, .scopes([fixture.board]), fixture)
    #expect(report.sent == 3 && report.parked == 0 && report.isReloaded)
    #expect(try await fixture.served() == ["XYZall Ann", "buy milk", "write"])
    #expect(try await copied(fixture) == ["buy milk"])
    // The board that waited is kept.
    #expect(try fixture.replica.status()?.scopes?.count == 2)
    #expect(try await turnOn(fixture.replica, .scopes([work]), fixture).isReloaded)
    #expect(try await copied(fixture) == ["XYZall Ann", "write"])
    await fixture.stop()
  }

  /// Commits of a long queue are received while later ones have no answer yet.
  @Test func containersOfALongQueueAreKept() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    let ann = try await fixture.offline()
    let board = fixture.entity("Board")
    for number in 0..<1_300 {
      let change = Change(
        .insert, .temporary(1, entity: board.number), edits: [fixture.edit("Board.name", .string("B\(number)"))])
      _ = try await ann.commit([change], policy: .error)
    }
    await ann.close()
    #expect(try await fixture.synchronize().sent == 1_300)
    let later = try await fixture.offline()
    var count = 0
    for try await chunk in later.images(of: board) { count += chunk.count }
    #expect(count == 1_301)
    await later.close()
    #expect(try fixture.replica.status()?.scopes?.count == 1_301)
    #expect(try await !fixture.synchronize().isReloaded)
    await fixture.stop()
  }

  @Test func choiceThatCannotBeLoadedLeavesTheCopy() async throws {
    let (fixture, work) = try await table()
    let small = fixture.replica.limited(toObjects: 4)
    _ = try await turnOn(small, .scopes([work]), fixture)
    for contents in [OfflineReplica.Contents.everything, .scopes([work, fixture.board])] {
      let refusal = await #expect(throws: Refusal.self) { try await turnOn(small, contents, fixture) }
      #expect(refusal?.code == .limit)
    }
    #expect(try small.status()?.scopes == [work.key])
    try await fixture.saveOffline("read", on: work)
    let report = try await small.synchronize { try await fixture.connect("ann", replica: $0) }
    #expect(report.sent == 1 && !report.isReloaded)
    #expect(try await copied(fixture) == ["call Ann", "read", "write"])
    await fixture.stop()
  }

  /// The copy has an earlier step, which is not the newest one of the user.
  @Test func undoStopsAtAStepThatTheCopyLacks() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    func step(_ text: String, on board: ObjectID) async throws {
      let ann = try await fixture.connect("ann")
      _ = try await ann.commit([fixture.insertion(1, text, on: board)], policy: .error)
      await ann.close()
      _ = try await fixture.synchronize()
    }
    try await step("read", on: work)
    try await step("buy bread", on: fixture.board)
    let ann = try await fixture.offline()
    let refusal = await #expect(throws: Refusal.self) { try await ann.undo(scope: nil) }
    #expect(refusal?.message.contains("needs the server") == true)
    await ann.close()
    try await step("swim", on: work)
    let later = try await fixture.offline()
    _ = try await later.undo(scope: nil)
    #expect(try await fixture.texts(later) == ["call Ann", "read", "write"])
    await later.close()
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["buy bread", "buy milk", "call Ann", "read", "write"])
    await fixture.stop()
  }

  @Test func provisionalNumberOfANoteThatTheCopyLosesIsFound() async throws {
    let (fixture, work) = try await table()
    _ = try await turnOn(fixture.replica, nil, fixture)
    try await fixture.saveOffline("buy bread")
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    let unsent = try fixture.replica.openUnsent()
    defer { unsent.close() }
    #expect(try unsent.assignedNumber(for: ProvisionalNumber.base + 1) == 4)
    await fixture.stop()
  }

  /// Tags are in use on boards that the copy does not have.
  @Test func deleteOfEverythingLeavesWhatAllScopesShare() async throws {
    let (fixture, work) = try await table()
    let tag = Change(
      .insert, .temporary(1, entity: fixture.entity("Tag").number), edits: [fixture.edit("Tag.name", .string("food"))])
    try await fixture.other([tag])
    _ = try await turnOn(fixture.replica, .scopes([work]), fixture)
    let everything = try fixture.replica.objectsToDelete(model: fixture.model)
    #expect(everything.count == 3)
    _ = try await turnOn(fixture.replica, .everything, fixture)
    #expect(try fixture.replica.objectsToDelete(model: fixture.model).count == 6)
    await fixture.stop()
  }

  @Test func objectsThatAreNoContainersAreRefused() async throws {
    let (fixture, work) = try await table()
    for contents in [OfflineReplica.Contents.scopes([]), .scopes([work, fixture.note])] {
      let refusal = await #expect(throws: Refusal.self) { try await turnOn(fixture.replica, contents, fixture) }
      #expect(refusal?.code == .malformed)
      #expect(!fixture.replica.exists)
    }
    await fixture.stop()
  }
}
