// Tests: OpeningTests.swift
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
  /// - Returns: whether the WAL had frames and all of them were checkpointed.
  /// - Throws: `DatabaseError` if the disk fails for another reason than missing space.
  static func checkpoint(_ database: Database) throws -> Bool {
    do {
      let result = try database.checkpoint(.passive)
      return result.walFrameCount > 0 && result.checkpointedFrameCount == result.walFrameCount
    } catch let error as DatabaseError
      where [.SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
    {
      return false
    }
  }
}
