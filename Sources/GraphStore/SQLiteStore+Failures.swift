import GRDBSQLite
import GraphModel

/// What SQLite's codes mean to whoever runs the store.
extension SQLiteStore {
  /// Unique and foreign-key constraints are a backstop behind the rules.
  struct BackstopFailure: Error { let message: String }

  /// SQLITE_IOERR with its details, which are macros that Swift can't import: unlocking, reading, checking and taking
  /// a lock, and locks of the log's index.
  private static let lockCodes = Set([8, 9, 14, 15, 20].map { SQLITE_IOERR | $0 << 8 })
  /// SQLITE_IOERR_SHMSIZE: there is no room for the log's index.
  private static let sharedMemorySize = SQLITE_IOERR | 19 << 8

  static func failure(code: Int32, message: String, path: String = "") -> any Error {
    let subject = path.isEmpty ? "the store" : "the store \(path)"
    // What happened before may have left its word behind.
    let message = message == "not an error" ? "" : message
    // What the primary codes put among the other troubles of a disk.
    var primary = code & 0xFF
    if lockCodes.contains(code) { primary = SQLITE_BUSY }
    if code == sharedMemorySize { primary = SQLITE_FULL }
    switch primary {
    case SQLITE_CONSTRAINT: return BackstopFailure(message: message)
    case SQLITE_FULL:
      return StoreFailure(
        .full, "the disk under \(subject) is full", cause: message,
        advice: "Make room: a daemon takes commits again as soon as there is some, another command has to be run again."
      )
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN:
      return StoreFailure(
        .readOnly, "\(subject) can't be written", cause: message, advice: "Give this user the right to write there.")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      return StoreFailure(
        .corrupt, "\(subject) is damaged", cause: message,
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_NOLFS:
      return StoreFailure(
        .cannotLock, "\(subject) can't be locked", cause: message,
        advice: "Close other programs that have the file open, and keep it on a local file system.")
    default:
      // One word stands for thirty troubles; the code says which.
      return StoreFailure(
        .inputOutput, "\(subject) can't be read or written",
        cause: [message, "SQLite's code \(code)"].filter { !$0.isEmpty }.joined(separator: ", "),
        advice: "Look at the disk, and at limits of a file's size (ulimit -f).")
    }
  }
}
