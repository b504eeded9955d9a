// Tests: CommitTests.swift, DurabilityTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// Commits requests: all waiting ones share one SQLite transaction and a single sync.
extension SQLiteStore {
  /// Commits a batch; only one caller at a time may call it.
  public func commit(_ batch: [WriteRequest], now: Timestamp) throws -> [WriteResult] {
    // If a group throws, the results of the groups before it are lost. A client gets the outcome when it sends its
    // request again under the same id.
    var results = [WriteResult]()
    for group in WriteRequest.groups(of: batch) { results += try prepare(group, now: now).finish() }
    return results
  }

  /// Plans and writes a group; only one caller at a time may call it. A large batch is a group of its own.
  public func prepare(_ group: [WriteRequest], now: Timestamp) throws -> PreparedCommits {
    try turn.withLock { _ in
      do {
        return try prepareOnce(group, now: now)
      } catch let failure as StoreFailure where failure.code == .full {
        // Retries once in the space that a checkpoint frees. A large batch has already reported its failure to its
        // client.
        guard !group.contains(where: \.isBatch), try checkpoint() else { throw failure }
        return try prepareOnce(group, now: now)
      }
    }
  }

  func checkpoint() throws -> Bool {
    try pool.writeWithoutTransaction { database in
      // SQLite does not checkpoint inside a transaction.
      if let writer { try commitGathered(writer) }
      try files.verifyBeforeCheckpoint()
      do {
        return try CheckpointSpace.checkpoint(database).isComplete
      } catch let error as DatabaseError {
        writer = nil
        health.doubt(error)
        return false
      }
    }
  }

  private func prepareOnce(_ batch: [WriteRequest], now: Timestamp) throws -> PreparedCommits {
    try invariant(batch.count == 1 || !batch.contains(where: \.isBatch), "a large batch is a group of its own")
    commitIfDue()
    if health.isOutcomeUnknown {
      do {
        try reopen()
      } catch let error as DatabaseError {
        throw SQLiteFailure.of(error, path: path)
      }
    }
    try files.verifyIfDue()
    watches.apply(to: &related)
    do {
      return try pool.writeWithoutTransaction { database in
        let writer = try self.writer ?? makeWriter(database)
        self.writer = writer
        do {
          return try prepareTogether(batch, now: now, writer)
        } catch let failure as SQLConstraintFailure {
          reporter.log.error("a constraint of the database fired", metadata: ["constraint": "\(failure.message)"])
          return prepareAlone(batch, now: now, writer)
        } catch let failure as InvariantFailure {
          reporter.log.critical(
            "an invariant is broken: the commit is refused", metadata: ["invariant": "\(failure.name)"])
          return prepareAlone(batch, now: now, writer)
        }
      }
    } catch let unknown as UnknownOutcome {
      return try resolveOutcomes(of: batch, unknown)
    }
  }

  /// The failure of BEGIN, of COMMIT or of the disk. The connection can no longer determine the state on disk.
  private struct UnknownOutcome: Error {
    let cause: any Error
    /// The store's revision before the batch.
    let head: Revision
    /// The entries of the commits that may be on disk; nil if they were too large to be kept.
    var entries: [LogEntry]?
    /// Whether COMMIT failed, after the rows were written.
    var mayBeCommitted = false
  }

  static let begin = SQL("BEGIN IMMEDIATE")
  private static let commit = SQL("COMMIT")
  private static let rollback = SQL("ROLLBACK")

  /// The failures of the disk. An apparent corruption may exist only in the connection's memory.
  private static let ofTheDisk: [StoreFailure.Code] = [.inputOutput, .cannotLock, .lockLost, .corrupt, .noDescriptors]

  private func prepareTogether(
    _ batch: [WriteRequest], now: Timestamp, _ writer: StoreWriter
  ) throws -> PreparedCommits {
    let connection = writer.connection
    if let willBegin = options.hooks.willBegin {
      let isInTransaction = sqlite3_get_autocommit(connection.database.sqliteConnection) == 0
      try willBegin(isInTransaction) { try connection.run($0) }
    }
    let head = writer.revision
    try beginTransaction(of: batch, head: head, writer)
    var isCommitting = false
    let entries = EntryCollector(
      limit: options.didCommit == nil ? gathered?.log.maximumGroupBytes : nil, count: batch.count)
    if options.didCommit != nil || gathered != nil { writer.emit = { entries.append($0) } }
    defer { writer.emit = nil }
    do {
      var results = [WriteResult]()
      results.reserveCapacity(batch.count)
      for request in batch {
        // A refused request has written nothing. Any other failure rolls the whole transaction back.
        results.append(names.shown(try writer.execute(request, now: now, related: related)))
      }
      if case .batch? = batch.first, case .refused? = results.first?.outcome {
        return try rollBackBatch(results, writer)
      }
      try writer.fullText.updateIfDue(head: writer.revision)
      try invariant(results.count == batch.count, "each request of a batch has a result")
      try invariant(writer.revision >= head, "revisions never fall")
      try checkpointSpace.reserve(connection)
      try refuseUnlogged(entries)
      isCommitting = true
      let prepared =
        if let gathered {
          try prepare(entries, results, gathered, writer)
        } else {
          try commitInSQLite(entries, results, connection)
        }
      checkpointSpace.setThreshold(connection.database)
      return prepared
    } catch {
      let isOfTheDisk = if let failure = error as? StoreFailure { Self.ofTheDisk.contains(failure.code) } else { false }
      if sqlite3_get_autocommit(connection.database.sqliteConnection) == 0 { try? connection.run("ROLLBACK") }
      gathered?.didRollBack()
      guard !isCommitting, !isOfTheDisk else {
        self.writer = nil
        throw UnknownOutcome(cause: error, head: head, entries: entries.entries, mayBeCommitted: isCommitting)
      }
      do {
        try writer.reload()
        try repeatGathered(writer)
      } catch {
        self.writer = nil
        if gathered != nil { health.doubt(error) }
        throw error
      }
      throw error
    }
  }

  /// Rolls a refused batch back: earlier slices may have been written before a later one was refused.
  private func rollBackBatch(_ results: [WriteResult], _ writer: StoreWriter) throws -> PreparedCommits {
    try writer.connection.run(Self.rollback)
    gathered?.didRollBack()
    try writer.reload()
    return PreparedCommits { results }
  }

  /// Begins the transaction of a group, unless gathered commits have one open.
  private func beginTransaction(
    of batch: [WriteRequest], head: Revision, _ writer: StoreWriter
  ) throws(UnknownOutcome) {
    do {
      // A large batch may be refused after a part of it was written; the rollback must concern the batch alone.
      let isBatch = batch.first?.isBatch == true
      if isBatch { try commitGathered(writer) }
      try prepareToBegin(isBatch: isBatch, writer)
      if gathered?.isOpen != true { try writer.connection.run(Self.begin) }
      gathered?.didBegin()
    } catch {
      // An earlier unlock failed, or the file is unreadable. On this connection the error would persist.
      self.writer = nil
      throw UnknownOutcome(cause: error, head: head)
    }
  }

  /// Commits the transaction of a group in SQLite, in a store without a commit log.
  private func commitInSQLite(
    _ entries: EntryCollector, _ results: [WriteResult], _ connection: Connection
  ) throws -> PreparedCommits {
    try verifyHeader(of: connection)
    try runCommit(connection)
    // If the next start can't find the files, the commit is lost, so it must not be acknowledged.
    try files.verify()
    let written = entries.entries
    return PreparedCommits { [options] in
      if let written, !written.isEmpty { options.didCommit?(written) }
      return results
    }
  }

  func runCommit(_ connection: Connection) throws {
    if let commit = options.hooks.commit {
      try commit { try connection.run(Self.commit) }
    } else {
      try connection.run(Self.commit)
    }
  }

  /// Performs the requests of a group one by one, after one of them fired a constraint of SQL or broke an invariant,
  /// which the rules should have prevented.
  ///
  /// Each request gets its own result: the commits before a failure are kept.
  private func prepareAlone(_ batch: [WriteRequest], now: Timestamp, _ writer: StoreWriter) -> PreparedCommits {
    let parts = batch.map { request in
      Result<PreparedCommits, any Error> {
        // After an unknown outcome there is no writer; nothing else is tried on this connection.
        guard self.writer != nil else { throw Refusal(.unavailable, "the store failed") }
        do {
          return try prepareTogether([request], now: now, writer)
        } catch let unknown as UnknownOutcome {
          health.doubt(unknown.cause)
          throw unknown.mayBeCommitted ? withUnknownOutcome(unknown.cause) : unknown.cause
        }
      }
    }
    return PreparedCommits {
      parts.map { part in
        do {
          return try part.get().finish()[0]
        } catch {
          return WriteResult(outcome: .refused(Self.refusal(for: error)), record: nil)
        }
      }
    }
  }

  private static func refusal(for error: any Error) -> Refusal {
    if let failure = error as? SQLConstraintFailure {
      return Refusal(.invalid, "the store refused the transaction (\(failure.message))")
    }
    return StoreFailure.refusal(of: error)
  }

  // MARK: - The writer

  func makeWriter(_ database: Database) throws -> StoreWriter {
    let writer = try StoreWriter(
      Connection(database), layout: layout, wordLimit: options.wordLimit, sliceObjects: options.sliceObjects,
      keyframeInterval: options.keyframeInterval, undoLimits: options.undoLimits, reporter: reporter, names: names,
      random: options.random)
    writer.hooks = options.hooks
    return writer
  }

  /// Creates the writer of an opened store.
  ///
  /// The full-text indexes lack the newest commits. If one of these, or an object that they have changed, is damaged,
  /// the indexes are rebuilt from the objects, so that the damage does not prevent the start. They are also rebuilt if
  /// they are marked with a later revision than the newest: searches would not examine the next commits.
  func openWriter(_ database: Database) throws -> StoreWriter {
    do {
      let writer = try makeWriter(database)
      let watermark = writer.fullText.watermark
      guard watermark <= writer.revision else {
        throw MalformedMessage("they are marked with revision \(watermark), and the newest is \(writer.revision)")
      }
      return writer
    } catch let error as MalformedMessage {
      let objects = ObjectReader(Connection(database), layout: layout)
      let head = try HistoryReader(objects: objects).head().revision
      try database.inTransaction(.immediate) {
        try FullTextRebuild.perform(objects.connection, layout: layout, head: head)
        return .commit
      }
      reporter.log.error(
        "the full-text indexes could not be updated; they were rebuilt; stop stickiesd and run stickiesd check",
        metadata: ["cause": "\(error.reason)"])
      return try makeWriter(database)
    }
  }

  // MARK: - After a failure

  /// Reopens the store and looks up the batch's transactions.
  ///
  /// A connection whose commit failed is never used again. Transactions that are found are checkpointed into the
  /// database file, because it is unknown how much of the WAL reached the disk, and then count as committed. The
  /// others are not committed, and their clients get the failure.
  ///
  /// A follower of the store is notified in `finish`, after the groups that were prepared before.
  private func resolveOutcomes(of batch: [WriteRequest], _ unknown: UnknownOutcome) throws -> PreparedCommits {
    health.doubt(unknown.cause)
    reportReopening(unknown.cause)
    var areRefused = false
    do {
      try reopen()
      return try pool.writeWithoutTransaction { database in
        let writer = try invariant(writer, "a store that was reopened has a writer")
        let outcomes = try batch.map { try writer.knownOutcome(of: $0) }
        guard outcomes.contains(where: { $0 != nil }) else {
          areRefused = true
          throw unknown.cause
        }
        try files.verifyBeforeCheckpoint()
        try database.checkpoint(.full)
        let found = unknown.entries?.filter { $0.revision <= writer.revision }
        let records = try writer.history.records(after: unknown.head, through: nil, maximumChanges: .max)
        let refusal = StoreFailure.refusal(of: unknown.cause)
        let results = outcomes.map { outcome in
          guard case .committed(let committed)? = outcome else {
            return WriteResult(outcome: .refused(refusal), record: nil)
          }
          return names.shown(
            WriteResult(outcome: .committed(committed), record: records.first { $0.revision == committed.revision }))
        }
        return PreparedCommits { [options] in
          if let found, !found.isEmpty { options.didCommit?(found) }
          return results
        }
      }
    } catch {
      throw unknown.mayBeCommitted && !areRefused ? withUnknownOutcome(unknown.cause) : unknown.cause
    }
  }

  func reopen() throws {
    // After this call no other thread writes to the log.
    _ = gathered?.writeUnsynced()
    writer = nil
    statements.removeAll()
    if health.isLockLost { try closeConnections() } else { releaseLocks() }
    let fresh = try opener.open()
    // Reads in progress finish on their old connections.
    connections.withLock { $0 = fresh }
    if let gathered { gathered.isSyncing = false }
    pastReaders.forget()
    visibleReaders.forget()
    try fresh.writeWithoutTransaction { database in
      let writer = try openWriter(database)
      try restoreGathered(writer)
      self.writer = writer
    }
    health = Health()
    status.withLock { $0.isLockLost = false }
  }

  /// Closes all connections of the process. A lock on a read mark that was not released stays with the process until
  /// its last connection closes, and every commit fails until then. Reads in progress fail too; they are run again.
  private func closeConnections() throws {
    // The last connection to close makes a checkpoint, and removes the WAL by name.
    try files.verify()
    try files.verifyBeforeCheckpoint(completely: true)
    pastReaders.forget()
    visibleReaders.forget()
    pool.interrupt()
    files.forgetIndex()
    try pool.close()
    files.forgetLog()
  }

  /// Releases locks whose unlock failed earlier. SQLite ignores a failed unlock in the WAL index: the connection
  /// keeps the lock without knowing it, and every other connection of this process, including later ones, is refused.
  /// Only this process's single writer takes the locks for writing and for checkpoints, and it is idle here, so
  /// unlocking them again affects no other holder.
  private func releaseLocks() {
    pool.writeWithoutTransaction { database in
      let connection = database.sqliteConnection
      // A transaction that could not be rolled back holds its locks.
      guard sqlite3_get_autocommit(connection) != 0 else { return }
      DatabaseFileHandle(database)?.releaseLocks()
    }
  }
}

extension WriteRequest {
  fileprivate var isBatch: Bool { if case .batch = self { true } else { false } }

  /// Splits requests into groups: each large batch alone, and those between them together.
  fileprivate static func groups(of requests: [WriteRequest]) -> [[WriteRequest]] {
    var groups = [[WriteRequest]]()
    var isOpen = false
    for request in requests {
      if isOpen, !request.isBatch { groups[groups.count - 1].append(request) } else { groups.append([request]) }
      isOpen = !request.isBatch
    }
    return groups
  }
}
