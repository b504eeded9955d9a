// Tests: CutFilesTests.swift, LostPagesTests.swift, DurabilityTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// SQLite's own handle of a connection's database file, for operations that its interface does not offer.
///
/// The store can't open the file itself, because closing a descriptor of it drops SQLite's locks.
struct DatabaseFileHandle {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let methods: sqlite3_io_methods

  private static let header = Array("SQLite format 3\0".utf8)
  /// WAL_WRITE_LOCK and WAL_CKPT_LOCK, fixed by the format of the WAL index.
  private static let writeLock: Int32 = 0
  private static let checkpointLock: Int32 = 1
  private static let indexPageBytes: Int32 = 32_768
  /// The place in the WAL index of the number of frames that checkpoints have copied: after two copies of the index's
  /// header of 48 bytes each.
  private static let copiedFramesOffset = 96

  /// - Returns: nil if the connection has no file.
  init?(_ database: Database) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods else { return nil }
    (self.file, self.methods) = (file, methods.pointee)
  }

  /// Whether the WAL has an index in shared memory.
  private var hasSharedIndex: Bool { methods.iVersion >= 2 }

  /// Whether the file begins like a database. A read that fails is left to SQLite, which reports it when it needs the
  /// page.
  var beginsLikeDatabase: Bool {
    var bytes = [UInt8](repeating: 0, count: Self.header.count)
    let code = methods.xRead(file, &bytes, Int32(bytes.count), 0)
    return code != SQLITE_OK || bytes == Self.header
  }

  /// The first page of the WAL's index; nil if there is none.
  var index: UnsafeMutableRawPointer? {
    var index: UnsafeMutableRawPointer?
    guard hasSharedIndex, methods.xShmMap(file, 0, Self.indexPageBytes, 0, &index) == SQLITE_OK else { return nil }
    return index
  }

  /// Unlocks the locks for writing and for checkpoints.
  func releaseLocks() {
    if hasSharedIndex {
      for lock in [Self.writeLock, Self.checkpointLock] {
        _ = methods.xShmLock(file, lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
      }
    }
  }

  /// Makes the next checkpoint copy the pages again that an incomplete one has copied: sets the number of copied frames
  /// to 0, under the lock of checkpoints.
  /// - Returns: the result code of taking the lock: SQLITE_BUSY if another program makes a checkpoint.
  func forgetCheckpoints() -> Int32 {
    // Without a shared index there is no other checkpoint.
    if !hasSharedIndex { return SQLITE_OK }
    let code = methods.xShmLock(file, Self.checkpointLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)
    if code != SQLITE_OK { return code }
    if let index {
      index.storeBytes(of: 0, toByteOffset: Self.copiedFramesOffset, as: UInt32.self)
      methods.xShmBarrier(file)
    }
    _ = methods.xShmLock(file, Self.checkpointLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
    return code
  }
}
