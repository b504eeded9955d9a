import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// What the store does on a disk with little room.
///
/// The log is copied into the database when it has `checkpointPages`, which may be more than a small disk holds; then the
/// log would take all of the disk, and the copy, which lets the log begin again, would find none. So below `lowBytes` of
/// free room two things change. The log is copied when it has a quarter of what it and the free room are together. And
/// before each COMMIT the database file is extended to the size that the copy will need, so the room of the copy is taken
/// before that of the log: a commit for which both do not fit is refused, and a full disk always leaves a log that can
/// be copied.
struct DiskRoom {
  /// Less than this is little.
  static let lowBytes = 64 << 20
  /// The log is copied at no fewer pages: a copy waits for the disk twice.
  static let minimumPages = 32
  /// With more room than twice `lowBytes` it is asked for no more often.
  private static let askedNanoseconds: Int64 = 100_000_000

  private var free = 0
  private var asked: Int64?
  /// Pages of the log at which it is copied now.
  private(set) var checkpointPages: Int

  init(checkpointPages: Int) { self.checkpointPages = checkpointPages }

  var isLow: Bool { free < Self.lowBytes }

  /// - Parameters:
  ///   - now: on the monotonic clock.
  ///   - free: asks the disk.
  mutating func ask(now: Int64, _ free: () -> Int?) {
    if let asked, self.free > 2 * Self.lowBytes, now - asked < Self.askedNanoseconds { return }
    // A disk that does not say is none with little room.
    self.free = free() ?? .max
    asked = now
  }

  /// - Returns: the pages at which the log is to be copied from now on; nil to leave it as it is.
  mutating func newLimit(log: Int, pageSize: Int, usual: Int) -> Int? {
    let quarter = (free < Int.max - log ? (free + log) / 4 : Int.max) / pageSize
    let limit = isLow ? max(min(Self.minimumPages, usual), min(usual, quarter)) : usual
    // Not with each commit for a page more or less.
    guard abs(limit - checkpointPages) > checkpointPages / 8 || (limit == usual && limit != checkpointPages) else {
      return nil
    }
    checkpointPages = limit
    return limit
  }

  /// Bytes that this user may still write on the disk of a folder; nil when it does not say.
  static func freeBytes(of directory: String) -> Int? {
    var status = statvfs()
    guard statvfs(directory, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }
}

extension SQLiteStore {
  private static let pageCount = SQL("PRAGMA page_count")
  /// The database is extended in such steps.
  private static let reserveStep: Int32 = 64 << 10

  /// Before COMMIT: takes the room that copying the log will need.
  /// - Throws: `StoreFailure(.full)`; then the transaction is rolled back.
  func reserveRoom(_ connection: Connection) throws {
    room.ask(now: options.monotonicNanoseconds()) { options.freeBytes(directory) }
    guard room.isLow else { return }
    let row = try connection.statement(Self.pageCount)
    let pages = try connection.step(row) ? row.integer(0) : 0
    sqlite3_reset(row.statement)
    var size = pages * Int64(pageSize)
    let database = connection.database.sqliteConnection
    // SQLite allocates what a hint asks for only of a file that grows in steps, and a step of 0 ends that.
    var (step, none) = (Self.reserveStep, Int32(0))
    sqlite3_file_control(database, "main", SQLITE_FCNTL_CHUNK_SIZE, &step)
    let code = sqlite3_file_control(database, "main", SQLITE_FCNTL_SIZE_HINT, &size)
    sqlite3_file_control(database, "main", SQLITE_FCNTL_CHUNK_SIZE, &none)
    guard code == SQLITE_OK else {
      throw StoreFailure(
        .full, "the disk under the store \(path) is full", cause: "\(size) bytes are needed to copy the log",
        advice: "Make room: commits are taken again as soon as there is some.")
    }
  }

  /// After COMMIT: how large the log may become from now on.
  func limitLog(_ database: Database) {
    guard room.isLow || room.checkpointPages != options.checkpointPages else { return }
    let log = StoreFiles.size(ofFile: path + "-wal")
    guard let limit = room.newLimit(log: log, pageSize: pageSize, usual: options.checkpointPages) else { return }
    sqlite3_wal_autocheckpoint(database.sqliteConnection, Int32(limit))
    // What one large commit made of the log is given back when the log begins again.
    let bytes = limit == options.checkpointPages ? -1 : limit * pageSize
    _ = try? Int.fetchOne(database, sql: "PRAGMA journal_size_limit = \(bytes)")
  }

  /// After a commit found no room: the log begins again once it is copied, in the room that was reserved for that.
  /// - Returns: whether there was something to copy and all of it was.
  func copyLog() -> Bool {
    pool.writeWithoutTransaction { database in
      guard let result = try? database.checkpoint(.passive) else { return false }
      return result.walFrameCount > 0 && result.checkpointedFrameCount == result.walFrameCount
    }
  }
}
