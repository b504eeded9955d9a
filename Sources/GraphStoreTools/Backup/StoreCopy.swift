// Tests: BackupTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphLog
import GraphModel
import GraphStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Copies a store page by page into a draft and checks the draft before it gets its final name.
///
/// The pages are those of one read transaction, which stays open during the copy. So commits continue, and SQLite
/// does not restart the copy. The cost is WAL space: newer frames stay in the WAL until the copy is done.
///
/// Commits that are in the commit log only are read when the transaction has begun, and applied to the copied pages
/// (`StoreCopy+Log.swift`).
struct StoreCopy {
  /// The path of the database to copy, including its WAL.
  let source: String
  /// The path of the copy in progress: never a name that could be taken for a complete store.
  let draft: String
  let model: Model
  let pace: StoreBackup.CopyRate
  let report: (StoreBackup.Progress) throws -> Void

  /// The contents of a copy.
  struct Contents {
    var head: Token
    var objects = 0
    /// The identity of the checked draft.
    let file: FileIdentity
  }

  /// The number of pages per step: 1 MiB, or a tenth of a second's pages at a lower rate limit.
  private func pagesPerStep(_ pageSize: Int) -> CInt {
    guard let rate = pace.bytesPerSecond else { return 256 }
    assert(pageSize > 0)
    return CInt(max(1, min(256, rate / 10 / pageSize)))
  }

  /// Writes the draft to disk and checks it.
  /// - Throws: any error; then the draft has been deleted.
  func make() throws -> Contents {
    let descriptor = open(draft, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 || errno == ELOOP else { throw StoreFiles.failure("\(draft) can't be written", errno) }
    // Closed after SQLite, which loses its locks when any descriptor of the file is closed.
    defer { if descriptor >= 0 { close(descriptor) } }
    // A file with a second link may be another program's store, and the next step empties it.
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1
    else {
      throw StoreFailure(
        .alreadyThere, "\(draft) is a link or not a regular file, not the draft of an earlier copy",
        advice: "Check what it is and move it away, or give another name; it was not touched.")
    }
    guard Self.isDraft(descriptor) else {
      throw StoreFailure(
        .alreadyThere, "\(draft) is another file, not the draft of an earlier copy",
        advice: "Move it away, or give another name; it was not touched.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw StoreFailure(
        .inUse, "another program is writing \(draft)", advice: "Wait until it is done, or give another name.")
    }
    guard let file = FileIdentity(descriptor: descriptor) else {
      throw StoreFiles.failure("\(draft) can't be read", errno)
    }
    do {
      // The draft of an interrupted run is not continued.
      discardLogs()
      guard ftruncate(descriptor, 0) == 0 else { throw StoreFiles.failure("\(draft) can't be written", errno) }
      let head = try copyPages()
      guard fsync(descriptor) == 0 else { throw StoreFiles.failure("\(draft) can't be synchronized", errno) }
      try report(.checking)
      try Self.refuseMoved(draft, file)
      let findings = try StoreCheck.run(file: draft, model: model)
      let damage = findings.filter(\.isDamage)
      guard damage.isEmpty else { throw StoreBackup.VerificationError(source: source, findings: damage) }
      discardLogs()
      let contents = Contents(head: head, objects: try count(), file: file)
      // SQLite and the check have opened the draft by its name.
      try Self.refuseMoved(draft, file)
      return contents
    } catch {
      Self.discard(draft, file)
      throw error
    }
  }

  /// Whether a file is empty or begins like an interrupted copy.
  private static func isDraft(_ descriptor: Int32) -> Bool {
    var header = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &header, header.count, 0)
    return count == 0 || count == 16 && (header.starts(with: "SQLite format 3\0".utf8) || header.allSatisfy { $0 == 0 })
  }

  /// Removes the draft, unless its name refers to another file now.
  static func discard(_ draft: String, _ file: FileIdentity) {
    if FileIdentity(of: draft) == file {
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
    }
  }

  /// - Throws: `StoreFailure(.moved)` if the name refers to another file than the expected one.
  static func refuseMoved(_ path: String, _ file: FileIdentity?) throws {
    if FileIdentity(of: path) == file { return }
    throw StoreFailure(
      .moved, "\(path) was moved, replaced or removed while it was in use",
      advice: "Find out which program or person did this, then run the command again.")
  }

  private func discardLogs() { for suffix in ["-journal", "-wal", "-shm"] { unlink(draft + suffix) } }

  private func copyPages() throws -> Token {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(5)
    var head: Token
    do {
      let file = FileIdentity(of: source)
      let queue = try DatabaseQueue(
        path: ReadOnlyMedium.name(forReading: source), configuration: configuration)
      let records: [LogRecord]?
      (head, records) = try withSnapshot(queue) { database in
        // The first read has opened the WAL, which stays open as long as this connection reads.
        let log = FileIdentity(of: source + "-wal")
        try writeDraft(database)
        try Self.refuseMoved(source, file)
        try Self.refuseMoved(source + "-wal", log)
      }
      try queue.close()
      // Without a WAL, the copy is a single file that can also be read on a read-only file system.
      let draft = try DatabaseQueue(path: draft)
      try draft.inDatabase { database in
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        guard mode == "delete" else {
          throw StoreFailure(
            .inputOutput, "\(self.draft) can't be finished", cause: "its journal_mode is \(PragmaText.of(mode))",
            advice: "Give a path on a local file system.")
        }
      }
      try draft.close()
      if let records { try apply(records, &head) }
    } catch let error as DatabaseError {
      throw failure(error)
    }
    return head
  }

  /// Begins the read transaction with its first read: everything copied is from this state.
  func readHead(_ database: Database) throws -> Token {
    let hash = try Data.fetchOne(database, sql: "SELECT hash FROM _model ORDER BY number DESC LIMIT 1")
    guard let hash, Array(hash) == model.hash.bytes else {
      throw StoreFailure(
        .modelDiffers, "the store \(source) was made with another model",
        cause: "its hash is \(ModelHash.text(ofStored: hash)), the given model's is \(model.hash)",
        advice: "Give the model that the store was made with (--schema).")
    }
    var head = Token(store: .zero, revision: 0, fingerprint: 0)
    // The check of the draft reports a missing id.
    if let id = try database.storeID() { head.store = id }
    let newest = try GRDB.Row.fetchOne(
      database, sql: "SELECT revision, fingerprint FROM _commit ORDER BY revision DESC LIMIT 1")
    if let newest { (head.revision, head.fingerprint) = (newest[0], UInt64(bitPattern: newest[1])) }
    return head
  }

  private func writeDraft(_ database: Database) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      // The draft is not read before it has been synced completely.
      try database.execute(sql: "PRAGMA journal_mode = OFF")
      try database.execute(sql: "PRAGMA synchronous = OFF")
    }
    let queue = try DatabaseQueue(path: draft, configuration: configuration)
    var pacing = CopyRateLimiter(pace, log: source + "-wal")
    let pageSize = try database.integerPragma("page_size")
    try queue.inDatabase { target in
      try database.backup(to: target, pagesPerStep: pagesPerStep(pageSize)) { progress in
        let (done, total) = (progress.completedPageCount * pageSize, progress.totalPageCount * pageSize)
        try report(.copying(bytes: done, of: total))
        if progress.isCompleted { return }
        try pacing.wait(behind: done, report)
      }
    }
    try queue.close()
  }

  private func count() throws -> Int {
    var configuration = Configuration()
    configuration.readonly = true
    return try DatabaseQueue(path: draft, configuration: configuration).inDatabase { database in
      try StoreLayout(model: model).orderedTables.reduce(0) { sum, table in
        sum + (try database.count(quoted(table.name)))
      }
    }
  }

  /// Out-of-space concerns the draft, corruption the source.
  private func failure(_ error: DatabaseError) -> any Error {
    let code = error.resultCode.rawValue
    let isOfTheSource = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_BUSY
    let cause = error.reason
    if code == SQLITE_FULL {
      return StoreFailure(
        .full, "the disk that holds \(draft) is full", cause: cause == "not an error" ? "" : cause,
        advice: "Free some space there; no file was left behind.")
    }
    return SQLiteFailure.of(
      code: error.extendedResultCode.rawValue, message: cause, path: isOfTheSource ? source : draft)
  }
}

/// Keeps a copy to its rate, until the WAL has grown too long.
private struct CopyRateLimiter {
  private let pace: StoreBackup.CopyRate
  private let log: String
  private let begun: Int64
  private let logSize: Int
  private var isLifted = false

  init(_ pace: StoreBackup.CopyRate, log: String) {
    self.pace = pace
    self.log = log
    begun = pace.monotonicNanoseconds()
    logSize = StoreFiles.size(ofFile: log)
  }

  mutating func wait(behind bytes: Int, _ report: (StoreBackup.Progress) throws -> Void) throws {
    // A backup without a rate, or whose limit was lifted, never waits.
    guard let rate = pace.bytesPerSecond, rate > 0, !isLifted else { return }
    let due = begun + Int64(Double(bytes) / Double(rate) * 1e9)
    while case let rest = due - pace.monotonicNanoseconds(), rest > 0 {
      let growth = StoreFiles.size(ofFile: log) - logSize
      if growth > pace.maximumLogGrowth {
        isLifted = true
        return try report(.throttleLifted(logGrowth: growth))
      }
      // Short pauses, so that the WAL's size is checked and a cancellation takes effect.
      pace.sleepNanoseconds(min(rest, 200_000_000))
      try report(.waiting)
    }
  }
}
