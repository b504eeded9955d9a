// Tests: OpeningTests.swift, LongReadTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// The space on the disk that the WAL and its checkpoint need: reserved before COMMIT, adjusted after it.
struct CheckpointSpace {
  private let path: String
  private let directory: String
  private let options: SQLiteStore.Options
  /// The page size of the database, in bytes.
  private let pageSize: Int
  private var disk: DiskSpaceMonitor
  private var lastCheckpoint = LastCheckpoint()

  /// The last checkpoint of the present WAL.
  private struct LastCheckpoint {
    /// The size of the WAL, in frames, when it was last looked at.
    var frames = 0
    /// The size for the next checkpoint.
    var next = 0
  }

  /// The extent of a checkpoint.
  struct Extent: Hashable {
    /// The frames of the WAL that were not copied, because a read needs the pages before them or space is lacking.
    var remainingFrames: Int
    /// Whether the WAL had frames, and all of them were copied.
    var isComplete: Bool
  }

  /// Reads the page size. Call it before SQLite opens the file: closing a descriptor of it later would drop SQLite's
  /// locks.
  init(path: String, directory: String, options: SQLiteStore.Options) {
    (self.path, self.directory, self.options) = (path, directory, options)
    pageSize = StoreFiles.pageSize(of: path)
    disk = DiskSpaceMonitor(checkpointPages: options.checkpointPages)
  }

  private static let pageCount = SQL("PRAGMA page_count")
  /// The step, in bytes, by which the database file is extended.
  private static let reserveStep: Int32 = 64 << 10

  /// Whether the disk has little free space.
  var isLow: Bool { disk.isLow }

  /// The WAL size, in pages, at which it is checkpointed now.
  var checkpointPages: Int { disk.checkpointPages }

  /// The share of the frames that a checkpoint has left by which the WAL grows before the next one.
  ///
  /// While a read is open, a checkpoint copies nothing, but SQLite sorts all these frames. With a share instead of a
  /// checkpoint after each commit, all checkpoints together sort each frame about sixteen times.
  private static let growth = 16

  /// Whether a WAL of this size is copied into the database now. Call it after each COMMIT.
  mutating func isCheckpointDue(frames: Int) -> Bool {
    // A WAL that has become smaller was restarted.
    if frames < lastCheckpoint.frames { lastCheckpoint.next = 0 }
    lastCheckpoint.frames = frames
    return frames >= max(checkpointPages, lastCheckpoint.next)
  }

  /// Sets the size for the next checkpoint, unless the WAL is restarted before.
  mutating func didCheckpoint(_ extent: Extent, frames: Int) {
    lastCheckpoint.next = frames + max(checkpointPages, extent.remainingFrames) / Self.growth
  }

  /// Queries the free space.
  mutating func update() {
    let (options, directory) = (options, directory)
    disk.updateFreeSpace(now: options.monotonicNanoseconds()) { options.freeBytes(directory) }
  }

  /// Reserves, before COMMIT, the space that the checkpoint will need.
  /// - Throws: `StoreFailure(.full)`; then the caller rolls the transaction back.
  mutating func reserve(_ connection: Connection) throws {
    update()
    // With enough free space, checkpoints need no reservation.
    guard disk.isLow else { return }
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
  mutating func setThreshold(_ database: Database) {
    // With enough free space, the usual size is set already.
    guard disk.isLow || disk.checkpointPages != options.checkpointPages else { return }
    let log = StoreFiles.size(ofFile: path + "-wal")
    // Nil while the current size is still about right.
    guard let limit = disk.newThreshold(log: log, pageSize: pageSize, usual: options.checkpointPages) else { return }
    // With a commit log, the store makes the checkpoints.
    if options.commitLog == nil { sqlite3_wal_autocheckpoint(database.sqliteConnection, Int32(limit)) }
    // Shrinks the WAL to the limit when it restarts, if one large commit has made it longer.
    let bytes = limit == options.checkpointPages ? -1 : limit * pageSize
    _ = try? Int.fetchOne(database, sql: "PRAGMA journal_size_limit = \(bytes)")
  }

  /// Checkpoints the WAL into the reserved space, so that it restarts; called after a commit found no space.
  /// - Throws: `DatabaseError` if the disk fails for another reason than missing space.
  static func checkpoint(_ database: Database) throws -> Extent {
    do {
      let result = try database.checkpoint(.passive)
      let remaining = result.walFrameCount - result.checkpointedFrameCount
      return Extent(remainingFrames: remaining, isComplete: result.walFrameCount > 0 && remaining == 0)
    } catch let error as DatabaseError
      where [.SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
    {
      return Extent(remainingFrames: 0, isComplete: false)
    }
  }
}
