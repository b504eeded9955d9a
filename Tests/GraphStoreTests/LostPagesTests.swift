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

  /// The segments of the log are small, so it does not hold a large batch.
  private func openSmall(_ directory: TemporaryDirectory, freeBytes: Int = .max) throws -> TestStore {
    try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = { store, beginning in
        let (folder, size) = (directory.path + "/log", LocalCommitLog.Options(segmentBytes: 4 * 4_096))
        guard let beginning else { return try LocalCommitLog(opening: folder, store: store, options: size) }
        return try LocalCommitLog(beginning: folder, store: store, after: beginning, options: size)
      }
      // With a follower, entries are kept although the log can't hold them.
      options.didCommit = nil
      options.freeBytes = { _ in freeBytes }
    }
  }

  /// The files of a store with three boards whose process was killed.
  private func killed() throws -> TemporaryDirectory {
    let (first, killed) = (try openSmall(TemporaryDirectory()), try TemporaryDirectory())
    for number in 0..<3 { _ = try first.insert("Board", ["name": .string("\(number)")]) }
    #expect(try first.all("Board").count == 3)
    for name in ["graph.sqlite", "graph.sqlite-wal", "log"] {
      try FileManager.default.copyItem(atPath: first.directory.path + "/" + name, toPath: killed.path + "/" + name)
    }
    return killed
  }

  /// The number of boards if the disk has only what a complete checkpoint has synced, and the log.
  private func boardsAfterLoss(of directory: TemporaryDirectory, synced: Data) throws -> Int {
    let lost = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: directory.path + "/log", toPath: lost.path + "/log")
    try synced.write(to: URL(fileURLWithPath: lost.path + "/graph.sqlite"))
    return try openSmall(lost).all("Board").count
  }

  /// The log would begin again behind the batch, without the commits that only it certainly has.
  @Test func batchLargerThanLogWaitsForEndOfRead() throws {
    let killed = try killed()
    let synced = try Data(contentsOf: URL(fileURLWithPath: killed.path + "/graph.sqlite"))
    var store: TestStore?
    func batch(_ store: TestStore) throws -> WriteResult {
      let rows = (0..<150).map { [Value.string("\($0)" + String(repeating: "x", count: 190))] }
      return try store.batch("Board", .insert([try store.property("Board.name").number], rows: rows.count), rows: rows)
    }
    try whileReading(killed) {
      let opened = try openSmall(killed)
      store = opened
      opened.replica = UniqueID(high: 9, low: 9)
      let failure = #expect(throws: StoreFailure.self) { try batch(opened) }
      #expect(failure?.code == .inUse)
      #expect(try opened.all("Board").count == 3)
      _ = try opened.insert("Board", ["name": .string("small")])
      #expect(try #require(opened.store.gathered?.log).needsCheckpoint)
      #expect(try boardsAfterLoss(of: killed, synced: synced) == 4)
    }
    let opened = try #require(store)
    #expect(try batch(opened).record != nil)
    #expect(try #require(opened.store.gathered?.log).needsCheckpoint == false)
    #expect(try opened.all("Board").count == 154)
    try opened.store.close()
    #expect(try StoreCheck.run(directory: killed.path, model: opened.model).isEmpty)
  }

  /// With little space, a store commits without its log, unless only the log certainly has earlier commits.
  @Test func fullDiskKeepsNeededLog() throws {
    let killed = try killed()
    let synced = try Data(contentsOf: URL(fileURLWithPath: killed.path + "/graph.sqlite"))
    try whileReading(killed) {
      let opened = try openSmall(killed, freeBytes: 32 << 20)
      opened.replica = UniqueID(high: 9, low: 9)
      for number in 0..<3 { _ = try opened.insert("Board", ["name": .string("late \(number)")]) }
      #expect(try opened.all("Board").count == 6)
      #expect(try #require(opened.store.gathered?.log).needsCheckpoint)
      #expect(try boardsAfterLoss(of: killed, synced: synced) == 6)
    }
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
