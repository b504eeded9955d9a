// Tests: UnsentFileTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file `unsent.sqlite` of a replica: the user's own edits that the server has not answered, in order.
///
/// Each call is one transaction that is on disk when the call returns. Several processes append; one at a time sends
/// (`SenderLock`). Nothing here can be loaded again from the server, unlike the mirror in a file of its own.
///
/// Thread-safe: the queue runs one call at a time.
package final class UnsentFile: Sendable {
  package let path: String
  let queue: DatabaseQueue

  /// The name of the file in a replica's folder.
  package static let name = "unsent.sqlite"
  /// "StkU", big-endian.
  private static let applicationID: Int32 = 0x5374_6B55
  private static let version: Int32 = 3
  private static let lockSeconds = 5.0

  /// `replica` has one row. `intent.form` is the JSON of an intent; `used` counts the provisional numbers of those in
  /// front of it. `name` and `assigned` have the ids and numbers that the server has given to new objects, and `name`
  /// the revisions at which it has made them.
  ///
  /// `named` is the index from an object to the intents that name it. `change` is a log: the numbers of the intents
  /// that were added, changed or removed. With both, no step reads the whole queue.
  private static let creation = """
    CREATE TABLE replica (id BLOB NOT NULL, sequence INTEGER NOT NULL, sent INTEGER NOT NULL, number INTEGER NOT NULL,
      used INTEGER NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, store BLOB NOT NULL,
      principal TEXT NOT NULL, author TEXT NOT NULL, state TEXT NOT NULL, restores INTEGER NOT NULL DEFAULT 0, kept BLOB);
    CREATE TABLE intent (number INTEGER PRIMARY KEY, state TEXT NOT NULL, used INTEGER NOT NULL, form TEXT NOT NULL);
    CREATE TABLE name (provisional BLOB PRIMARY KEY, permanent BLOB NOT NULL, entity TEXT NOT NULL,
      revision INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
    CREATE TABLE assigned (provisional INTEGER PRIMARY KEY, object BLOB NOT NULL, number INTEGER);
    \(indexes)
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Added by version 2.
  private static let indexes = """
    CREATE TABLE named (object TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (object, number)) WITHOUT ROWID;
    CREATE INDEX "named.number" ON named (number);
    CREATE INDEX "intent.state" ON intent (state);
    CREATE INDEX "assigned.object" ON assigned (object);
    CREATE TABLE change (change INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL);
    """

  // MARK: - Opening

  /// Opens the file of a replica's folder; nil if there is none.
  package static func open(folder: String) throws -> UnsentFile? {
    let path = folder + "/" + name
    guard access(path, F_OK) == 0 else { return nil }
    return try UnsentFile(path)
  }

  /// Creates the file of a new replica, for a store and a principal, or opens the one that is there. Of several
  /// processes that create one, the first that is done makes it; its file is never replaced.
  package static func create(folder: String, replica: Replica) throws -> UnsentFile {
    if let file = try open(folder: folder) { return file }
    let path = folder + "/" + name
    let draft = path + ".new-\(getpid())"
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) }
    defer { unlink(draft) }
    let descriptor = createPrivate(draft)
    guard descriptor >= 0 else { throw StoreFiles.failure("\(path) can't be created", errno) }
    let identity = FileIdentity(descriptor: descriptor)
    _ = closeDescriptor(descriptor)
    do {
      let queue = try DatabaseQueue(path: draft)
      try queue.inDatabase { database in
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: creation)
        var row = replica
        row.identity = identity
        try row.insert(database)
      }
      try queue.close()
    } catch {
      throw failure(error, path)
    }
    try give(draft, path)
    try StoreFiles.synchronize(directory: folder)
    guard let file = try open(folder: folder) else {
      throw StoreFailure(.moved, "\(path) was removed while it was created", advice: "Try again.")
    }
    return file
  }

  /// Gives a complete draft its name, unless another process has made the file.
  static func give(_ draft: String, _ path: String) throws {
    if link(draft, path) == 0 { return }
    let code = errno
    if code == EEXIST { return }
    // A file system without links: the lock of `OfflineReplica.turnOn` excludes other processes.
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(code), access(path, F_OK) != 0, rename(draft, path) == 0 else {
      throw StoreFiles.failure("\(path) can't be created", code)
    }
  }

  private init(_ path: String) throws {
    self.path = path
    var configuration = Configuration()
    configuration.busyMode = .timeout(Self.lockSeconds)
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try MirrorStore.useWriteAheadLog(database)
      ShortLog.keep(database, busySeconds: Self.lockSeconds)
    }
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      let version = try queue.inDatabase { database -> Int32? in
        // An edit must survive a power failure.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
          throw StoreFailure(
            .notDurable, "\(path) can't be written durably",
            advice: "Use a data directory on a local file system that SQLite's WAL works on.")
        }
        let version = try Int32.fetchOne(database, sql: "PRAGMA user_version")
        guard version == 1 || version == 2 else { return version }
        try Self.upgrade(database)
        return Self.version
      }
      guard version == Self.version else {
        throw StoreFailure(
          .newerVersion, "\(path) was written by another version of this program",
          advice: "Use that version; the file was not changed.")
      }
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// Brings a file of an earlier version to the present one.
  private static func upgrade(_ database: Database) throws {
    func isMissing(_ column: String, _ table: String) throws -> Bool {
      try GRDB.Row.fetchOne(
        database, sql: "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", arguments: [table, column]) == nil
    }
    try database.inTransaction(.immediate) {
      let found = try Int32.fetchOne(database, sql: "PRAGMA user_version")
      // Another process may have done it.
      if found == version { return .commit }
      if found == 1 {
        try database.execute(sql: indexes)
        for row in try GRDB.Row.fetchAll(database, sql: "SELECT number, form FROM intent") {
          guard let changes = try JSON(parsingEnvelope: (row[1] as String).utf8)["changes"] else { continue }
          try index(Self.references(in: changes), row[0], database)
        }
      }
      let number = "INTEGER NOT NULL DEFAULT 0"
      let columns = [("name", "revision", number), ("replica", "restores", number), ("replica", "kept", "BLOB")]
      for (table, column, type) in columns where try isMissing(column, table) {
        try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) \(type)")
      }
      try database.execute(sql: "PRAGMA user_version = \(version)")
      return .commit
    }
  }

  static func failure(_ error: any Error, _ path: String) -> any Error {
    guard let error = error as? DatabaseError else { return error }
    var (code, cause) = (StoreFailure.Code.inputOutput, error.message ?? "\(error.resultCode)")
    // A used up quota is an I/O error of SQLite; only the system's error distinguishes it from a broken disk.
    if let known = SQLiteFailure.of(error, path: path) as? StoreFailure {
      code = error.resultCode == .SQLITE_BUSY ? .inUse : known.code
      if known.code == .full { cause = known.cause }
    }
    let advice =
      code == .full
      ? "Free some space. An edit that was not acknowledged was not kept: repeat it."
      : "Keep a copy of the folder: it has edits that the server does not have."
    return StoreFailure(
      code, "the unsent edits in \(path) can't be accessed", cause: cause, advice: advice)
  }

  /// Runs `body` in a transaction that is on disk when this returns.
  func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
    do {
      var result: Result?
      try queue.inDatabase { database in
        try database.inTransaction(.immediate) {
          result = try body(database)
          return .commit
        }
      }
      return try invariant(result, "a transaction that was committed has a result")
    } catch {
      throw Self.failure(error, path)
    }
  }

  func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
    do {
      return try queue.inDatabase(body)
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// Changes whenever another process has written.
  package var version: Int64 {
    get throws {
      try read { database in
        try invariant(Int64.fetchOne(database, sql: "PRAGMA data_version"), "SQLite has a version of the data")
      }
    }
  }

  /// Closes the file.
  package func close() { try? queue.close() }
}

/// The device and inode of a file. A copy has others.
package struct FileIdentity: Sendable, Hashable {
  package var device: Int64
  package var inode: Int64

  package init(device: Int64, inode: Int64) { (self.device, self.inode) = (device, inode) }

  init(descriptor: Int32) {
    var status = stat()
    fstat(descriptor, &status)
    self.init(device: Int64(truncatingIfNeeded: status.st_dev), inode: Int64(truncatingIfNeeded: status.st_ino))
  }

  /// The identity of the file at a path; nil if there is none.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(device: Int64(truncatingIfNeeded: status.st_dev), inode: Int64(truncatingIfNeeded: status.st_ino))
  }
}

// Outside of the class, which has methods of the system calls' names.

private func createPrivate(_ path: String) -> Int32 {
  open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
