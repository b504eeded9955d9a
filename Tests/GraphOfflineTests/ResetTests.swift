import Foundation
import GraphClient
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphTesting
import Testing

@testable import GraphOffline

/// *Delete local and resync*, and *delete local and remote*.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct ResetTests {
  @Test func resetKeepsUnsentEditsAndDeletesNothing() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("kept")
    let (file, report) = try await fixture.replica.reset(discardingUnsent: false) {
      try await fixture.connect("ann", replica: $0)
    }
    #expect(file == nil && report.sent == 1)
    #expect(try await fixture.served() == ["buy milk", "kept"])
    await fixture.stop()
  }

  @Test func discardedEditsAreInAFile() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("given up")
    let (file, _) = try await fixture.replica.reset(discardingUnsent: true) {
      try await fixture.connect("ann", replica: $0)
    }
    #expect(try await fixture.served() == ["buy milk"])
    let lines = try String(contentsOfFile: try #require(file), encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(lines.count == 1)
    // They can be taken again.
    #expect(try fixture.replica.take(lines, model: fixture.model).numbers == [2])
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["buy milk", "given up"])
    await fixture.stop()
  }

  @Test func deleteEverywhereKeepsWhatOthersHaveChanged() async throws {
    let fixture = try await OfflineFixture.turnedOn()
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

  /// While the user is asked, the copy goes on to follow the server.
  @Test func deleteEverywhereKeepsWhatOthersChangeWhileTheUserIsAsked() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.other([fixture.insertion(1, "second", on: fixture.board)])
    try await fixture.synchronize()
    let everything = try fixture.replica.objectsToDelete(model: fixture.model)
    try await fixture.other(
      [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    try await fixture.synchronize()
    let outcome = try await fixture.replica.deleteEverywhere(everything) {
      try await fixture.connect("ann", replica: $0)
    }
    #expect(Set(outcome.kept) == [fixture.note, fixture.board])
    #expect(try await fixture.served() == ["buy milk"])
    await fixture.stop()
  }

  @Test func deleteEverywhereIsRefusedIfAnEditWaitsByThen() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let everything = try fixture.replica.objectsToDelete(model: fixture.model)
    try await fixture.saveOffline("new")
    let refusal = await #expect(throws: Refusal.self) {
      try await fixture.replica.deleteEverywhere(everything) { try await fixture.connect("ann", replica: $0) }
    }
    #expect(refusal?.code == .denied)
    #expect(try await fixture.served() == ["buy milk"])
    await fixture.stop()
  }

  @Test func deleteEverywhereIsRefusedIfTheServerHasLostWhatTheUserSaw() async throws {
    let fixture = try await OfflineFixture()
    try await fixture.backUp()
    try await fixture.other([fixture.insertion(1, "second", on: fixture.board)])
    try await fixture.turnOn()
    let everything = try fixture.replica.objectsToDelete(model: fixture.model)
    try await fixture.restore()
    let refusal = await #expect(throws: Refusal.self) {
      try await fixture.replica.deleteEverywhere(everything) { try await fixture.connect("ann", replica: $0) }
    }
    #expect(refusal?.code == .conflict)
    #expect(try await fixture.served() == ["buy milk"])
    await fixture.stop()
  }

  /// Otherwise the server answers with the outcome of what the original has sent under that number.
  @Test func copyDeletesUnderAnIDOfItsOwn() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let copy = try fixture.copyReplica()
    try await fixture.saveOffline("original")
    #expect(try await fixture.synchronize().sent == 1)
    let everything = try copy.objectsToDelete(model: fixture.model)
    _ = try await copy.deleteEverywhere(everything) { try await fixture.connect("ann", replica: $0) }
    #expect(try await !fixture.served().contains("buy milk"))
    await fixture.stop()
  }

  @Test(arguments: [false, true]) func resetWithoutTheServerChangesNothing(isOff: Bool) async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("kept")
    if isOff { try fixture.replica.turnOff() }
    await #expect(throws: Refusal.self) {
      try await fixture.replica.reset(discardingUnsent: false) { _ in throw Refusal(.unavailable, "no server") }
    }
    #expect(try fixture.replica.status() == OfflineReplica.Status(isOn: !isOff, unsent: 1, parked: 0))
    await fixture.stop()
  }

  @Test func editsAreNotDiscardedWithoutTheServer() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("kept")
    let refusal = await #expect(throws: Refusal.self) {
      try await fixture.replica.reset(discardingUnsent: true) { _ in throw Refusal(.unavailable, "no server") }
    }
    #expect(refusal?.message == "no server")
    #expect(try fixture.entries().count == 1)
    await fixture.stop()
  }

  @Test func errorAfterEditsAreDiscardedNamesTheirFile() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    try await fixture.saveOffline("kept")
    var attempts = 0
    let refusal = await #expect(throws: Refusal.self) {
      try await fixture.replica.reset(discardingUnsent: true) { id in
        attempts += 1
        if attempts > 1 { throw Refusal(.unavailable, "the server is lost") }
        return try await fixture.connect("ann", replica: id)
      }
    }
    let file = try #require(refusal?.message.components(separatedBy: "the removed edits are in ").last)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("kept"))
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }

  @Test func filesAreMadeByOneProgramAtATime() async throws {
    let fixture = try await OfflineFixture()
    let ann = try await fixture.connect("ann")
    let welcome = try #require(ann.welcome)
    await ann.close()
    let folder = fixture.replica.folder.folder(store: welcome.head.store, principal: welcome.principal)
    try StoreFiles.prepare(directory: folder)
    let lock = try #require(try SenderLock.acquire(folder: folder))
    let refusal = await #expect(throws: Refusal.self) { try await fixture.turnOn() }
    #expect(refusal?.code == .conflict && !fixture.replica.exists)
    withExtendedLifetime(lock) {}
    await fixture.stop()
  }
}
