// Tests: AccessFileTests.swift
import Foundation
import GRDB
import GraphModel
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file `access.sqlite` beside a graph: its users, their tokens and grants, and a log of what was changed.
///
/// Several processes use it: a daemon that verifies tokens, and `stickiesd user` and `stickiesd token`. A user who can
/// write the file can act as everyone, so it must belong to this process's user, and no other user may have any access.
/// The file is not part of the graph: undo, restore, backup, export and import neither contain nor change it.
public final class AccessFile: Sendable {
  /// The path of the file.
  public let path: String
  let queue: DatabaseQueue
  /// The rows of the tokens in use, and the version of the file at which they were read; guarded by its mutex.
  let known = Mutex<(version: Int64, records: [TokenSelector: TokenRecord])>((0, [:]))
  /// The device and inode of the file when it was opened.
  private let identity: FileIdentity

  /// The name of the file in the data directory.
  public static let name = "access.sqlite"
  /// "StkA", big-endian.
  private static let applicationID: Int32 = 0x5374_6B41
  private static let version: Int32 = 5

  struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// A scope is the text of an object's id, or empty for the complete store.
  private static let grantTable = """
    CREATE TABLE access_grant (user TEXT NOT NULL REFERENCES user (id), scope TEXT NOT NULL, role TEXT NOT NULL,
      created INTEGER NOT NULL, PRIMARY KEY (user, scope)) WITHOUT ROWID
    """

  private static let creation = """
    CREATE TABLE user (id TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL, removed INTEGER,
      link INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL DEFAULT 0, seen INTEGER,
      since INTEGER, maker TEXT);
    CREATE UNIQUE INDEX user_name ON user (name) WHERE removed IS NULL;
    CREATE TABLE token (selector TEXT PRIMARY KEY, digest BLOB NOT NULL, user TEXT NOT NULL REFERENCES user (id),
      label TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER, used INTEGER, revoked INTEGER,
      browser INTEGER NOT NULL DEFAULT 0, parent TEXT);
    CREATE INDEX token_user ON token (user);
    \(grantTable);
    CREATE TABLE log (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, action TEXT NOT NULL, user TEXT NOT NULL,
      subject TEXT NOT NULL);
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  // MARK: - Opening

  /// Opens the file of a data directory.
  /// - Returns: nil if there is no file, because the graph has no accounts.
  /// - Throws: `StoreFailure` if the file is damaged, or if other users have access to it.
  public static func open(directory: String) throws -> AccessFile? {
    let path = directory + "/" + name
    guard let identity = try identity(of: path) else { return nil }
    return try AccessFile(path, identity)
  }

  /// Opens the file of a data directory, or creates one without users.
  ///
  /// A new file gets its name when it is complete. An empty file is therefore damaged. If it counted as a file without
  /// accounts, the daemon would accept every client.
  public static func create(directory: String) throws -> AccessFile {
    if let file = try open(directory: directory) { return file }
    let path = directory + "/" + name
    let draft = "\(path).\(getpid()).new"
    unlink(draft)
    let descriptor = openFile(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw creationFailure(path) }
    close(descriptor)
    defer { unlink(draft) }
    try createTables(draft)
    // If another process has created the file meanwhile, that file is used.
    guard link(draft, path) == 0 || errno == EEXIST else { throw creationFailure(path) }
    guard let file = try open(directory: directory) else {
      throw StoreFailure(.moved, "\(path) was removed while it was created", advice: "Try again.")
    }
    return file
  }

  private static func creationFailure(_ path: String) -> StoreFailure {
    StoreFailure(
      .inputOutput, "\(path) can't be created", cause: String(cString: strerror(errno)),
      advice: "Name the data directory of the daemon with --data.")
  }

  private static func createTables(_ path: String) throws {
    do {
      let queue = try DatabaseQueue(path: path)
      try queue.write { try $0.execute(sql: creation) }
      try queue.close()
    } catch let error as DatabaseError {
      throw failure(error, path)
    }
  }

  private init(_ path: String, _ identity: FileIdentity) throws {
    (self.path, self.identity) = (path, identity)
    var configuration = Configuration()
    configuration.busyMode = .callback(Self.waitForLock)
    configuration.foreignKeysEnabled = true
    // SQLite then overwrites former and erased names in the file.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.write { try Self.prepare($0, path) }
    } catch let error as DatabaseError {
      throw Self.failure(error, path)
    }
  }

  /// Waits a millisecond for the lock of another process; false after 5,000 times.
  ///
  /// The busy timeout of SQLite sleeps up to 100 ms between its attempts. A process that makes one change after another
  /// releases the lock only for moments, which such attempts can miss for the whole time.
  private static let waitForLock: Database.BusyCallback = { attempts in
    var millisecond = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    nanosleep(&millisecond, nil)
    return attempts < 5_000
  }

  /// Checks the tables of the file.
  private static func prepare(_ database: Database, _ path: String) throws {
    let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
    if isEmpty { throw damage(path, "it is empty") }
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
    guard application == applicationID else {
      throw StoreFailure(
        .notAStore, "\(path) is not a file of accounts", advice: "Move it away, or restore it from a copy.")
    }
    guard let version = try Int32.fetchOne(database, sql: "PRAGMA user_version"), version <= Self.version else {
      throw StoreFailure(
        .newerVersion, "\(path) was written by a newer program", advice: "Use programs of the newer release.")
    }
    guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else { throw damage(path, "") }
    if version < Self.version { try upgrade(database, from: version) }
  }

  /// Adds the columns and tables that earlier versions of the file lack. Each user keeps its rights.
  private static func upgrade(_ database: Database, from version: Int32) throws {
    // The first version had no roles: each user could change everything.
    if version == 1 { try database.execute(sql: "ALTER TABLE user ADD COLUMN role TEXT NOT NULL DEFAULT 'editor'") }
    // The second one had no scopes.
    if version <= 2 { try addScopes(database) }
    // The third one had no tokens of browsers.
    if version <= 3 {
      try database.execute(sql: "ALTER TABLE token ADD COLUMN browser INTEGER NOT NULL DEFAULT 0")
    }
    // The fourth one did not record the token with which a browser had logged in, and the user who had made a link.
    try database.execute(
      sql: """
        ALTER TABLE token ADD COLUMN parent TEXT;
        ALTER TABLE user ADD COLUMN maker TEXT;
        PRAGMA user_version = \(Self.version);
        """)
  }

  private static func addScopes(_ database: Database) throws {
    try database.execute(
      sql: """
        \(grantTable);
        INSERT INTO access_grant (user, scope, role, created) SELECT id, '', role, created FROM user;
        ALTER TABLE user DROP COLUMN role;
        ALTER TABLE user ADD COLUMN link INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE user ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE user ADD COLUMN seen INTEGER;
        ALTER TABLE user ADD COLUMN since INTEGER;
        """)
  }

  /// The identity of the file; nil if there is no file. Throws if another user may read or write it.
  private static func identity(of path: String) throws -> FileIdentity? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw StoreFailure(
        .inputOutput, "\(path) can't be read", cause: String(cString: strerror(errno)),
        advice: "Check the rights of the data directory.")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreFailure(.readOnly, "\(path) is not a regular file", advice: "Move it away.")
    }
    guard status.st_uid == geteuid() else {
      throw StoreFailure(
        .readOnly, "\(path) belongs to another user (number \(status.st_uid))",
        advice: "Run this as that user, or give the file to the daemon's user with chown.")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw StoreFailure(
        .readOnly, "other users have access to \(path) (its mode is \(String(status.st_mode & 0o777, radix: 8)))",
        advice: "Run chmod 600 on it. If they could write it, revoke all tokens (stickiesd token list), and make new "
          + "ones.")
    }
    try checkDirectory(of: path)
    return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Refuses a directory in which another user can replace the file: without a file, there are no accounts.
  private static func checkDirectory(of path: String) throws {
    let directory = String(path.dropLast(name.count + 1))
    var status = stat()
    guard stat(directory, &status) == 0 else {
      throw StoreFailure(
        .inputOutput, "\(directory) can't be read", cause: String(cString: strerror(errno)),
        advice: "Check the rights of the data directory.")
    }
    // In a directory such as /tmp, only the owner of a file can replace it.
    let isShared = status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
    guard !isShared, status.st_uid == geteuid() || status.st_uid == 0 else {
      throw StoreFailure(
        .readOnly, "other users can replace the accounts: they own the directory \(directory) or can write to it",
        advice: "Give it to the daemon's user with chown, and run chmod go-w on it.")
    }
  }

  static func failure(_ error: DatabaseError, _ path: String) -> StoreFailure {
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: damage(path, error.message ?? "")
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      StoreFailure(.inUse, "another program writes to \(path)", advice: "Try again.")
    case .SQLITE_FULL:
      StoreFailure(.full, "\(path) can't be written: the disk is full", advice: "Free some space and try again.")
    default:
      StoreFailure(
        .inputOutput, "\(path) can't be read or written", cause: error.message ?? "\(error.resultCode)",
        advice: "Check the disk, this user's quota on it, and the rights of the data directory.")
    }
  }

  static func damage(_ path: String, _ cause: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "\(path) is damaged", cause: cause,
      advice: "Restore it from a copy, or move it away and make users and tokens again.")
  }

  // MARK: - Changes by other processes

  /// Checks that the name still refers to the opened file, and that no other user has access to it.
  /// - Throws: `StoreFailure` with the check that failed.
  public func verify() throws {
    guard try Self.identity(of: path) == identity else {
      throw StoreFailure(
        .moved, "\(path) was moved, replaced or removed", advice: "Put it back, or restart the daemon.")
    }
  }

  /// A number that changes when another process has changed the file.
  public func dataVersion() throws -> Int64 {
    try read { database in
      guard let version = try Int64.fetchOne(database, sql: "PRAGMA data_version") else {
        preconditionFailure("SQLite has a version of the data of each connection")
      }
      return version
    }
  }

  func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
    do {
      return try queue.read(body)
    } catch let error as DatabaseError {
      throw Self.failure(error, path)
    }
  }

  func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
    // A connection's own changes do not change the version that it sees.
    defer { known.withLock { $0.records = [:] } }
    do {
      return try queue.write(body)
    } catch let error as DatabaseError {
      throw Self.failure(error, path)
    }
  }
}

/// `open` of the C library, which a method hides.
func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
