// Tests: LowDiskSpaceTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The state and the rules for a disk with little free space.
///
/// The WAL is checkpointed when it has `checkpointPages`, which may be more than a small disk holds. The WAL would
/// then fill the disk, and the checkpoint, after which the WAL can restart, would have no space. So two things change
/// while the free space is below `lowBytes`. The WAL is checkpointed when its size reaches a quarter of its size plus
/// the free space. And before each COMMIT the database file is extended to the size that the checkpoint will need, so
/// the space of the checkpoint is taken before that of the WAL. A commit for which both do not fit is refused, and a
/// full disk always leaves a WAL that can be checkpointed.
struct DiskSpaceMonitor {
  /// Free space below this is low.
  static let lowBytes = 64 << 20
  /// The minimum WAL size for a checkpoint, because a checkpoint waits for two syncs.
  static let minimumPages = 32
  /// The minimum interval between two queries while the free space is above twice `lowBytes`.
  private static let queryIntervalNanoseconds: Int64 = 100_000_000

  private var free = 0
  private var lastQuery: Int64?
  /// The WAL size, in pages, at which it is checkpointed now.
  private(set) var checkpointPages: Int

  init(checkpointPages: Int) { self.checkpointPages = checkpointPages }

  var isLow: Bool { free < Self.lowBytes }

  /// Updates the free space.
  /// - Parameters:
  ///   - now: the time on the monotonic clock.
  ///   - free: queries the disk.
  mutating func updateFreeSpace(now: Int64, _ free: () -> Int?) {
    if let lastQuery, self.free > 2 * Self.lowBytes, now - lastQuery < Self.queryIntervalNanoseconds { return }
    // A disk that does not report its free space counts as one with enough.
    self.free = if let free = free() { free } else { .max }
    lastQuery = now
  }

  /// - Returns: the new WAL size, in pages, for a checkpoint; nil to keep the current one.
  mutating func newThreshold(log: Int, pageSize: Int, usual: Int) -> Int? {
    assert(log >= 0 && pageSize > 0)
    let quarter = (free < Int.max - log ? (free + log) / 4 : Int.max) / pageSize
    let limit = isLow ? max(min(Self.minimumPages, usual), min(usual, quarter)) : usual
    // Ignores small differences, which would change the limit with each commit.
    guard abs(limit - checkpointPages) > checkpointPages / 8 || (limit == usual && limit != checkpointPages) else {
      return nil
    }
    checkpointPages = limit
    return limit
  }

  /// The bytes that this user may still write on the disk of a folder; nil if the system does not report them.
  static func freeBytes(of directory: String) -> Int? {
    var status = statvfs()
    guard statvfs(directory, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }
}

extension SQLiteStore {
  private static let pageCount = SQL("PRAGMA page_count")
  /// The step, in bytes, by which the database file is extended.
  private static let reserveStep: Int32 = 64 << 10

  /// Reserves, before COMMIT, the space that the checkpoint will need.
  /// - Throws: `StoreFailure(.full)`; then the caller rolls the transaction back.
  func reserveCheckpointSpace(_ connection: Connection) throws {
    diskSpace.updateFreeSpace(now: options.monotonicNanoseconds()) { options.freeBytes(directory) }
    guard diskSpace.isLow else { return }
    let row = try connection.statement(Self.pageCount)
    let pages = try connection.step(row) ? row.integer(0) : 0
    sqlite3_reset(row.statement)
    var size = pages * Int64(pageSize)
    let database = connection.database.sqliteConnection
    // SQLite allocates the hinted size only for a file that grows in chunks; a chunk size of 0 turns that off again.
    var (step, none) = (Self.reserveStep, Int32(0))
    sqlite3_file_control(database, "main", SQLITE_FCNTL_CHUNK_SIZE, &step)
    let code = sqlite3_file_control(database, "main", SQLITE_FCNTL_SIZE_HINT, &size)
    sqlite3_file_control(database, "main", SQLITE_FCNTL_CHUNK_SIZE, &none)
    guard code == SQLITE_OK else {
      throw StoreFailure(
        .full, "the disk that holds the store \(path) is full", cause: "\(size) bytes are needed to copy the log",
        advice: "Free some space: commits then resume by themselves.")
    }
  }

  /// Sets, after COMMIT, the WAL size for the next checkpoint.
  func setCheckpointThreshold(_ database: Database) {
    guard diskSpace.isLow || diskSpace.checkpointPages != options.checkpointPages else { return }
    let log = StoreFiles.size(ofFile: path + "-wal")
    guard let limit = diskSpace.newThreshold(log: log, pageSize: pageSize, usual: options.checkpointPages) else {
      return
    }
    sqlite3_wal_autocheckpoint(database.sqliteConnection, Int32(limit))
    // Shrinks the WAL to the limit when it restarts, if one large commit has made it longer.
    let bytes = limit == options.checkpointPages ? -1 : limit * pageSize
    _ = try? Int.fetchOne(database, sql: "PRAGMA journal_size_limit = \(bytes)")
  }

  /// Checkpoints the WAL into the reserved space, so that it restarts; called after a commit found no space.
  /// - Returns: whether the WAL had frames and all of them were checkpointed.
  func checkpointWAL() -> Bool {
    pool.writeWithoutTransaction { database in
      guard let result = try? database.checkpoint(.passive) else { return false }
      return result.walFrameCount > 0 && result.checkpointedFrameCount == result.walFrameCount
    }
  }
}
