import Foundation
import GraphClient
import GraphModel
import GraphReplicaStore
import GraphTesting
import GraphWire
import Testing

@testable import GraphOffline

/// `GraphClient.connect(…, offline:)` with a server that answers.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct KeptClientTests {
  private typealias Table = ReplicaConnectorTests.Table

  private func connect(_ table: Table, reconnects: Bool = false) async throws -> GraphClient {
    var options = GraphClient.Options(author: "ann")
    options.reconnects = reconnects
    return try await GraphClient.connect(
      to: table.address, model: table.model, options: options, offline: table.mode)
  }

  /// Makes the copy.
  private func keep(_ table: Table) async throws { try await connect(table).close() }

  private func board(_ client: GraphClient, _ name: String) async throws {
    let entity = try #require(client.context.model.entity(named: "Board"))
    let property = try #require(entity.property(named: "name"))
    _ = try await client.commit(
      [
        Change(
          .insert, .temporary(1, entity: entity.number), edits: [Edit(property.number, .set(.string(name)))])
      ], policy: .error)
  }

  private func revision(_ table: Table) async throws -> Revision {
    let bob = try await table.connect("bob")
    let revision = try await bob.status().head.revision
    await bob.close()
    return revision
  }

  @Test func firstStartMakesTheCopyForLaterOnes() async throws {
    let table = try await Table()
    let ann = try await connect(table, reconnects: true)
    #expect(!ann.isOffline)
    #expect(try table.kept.status() == OfflineReplica.Status(isOn: true, unsent: 0, parked: 0))
    await table.stop()
    await ReplicaConnectorTests().wait(for: ann, offline: true)
    await ann.close()
    let again = try await connect(table)
    #expect(again.isOffline)
    await again.close()
  }

  /// Its owner may close it on another actor, as a service does.
  @Test(arguments: [false, true])
  func clientThatStaysWithTheServerFollowsItsReplicaAndUpdatesTheCopy(isService: Bool) async throws {
    let table = try await Table()
    let ann = try await connect(table)
    #expect(!ann.isOffline)
    #expect(ann.syncStatus.current == OfflineReplica.Status(isOn: true, unsent: 0, parked: 0))
    try await board(ann, "saved with the server")
    if isService { await ann.link.close() } else { await ann.close() }
    await table.stop()
    let away = try await connect(table)
    #expect(away.isOffline)
    let entity = try #require(away.context.model.entity(named: "Board"))
    #expect(try await away.count(of: entity) == 1)
    await away.close()
  }

  @Test func syncThatIsOffStaysOff() async throws {
    let table = try await Table()
    try await keep(table)
    try table.kept.turnOff()
    for reconnects in [false, true] {
      let ann = try await connect(table, reconnects: reconnects)
      #expect(ann.isOffline)
      try await board(ann, "kept \(reconnects)")
      await ann.close()
    }
    #expect(try await revision(table) == 0)
    #expect(try table.kept.status() == OfflineReplica.Status(isOn: false, unsent: 2, parked: 0))
    await table.stop()
  }

  @Test func programStartsWhileAnotherOneSynchronizes() async throws {
    let table = try await Table()
    try await keep(table)
    let lock = try #require(try SenderLock.acquire(folder: table.kept.path))
    let ann = try await connect(table)
    #expect(!ann.isOffline)
    try await board(ann, "online")
    await ann.close()
    withExtendedLifetime(lock) {}
    await table.stop()
  }

  @Test func interruptedResetIsCompletedByTheNextStart() async throws {
    let table = try await Table()
    try await keep(table)
    let unsent = try table.kept.openUnsent()
    defer { unsent.close() }
    /// Each load makes another file.
    func fileNumber() throws -> Int? {
      let attributes = try FileManager.default.attributesOfItem(atPath: table.kept.path + "/mirror.sqlite")
      return attributes[.systemFileNumber] as? Int
    }
    let first = try fileNumber()
    try unsent.setState(.discarding(step: 2))
    try await keep(table)
    let second = try fileNumber()
    #expect(first != second)
    #expect(try unsent.replica.state == .on)
    try unsent.setState(.discarding(step: 2))
    let report = try await table.kept.turnOn { try await table.connect("ann", replica: $0) }
    #expect(report.isReloaded)
    #expect(try unsent.replica.state == .on && fileNumber() != second)
    await table.stop()
  }

  @Test func clientWorksWithTheServerIfTheCopyCannotBeKept() async throws {
    let table = try await Table()
    try await keep(table)
    let clear = try table.obstructLoad(of: table.kept)
    let ann = try await connect(table, reconnects: true)
    #expect(!ann.isOffline && !ann.syncTrouble.current.isEmpty)
    try await board(ann, "online")
    #expect(try await revision(table) == 1)
    try clear()
    await ann.close()
    await table.stop()
  }

  /// Edits that wait for another store stay in the list; without any, the copy becomes one of the new store.
  @Test func otherStoreAtTheAddressGetsACopyUnlessEditsWait() async throws {
    let table = try await Table()
    try await keep(table)
    let first = table.kept.path
    await table.stop()
    let away = try await connect(table)
    try await board(away, "mine")
    await away.close()
    try await table.startWithoutData()
    try await keep(table)
    #expect(table.kept.path == first)
    #expect(try table.kept.status()?.unsent == 1)
    _ = try table.kept.discard(1, model: table.model)
    try await keep(table)
    #expect(table.kept.path != first)
    #expect(try table.kept.status() == OfflineReplica.Status(isOn: true, unsent: 0, parked: 0))
    await table.stop()
  }
}
