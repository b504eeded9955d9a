import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphStoreFaults
import GraphTesting
import Testing

/// Files and stores that are refused: the messages, and that the file stays unchanged.
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
    _ content: [UInt8], _ code: StoreFailure.Code, _ words: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let directory = try TemporaryDirectory()
    try Data(content).write(to: URL(fileURLWithPath: directory.path + "/graph.sqlite"))
    let before = try FileState.of(directory)
    let failure = try failure(directory)
    #expect(failure?.code == code, sourceLocation: sourceLocation)
    #expect(failure?.description.contains(words) == true || words.isEmpty, sourceLocation: sourceLocation)
    #expect(failure?.advice.isEmpty == false, sourceLocation: sourceLocation)
    #expect(try FileState.of(directory) == before, sourceLocation: sourceLocation)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    #expect(names == ["graph.sqlite", "lock"], sourceLocation: sourceLocation)
  }

  @Test func fileThatIsNoStoreIsUnchanged() throws {
    try expectUntouched([], .notAStore)
    try expectUntouched(Array("hello".utf8), .notAStore)
    try expectUntouched([UInt8](repeating: 7, count: 5_000), .notAStore)
  }

  /// The bytes of a sound store, with some bytes changed.
  private func file(_ changes: (offset: Int, bytes: [UInt8])...) throws -> [UInt8] {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("B")])
    try store.store.close()
    var bytes = try #require(
      FileManager.default.contents(atPath: store.directory.path + "/graph.sqlite").map(Array.init))
    for change in changes {
      bytes.replaceSubrange(change.offset..<(change.offset + change.bytes.count), with: change.bytes)
    }
    return bytes
  }

  @Test func databaseOfOtherProgramIsUnchanged() throws {
    try expectUntouched(try file((68, [0, 0, 0x12, 0x34])), .notAStore, "another program")
  }

  @Test func newerStoreIsUnchanged() throws {
    try expectUntouched(try file((60, [0, 0, 0, 99])), .newerVersion, "its layout is 99")
    try expectUntouched(try file((60, [0, 0, 99, 3])), .newerVersion, "its full-text index has version 99")
  }

  /// Page size, journal versions, kept bytes, fractions, schema's format, encoding, a layout that never was.
  @Test func damagedHeaderIsReportedAndUnchanged() throws {
    let damages: [(Int, [UInt8])] = [
      (16, [0x11, 0]), (16, [0, 0]), (18, [3]), (19, [9]), (20, [1]), (21, [65]), (44, [0, 0, 0, 9]),
      (56, [0, 0, 0, 2]),
      (60, [0, 0, 0, 0]), (60, [0x80, 0, 0, 1]),
    ]
    for (offset, bytes) in damages {
      try expectUntouched(try file((offset, bytes)), .corrupt, "the header of")
    }
  }

  @Test func secondOpenerReportsFirst() throws {
    let store = try TestStore(try Fixtures.stickies())
    let failure = try failure(store.directory)
    #expect(failure?.code == .inUse)
    #expect(failure?.description.contains("process \(getpid())") == true)
  }

  @Test func otherModelIsRefused() throws {
    let store = try TestStore(try Fixtures.company())
    try store.store.close()
    #expect(try failure(store.directory)?.code == .modelDiffers)
  }

  @Test func storeWithoutModelIsCorrupt() throws {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("B")])
    try store.store.close()
    let database = try DatabaseQueue(path: store.directory.path + "/graph.sqlite")
    try database.write { try $0.execute(sql: "DELETE FROM _model") }
    try database.close()
    let failure = try failure(store.directory)
    #expect(failure?.code == .corrupt)
    #expect(failure?.description.contains("has no model") == true)
  }

  @Test func uncleanlyClosedStoreOpens() throws {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("B")])
    // The files after a kill: the database and its log.
    let copy = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: store.directory.path + "/" + name, toPath: copy.path + "/" + name)
    }
    let revived = try SQLiteStore(directory: copy.path, model: store.model)
    #expect(try revived.head == store.store.head)
  }

  @Test func fileSystemWithoutLocksIsReportedAndUnchanged() throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory)
    _ = try store.insert("Board", ["name": .string("B")])
    try store.store.close()
    let before = try FileState.of(directory)
    CrashableFiles.fail(directory.path, with: .cannotLock)
    let refused = try failure(directory)
    #expect(refused?.code == .cannotLock)
    #expect(refused?.advice.contains("local file system") == true)
    #expect(try FileState.of(directory) == before)
    CrashableFiles.fail(directory.path, with: nil)
    #expect(try failure(directory) == nil)
  }

  @Test func fullDiskLeavesNoPartialStore() throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    // Creating a store is interrupted at every step.
    for operations in [0, 1, 5, 20] {
      CrashableFiles.fail(directory.path, with: .fullAfter(operations: operations))
      #expect(try failure(directory)?.code == .full, "after \(operations) writes")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["lock"])
    }
    CrashableFiles.fail(directory.path, with: nil)
    #expect(try failure(directory) == nil)
  }
}
