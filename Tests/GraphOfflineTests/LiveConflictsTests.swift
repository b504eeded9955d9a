import Foundation
import GraphClient
import GraphModel
import GraphTesting
import Testing

@testable import GraphOffline

/// The live lists of a client: what waits, and what the server has refused.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LiveConflictsTests {
  @Test func listFollowsWhatOtherConnectionsWrite() async throws {
    let fixture = try await OfflineFixture.turnedOn()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    let status = ann.syncStatus
    #expect(status.current == OfflineReplica.Status(isOn: true, unsent: 0, parked: 0))
    var conflicts = ann.conflicts.makeAsyncIterator()
    #expect(await conflicts.next() == [])
    _ = try await ann.commit(
      [Change(.update, fixture.note, base: seen, edits: [fixture.edit("Note.color", .string("blue"))])],
      policy: .error)
    for await value in status where value?.unsent == 1 { break }
    try await fixture.other(
      [Change(.update, fixture.note, base: .max, edits: [fixture.edit("Note.color", .string("green"))])])
    try await fixture.synchronize()
    let parked = try #require(await conflicts.next())
    #expect(parked.map(\.number) == [1] && parked.first?.author == "ann")
    #expect(parked.first?.conflicts.map(\.theirs) == [.string("green")])
    #expect(parked.first?.changes.count == 1 && parked.first?.form.contains("blue") == true)
    #expect(ann.conflicts.current == parked)
    for await value in status where value?.parked == 1 { break }
    #expect(try fixture.replica.discard(1, model: fixture.model).count == 1)
    #expect(await conflicts.next() == [])
    await ann.close()
    #expect(await conflicts.next() == nil)
    await fixture.stop()
  }

  @Test func clientWithoutReplicaHasNoConflicts() async throws {
    let fixture = try await OfflineFixture()
    let bob = try await fixture.connect("bob")
    #expect(bob.conflicts.current.isEmpty && bob.syncStatus.current == nil)
    var lists = [[OfflineReplica.ParkedEdit]]()
    for await list in bob.conflicts { lists.append(list) }
    #expect(lists == [[]])
    await bob.close()
    await fixture.stop()
  }
}
