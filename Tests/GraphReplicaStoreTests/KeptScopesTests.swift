import Foundation
import GraphModel
import GraphReplicaStore
import GraphTesting
import Testing

@testable import GraphStore

/// A mirror of some scopes has their objects at each state of the server, and no others.
@Suite struct KeptScopesTests {
  /// A mirror that is loaded again when the commits do not lead to the server's state.
  private final class PartOfGraph {
    let server: TestStore
    let kept: KeptScopes
    let folder: TemporaryDirectory
    private(set) var mirror: MirrorStore
    private(set) var loads = 1

    init(of server: TestStore, _ kept: KeptScopes) throws {
      (self.server, self.kept, folder) = (server, kept, try TemporaryDirectory())
      try MirrorFixture.load(server, folder.path + "/mirror", kept: kept)
      mirror = try MirrorStore(path: folder.path + "/mirror", model: server.model)
    }

    func receive() throws {
      do {
        _ = try mirror.apply(MirrorFixture.commits(of: server, since: mirror.head))
      } catch is MirrorStore.Outdated {
        mirror.close()
        try MirrorFixture.load(server, folder.path + "/mirror", kept: mirror.kept)
        mirror = try MirrorStore(path: folder.path + "/mirror", model: server.model)
        loads += 1
      }
    }

    /// The values of the mirror's objects.
    func values() throws -> [ObjectID: [Value]] {
      var values = [ObjectID: [Value]]()
      try mirror.makeOverlay().export(begin: { _ in }, body: { values[$0.id] = $0.values })
      return values
    }

    /// The values that the mirror should have, computed from the server's objects.
    func expected() throws -> [ObjectID: [Value]] {
      let part = try ScopedGraph.everything(in: server).filter { image in
        guard let scope = server.model.entity(image.id.entity)?.scope else { return true }
        switch scope {
        case .container: return kept.containers.contains(image.id.key)
        case .shared: return true
        case .reference, .stored:
          let key = server.model.entity(image.id.entity).flatMap { $0.scopeKey(of: image, scope) }
          return key.map(kept.containers.contains) != false
        }
      }
      return ReducedGraph(part, seenBy: nil, model: server.model).images.mapValues(\.values)
    }
  }

  @Test(arguments: UInt64(1)...8)
  func mirrorEqualsThePartOfTheServersGraph(seed: UInt64) throws {
    let server = try TestStore(try ScopedGraph.model(sharesTags: seed.isMultiple(of: 2)))
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 { _ = try ScopedGraph.step(server, &random) }
    let boards = try server.all("Board").map(\.id.key)
    let part = try PartOfGraph(of: server, KeptScopes(Set(boards.filter { _ in random.chance(50) })))
    #expect(try part.mirror.kept == part.kept)
    for step in 0..<80 {
      _ = try ScopedGraph.step(server, &random)
      try part.receive()
      let expected = try part.expected()
      #expect(try part.values() == expected, "seed \(seed), step \(step)")
      // A comparison with the server finds no difference.
      let served = try ScopedGraph.everything(in: server).filter { expected[$0.id] != nil }
      let reduced = try part.mirror.read { mirror in try served.map { try mirror.withKnownReferences($0) } }
      #expect(Dictionary(uniqueKeysWithValues: reduced.map { ($0.id, $0.values) }) == expected)
    }
    #expect(try part.mirror.head == server.store.head)
    // Most commits are followed; those that move an object between scopes are not.
    #expect(part.loads < 60)
  }

  @Test func scopeOfANewContainerIsAdded() throws {
    let server = try TestStore(try ScopedGraph.model())
    let first = try server.insert("Board", ["title": .string("first")])
    let part = try PartOfGraph(of: server, KeptScopes([first.key]))
    let second = try server.insert("Board", ["title": .string("second")])
    let third = try server.insert("Board", ["title": .string("third")])
    // Before its commit is received.
    try part.mirror.keep(second.key)
    let note = try server.insert("Note", ["board": .object(second)])
    _ = try server.insert("Note", ["board": .object(third)])
    try part.receive()
    #expect(try Set(part.values().keys) == [first, second, note])
    let again = try MirrorStore(path: part.folder.path + "/mirror", model: server.model)
    #expect(again.kept == KeptScopes([first.key, second.key]))
    again.close()
  }

  @Test func objectThatEntersOrLeavesNeedsANewMirror() throws {
    let server = try TestStore(try ScopedGraph.model())
    let boards = try ["kept", "other"].map { try server.insert("Board", ["title": .string($0)]) }
    let note = try server.insert("Note", ["board": .object(boards[0])])
    let referrer = try server.insert("Note", ["board": .object(boards[0]), "next": .object(note)])
    let part = try PartOfGraph(of: server, KeptScopes([boards[0].key]))
    for (board, loads) in [(boards[1], 2), (boards[0], 3)] {
      try server.must([try server.update(note, "Note.board", .object(board))])
      try part.receive()
      #expect(part.loads == loads)
      #expect(try part.values() == part.expected())
    }
    #expect(try part.values()[referrer]?.contains(.object(note)) == true)
  }

  @Test func onlyKeptObjectsCountForTheLimit() throws {
    let server = try TestStore(try ScopedGraph.model())
    let boards = try ["kept", "other"].map { try server.insert("Board", ["title": .string($0)]) }
    for _ in 0..<5 { _ = try server.insert("Note", ["board": .object(boards[1])]) }
    let folder = try TemporaryDirectory()
    var limit = MirrorStore.Limit()
    limit.objects = 1
    let loader = try MirrorLoader(
      path: folder.path + "/mirror", model: server.model, store: server.store.head.store,
      kept: KeptScopes([boards[0].key]), limit: limit)
    try loader.add(try ScopedGraph.everything(in: server))
    try loader.finish(at: server.store.head, time: 1)
    let other = try MirrorLoader(
      path: folder.path + "/other", model: server.model, store: server.store.head.store,
      kept: KeptScopes([boards[1].key]), limit: limit)
    #expect(throws: Refusal.self) { try other.add(try ScopedGraph.everything(in: server)) }
    other.abandon()
  }

  @Test func keysAreReadBack() {
    let kept = KeptScopes([UniqueID(high: 1, low: 2), UniqueID(high: 3, low: 4)])
    #expect(KeptScopes(bytes: kept.bytes) == kept)
    #expect(KeptScopes(bytes: []) == KeptScopes([]))
    #expect(KeptScopes(bytes: Array(kept.bytes.dropLast())) == nil)
  }
}
