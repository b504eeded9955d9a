import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

/// One object, read beside an open store.
@Suite struct StoredObjectTests {
  @Test func objectIsReadBesideAnOpenStore() throws {
    let store = try TestStore(try ScopedGraph.model()) { $0.commitLog = nil }
    let board = try store.insert("Board", ["title": .string("mine")])
    let found = try StoredObject(board.key, directory: store.directory.path, model: store.model)
    #expect(try found.image == store.image(board))
    #expect(try found.revision == store.store.head.revision)
    let unknown = try StoredObject(UniqueID(high: 9, low: 9), directory: store.directory.path, model: store.model)
    #expect(unknown.image == nil)
    // The store goes on.
    #expect(try store.insert("Board") != board)
  }

  @Test func objectIsFoundByItsUniqueName() throws {
    let store = try TestStore(try Fixtures.notes()) { $0.commitLog = nil }
    let board = try store.insert("Board", ["name": .string("Plans")])
    let name = try store.property("Board.name")
    for (text, expected) in [("Plans", board), ("plans", nil), ("Plans ", nil), ("", nil)] as [(String, ObjectID?)] {
      let found = try StoredObject(with: text, for: name, directory: store.directory.path, model: store.model)
      #expect(found.image?.id == expected, "\(text)")
    }
  }

  @Test func containersAreReadByTheirKeys() throws {
    let store = try TestStore(try Fixtures.notes()) { $0.commitLog = nil }
    let board = try store.insert("Board", ["name": .string("Plans")])
    let note = try store.insert("Note", ["board": .object(board)])
    let keys = [board.key, note.key, UniqueID(high: 9, low: 9)]
    let found = try StoredObject.containers(keys, directory: store.directory.path, model: store.model)
    #expect(found == [try store.image(board)])
  }

  @Test func missingStoreIsReported() throws {
    let folder = try TemporaryDirectory()
    let failure = #expect(throws: StoreFailure.self) {
      try StoredObject(UniqueID(high: 9, low: 9), directory: folder.path, model: try ScopedGraph.model())
    }
    #expect(failure?.code == .notAStore)
  }
}
