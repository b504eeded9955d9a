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
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
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

  @Test func conflictIsParkedWithBothValuesAndLaterEditsContinue() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
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

  @Test func editOfDeletedObjectIsParkedAndTheObjectStaysDeleted() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
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
    let later = try await fixture.offline()
    #expect(try await fixture.texts(later).isEmpty)
    await later.close()
    await fixture.stop()
  }

  @Test func editThatAPolicyDropsIsParked() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
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
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
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
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, "once", on: fixture.board)], policy: .error)
    await ann.close()
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
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
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
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let current = try #require(fixture.replica.folder.current)
    let folder = fixture.directory.path + "/copies"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: fixture.replica.folder.path, toPath: folder + "/server")
    let copy = OfflineReplica(in: folder, name: "server")
    #expect(copy.folder.current != nil && copy.folder.current != current)
    for (replica, text) in [(fixture.replica, "original"), (copy, "copy")] {
      let client = try await replica.open(model: fixture.model, options: GraphClient.Options(author: "ann"))
      _ = try await client.commit([fixture.insertion(1, text, on: fixture.board)], policy: .error)
      await client.close()
      let report = try await replica.synchronize { try await fixture.connect("ann", replica: $0) }
      #expect(report.sent == 1)
    }
    #expect(try await fixture.served() == ["buy milk", "copy", "original"])
    await fixture.stop()
  }

  @Test func syncThatIsOffSendsNothingAndKeepsEverything() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    try fixture.replica.turnOff()
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, "kept", on: fixture.board)], policy: .error)
    await ann.close()
    await #expect(throws: Refusal.self) { try await fixture.synchronize() }
    #expect(try await fixture.served() == ["buy milk"])
    try await fixture.turnOn()
    #expect(try await fixture.served() == ["buy milk", "kept"])
    await fixture.stop()
  }

  @Test func resetKeepsUnsentEditsAndDeletesNothing() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, "kept", on: fixture.board)], policy: .error)
    await ann.close()
    let (file, report) = try await fixture.replica.reset(discardingUnsent: false) {
      try await fixture.connect("ann", replica: $0)
    }
    #expect(file == nil && report.sent == 1)
    #expect(try await fixture.served() == ["buy milk", "kept"])
    await fixture.stop()
  }

  @Test func discardedEditsAreInAFile() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, "given up", on: fixture.board)], policy: .error)
    await ann.close()
    let (file, _) = try await fixture.replica.reset(discardingUnsent: true) {
      try await fixture.connect("ann", replica: $0)
    }
    #expect(try await fixture.served() == ["buy milk"])
    let lines = try String(contentsOfFile: try #require(file), encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(lines.count == 1)
    // They can be taken again.
    #expect(try fixture.replica.take(lines, model: fixture.model) == [2])
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["buy milk", "given up"])
    await fixture.stop()
  }

  @Test func deleteEverywhereKeepsWhatOthersHaveChanged() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    try await fixture.other([fixture.insertion(1, "second", on: fixture.board)])
    try await fixture.synchronize()
    let objects = try fixture.replica.objectsToDelete(model: fixture.model)
    #expect(objects.count == 3)
    try await fixture.other(
      [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    let outcome = try await fixture.replica.deleteEverywhere(objects) { try await fixture.connect("ann", replica: $0) }
    #expect(outcome.deleted == 1)
    #expect(Set(outcome.kept) == [fixture.note, fixture.board])
    #expect(try await fixture.served() == ["buy milk"])
    await fixture.stop()
  }

  @Test func otherStoreAtTheAddressGetsNothing() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    _ = try await ann.commit([fixture.insertion(1, "mine", on: fixture.board)], policy: .error)
    await ann.close()
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
