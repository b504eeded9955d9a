import Foundation
import GraphModel
import GraphStore
import GraphTesting
import Testing

/// What is refused, with which words, and that the file is left as it was.
@Suite struct OpeningTests {
  private func failure(_ directory: TemporaryDirectory) throws -> StoreFailure? {
    let model = try Fixtures.stickies()
    do {
      _ = try SQLiteStore(directory: directory.path, model: model)
      return nil
    } catch let failure as StoreFailure {
      return failure
    }
  }

  private func expectUntouched(
    _ content: [UInt8], _ code: StoreFailure.Code, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/graph.sqlite"
    try Data(content).write(to: URL(fileURLWithPath: file))
    #expect(try failure(directory)?.code == code, sourceLocation: sourceLocation)
    #expect(FileManager.default.contents(atPath: file).map(Array.init) == content, sourceLocation: sourceLocation)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    #expect(names == ["graph.sqlite", "lock"], sourceLocation: sourceLocation)
  }

  @Test func aFileThatIsNoStoreIsLeftAlone() throws {
    try expectUntouched([], .notAStore)
    try expectUntouched(Array("hello".utf8), .notAStore)
    try expectUntouched([UInt8](repeating: 7, count: 5_000), .notAStore)
  }

  private func header(application: UInt32, version: UInt32) throws -> [UInt8] {
    let store = try TestStore(try Fixtures.stickies())
    try store.store.close()
    var bytes = try #require(
      FileManager.default.contents(atPath: store.directory.path + "/graph.sqlite").map(Array.init))
    for index in 0..<4 {
      bytes[68 + index] = UInt8(truncatingIfNeeded: application >> UInt32(24 - 8 * index))
      bytes[60 + index] = UInt8(truncatingIfNeeded: version >> UInt32(24 - 8 * index))
    }
    return bytes
  }

  @Test func anotherProgramsDatabaseIsLeftAlone() throws {
    try expectUntouched(try header(application: 0x1234, version: 1), .notAStore)
  }

  @Test func aNewerStoreIsLeftAlone() throws {
    try expectUntouched(try header(application: 0x5374_6B79, version: 99), .newerVersion)
  }

  @Test func theSecondOpenerIsToldWhoTheFirstIs() throws {
    let store = try TestStore(try Fixtures.stickies())
    let failure = try failure(store.directory)
    #expect(failure?.code == .inUse)
    #expect(failure?.description.contains("process \(getpid())") == true)
  }

  @Test func anotherModelIsRefused() throws {
    let store = try TestStore(try Fixtures.company())
    try store.store.close()
    #expect(try failure(store.directory)?.code == .modelDiffers)
  }

  @Test func aStoreThatWasNeverClosedOpensAgain() throws {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("B")])
    // What a kill leaves: the database, its log and no goodbye.
    let copy = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: store.directory.path + "/" + name, toPath: copy.path + "/" + name)
    }
    let revived = try SQLiteStore(directory: copy.path, model: store.model)
    #expect(try revived.head == store.store.head)
  }

  @Test func aDamagedFileIsFound() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    for number in 0..<200 {
      _ = try store.insert("Note", ["board": .object(board), "text": .string("note \(number)")])
    }
    try store.store.close()
    let file = store.directory.path + "/graph.sqlite"
    let sound = try #require(FileManager.default.contents(atPath: file).map(Array.init))
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
    let answer = try snapshot(store.directory.path, store.model)
    var random = SeededGenerator(seed: 5)
    for _ in 0..<60 {
      var damaged = sound
      let place = Int.random(in: 100..<damaged.count, using: &random)
      damaged[place] ^= UInt8.random(in: 1...255, using: &random)
      try Data(damaged).write(to: URL(fileURLWithPath: file))
      let findings =
        (try? StoreCheck.run(directory: store.directory.path, model: store.model)) ?? [.init(kind: "open", text: "")]
      if findings.isEmpty {
        #expect(
          try snapshot(store.directory.path, store.model) == answer, "byte \(place) changes the answer and is not found"
        )
      }
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
    }
  }

  private func snapshot(_ directory: String, _ model: Model) throws -> [ObjectImage] {
    let store = try SQLiteStore(directory: directory, model: model)
    defer { try? store.close() }
    var images = [ObjectImage]()
    for entity in model.entities { _ = try store.fetch(.init(entity: entity.number)) { images.append($0) } }
    return images
  }
}
