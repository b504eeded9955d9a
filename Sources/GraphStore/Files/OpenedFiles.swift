// Tests: MovedFilesTests.swift, CutFilesTests.swift, CutLogTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphLog
import GraphModel
import Logging
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identities of a store's open files, compared with the files that their names refer to now.
///
/// SQLite opens files by name and never checks again whether the names still refer to them. A store whose directory was
/// removed, moved or replaced would continue to commit into files that the next start does not find. So the identities
/// are recorded at opening (`seal` completes them). They are compared before a commit is acknowledged
/// (`SQLiteStore.Options.comparedNanoseconds`), around each opening of another connection, and once a second while
/// there are no commits. A comparison takes one `stat` per name, about 2 µs each. The store can't keep its own
/// descriptors instead, because closing one drops SQLite's locks.
///
/// SQLite does not notice either when another program cuts the database file short: the pages that it still holds in
/// memory hide the loss, and its next checkpoint gives the file its old size again. So the file's size is compared,
/// too. The database loses no pages, except in `vacuum`, so each size of it that a checkpoint leaves is a lower limit
/// of all later ones. The WAL is compared with SQLite's index of it (`verifyLog`).
final class OpenedFiles: Sendable {
  enum Role { case database, log, index, lock }

  struct Entry {
    let role: Role
    let path: String
    let identity: FileIdentity
  }

  struct State {
    var entries: [Entry]
    /// The time on the monotonic clock; 0 if the last comparison failed.
    var lastSuccess: Int64 = 0
    /// The size, in bytes, that the database file does not fall below; 0 until it is recorded.
    var smallestSize = 0
    /// The address of SQLite's index of the WAL; nil before a connection has opened it.
    var indexAddress: UInt?
    /// The damage of the WAL, once it was found.
    var logDamage: StoreFailure?
    /// The frames of the WAL that the last comparison of their content has found sound; nil before the first one.
    var soundFrames: WriteAheadLogIndex.SoundFrames?
  }

  /// The data directory as of opening, with links resolved.
  let location: String
  private let directory: String
  private let directoryIdentity: FileIdentity
  let path: String
  private let clock: @Sendable () -> Int64
  /// Test only: called before the WAL's file is read, with the number of bytes.
  let willReadLog: (@Sendable (_ bytes: Int) -> Void)?
  /// Guarded by its mutex: the WAL and its index are added after SQLite has created them.
  let state: Mutex<State>

  /// The age from which a comparison is repeated before a commit writes.
  private static let freshNanoseconds: Int64 = 100_000_000

  /// Records the identities before SQLite opens the database.
  /// - Parameter lock: the lock of the directory, held by this process.
  init(directory: String, path: String, lock: StoreLock, _ options: SQLiteStore.Options) throws {
    (self.directory, self.path) = (directory, path)
    (clock, willReadLog) = (options.monotonicNanoseconds, options.hooks.willReadLog)
    guard let folder = FileIdentity(of: directory), let database = FileIdentity(of: path) else {
      throw StoreFiles.failure("\(path) can't be read", errno)
    }
    directoryIdentity = folder
    location = StoreFiles.real(directory)
    state = Mutex(
      State(entries: [
        Entry(role: .database, path: path, identity: database),
        Entry(role: .lock, path: lock.path, identity: lock.identity),
      ]))
    try verify()
  }

  /// Adds the WAL and its index after SQLite has opened them.
  func seal() throws {
    try verify()
    for (suffix, role) in [("-wal", Role.log), ("-shm", .index)] {
      guard let identity = FileIdentity(of: path + suffix) else {
        throw Self.failure(role, path + suffix, isThere: false)
      }
      state.withLock { state in
        // A store that is reopened beside its old connections still has the WAL.
        if state.entries.contains(where: { $0.role == role }) { return }
        state.entries.append(Entry(role: role, path: path + suffix, identity: identity))
      }
    }
  }

  /// Removes the WAL and its index, after the last connection has closed and deleted them. The next `seal` adds new
  /// ones.
  func forgetLog() {
    state.withLock { state in
      state.entries.removeAll { $0.role == .log || $0.role == .index }
      state.indexAddress = nil
    }
  }

  /// Records the size of the database file after a checkpoint. Call it outside of transactions.
  func recordSize(_ database: Database) throws {
    // A later checkpoint returns space that was reserved after the last page.
    let used = try Int.fetchOne(
      database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    if let used {
      let size = min(used, StoreFiles.size(ofFile: path))
      state.withLock { $0.smallestSize = max($0.smallestSize, size) }
    }
  }

  /// Allows the database file to become smaller, until its size is recorded again.
  func forgetSize() { state.withLock { $0.smallestSize = 0 } }

  /// Compares the size of the database file.
  /// - Throws: `StoreFailure(.moved)` if the file is smaller than it was.
  func verifySize() throws {
    let (entries, smallest) = state.withLock { ($0.entries, $0.smallestSize) }
    // This reads the times, too, which makes the next sync of the file more expensive; only checkpoints write this one.
    let size = StoreFiles.size(ofFile: path)
    if size < smallest, entries.first(where: { $0.role == .database })?.identity == FileIdentity(of: path) {
      state.withLock { $0.lastSuccess = 0 }
      throw StoreFailure(
        .moved, "\(path) was cut short while stickiesd had it open", cause: "it has \(size) bytes and had \(smallest)",
        advice: "Commits are refused: keep a copy of all files, stop stickiesd and restore a backup; after a VACUUM by "
          + "another program, stop stickiesd, run stickiesd check and start it again.")
    }
  }

  /// Compares the file of every name with the one that was opened, the size of the database file with an earlier one,
  /// and the WAL with its index.
  /// - Throws: `StoreFailure(.moved)` for the first name that refers to another file, or for a file that was cut short.
  func verify() throws {
    let entries = state.withLock { $0.entries }
    for entry in entries {
      let present = FileIdentity(of: entry.path)
      guard present != entry.identity else { continue }
      state.withLock { $0.lastSuccess = 0 }
      let folder = FileIdentity(of: directory)
      guard folder == directoryIdentity else { throw failure(ofDirectoryThatIsThere: folder != nil) }
      throw Self.failure(entry.role, entry.path, isThere: present != nil)
    }
    try verifySize()
    try verifyLog()
    let now = clock()
    state.withLock { $0.lastSuccess = now }
  }

  /// Like `verify`, unless the last comparison is recent. The one before the answer detects changes since then.
  func verifyIfDue() throws {
    if isOlder(than: Self.freshNanoseconds) { try verify() }
  }

  /// Whether the last comparison failed, or has at least this age, in nanoseconds.
  func isOlder(than age: Int64) -> Bool {
    let last = state.withLock { $0.lastSuccess }
    return last == 0 || clock() - last >= age
  }

  /// Checks a new connection: it must have the store's own files, and no name may have changed meanwhile.
  func verify(_ database: Database) throws {
    if database.configuration.readonly {
      // The first read opens the WAL, which must be open when the names are compared.
      _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
    }
    var hasMoved: Int32 = 0
    sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    try verify()
    guard hasMoved == 0 else { throw Self.failure(.database, path, isThere: true) }
  }

  /// Whether the WAL's name refers to a foreign file, although the database is still the store's.
  private var hasForeignLog: Bool {
    let entries = state.withLock { $0.entries }
    guard entries.first(where: { $0.role == .database })?.identity == FileIdentity(of: path),
      let log = entries.first(where: { $0.role == .log }), let present = FileIdentity(of: log.path)
    else { return false }
    return present != log.identity
  }

  /// Renames a foreign file under the WAL's name, before the last connection closes and deletes it by name.
  ///
  /// Otherwise the next start would read that file as the store's own WAL.
  func renameForeignLog(_ logger: Logger) {
    guard hasForeignLog else { return }
    let log = path + "-wal"
    guard rename(log, log + ".orphan") == 0 else {
      return logger.critical(
        "a foreign file has the name of the store's log; move it away before the next start",
        metadata: ["file": "\(log)", "cause": "\(String(cString: strerror(errno)))"])
    }
    logger.warning(
      "a foreign file had the name of the store's log; it was renamed",
      metadata: ["file": "\(log).orphan"])
  }

  // MARK: - Messages

  private func failure(ofDirectoryThatIsThere isThere: Bool) -> StoreFailure {
    StoreFailure(
      .moved,
      "the data directory \(directory) "
        + (isThere ? "leads to another directory than the one that was opened" : "was moved away or removed"),
      advice: "Commits are refused: put the directory back under this name and commits resume; if it is lost, stop "
        + "stickiesd and restore a backup.")
  }

  private static func failure(_ role: Role, _ path: String, isThere: Bool) -> StoreFailure {
    let sentence = "\(path) was \(isThere ? "replaced" : "moved away or removed") while stickiesd had it open"
    let advice =
      switch role {
      case .database:
        "Commits are refused: put that file back under this name and commits resume; if it is lost, stop stickiesd and "
          + "restore a backup."
      case .log, .index:
        "Commits are refused: stop stickiesd with SIGTERM, which copies its open log into the database, never with "
          + "SIGKILL, and start it again."
      case .lock:
        "Commits are refused, because a second stickiesd could use the directory: stop every stickiesd that uses it, "
          + "then start one."
      }
    return StoreFailure(.moved, sentence, advice: advice)
  }
}
