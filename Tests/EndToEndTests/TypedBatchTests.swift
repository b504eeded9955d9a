import GraphClient
import GraphTesting
import StickiesKit
import StickiesModel
import Testing

/// Batches over classes: their properties and values are checked by the compiler.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct TypedBatchTests {
  @Test func rowsAreInsertedChangedAndDeleted() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let client = try await Stickies.connect(to: daemon.socket, author: "ann@test", reconnects: false)
    let inserted = try await client.batchInsert(Tag.self, ["a", "b", "c"]) { tag, name in
      tag.name.set(to: name)
    }
    #expect(inserted.changed == 3)

    let updated = try await client.batchUpdate(Tag.self, where: { $0.name != "b" }) {
      $0.name.set(to: $0.name + "!")
    }
    #expect(updated.changed == 2)
    #expect(try await client.fetch(Tag.self, sort: [\.name.ascending]).map(\.name) == ["a!", "b", "c!"])

    let deleted = try await client.batchDelete(Tag.self, where: { $0.name == "b" })
    #expect(deleted.changed == 1)
    #expect(try await client.count(of: Tag.self) == 2)
    #expect(try await client.batchInsert(Tag.self, [String]()) { $0.name.set(to: $1) }.changed == 0)
    await client.close()
    #expect(daemon.stop() == 0)
  }
}
