// Tests: LoggedStoreTests.swift, RedoTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphLog
import GraphModel
import Logging

/// Opens a store with a commit log, and applies the entries that SQLite lacks (redo).
extension SQLiteStore {
  // MARK: - Opening and closing

  /// Applies the entries that SQLite lacks, and begins a log after them.
  func openLog() throws {
    let isNeeded = try pool.read { try LogMark.isSet($0) }
    guard isNeeded || options.commitLog != nil else { return }
    let writer = try invariant(writer, "a store that was opened has a writer")
    let (open, store) = (options.commitLog ?? Self.localLog(in: directory), storeID)
    let log = isNeeded ? try open(store, nil) : nil
    if let log { try recover(from: log, writer) }
    // Also without the mark: a process that was killed after a failed sync has left pages in the cache only.
    let isDurable = try makeDurableAtStart(writer)
    let attached = AttachedLog(log, heldBytes: options.heldLogBytes) { try open(store, $0) }
    let limits = GatheredCommits.Limits(commits: max(1, options.gatheredCommits))
    let gathered = GatheredCommits(attached, limits: limits, options)
    try pool.writeWithoutTransaction { _ in
      if options.commitLog == nil { return try setMark(false, gathered, writer) }
      checkpointSpace.update()
      if isDurable || !attached.keepUntilCheckpoint(after: writer.position) { begin(gathered, writer) }
      self.gathered = gathered
    }
  }

  /// Makes the commits that a start has found durable in SQLite.
  ///
  /// While another program reads the store, such as a backup, its pages can't be overwritten. The log is then synced
  /// again, which is not reliable if a sync of the killed process has failed; but a start can't wait for a backup.
  /// - Returns: whether everything is durable.
  private func makeDurableAtStart(_ writer: StoreWriter) throws -> Bool {
    try pool.writeWithoutTransaction { database in
      do {
        try makeDurable(database)
        return true
      } catch let failure as StoreFailure where failure.code == .inUse {
        reporter.log.warning(
          "another program reads the store; its log is synced instead of copied into the database file")
        try synchronizeLog(of: writer.connection)
        return false
      }
    }
  }

  private func recover(from log: any CommitLog, _ writer: StoreWriter) throws {
    let (head, status) = (writer.revision, log.status)
    let beginning = status.beginning
    let fingerprint = try pool.writeWithoutTransaction { _ in
      try writer.history.fingerprint(of: beginning.revision)
    }
    if let fingerprint, fingerprint != beginning.fingerprint {
      throw StoreFailure(
        .corrupt, "the commit log in \(directory) belongs to another past of the store",
        cause: "it begins after another commit of revision \(beginning.revision)",
        advice: "Put the store and its log back together, from one backup or one copy.")
    }
    // The newest entry that the store has, too, is compared with it.
    let known = status.after <= head ? max(status.after, min(head, status.last) - 1) : head
    try applyInTurn { body in try log.read(after: known) { try body(LogEntry(binary: $0.body)) } }
    let count = writer.revision - head
    if count > 0 { reporter.log.info("commits were restored from the commit log", metadata: ["count": "\(count)"]) }
  }

  /// Commits everything in SQLite, which then needs no log.
  func closeLog() {
    if gathered == nil { return }
    do {
      if health.isOutcomeUnknown { try reopen() }
      try pool.writeWithoutTransaction { database in
        let writer = try invariant(writer, "a store that is open has a writer")
        try commitGathered(writer)
        if let gathered {
          // Otherwise the next start must read the log.
          if gathered.log.needsCheckpoint { try makeDurable(database) }
          try setSyncing(true, gathered, writer)
        }
        try LogMark.clear(database)
      }
    } catch {
      reporter.log.error("the store is closed with commits that only its log holds", metadata: ["cause": "\(error)"])
    }
  }

  /// The commit log in a store's directory.
  public static func localLog(
    in directory: String
  ) -> @Sendable (_ store: UniqueID, _ beginning: LogPosition?) throws -> any CommitLog {
    { store, beginning in
      let folder = directory + "/" + StoreFiles.logFolder
      if let beginning { return try LocalCommitLog(beginning: folder, store: store, after: beginning) }
      return try LocalCommitLog(opening: folder, store: store)
    }
  }

  // MARK: - Redo
  /// The number of entries in one SQLite transaction.
  private static let appliedEntries = 512

  /// Applies entries; they are durable when the call returns. Only the caller of `commit` calls it, between commits.
  ///
  /// Entries that the store already has change nothing. Parts of a batch at the end, without their commit, are not
  /// applied.
  /// - Parameter read: passes the entries to its argument, in order.
  /// - Throws: `StoreFailure` for an entry that does not follow the store's state, and any error of `read`. Some of the
  ///   entries before it are applied then.
  public func apply(_ read: (_ body: (LogEntry) throws -> Void) throws -> Void) throws {
    try turn.withLock { _ in try applyInTurn(read) }
  }

  func applyInTurn(_ read: (_ body: (LogEntry) throws -> Void) throws -> Void) throws {
    try files.verify()
    do {
      if health.isOutcomeUnknown { try reopen() }
      try pool.writeWithoutTransaction { database in
        let writer = try self.writer ?? makeWriter(database)
        self.writer = writer
        try commitGathered(writer)
        if let gathered {
          // These entries are not in the store's own log, which begins again after them.
          try checkpointIfNeeded(gathered.log, writer)
          try setSyncing(true, gathered, writer)
        }
        try apply(read, writer)
        if let gathered { begin(gathered, writer) }
      }
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }

  private func apply(_ read: (_ body: (LogEntry) throws -> Void) throws -> Void, _ writer: StoreWriter) throws {
    let redo = RedoWriter(writer)
    var count = 0
    func commit() throws {
      if count == 0 { return }
      try writer.fullText.updateIfDue(head: writer.revision)
      try writer.connection.run("COMMIT")
      count = 0
      try checkpointIfDue(writer.connection.database)
    }
    do {
      try read { entry in
        // An unfinished batch is rolled back without the commits before it.
        if !entry.isLast, !redo.isInBatch { try commit() }
        if count == 0 { try writer.connection.run("BEGIN IMMEDIATE") }
        count += 1
        try redo.apply(entry)
        if entry.isLast, count >= Self.appliedEntries { try commit() }
      }
      if redo.isInBatch {
        writer.objects.underway = nil
        try writer.connection.run("ROLLBACK")
        try writer.reload()
      } else {
        try commit()
      }
    } catch {
      abandonTransaction(of: writer, after: error)
      throw error
    }
  }
}

/// The durability of SQLite's write-ahead log, with operations that SQLite's interface does not offer.
extension SQLiteStore {
  /// Copies SQLite's whole log into the database file and syncs that file.
  ///
  /// After a failed sync, a repeated sync does not help, even in another process, because Linux counts the lost pages
  /// as written. A checkpoint writes them again, to another file. It begins with the first page of the log, because an
  /// earlier checkpoint that a read has interrupted may have copied pages that were lost afterwards, and SQLite syncs
  /// only after a complete checkpoint.
  /// - Parameter comparesAll: whether frames are compared again that an earlier comparison has found sound.
  func makeDurable(_ database: Database, comparesAll: Bool = true) throws {
    let code = DatabaseFileHandle(database)?.forgetCheckpoints()
    // Another program is making a checkpoint.
    if code == SQLITE_BUSY { throw isBeingRead }
    if let code, code != SQLITE_OK {
      throw SQLiteFailure.of(
        code: code, message: "the write-ahead log's index can't be locked", path: path,
        systemError: sqlite3_system_errno(database.sqliteConnection))
    }
    try files.verifyBeforeCheckpoint(completely: comparesAll)
    // The checkpoint waits only a short time for reads.
    sqlite3_busy_timeout(database.sqliteConnection, Self.shortWait)
    defer { sqlite3_busy_timeout(database.sqliteConnection, Int32(options.lockSeconds * 1_000)) }
    do {
      let result = try database.checkpoint(.truncate)
      if result.checkpointedFrameCount == result.walFrameCount { return }
    } catch let error as DatabaseError where ![.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
      throw SQLiteFailure.of(
        code: error.extendedResultCode.rawValue, message: error.text, path: path,
        systemError: sqlite3_system_errno(database.sqliteConnection))
    } catch is DatabaseError {}
    throw isBeingRead
  }

  var isBeingRead: StoreFailure {
    StoreFailure(
      .inUse, "the store \(path) can't be brought up to date while a read is running",
      advice: "Commits resume by themselves.")
  }

  /// In milliseconds.
  private static let shortWait: Int32 = 200

  /// Syncs SQLite's write-ahead log, so that all committed transactions are durable.
  func synchronizeLog(of connection: Connection) throws {
    if options.hooks.skipsSync { return }
    let (file, methods) = try logFile(of: connection)
    let code = methods.xSync(file, SQLITE_SYNC_NORMAL)
    // The call does not use the connection, so `sqlite3_system_errno` would return the error of an earlier call.
    let systemError = errno
    guard code == SQLITE_OK else {
      throw SQLiteFailure.of(
        code: code, message: "the write-ahead log can't be synced", path: path, systemError: systemError)
    }
  }

  /// The file, through SQLite's own descriptor.
  func logFile(
    of connection: Connection
  ) throws -> (file: UnsafeMutablePointer<sqlite3_file>, methods: sqlite3_io_methods) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let database = connection.database.sqliteConnection
    guard sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
      let methods = file.pointee.pMethods
    else {
      throw StoreFailure(.inputOutput, "SQLite's log can't be found", advice: "Stop stickiesd and start it again.")
    }
    return (file, methods.pointee)
  }
}
