import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// A read that stays open while commits follow: no checkpoint ends, and SQLite's log grows.
@Suite struct LongReadTests {
  private static let checkpointPages = 64
  /// The bytes of SQLite's log that comparisons have read.
  private let reading = LogReading()

  private final class LogReading: Sendable {
    private let bytes = Mutex(0)

    func add(_ count: Int) { bytes.withLock { $0 += count } }

    /// The bytes since the last call.
    func take() -> Int {
      bytes.withLock { bytes in
        defer { bytes = 0 }
        return bytes
      }
    }
  }

  /// A store in which each commit is a COMMIT of SQLite, when the next one begins.
  private func open() throws -> TestStore {
    let directory = try TemporaryDirectory()
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = SQLiteStore.localLog(in: directory.path)
      (options.checkpointPages, options.gatheredCommits) = (Self.checkpointPages, 1)
      options.hooks.willReadLog = { [reading] in reading.add($0) }
    }
    _ = reading.take()
    return store
  }

  /// Commits a board.
  /// - Returns: the bytes of SQLite's log that the commit has read.
  private func commit(_ store: TestStore) throws -> Int {
    _ = try store.insert("Board", ["name": .string("\(store.now)")])
    return reading.take()
  }

  /// Commits until one is refused.
  private func refusal(_ store: TestStore, within commits: Int) throws -> StoreFailure? {
    for _ in 0..<commits {
      do {
        _ = try commit(store)
      } catch let failure as StoreFailure {
        return failure
      }
    }
    return nil
  }

  /// Calls `body` while another program reads the store.
  private func beside(_ store: TestStore, _ body: () throws -> Void) throws {
    let others = try DatabaseQueue(path: path(store))
    try others.inDatabase { database in
      try database.execute(sql: "BEGIN")
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM Board")
      try body()
      try database.execute(sql: "COMMIT")
    }
    try others.close()
  }

  private func path(_ store: TestStore) -> String { store.directory.path + "/graph.sqlite" }

  private func log(_ store: TestStore) throws -> [UInt8] {
    try #require(FileManager.default.contents(atPath: path(store) + "-wal").map(Array.init))
  }

  private static let (headerBytes, frameBytes) = (32, 24 + 4_096)

  @Test func framesAreComparedOnceBesideLongRead() throws {
    let store = try open()
    var (total, largest) = (0, 0)
    try beside(store) {
      for _ in 0..<300 {
        let bytes = try commit(store)
        (total, largest) = (total + bytes, max(largest, bytes))
      }
    }
    let size = try log(store).count
    try #require(size > 8 * Self.checkpointPages * Self.frameBytes, "the log has not grown: \(size) bytes")
    // Each commit also compares two headers a few times.
    #expect(total > size / 2 && total < size + 300 * 1_024, "\(total) bytes of a log of \(size)")
    #expect(largest < size / 4, "\(largest) bytes of a log of \(size) for one commit")
    // The read has ended: the next checkpoint copies everything, and the log restarts in its file.
    #expect(try refusal(store, within: 300) == nil)
    #expect(try log(store).count < size + size / 4)
    #expect(try store.all("Board").count == 600)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  // MARK: - Damage

  private func expectRefusal(_ store: TestStore, place: SourceLocation = #_sourceLocation) throws {
    let before = FileManager.default.contents(atPath: path(store))
    let failure = try refusal(store, within: 300)
    #expect(
      failure?.sentence == "\(path(store))-wal was cut short or overwritten while stickiesd had it open",
      sourceLocation: place)
    try store.store.close()
    #expect(FileManager.default.contents(atPath: path(store)) == before, sourceLocation: place)
  }

  /// Changes the page of a frame, which only a comparison of its content finds.
  private func damage(_ frame: Int, of store: TestStore) throws {
    let offset = Self.headerBytes + frame * Self.frameBytes + 2_000
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path(store) + "-wal"))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: [try log(store)[offset] ^ 0x41])
    try file.close()
  }

  /// The frames behind those that were compared are compared before a checkpoint copies them.
  @Test func damageBehindComparedFramesIsNotCopied() throws {
    let store = try open()
    try beside(store) {
      var compared = 0
      for _ in 0..<300 { compared += try commit(store) }
      #expect(compared > Self.checkpointPages * Self.frameBytes)
      // The newest frame must not be one of those.
      while try commit(store) > Self.frameBytes {}
      let bytes = try log(store)
      let salts = bytes[16..<24]
      let frames = (0..<(bytes.count - Self.headerBytes) / Self.frameBytes).filter { frame in
        bytes[(Self.headerBytes + frame * Self.frameBytes + 8)...].starts(with: salts)
      }
      try damage(try #require(frames.last), of: store)
    }
    try expectRefusal(store)
  }

  /// A log that was restarted has other frames in the places of those that were compared.
  @Test func framesOfRestartedLogAreCompared() throws {
    let store = try open()
    #expect(try refusal(store, within: 100) == nil)
    let salts = try log(store)[16..<24]
    repeat { _ = try commit(store) } while try log(store)[16..<24] == salts
    try damage(0, of: store)
    try expectRefusal(store)
  }
}
