import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// A mirror has what its server has, at the state of its token.
@Suite struct MirrorStoreTests {
  private func filled() throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Home")])
    let tag = try store.insert("Tag", ["name": .string("food")])
    for text in ["buy milk", "call Ann"] {
      _ = try store.insert(
        "Note", ["text": .string(text), "board": .object(board), "tags": .objects([tag])])
    }
    return store
  }

  @Test func loadedMirrorHasEveryObjectWithItsRevision() throws {
    let fixture = try MirrorFixture(try filled())
    let overlay = try fixture.mirror.makeOverlay()
    #expect(try fixture.visible(overlay) == fixture.served())
    #expect(try fixture.mirror.head == fixture.server.store.head)
  }

  @Test func emptyServerIsMirrored() throws {
    let fixture = try MirrorFixture(try TestStore(try Fixtures.stickies()))
    #expect(try fixture.mirror.head.revision == 0)
    _ = try fixture.server.insert("Board", ["name": .string("Home")])
    #expect(try fixture.receive().count == 1)
    #expect(try fixture.visible(try fixture.mirror.makeOverlay()) == fixture.served())
  }

  @Test func receivedCommitsKeepMirrorEqual() throws {
    let fixture = try MirrorFixture(try filled())
    let server = fixture.server
    let overlay = try fixture.mirror.makeOverlay()
    let note = try #require(try server.all("Note").first)
    try server.must([try server.update(note.id, "Note.text", .string("buy oat milk"))])
    try server.must([Change(.delete, try #require(try server.all("Note").last).id)])
    _ = try server.insert("Note", ["text": .string("third"), "board": .object(try server.all("Board")[0].id)])
    try fixture.receive()
    #expect(try fixture.visible(overlay) == fixture.served())
    #expect(try fixture.mirror.head == server.store.head)
    // A commit that another process has applied is skipped.
    #expect(try fixture.receive().isEmpty)
  }

  @Test func fullTextIsSearchedAfterLoadAndAfterCommits() throws {
    let fixture = try MirrorFixture(try filled())
    let overlay = try fixture.mirror.makeOverlay()
    let milk = try fixture.find(overlay, "Note", "text SEARCH \"milk\"")
    #expect(milk.count == 1)
    try fixture.server.must([try fixture.server.update(milk[0], "Note.text", .string("buy bread"))])
    try fixture.receive()
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"milk\"").isEmpty)
    #expect(try fixture.find(overlay, "Note", "text SEARCH \"bread\"") == milk)
  }

  @Test func revisionsWithoutVisibleChangesAdvanceTheToken() throws {
    let fixture = try MirrorFixture(try filled())
    let head = try fixture.mirror.head
    let later = Token(store: head.store, revision: head.revision + 5, fingerprint: 77)
    #expect(try fixture.mirror.apply([MirroredCommit(unchangedUpTo: later, time: 1)]).isEmpty)
    #expect(try fixture.mirror.head == later)
  }

  /// The server says of an object that it hides only that it is gone.
  @Test func commitThatHidesAReferredObjectNeedsANewMirror() throws {
    let fixture = try MirrorFixture(try filled())
    let (head, board) = (try fixture.mirror.head, try #require(try fixture.server.all("Board").first))
    let commit = MirroredCommit(
      token: Token(store: head.store, revision: head.revision + 1, fingerprint: 77), time: 1, author: "ann",
      transaction: TransactionID(replica: UniqueID(high: 9, low: 9), sequence: 1), changes: [.deleted(board.id)])
    #expect(throws: MirrorStore.Outdated.self) { _ = try fixture.mirror.apply([commit]) }
    #expect(try fixture.mirror.head == head)
    #expect(try fixture.visible(try fixture.mirror.makeOverlay()) == fixture.served())
    _ = try fixture.server.insert("Tag", ["name": .string("drink")])
    #expect(try fixture.receive().count == 1)
  }

  @Test func pastTextIsCalculatedAsFarAsHistoryReaches() throws {
    let fixture = try MirrorFixture(try filled())
    let server = fixture.server
    let note = try #require(try server.all("Note").first { $0.values.contains(.string("buy milk")) })
    let text = try server.property("Note.text")
    let first = try server.store.head
    try server.must([try server.update(note.id, "Note.text", .string("buy oat milk"))])
    let second = try server.store.head
    try server.must([try server.update(note.id, "Note.color", .string("pink"))])
    try fixture.receive()
    let states = [first, second, try server.store.head]
    #expect(try fixture.mirror.states() == states)
    #expect(MirrorStore.states(at: fixture.path) == states)
    #expect(try fixture.mirror.text(text, of: note.id, at: first.revision) == "buy milk")
    #expect(try fixture.mirror.text(text, of: note.id, at: second.revision) == "buy oat milk")
    // The commits up to the load were never here.
    try MirrorFixture.load(server, fixture.path)
    let loaded = try MirrorStore(path: fixture.path, model: server.model)
    #expect(try loaded.text(text, of: note.id, at: first.revision) == nil)
    #expect(try loaded.text(text, of: note.id, at: server.store.head.revision) == "buy oat milk")
    loaded.close()
    #expect(MirrorStore.states(at: fixture.path + "x").isEmpty)
  }

  @Test func mirrorOfAnotherModelIsNotOpened() throws {
    let fixture = try MirrorFixture(try filled())
    let other = try Fixtures.company()
    #expect(failure { _ = try MirrorStore(path: fixture.path, model: other) }?.code == .modelDiffers)
    #expect(failure { _ = try MirrorStore(path: fixture.path + "x", model: other) }?.code == .notAStore)
  }

  /// A process that is killed before the new mirror has its name leaves the earlier one, without its log but complete.
  /// If another process reads an earlier state of it, there is none instead of an incomplete one.
  @Test(arguments: [false, true]) func replacementThatFailsLeavesNoIncompleteMirror(isRead: Bool) throws {
    let fixture = try MirrorFixture(try filled())
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: fixture.path, configuration: configuration)
    if isRead {
      try reader.inDatabase { database in
        try database.beginTransaction(.deferred)
        _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM _commit")
      }
    }
    _ = try fixture.server.insert("Board", ["name": .string("Work")])
    try fixture.receive()
    let states = try fixture.mirror.states()
    let draft = fixture.folder.path + "/draft"
    try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
    // Its name can be synced, and not given away.
    #expect(failure { try MirrorStore.replace(fixture.path, by: draft + "/.") } != nil)
    #expect(!FileManager.default.fileExists(atPath: fixture.path + "-wal"))
    let left = failure { _ = try MirrorStore(path: fixture.path, model: fixture.server.model) }
    #expect(left?.code == (isRead ? .notAStore : nil))
    if !isRead {
      let mirror = try MirrorStore(path: fixture.path, model: fixture.server.model)
      #expect(try mirror.states() == states)
      mirror.close()
    }
  }

  @Test func loadBeyondLimitIsRefusedAndLeavesEarlierMirror() throws {
    let fixture = try MirrorFixture(try filled())
    var limit = MirrorStore.Limit()
    limit.objects = 3
    let loader = try MirrorLoader(
      path: fixture.path, model: fixture.server.model, store: UniqueID(high: 1, low: 2), limit: limit)
    var images = [ObjectImage]()
    try fixture.server.store.export { images.append($0) }
    #expect(throws: Refusal.self) { try loader.add(images) }
    loader.abandon()
    #expect(try fixture.mirror.head == fixture.server.store.head)
    #expect(MirrorStore.size(of: fixture.path + ".new") == 0)
  }
}
