import Foundation
import GraphClient
import GraphModel
import GraphTesting
import Testing

@testable import GraphOffline

/// The calls of a program for the commands of `stickies sync`.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct SyncCallsTests {
  private let table: ReplicaConnectorTests.Table

  init() async throws { table = try await ReplicaConnectorTests.Table() }

  private func insert(_ name: String, _ client: GraphClient) async throws -> ManagedObject {
    let entity = try #require(client.context.model.entity(named: "Board"))
    let board = try #require(client.context.insert(entity))
    board["name"] = .string(name)
    try await client.save()
    return board
  }

  private func names(_ client: GraphClient) async throws -> [String] {
    let entity = try #require(client.context.model.entity(named: "Board"))
    let name = try #require(entity.property(named: "name"))
    var images = [ObjectImage]()
    for try await chunk in client.images(of: entity) { images += chunk }
    return images.compactMap { $0[name].stringValue }.sorted()
  }

  @Test func syncIsTurnedOffAndOn() async throws {
    let ann = try await table.connected()
    #expect(try await ann.turnSyncOn()?.sent == 0)
    try await ann.turnSyncOff()
    #expect(ann.isOffline && ann.syncStatus.current?.isOn == false)
    let board = try await insert("Home", ann)
    #expect(try table.replica.exportedEdits().count == 1)
    await #expect(throws: Refusal.self) { try await ann.synchronize() }
    #expect(try await ann.turnSyncOn()?.sent == 1)
    #expect(!ann.isOffline && !board.hasChanges)
    #expect(try await ann.synchronize().sent == 0)
    let bob = try await table.connect("bob")
    #expect(try await names(bob) == ["Home"])
    await bob.close()
    await ann.close()
    await table.stop()
  }

  @Test func editsAreExportedDiscardedAndTaken() async throws {
    try await table.turnOn()
    await table.stop()
    let ann = try await table.away()
    _ = try await insert("Home", ann)
    _ = try await insert("Work", ann)
    let forms = try table.replica.exportedEdits()
    #expect(forms.count == 2)
    #expect(try await ann.discardEdit(1) == [forms[0]])
    #expect(try await names(ann) == ["Work"])
    #expect(try await ann.takeEdits([forms[0]]) == [3])
    #expect(try await names(ann) == ["Home", "Work"])
    await #expect(throws: Refusal.self) { try await ann.takeEdits(["nothing"]) }
    await #expect(throws: (any Error).self) { try await ann.resetCopy() }
    #expect(try table.replica.status()?.unsent == 2)
    try await table.start()
    let file = try #require(try await ann.resetCopy(discardingUnsent: true).removedEdits)
    #expect(try String(contentsOf: file, encoding: .utf8).contains("Home"))
    #expect(try await names(ann).isEmpty)
    await ann.close()
    await table.stop()
  }

  @Test func conflictIsRetriedAndEverythingIsDeleted() async throws {
    try await table.turnOn()
    let bob = try await table.connect("bob")
    let board = try await insert("Home", bob)
    try await table.turnOn()
    let ann = try await table.connected()
    try await ann.turnSyncOff()
    let name = try #require(ann.context.model.entity(named: "Board")?.property(named: "name"))
    let change = Change(.update, board.id, base: 1, edits: [Edit(name.number, .set(.string("Mine")))])
    _ = try await ann.commit([change], policy: .error)
    board["name"] = .string("Theirs")
    try await bob.save()
    #expect(try await ann.turnSyncOn()?.parked == 1)
    for await edits in ann.conflicts where !edits.isEmpty { break }
    let parked = try #require(ann.conflicts.current.first)
    try await ann.replaceConflict(
      parked.number, byForm: parked.form.replacing("\"set\":\"Mine\"", with: "\"set\":\"Ours\""))
    _ = try? await ann.synchronize()
    #expect(try await names(bob) == ["Ours"])
    await #expect(throws: Refusal.self) { try await ann.retryConflict(parked.number) }
    let everything = try await ann.objectsToDeleteEverywhere()
    #expect(everything.objects == [board.id])
    let outcome = try await ann.deleteEverywhere(everything)
    #expect(outcome.deleted == 1 && outcome.kept.isEmpty)
    #expect(try await names(bob).isEmpty)
    await bob.close()
    await ann.close()
    await table.stop()
  }

  @Test func clientWithoutAReplicaHasNothingToSynchronize() async throws {
    let bob = try await table.connect("bob")
    let refusal = await #expect(throws: Refusal.self) { try await bob.synchronize() }
    #expect(refusal?.code == .notFound)
    await bob.close()
    await table.stop()
  }
}
