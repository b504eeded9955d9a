import Foundation
import GRDB
import GraphLog
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// Pages that the system has lost after it had counted them as written, as after a failed write-back. The store must
/// write them again from a log, and must not release that log before.
@Suite struct LostPagesTests {
  private func open(_ directory: TemporaryDirectory, isLogged: Bool = true, held: Int = 24 << 20) throws -> TestStore {
    try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = isLogged ? SQLiteStore.localLog(in: directory.path) : nil
      options.gatheredCommits = 1
      options.heldLogBytes = held
    }
  }

  /// A connection of another program that reads the store until `body` returns.
  private func whileReading(_ directory: TemporaryDirectory, _ body: () throws -> Void) throws {
    try DatabaseQueue(path: directory.path + "/graph.sqlite").inDatabase { database in
      try database.inTransaction(.deferred) {
        let count = "SELECT count(*) FROM Note"
        let before = try Int.fetchOne(database, sql: count)
        try body()
        #expect(try Int.fetchOne(database, sql: count) == before)
        return .commit
      }
    }
  }

  /// SQLite syncs behind a complete checkpoint only, and the next checkpoint begins where an incomplete one has ended.
  @Test func pagesOfIncompleteCheckpointAreCopiedAgain() throws {
    let directory = try TemporaryDirectory()
    let store = try open(directory, isLogged: false)
    let url = URL(fileURLWithPath: directory.path + "/graph.sqlite")
    let board = try store.insert("Board", ["name": .string("B")])
    let before = try Data(contentsOf: url)
    for number in 0..<20 {
      _ = try store.insert("Note", ["board": .object(board), "text": .string("note \(number)")])
    }
    try whileReading(directory) {
      _ = try store.insert("Note", ["board": .object(board), "text": .string("behind the read")])
      try store.store.pool.writeWithoutTransaction { database in
        let result = try database.checkpoint(.passive)
        #expect(result.checkpointedFrameCount > 0 && result.checkpointedFrameCount < result.walFrameCount)
      }
    }
    // The disk still has the old pages.
    #expect(try Data(contentsOf: url) != before)
    let file = try FileHandle(forUpdating: url)
    try file.write(contentsOf: before)
    try file.close()
    try store.store.pool.writeWithoutTransaction { try store.store.makeDurable($0) }
    try store.reopen()
    #expect(try store.all("Note").count == 21)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// A process was killed, and its successor starts while another program reads the store. The commits that SQLite
  /// shows may not be on disk, so the commit log keeps them.
  @Test func logIsKeptByStartBesideReader() throws {
    let (directory, killed) = (try TemporaryDirectory(), try TemporaryDirectory())
    let first = try open(directory)
    let board = try first.insert("Board", ["name": .string("B")])
    for number in 0..<3 { _ = try first.insert("Note", ["board": .object(board), "text": .string("\(number)")]) }
    #expect(try first.all("Note").count == 3)
    for name in ["graph.sqlite", "graph.sqlite-wal", "log"] {
      try FileManager.default.copyItem(atPath: directory.path + "/" + name, toPath: killed.path + "/" + name)
    }
    var store: TestStore?
    try whileReading(killed) {
      let opened = try open(killed, held: 0)
      store = opened
      let log = try #require(opened.store.gathered?.log)
      #expect(log.needsCheckpoint)
      #expect(log.current?.status.after == 0)
      // Transactions are numbered for each replica.
      opened.replica = UniqueID(high: 9, low: 9)
      _ = try opened.insert("Board", ["name": .string("C")])
      _ = try opened.all("Board")
      #expect(log.needsCheckpoint)
    }
    let opened = try #require(store)
    // The disk loses everything that was not synced by a complete checkpoint; the log has it.
    let lost = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: killed.path + "/log", toPath: lost.path + "/log")
    try FileManager.default.copyItem(atPath: killed.path + "/graph.sqlite", toPath: lost.path + "/graph.sqlite")
    let again = try open(lost)
    #expect(try again.all("Note").count == 3)
    #expect(try again.all("Board").count == 2)
    try again.store.close()
    // The other program has ended: closing the store copies everything into the database.
    try opened.store.close()
    #expect(try StoreCheck.run(directory: killed.path, model: opened.model).isEmpty)
  }
}
