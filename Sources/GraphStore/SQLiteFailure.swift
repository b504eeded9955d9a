// Tests: OpeningTests.swift, LowDiskSpaceTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphLog
import GraphModel

/// A violated unique or foreign-key constraint of SQL, which is a backstop behind the rules.
struct SQLConstraintFailure: Error { let message: String }

/// The translation of SQLite's result codes into failures with advice.
package enum SQLiteFailure {
  /// SQLITE_IOERR codes for unlocking, reading, checking and taking a lock, and for the locks of the WAL index.
  ///
  /// These are macros that Swift can't import.
  private static let lockCodes = Set([8, 9, 14, 15, 20].map { SQLITE_IOERR | $0 << 8 })
  /// SQLITE_IOERR_SHMSIZE: no space for the WAL index.
  private static let sharedMemorySize = SQLITE_IOERR | 19 << 8

  /// SQLITE_IOERR codes for operations that take space or open a file.
  ///
  /// These are writing, synchronizing a file and a folder, truncating, mapping and opening the WAL index. Only for
  /// these is the system's error the cause: after a short read it is the error of an earlier call.
  private static let writeCodes = Set([3, 4, 5, 6, 18, 19, 21, 24].map { SQLITE_IOERR | $0 << 8 })

  /// The failure for an error that GRDB threw.
  package static func of(_ error: DatabaseError, path: String) -> any Error {
    of(code: error.extendedResultCode.rawValue, message: error.text, path: path)
  }

  /// The failure for a result code of SQLite.
  /// - Parameter systemError: `sqlite3_system_errno` of the connection; 0 if unknown. Then the system is queried, if
  ///   the path is known.
  package static func of(code: Int32, message: String, path: String = "", systemError: Int32 = 0) -> any Error {
    let subject = path.isEmpty ? "the store" : "the store \(path)"
    if code & 0xFF == SQLITE_CANTOPEN || writeCodes.contains(code) {
      let error = systemError != 0 || path.isEmpty ? systemError : StoreFiles.writeError(at: path)
      if let failure = StoreFailure.known(
        "\(subject) can't be \(code & 0xFF == SQLITE_CANTOPEN ? "opened" : "written")", error, on: subject)
      {
        return failure
      }
    }
    if SQLLimit.isReached(code: code, message: message) { return SQLLimit.refusal }
    // SQLite sets this text when the connection has no error.
    let message = message == "not an error" ? "" : message
    // Some extended codes belong to another group than their primary code.
    var primary = code & 0xFF
    if lockCodes.contains(code) { primary = SQLITE_BUSY }
    if code == sharedMemorySize { primary = SQLITE_FULL }
    switch primary {
    case SQLITE_CONSTRAINT: return SQLConstraintFailure(message: message)
    case SQLITE_FULL:
      return StoreFailure(
        .full, "the disk that holds \(subject) is full", cause: message,
        advice: "Free some space: a daemon then accepts commits again by itself; run any other command again."
      )
    case SQLITE_READONLY, SQLITE_PERM:
      return StoreFailure(
        .readOnly, "\(subject) can't be written", cause: message, advice: "Give this user the right to write there.")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      return StoreFailure(
        .corrupt, "\(subject) is damaged", cause: message,
        advice: "The disk may have failed once: check the system log. If this message returns, stop "
          + "stickiesd, keep a copy of the files, and run stickiesd check.")
    case SQLITE_PROTOCOL:
      return StoreFailure(
        .lockLost, "a lock on \(subject) was not released", cause: message,
        advice: "The next read or commit opens the store again. Keep the store on a local file system if this "
          + "message returns.")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOLFS:
      return StoreFailure(
        .cannotLock, "\(subject) can't be locked", cause: message,
        advice: "Close other programs that have the file open, and keep it on a local file system.")
    default:
      // SQLITE_IOERR covers about thirty different errors, so include the code.
      return StoreFailure(
        .inputOutput, "\(subject) can't be read or written",
        cause: [message, "SQLite's code \(code)"].filter { !$0.isEmpty }.joined(separator: ", "),
        advice: "Check the disk and the limit of the file size (ulimit -f).")
    }
  }
}
