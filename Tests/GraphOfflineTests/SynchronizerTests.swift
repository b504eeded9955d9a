import Foundation
import GraphClient
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphTesting
import Testing

@testable import GraphOffline

/// Edits without the server, sent later: everything arrives, or waits in the list of conflicts.
@MainActor
@Suite(.timeLimit(.minutes(3))) struct SynchronizerTests {
  @Test func editsOfATrainRideArrive() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let added = try await ann.commit([fixture.insertion(1, "call Ann", on: fixture.board)], policy: .error)
    let new = added.committed.identities[0].permanent
    _ = try await ann.commit(
      [Change(.update, new, base: added.committed.revision, edits: [fixture.edit("Note.color", .string("pink"))])],
      policy: .error)
    _ = try await ann.commit([Change(.delete, fixture.note, base: added.committed.revision)], policy: .error)
    #expect(try await fixture.texts(ann) == ["call Ann"])
    await ann.close()
    #expect(try await fixture.served() == ["buy milk"])
    let report = try await fixture.synchronize()
    #expect(report.sent == 3 && report.parked == 0)
    #expect(try await fixture.served() == ["call Ann"])
    #expect(try fixture.entries().isEmpty)
    // The number of the ride continues to name the note.
    let unsent = try fixture.replica.openUnsent()
    #expect(try unsent.assignedNumber(for: ProvisionalNumber.base + 1) == 2)
    unsent.close()
    let later = try await fixture.offline()
    let note = try #require(try await fixture.notes(later).first)
    #expect(note[fixture.property("Note.color")] == .string("pink") && ProvisionalID.parts(of: note.id) == nil)
    await later.close()
    await fixture.stop()
  }

  /// A folder that is not empty can't be replaced by the draft of the copy, as on a full disk.
  @Test func editsAreSentAlthoughNoCopyCanBeLoaded() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    let added = try await ann.commit([fixture.insertion(1, "call Ann", on: fixture.board)], policy: .error)
    let new = added.committed.identities[0].permanent
    _ = try await ann.commit(
      [Change(.update, new, base: added.committed.revision, edits: [fixture.edit("Note.color", .string("pink"))])],
      policy: .error)
    await ann.close()
    let mirror = fixture.replica.path + "/" + ReplicaStore.mirrorName
    let obstacle = mirror + ".new"
    MirrorStore.remove(mirror)
    try FileManager.default.createDirectory(atPath: obstacle + "/x", withIntermediateDirectories: true)
    let failure = await #expect(throws: StoreFailure.self) { try await fixture.synchronize() }
    #expect(failure?.sentence.hasSuffix("; 2 edits were sent") == true)
    #expect(try await fixture.served() == ["buy milk", "call Ann"])
    #expect(try fixture.entries().isEmpty)
    let unsent = try fixture.replica.openUnsent()
    #expect(try unsent.assignedNumber(for: ProvisionalNumber.base + 1) == 2)
    unsent.close()
    try FileManager.default.removeItem(atPath: obstacle)
    #expect(try await fixture.synchronize().isReloaded)
    let later = try await fixture.offline()
    let note = try #require(try await fixture.notes(later).first { $0.id != fixture.note })
    #expect(note[fixture.property("Note.color")] == .string("pink"))
    await later.close()
    await fixture.stop()
  }

  /// The graph has become larger than a copy may be: the edits are sent, and the message says so.
  @Test func editsAreSentAlthoughTheGraphIsTooLargeForACopy() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, "call Ann", on: fixture.board)], policy: .error)
    await ann.close()
    MirrorStore.remove(fixture.replica.path + "/" + ReplicaStore.mirrorName)
    let small = fixture.replica.limited(toObjects: 1)
    let refusal = await #expect(throws: Refusal.self) {
      try await small.synchronize { try await fixture.connect("ann", replica: $0) }
    }
    #expect(refusal?.code == .limit)
    let message = try #require(refusal?.message)
    #expect(message.hasPrefix("the graph that you may see has more than 1 objects"))
    #expect(message.hasSuffix("; 1 edit was sent"))
    #expect(try await fixture.served() == ["buy milk", "call Ann"])
    #expect(try fixture.replica.status()?.unsent == 0)
    await fixture.stop()
  }

  @Test func graphThatIsTooLargeMakesNoReplica() async throws {
    let fixture = try await OfflineFixture()
    let small = fixture.replica.limited(toObjects: 1)
    let refusal = await #expect(throws: Refusal.self) {
      _ = try await small.turnOn { try await fixture.connect("ann", replica: $0) }
    }
    #expect(refusal?.code == .limit && !small.exists)
    await fixture.stop()
  }

  @Test func replicaWhoseFirstLoadFailsIsNone() async throws {
    let fixture = try await OfflineFixture()
    let bob = try await fixture.connect("ann")
    let welcome = try #require(bob.welcome)
    await bob.close()
    let folder = fixture.replica.folder.folder(store: welcome.head.store, principal: welcome.principal)
    let obstacle = folder + "/" + ReplicaStore.mirrorName + ".new"
    try FileManager.default.createDirectory(atPath: obstacle + "/x", withIntermediateDirectories: true)
    await #expect(throws: StoreFailure.self) { try await fixture.turnOn() }
    #expect(!fixture.replica.exists && !FileManager.default.fileExists(atPath: folder + "/" + UnsentFile.name))
    try FileManager.default.removeItem(atPath: obstacle)
    try await fixture.turnOn()
    #expect(fixture.replica.exists)
    await fixture.stop()
  }

  @Test func conflictIsParkedWithBothValuesAndLaterEditsContinue() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    _ = try await ann.commit(
      [Change(.update, fixture.note, base: seen, edits: [fixture.edit("Note.color", .string("blue"))])],
      policy: .error)
    _ = try await ann.commit([fixture.insertion(1, "later", on: fixture.board)], policy: .error)
    await ann.close()
    try await fixture.other(
      [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    let report = try await fixture.synchronize()
    #expect(report.sent == 1 && report.parked == 1)
    #expect(try await fixture.served() == ["buy milk", "later"])
    let entry = try #require(try fixture.entries().first)
    guard case .parked(let parking)? = entry.intent?.state else {
      Issue.record("the conflict is not parked")
      return
    }
    let conflict = try #require(parking.conflicts.first)
    #expect(conflict.mine == .string("blue") && conflict.theirs == .string("green") && conflict.author == "bob")
    // The user sees the server's value until the edit is tried again.
    let between = try await fixture.offline()
    #expect(
      try await fixture.notes(between).first { $0.id == fixture.note }?[fixture.property("Note.color")]
        == .string("green"))
    await between.close()
    try fixture.replica.retry(entry.number, policy: nil, model: fixture.model)
    #expect(try await fixture.synchronize().sent == 1)
    let after = try await fixture.connect("bob")
    #expect(
      try await fixture.notes(after).first { $0.id == fixture.note }?[fixture.property("Note.color")]
        == .string("blue"))
    await after.close()
    await fixture.stop()
  }

  /// A copy that is loaded again lacks the commits of before, so that an edit from before is shown although it will be
  /// in conflict. A later edit of the same value is then in conflict, too.
  @Test func editOverOneThatAReloadCutOffIsInConflictToo() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    func color(_ color: String) async throws {
      let ann = try await fixture.offline()
      let note = try #require(try await fixture.notes(ann).first { $0.id == fixture.note })
      let change = Change(.update, note.id, base: note.revision, edits: [fixture.edit("Note.color", .string(color))])
      _ = try await ann.commit([change], policy: .error)
      await ann.close()
    }
    try await color("blue")
    try await fixture.other(
      [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    // A reset that is interrupted when the copy is loaded.
    let client = try await fixture.connect("ann")
    try await ReplicaSynchronizer.load(fixture.replica.path, client, now: 1)
    await client.close()
    try await color("red")
    let report = try await fixture.synchronize()
    #expect(report.sent == 0 && report.parked == 2)
    let after = try await fixture.connect("bob")
    let stored = try await fixture.notes(after).first { $0.id == fixture.note }
    #expect(stored?[fixture.property("Note.color")] == .string("green"))
    await after.close()
    await fixture.stop()
  }

  @Test func editOfDeletedObjectIsParkedAndTheObjectStaysDeleted() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    _ = try await ann.commit(
      [Change(.update, fixture.note, base: seen, edits: [fixture.edit("Note.text", .string("buy bread"))])],
      policy: .error)
    await ann.close()
    try await fixture.other([Change(.delete, fixture.note)])
    #expect(try await fixture.synchronize().parked == 1)
    #expect(try await fixture.served().isEmpty)
    #expect(try fixture.entries().map(\.isParked) == [true])
    // The server no longer has the text, so the list of conflicts has all that the user wrote.
    let parked = try #require(try fixture.replica.conflicts(of: fixture.model).first)
    #expect(parked.changes.first?.edits == [fixture.edit("Note.text", .string("buy bread"))])
    let later = try await fixture.offline()
    #expect(try await fixture.texts(later).isEmpty)
    await later.close()
    await fixture.stop()
  }

  @Test func editThatAPolicyDropsIsParked() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    // As the commands of the shell save.
    _ = try await ann.commit(
      [
        Change(.update, fixture.note, base: seen, edits: [fixture.edit("Note.text", .string("buy bread"))]),
        fixture.insertion(1, "new", on: fixture.board),
      ], policy: .objectTrump)
    await ann.close()
    try await fixture.other([Change(.delete, fixture.note)])
    #expect(try await fixture.synchronize().parked == 1)
    #expect(try await fixture.served() == ["new"])
    let entry = try #require(try fixture.entries().first)
    #expect(entry.isParked && entry.intent?.changes.map(\.id) == [fixture.note])
    await fixture.stop()
  }

  @Test func textsOfSeveralEditsMergeWithOthers() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let text = fixture.property("Note.text").number
    func splice(_ offset: Int, _ insertion: String) -> Edit {
      Edit(text, .splice([TextSplice(offset: offset, length: 0, insertion: insertion)]))
    }
    var base = try #require(try await fixture.notes(ann).first).revision
    for (offset, insertion) in [(8, ", bread"), (15, ", eggs")] {
      base = try await ann.commit(
        [Change(.update, fixture.note, base: base, edits: [splice(offset, insertion)])], policy: .error
      ).committed.revision
    }
    await ann.close()
    try await fixture.other([Change(.update, fixture.note, base: .max, edits: [splice(0, "today: ")])])
    #expect(try await fixture.synchronize().sent == 2)
    #expect(try await fixture.served() == ["today: buy milk, bread, eggs"])
    await fixture.stop()
  }

  @Test func answerThatWasLostIsAskedForUnderTheSameID() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("once")
    // The program ended between the send and the answer.
    let unsent = try fixture.replica.openUnsent()
    let form = IntentForm(fixture.model)
    let intent = try #require(try unsent.markLeft([1], at: 1, form: form).first)
    let sender = try await fixture.connect("ann", replica: try unsent.replica.id)
    let (outcomes, outcome) = AsyncStream<Bool>.makeStream()
    let transaction = Transaction(id: intent.transaction, changes: intent.changes)
    sender.send([(intent.transaction, .save(transaction))]) { _, result in
      if case .success = result { outcome.yield(true) } else { outcome.yield(false) }
    }
    var iterator = outcomes.makeAsyncIterator()
    #expect(await iterator.next() == true)
    await sender.close()
    unsent.close()
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["buy milk", "once"])
    await fixture.stop()
  }

  @Test func longQueueIsReadSomeAtATimeAndArrivesInOrder() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    // More than are read at once. The last one names the object of the first.
    let count = 600
    var first: ObjectID?
    for number in 0..<count {
      let saved = try await ann.commit([fixture.insertion(1, "note \(number)", on: fixture.board)], policy: .error)
      if number == 0 { first = saved.committed.identities.first?.permanent }
    }
    let pinned = Change(.update, try #require(first), edits: [fixture.edit("Note.pinned", .bool(true))])
    _ = try await ann.commit([pinned], policy: .error)
    await ann.close()
    let report = try await fixture.synchronize()
    #expect(report.sent == count + 1 && report.parked == 0)
    #expect(try fixture.entries().isEmpty)
    let bob = try await fixture.connect("bob")
    let notes = try await fixture.notes(bob)
    await bob.close()
    #expect(notes.count == count + 1)
    let number = fixture.property("Note.number")
    let numbered = notes.sorted { left, right in
      guard case .integer(let left) = left[number], case .integer(let right) = right[number] else { return false }
      return left < right
    }
    let texts = numbered.compactMap { $0[fixture.property("Note.text")].stringValue }
    #expect(texts == ["buy milk"] + (0..<count).map { "note \($0)" })
    #expect(numbered[1][fixture.property("Note.pinned")] == .bool(true))
    await fixture.stop()
  }

  @Test func bothCopiesOfAReplicaKeepTheirEdits() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let current = try #require(fixture.replica.folder.current)
    let copy = try fixture.copyReplica()
    #expect(copy.folder.current != nil && copy.folder.current != current)
    for (replica, text) in [(fixture.replica, "original"), (copy, "copy")] {
      let client = try await replica.open(model: fixture.model, options: GraphClient.Options(author: "ann"))
      _ = try await client.commit([fixture.insertion(1, text, on: fixture.board)], policy: .error)
      await client.close()
      let report = try await replica.synchronize { try await fixture.connect("ann", replica: $0) }
      #expect(report.sent == 1)
      #expect(report.notices == (text == "copy" ? [.copiedReplica] : []))
    }
    #expect(try await fixture.served() == ["buy milk", "copy", "original"])
    await fixture.stop()
  }

  @Test func syncThatIsOffSendsNothingAndKeepsEverything() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try fixture.replica.turnOff()
    try await fixture.saveOffline("kept")
    await #expect(throws: Refusal.self) { try await fixture.synchronize() }
    #expect(try await fixture.served() == ["buy milk"])
    try await fixture.turnOn()
    #expect(try await fixture.served() == ["buy milk", "kept"])
    await fixture.stop()
  }

  @Test func otherStoreAtTheAddressGetsNothing() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("mine")
    let other = try await OfflineFixture()
    let refusal = await #expect(throws: Refusal.self) {
      try await fixture.replica.synchronize { try await other.connect("ann", replica: $0) }
    }
    #expect(refusal?.code == .notAllowed)
    #expect(try await other.served() == ["buy milk"])
    #expect(try fixture.entries().count == 1)
    await other.stop()
    await fixture.stop()
  }
}
