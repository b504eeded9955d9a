import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphStoreTools

/// The images that a check keeps of the past, beyond those that fit into memory.
@Suite struct PastImagesTests {
  /// A full folder for temporary files is no finding about the store.
  @Test func unwritableTemporaryFileIsNotAFinding() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Work")])
    for number in 0..<60 {
      let text = String(repeating: "word ", count: 200) + "\(number)"
      _ = try store.insert("Note", ["text": .string(text), "board": .object(board)])
    }
    try store.store.close()
    let path = store.directory.path + "/" + StoreFiles.name
    #expect(try StoreCheck.run(file: path, model: store.model, heldObjects: 3).isEmpty)
    let failure = #expect(throws: StoreFailure.self) {
      try StoreCheck.run(file: path, model: store.model, heldObjects: 3, temporaryPages: 1)
    }
    #expect(failure?.code == .full)
    #expect(failure?.sentence == "the check could not write its temporary file and has no result")
    #expect(try StoreCheck.run(file: path, model: store.model, heldObjects: 100, temporaryPages: 1).isEmpty)
  }
}
