import Foundation
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

/// The model of a store's file, read before a program decides how to open it.
@Suite struct StoredModelTests {
  @Test func hashIsReadBesideAnOpenStore() throws {
    let store = try TestStore(try Fixtures.stickies()) { $0.commitLog = nil }
    let path = store.directory.path + "/graph.sqlite"
    #expect(StoredModel.hash(inStoreAt: path) == store.model.hash)
    #expect(try store.insert("Tag", ["name": .string("a")]) != store.insert("Tag", ["name": .string("b")]))
  }

  @Test func otherFilesHaveNone() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/graph.sqlite"
    #expect(StoredModel.hash(inStoreAt: path) == nil)
    for text in ["", "a text", String(repeating: "SQLite format 3\0", count: 20)] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      #expect(StoredModel.hash(inStoreAt: path) == nil)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text, "the file stays as it is")
    }
  }
}
