// Tests: LoggedStoreTests.swift, RedoTests.swift
import GRDB
import GRDBSQLite
import GraphLog
import GraphModel

/// A store behind a commit log (`GatheredCommits`).
extension SQLiteStore {
  // MARK: - Commits

  /// Makes a group durable whose rows are in the open transaction: in the log, or if that fails, in SQLite.
  func makeDurable(_ group: EntryCollector, _ gathered: GatheredCommits, _ writer: StoreWriter) throws {
    if group.isEmpty { return }
    // A batch that is larger than the log is not a failure.
    guard let entries = group.entries else { return try commitDurably(gathered, writer) }
    do {
      try gathered.append(entries)
    } catch {
      if !(error is LogRefusal), let omitted = lines.omitted(before: "log") {
        log.error(
          "the commit log can't be written; commits are synced in the store instead",
          metadata: ["cause": "\(error)", "omitted": "\(omitted)"])
      }
      return try commitDurably(gathered, writer)
    }
    // The group is durable now. If SQLite fails, its entries repeat it.
    // Within a batch, SQLite checks references at COMMIT only; the next commits need the usual checks.
    guard gathered.isDue || !entries.allSatisfy(\.isLast) else { return }
    do {
      try commitGathered(writer)
    } catch {
      log.error("the store must be reopened: commits that are in its log failed", metadata: ["cause": "\(error)"])
    }
  }

  /// Commits and syncs the open transaction in SQLite, and begins the log behind it.
  private func commitDurably(_ gathered: GatheredCommits, _ writer: StoreWriter) throws {
    gathered.willCommitUnsynced()
    try runCommit(writer.connection)
    try synchronizeLog(of: writer.connection)
    gathered.didCommit()
    begin(gathered, writer)
  }

  /// Begins the log behind a state that SQLite holds durably. After a failure, SQLite syncs each commit.
  private func begin(_ gathered: GatheredCommits, _ writer: StoreWriter) {
    do {
      try gathered.begin(after: writer.position)
    } catch {
      if let omitted = lines.omitted(before: "begin") {
        log.error("no new commit log can be begun", metadata: ["cause": "\(error)", "omitted": "\(omitted)"])
      }
    }
  }

  /// Commits what has gathered, so that reads see it. Releases the log from time to time.
  /// - Throws: the failure of SQLite; the store is then reopened by the next call.
  func commitGathered(_ writer: StoreWriter) throws {
    guard let gathered, gathered.isOpen else { return }
    do {
      try runCommit(writer.connection)
      gathered.didCommit()
      if StoreFiles.size(ofFile: path + "-wal") >= options.checkpointPages * Self.pageBytes {
        try writer.connection.database.checkpoint(.passive)
      }
      guard gathered.isForgettingDue else { return }
      try synchronizeLog(of: writer.connection)
    } catch {
      if sqlite3_get_autocommit(writer.connection.database.sqliteConnection) == 0 {
        try? writer.connection.run("ROLLBACK")
      }
      gathered.didRollBack()
      self.writer = nil
      health.isOutcomeUnknown = true
      throw error
    }
    do {
      try gathered.forget(through: writer.revision)
    } catch {
      if let omitted = lines.omitted(before: "forget") {
        log.error(
          "the commit log's space can't be reused", metadata: ["cause": "\(error)", "omitted": "\(omitted)"])
      }
    }
  }

  /// The usual size of a page.
  private static let pageBytes = 4_096

  /// Makes all acknowledged commits visible to the caller's next read; called on any thread.
  func commitUnread() throws {
    guard let gathered, gathered.hasUnread, !options.hooks.hidesGathered else { return }
    try turn.withLock { _ in
      if health.isOutcomeUnknown { try reopen() }
      try pool.writeWithoutTransaction { _ in
        if let writer { try commitGathered(writer) }
      }
    }
  }

  // MARK: - After a failure

  /// Repeats the gathered commits in a new transaction after a rollback.
  func repeatGathered(_ writer: StoreWriter) throws {
    guard let gathered, !gathered.entries.isEmpty else { return }
    try writer.connection.run(Self.begin)
    gathered.didBegin()
    let redo = RedoWriter(writer)
    do {
      for entry in gathered.entries { try redo.apply(entry) }
    } catch {
      try? writer.connection.run("ROLLBACK")
      gathered.didRollBack()
      throw error
    }
  }

  /// Repeats the gathered commits in a store that was reopened, and begins the log behind them.
  ///
  /// These include the commits whose entries could not be written to the log: they count as committed, because it is
  /// unknown how much of them reached the disk.
  func restoreGathered(_ writer: StoreWriter) throws {
    guard let gathered else { return }
    gathered.willCommitUnsynced()
    try repeatGathered(writer)
    if gathered.isOpen { try runCommit(writer.connection) }
    try makeDurable(writer.connection.database)
    gathered.didCommit()
    begin(gathered, writer)
  }

  /// Copies SQLite's whole log into the database file and syncs that file.
  ///
  /// After a failed sync, and in another process, a repeated sync proves nothing: Linux counts the lost pages as written.
  /// A checkpoint writes them again, to another file.
  private func makeDurable(_ database: Database) throws {
    let result = try database.checkpoint(.truncate)
    guard result.checkpointedFrameCount == result.walFrameCount else {
      throw StoreFailure(
        .inUse, "the store \(path) can't be brought up to date while a read is running",
        advice: "Commits resume by themselves.")
    }
  }

  /// Syncs SQLite's write-ahead log, so that all committed transactions are durable.
  private func synchronizeLog(of connection: Connection) throws {
    if options.hooks.skipsSync { return }
    var file: UnsafeMutablePointer<sqlite3_file>?
    let database = connection.database.sqliteConnection
    guard sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
      let methods = file.pointee.pMethods
    else {
      throw StoreFailure(.inputOutput, "SQLite's log can't be found", advice: "Stop stickiesd and start it again.")
    }
    let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    guard code == SQLITE_OK else {
      throw SQLiteFailure.of(
        code: code, message: "the write-ahead log can't be synced", systemError: sqlite3_system_errno(database))
    }
  }

  // MARK: - Opening and closing

  /// Applies the entries that SQLite lacks, and begins a log behind them.
  func openLog() throws {
    let isNeeded = try pool.read { try LogMark.isSet($0) }
    guard isNeeded || options.commitLog != nil else { return }
    let open = options.commitLog ?? Self.localLog(in: directory)
    let writer = try invariant(writer, "a store that was opened has a writer")
    let limits = GatheredCommits.Limits(commits: max(1, options.gatheredCommits), heldBytes: options.heldLogBytes)
    if isNeeded {
      let log = GatheredCommits(try open(storeID, nil), limits: limits)
      try recover(from: log, writer)
      try pool.writeWithoutTransaction { try makeDurable($0) }
      try log.begin(after: writer.position)
      if options.commitLog != nil { gathered = log }
    } else {
      gathered = GatheredCommits(try open(storeID, writer.position), limits: limits)
    }
    if isNeeded == (gathered != nil) { return }
    try pool.writeWithoutTransaction { database in
      try LogMark.write(gathered != nil, database)
      try synchronizeLog(of: writer.connection)
    }
  }

  private func recover(from log: GatheredCommits, _ writer: StoreWriter) throws {
    let beginning = log.status.beginning
    let fingerprint = try pool.writeWithoutTransaction { _ in
      try writer.history.fingerprint(of: beginning.revision)
    }
    if let fingerprint, fingerprint != beginning.fingerprint {
      throw StoreFailure(
        .corrupt, "the commit log in \(directory) belongs to another past of the store",
        cause: "it begins after another commit of revision \(beginning.revision)",
        advice: "Put the store and its log back together, from one backup or one copy.")
    }
    let (head, status) = (writer.revision, log.status)
    // The newest entry that the store has, too, is compared with it.
    let known = status.after <= head ? max(status.after, min(head, status.last) - 1) : head
    try applyInTurn { body in try log.read(after: known, body) }
    let count = writer.revision - head
    if count > 0 { self.log.info("commits were restored from the commit log", metadata: ["count": "\(count)"]) }
  }

  /// Commits everything in SQLite, which then needs no log.
  func closeLog() {
    if gathered == nil { return }
    do {
      if health.isOutcomeUnknown { try reopen() }
      try pool.writeWithoutTransaction { database in
        let writer = try invariant(writer, "a store that is open has a writer")
        try commitGathered(writer)
        try synchronizeLog(of: writer.connection)
        try LogMark.write(false, database)
      }
    } catch {
      log.error("the store is closed with commits that only its log holds", metadata: ["cause": "\(error)"])
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

  /// Applies entries, which are durable when the call returns. Only the caller of `commit` may call it, between commits.
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
        try apply(read, writer)
        if let gathered {
          // These entries are not in the store's own log.
          try synchronizeLog(of: writer.connection)
          begin(gathered, writer)
        }
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
      if sqlite3_get_autocommit(writer.connection.database.sqliteConnection) == 0 {
        try? writer.connection.run("ROLLBACK")
      }
      // The next call reopens the store and reads the file's actual state.
      self.writer = nil
      health.isOutcomeUnknown = true
      throw error
    }
  }
}

extension StoreWriter {
  /// The newest state.
  fileprivate var position: LogPosition { LogPosition(revision: revision, fingerprint: fingerprint) }
}
