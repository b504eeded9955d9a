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
    // What waits is sent before the copy has less.
    try await fixture.saveOffline("buy bread")
    let report = try await turnOn(fixture.replica, .scopes([work]), fixture)
    #expect(report.sent == 1 && report.isReloaded)
    #expect(try await copied(fixture) == ["call Ann", "write"])
    #expect(try await turnOn(fixture.replica, nil, fixture).isReloaded == false)
    #expect(try await turnOn(fixture.replica, .everything, fixture).isReloaded)
    #expect(try await copied(fixture) == ["buy bread", "buy milk", "call Ann", "write"])
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
