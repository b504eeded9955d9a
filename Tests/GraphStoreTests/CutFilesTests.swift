import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A database file that another program cuts short or overwrites while a store has it open. SQLite does not notice
/// while it has the pages in memory, and the next checkpoint hides the loss.
@Suite struct CutFilesTests {
  private func open(isLogged: Bool) throws -> TestStore {
    let directory = try TemporaryDirectory()
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = isLogged ? SQLiteStore.localLog(in: directory.path) : nil
    }
    _ = try store.insert("Board", ["name": .string("kept")])
    #expect(store.store.fileFailure() == nil)
    return store
  }

  private func size(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.size] as? Int)
  }

  @Test(arguments: [false, true], [0, 5]) func cutDatabaseRefusesCommits(isLogged: Bool, pages: Int) throws {
    let store = try open(isLogged: isLogged)
    let path = store.directory.path + "/graph.sqlite"
    let before = try size(path)
    #expect(truncate(path, pages * 4_096) == 0)
    let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
    #expect(failure?.code == .moved)
    #expect(failure?.sentence == "\(path) was cut short while stickiesd had it open")
    #expect(failure?.cause == "it has \(pages * 4_096) bytes and had \(before)")
    #expect(failure?.advice.contains("Commits are refused") == true)
    let present = store.store.fileFailure()
    #expect(present?.sentence == failure?.sentence && present?.cause == failure?.cause)
    // No later call gives the file its size again.
    store.store.settle()
    #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost too")]) }
    try store.store.close()
    #expect(try size(path) == pages * 4_096)
    #expect(try size(path + "-wal") > 0)
  }

  /// A checkpoint changes the size, and so does the space that a small disk reserves for it.
  @Test(arguments: [false, true]) func growthAndReservedSpaceAreNoDamage(isLogged: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = isLogged ? SQLiteStore.localLog(in: directory.path) : nil
      options.checkpointPages = 20
      options.freeBytes = { _ in 6 << 20 }
    }
    let text = Value.string(String(repeating: "milk ", count: 2_000))
    let board = try store.insert("Board", ["name": .string("B")])
    for _ in 0..<30 { _ = try store.insert("Note", ["board": .object(board), "text": text]) }
    #expect(store.store.fileFailure() == nil)
    try store.reopen()
    #expect(try store.all("Note").count == 30)
    #expect(store.store.fileFailure() == nil)
  }

  /// A rewrite of the file without its free space makes it smaller.
  @Test func compactedDatabaseAcceptsCommits() throws {
    let store = try open(isLogged: false)
    let path = store.directory.path + "/graph.sqlite"
    let board = try store.insert("Board", ["name": .string("B")])
    let text = Value.string(String(repeating: "milk ", count: 20_000))
    for _ in 0..<10 { _ = try store.insert("Note", ["board": .object(board), "text": text]) }
    _ = try store.batch("Note", .delete(.always))
    try store.prune(through: try store.store.head.revision)
    try store.reopen()
    let before = try size(path)
    try store.store.vacuum()
    #expect(try size(path) < before)
    #expect(store.store.fileFailure() == nil)
    _ = try store.insert("Board", ["name": .string("after")])
    #expect(truncate(path, 4_096) == 0)
    #expect(store.store.fileFailure()?.code == .moved)
    try store.store.close()
  }

  /// Writes zeros over the first page. A descriptor of the file that is closed drops SQLite's locks, which no other
  /// process of this test needs.
  private func overwriteHeader(of store: TestStore) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: store.directory.path + "/graph.sqlite"))
    try file.write(contentsOf: Data(count: 4_096))
    try file.close()
  }

  @Test func overwrittenDatabaseRefusesCommits() throws {
    let store = try open(isLogged: false)
    try overwriteHeader(of: store)
    let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
    #expect(failure?.code == .corrupt)
    #expect(failure?.sentence == "\(store.directory.path)/graph.sqlite was overwritten while stickiesd had it open")
  }

  /// The commit log has the commits that were acknowledged before SQLite's next transaction ends.
  @Test func overwrittenDatabaseBehindLogIsNoticedByNextTransaction() throws {
    let store = try open(isLogged: true)
    try overwriteHeader(of: store)
    _ = try store.insert("Board", ["name": .string("in the log")])
    let failure = #expect(throws: StoreFailure.self) { try store.store.head }
    #expect(failure?.code == .corrupt)
    #expect(failure?.sentence == "\(store.directory.path)/graph.sqlite was overwritten while stickiesd had it open")
  }
}
