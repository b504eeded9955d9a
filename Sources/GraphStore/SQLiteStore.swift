// Tests: CommitTests.swift, DurabilityTests.swift
import Foundation
import GRDB
import GraphLog
import GraphModel
import Logging
import Synchronization

/// A store in one SQLite file. Only this target and its tools know SQL.
///
/// One writer and several readers use the file concurrently, as WAL allows: readers never block the writer. The store
/// owns no thread and never waits for a client; every call runs on the caller's thread and returns when it is done.
///
/// `@unchecked Sendable`: the pool and the constants are Sendable. `writer` and the properties "guarded like `writer`"
/// are accessed only while `turn` is held, and by `init`.
public final class SQLiteStore: GraphStoring, @unchecked Sendable {
  /// The model that the store was created with, or one of equal hash.
  public let model: Model
  /// The data directory, as passed to `init`.
  public let directory: String
  /// The random id that the store got at its creation. Tokens contain it.
  public let storeID: UniqueID

  /// The head at the first start with the present rules about what users see; set by `init` only.
  public private(set) var accessRulesSince: Revision = 0

  let statements = StatementCache.Table()
  /// Replaced after a failure that leaves the state on disk unknown.
  let connections: Mutex<DatabasePool>
  private let lock: StoreLock
  /// The identities of the store's files as of opening.
  let files: OpenedFiles
  let opener: StoreOpener
  let layout: StoreLayout
  /// Nil for a store that was never migrated.
  let earlier: EarlierVersions?
  let options: Options
  let reporter: StoreReporter
  let names = ShownNames()
  /// The connections that read past states.
  let pastReaders: KeyedReaders<Revision, PastReader>
  let visibleReaders: KeyedReaders<Visibility, VisibleReader>
  var writer: StoreWriter?
  /// The commits that are in the commit log only; nil for a store without one. Guarded like `writer`.
  var gathered: GatheredCommits?
  /// Held by each call that uses the writer. Reads use it, too, because a read may commit the gathered commits.
  let turn = Mutex(())
  /// Guarded like `writer`.
  var health = Health()
  /// Guarded like `writer`.
  var checkpointSpace: CheckpointSpace
  /// The live queries with key paths; guarded like `writer`.
  var related: PathQueryMatcher
  /// The changes to `related` that the next batch applies.
  let watches = WatchedQueries()
  let status = Mutex(Status())

  /// The state of the store that any thread may change.
  struct Status {
    var isClosed = false
    /// Whether a read has failed because of a lock that was not released. Reopening the store releases it.
    var isLockLost = false
  }

  /// The failures that make the connections or the state on disk uncertain.
  struct Health {
    /// Whether a commit failed and the store has not been reopened yet.
    var isOutcomeUnknown = false
    /// Whether this process may have lost a lock. Reopening then closes all connections first.
    var isLockLost = false
    /// Whether the disk may have failed to write pages that SQLite counts as synced.
    var isDiskInDoubt = false

    /// Records a failure after which the store must be reopened.
    mutating func doubt(_ cause: any Error) {
      isOutcomeUnknown = true
      let code = (cause as? StoreFailure)?.code
      if code == .lockLost { isLockLost = true }
      if code != .full { isDiskInDoubt = true }
    }
  }

  /// The settings of a store, fixed at opening.
  public struct Options: Sendable {
    /// Returns the random half of a new id.
    public var random: @Sendable () -> UInt64
    /// The creation time, written when the store is created.
    public var created: Timestamp = 0
    /// The size at which the WAL is checkpointed, in pages of 4 KiB. A small number makes checkpoints frequent, and
    /// each slows down one commit. A large number makes every commit of a single client slower.
    public var checkpointPages = 4_000
    /// The maximum number of concurrent reads; further reads wait.
    public var maximumReaders = 5
    /// The time, in seconds, that a commit waits for another program's lock on the database.
    public var lockSeconds = 5.0
    /// The number of changes that may wait for the full-text indexes. A larger number makes commits cheaper and
    /// searches more expensive: a search examines each of these changes, which takes some microseconds per change.
    public var wordLimit = 512
    /// The average number of an object's changes per keyframe; large objects have fewer keyframes. 0 for none.
    public var keyframeInterval = 64
    /// The maximum number of objects, changed since a revision, for a read at that revision. They are held in memory.
    public var maximumPastObjects = 100_000
    /// The approximate maximum size of these objects, in bytes, for each connection that reads the past.
    public var maximumPastBytes = 256 << 20
    /// The maximum number of connections that read the past, each at one revision.
    public var maximumPastReaders = 2
    /// The maximum number of connections that read what a visibility class sees. They are opened when users without
    /// access to everything read.
    public var maximumVisibleReaders = 4
    /// The number of objects in a slice of a large batch. A batch of at most this size is an ordinary commit.
    public var sliceObjects = Batch.sliceObjects
    /// The number of commits that the writer prunes in one turn.
    public var prunedCommits = 256
    /// The limits for the undo of one step.
    public var undoLimits = UndoLimits()
    /// The number of rows, stepped through without an index, from which a fetch or a batch is logged.
    public var longScan = 10_000
    /// A monotonic clock, which measures the time of an explained fetch.
    public var monotonicNanoseconds: @Sendable () -> Int64 = {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    /// Returns the bytes that may still be written on the disk of a folder; nil if the system does not report them.
    public var freeBytes: @Sendable (_ directory: String) -> Int? = { DiskSpaceMonitor.freeBytes(of: $0) }
    /// The age, in nanoseconds, from which the names of the store's files are compared again before a commit is
    /// acknowledged. A commit may be acknowledged this long after the files were moved or removed.
    public var comparedNanoseconds: Int64 = 2_000_000
    /// Opens the store's commit log, or begins one after a state; nil for a store that syncs each commit in SQLite.
    public var commitLog: (@Sendable (_ store: UniqueID, _ beginning: LogPosition?) throws -> any CommitLog)?
    /// The number of commits in the commit log that SQLite commits together.
    public var gatheredCommits = 64
    /// The bytes of the commit log that are held before SQLite is synced and the log's space is reused.
    public var heldLogBytes = 16 << 20
    /// Receives the entries of the commits that one SQLite transaction has made durable, in order. Called on the thread
    /// of the commit, which holds the writer, so it must not read the store. A large batch is kept in memory for the
    /// call. Nil if the store has no follower.
    public var didCommit: (@Sendable ([LogEntry]) -> Void)?
    /// Test only.
    package var hooks = StoreHooks()

    /// Creates the daemon's options; ids come from the system's random numbers.
    public init() {
      let source = RandomSource()
      random = { source.next() }
    }
  }

  // MARK: - Opening

  /// Opens the store in `directory`, or creates one.
  /// - Throws: `StoreFailure`; then no file was changed.
  public init(directory: String, model: Model, options: Options = Options(), log: Logger? = nil) throws {
    self.model = model
    self.directory = directory
    self.options = options
    reporter = StoreReporter(
      model: model, log: log ?? Logger(label: "store") { _ in SwiftLogNoOpLogHandler() }, options: options)
    related = PathQueryMatcher(model: model)
    let path = directory + "/" + StoreFiles.name
    try StoreFiles.prepare(directory: directory)
    lock = try StoreLock(directory: directory)
    do {
      try PendingRestore.finish(in: directory)
      if try StoreFiles.kind(of: path) == .absent {
        try StoreOpener.create(path, directory: directory, layout: StoreLayout(model: model), options: options)
      }
      try LogMark.refuseLoss(ofStoreAt: path)
      checkpointSpace = CheckpointSpace(path: path, directory: directory, options: options)
      let files = try OpenedFiles(directory: directory, path: path, lock: lock, options)
      self.files = files
      let opener = StoreOpener(path: path, options: options, statements: statements, files: files)
      self.opener = opener
      let pool = try opener.open()
      connections = Mutex(pool)
      storeID = try pool.read { database in
        // A store without an id is damaged; `stickiesd check` reports that.
        if let id = try database.storeID() { id } else { UniqueID.zero }
      }
      try StoreOpener.checkModel(pool, model, directory: directory)
      layout = try pool.read { try StoreVersions.layout($0, model: model) }
      earlier = layout.versions.isEmpty ? nil : EarlierVersions(layout)
      pastReaders = KeyedReaders(maximum: options.maximumPastReaders, waitsForKey: true) { [layout, reporter] in
        let queue = try DatabaseQueue(path: path, configuration: opener.pastConfiguration)
        let limits = PastLimits(objects: options.maximumPastObjects, bytes: options.maximumPastBytes)
        return PastReader(queue, layout: layout, limits: limits, damage: reporter.damage)
      }
      visibleReaders = KeyedReaders(maximum: options.maximumVisibleReaders, waitsForKey: false) { [layout, reporter] in
        VisibleReader(
          try DatabaseQueue(path: path, configuration: opener.pastConfiguration), layout: layout,
          damage: reporter.damage)
      }
      try StoreOpener.upgrade(pool, layout: layout, log: reporter.log)
      try pool.writeWithoutTransaction { writer = try openWriter($0) }
      try openLog()
      try pool.writeWithoutTransaction { database in
        let head = try invariant(writer, "a store that was opened has a writer").revision
        // A migration may have changed the rules, too.
        accessRulesSince = max(layout.since - 1, try ReadRulesMark.update(database, model, head: head))
        try files.recordSize(database)
      }
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    } catch let error as MalformedMessage {
      throw StoreFailure(
        .corrupt, "the store \(path) is damaged", cause: "its newest commit can't be decoded: \(error.reason)",
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    }
  }

  /// Without `close`, the connections close when their last statements are finalized.
  deinit { statements.removeAll() }

  var path: String { directory + "/" + StoreFiles.name }

  var pool: DatabasePool { connections.withLock { $0 } }

  /// The models of the store's earlier versions, oldest first.
  public var olderModels: [Model] { layout.versions.dropLast().map(\.model) }

  /// The maximum number of file descriptors that reads and commits open: two for each reader and two for the writer.
  public var maximumDescriptors: Int {
    2 * (1 + options.maximumReaders + options.maximumPastReaders + options.maximumVisibleReaders)
  }

  /// Includes effects on this query in commit records from the next batch on. `number` is the hub's number for the
  /// query.
  public func watch(_ query: LiveQuery, number: UInt64, seenBy visibility: Visibility?) {
    watches.insert(query, number: number, seenBy: visibility)
  }

  /// Stops including effects on the query.
  public func unwatch(_ number: UInt64) { watches.remove(number) }

  /// Sets whether commit records contain the objects to which the changed ones refer, from the next batch on.
  public func recordReferences(_ isWanted: Bool) { watches.recordReferences(isWanted) }

  /// Checks that the names of the store's files still refer to the open files, as each commit does. May be called
  /// from any thread.
  /// - Returns: the reason why commits are refused; nil if all names refer to the open files.
  public func fileFailure() -> StoreFailure? {
    do {
      try files.verify()
      return nil
    } catch {
      return error as? StoreFailure
    }
  }

  /// Checkpoints the WAL and closes the file. Call it when no read or write is running; further calls do nothing.
  public func close() throws {
    let wasClosed = status.withLock { status in
      defer { status.isClosed = true }
      return status.isClosed
    }
    if wasClosed { return }
    pastReaders.forget()
    visibleReaders.forget()
    if let damage = files.damage { return leaveOpen(damage) }
    turn.withLock { _ in
      closeLog()
      pool.writeWithoutTransaction { database in
        writer = nil
      }
    }
    // The last commits may have appended to a file that was cut meanwhile.
    if let damage = files.damage { return leaveOpen(damage) }
    pool.writeWithoutTransaction { database in
      // If the checkpoint fails, the next start repeats it.
      _ = try? database.checkpoint(.truncate)
    }
    files.forgetIndex()
    statements.removeAll()
    files.renameForeignLog(reporter.log)
    try pool.close()
    lock.release()
  }

  /// Ends the use of a store with a damaged file. Its connections stay open until the process ends: the last one to
  /// close would copy SQLite's log over the rest of the file and remove the log, which a person may still need.
  private func leaveOpen(_ damage: any Error) {
    reporter.log.critical(
      "a file of the store was damaged while it was open; it and its logs are left as they are",
      metadata: ["cause": "\(damage)"])
    files.forgetIndex()
    _ = Unmanaged.passRetained(pool)
    lock.release()
  }
}
