import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import Logging
import Synchronization

/// A store in one SQLite file: the one place that knows SQL.
///
/// One writer and several readers, as WAL allows: readers never block the writer. Nothing here owns a thread or waits
/// for a client; every call runs on the caller's thread and returns when it is done.
///
/// `@unchecked Sendable`: the pool and the constants are Sendable by themselves; `writer` and what is guarded as it is are
/// read and written by the one caller of `commit` at a time, inside the pool's writer queue, and by `init` and `close`.
public final class SQLiteStore: GraphStoring, @unchecked Sendable {
  /// The model that the store was made with, or one of equal hash.
  public let model: Model
  /// The data directory, as it was given.
  public let directory: String
  /// Random, made with the store: tokens name it.
  public let storeID: UniqueID

  let path: String
  let fetches = FetchStatements.Table()
  /// Replaced after a failure that leaves in doubt what is on disk.
  let connections: Mutex<DatabasePool>
  private let lock: StoreLock?
  let layout: StoreLayout
  let log: Logger
  let options: Options
  let scans = ReportedScans()
  /// Connections that show the graph as it was.
  let pastReaders: PastReaders
  var writer: StoreWriter?
  /// A commit failed and the store could not be opened anew yet; guarded as `writer` is.
  var isInDoubt = false
  /// The live queries that follow paths; guarded as `writer` is.
  private(set) var related: RelatedQueries
  /// What is to become of them with the next batch.
  private let watches = Mutex<[WatchChange]>([])

  private enum WatchChange {
    case insert(LiveQuery, UInt64)
    case remove(UInt64)
  }
  private let isClosed = Mutex(false)

  /// What to vary when opening.
  public struct Options: Sendable {
    /// The random half of new ids.
    public var random: @Sendable () -> UInt64
    /// Written when the store is made.
    public var created: Timestamp = 0
    /// The WAL is copied into the database when it has this many pages of 4 KiB: a smaller number makes one commit in
    /// that many slow, a larger one makes every commit of a lone client slower.
    public var checkpointPages = 4_000
    /// Connections that may read at once; one more waits.
    public var maximumReaders = 5
    /// So many changes may wait for the full-text indexes. More make commits cheaper and searches dearer: a search looks
    /// into each of them, some microseconds a piece.
    public var wordLimit = 512
    /// About every so many changes of an object one holds it whole, of a large object rarer; 0 for none.
    public var wholeInterval = 64
    /// Objects that may have changed since a revision for the whole graph to be read as of it: they are held in memory.
    public var maximumPastObjects = 100_000
    /// Connections that read the past, each of one revision.
    public var maximumPastReaders = 2
    /// A batch of many objects is written so many at a time; one of no more is an ordinary commit.
    public var sliceObjects = Batch.sliceObjects
    /// Commits that one turn of the writer prunes.
    public var prunedCommits = 256
    /// What the undo of one step may take.
    public var undoLimits = UndoLimits()
    /// A fetch that steps through more rows than this without an index to lead it is worth a line in the log.
    public var longScan = 10_000
    /// A clock that only goes forward, for what a fetch that explains itself took.
    public var monotonicNanoseconds: @Sendable () -> Int64 = {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    /// Test only: called as each statement begins to run, with whether it runs on a reader's connection.
    public var willRunStatement: (@Sendable (_ isReader: Bool) -> Void)?
    /// A bug to plant; the simulation must catch each.
    public var plantedBug: PlantedBug?

    /// What the daemon runs with; ids from the system's random numbers.
    public init() {
      let source = RandomSource()
      random = { source.next() }
    }
  }

  /// Test only: what would go wrong if the store were written otherwise.
  public enum PlantedBug: String, Sendable, CaseIterable {
    /// The writer is opened with synchronous=OFF.
    case notSynchronous
    /// Results are handed out before COMMIT.
    case replyBeforeCommit
    /// A transaction's id is not looked up.
    case forgottenTransactionID
    /// Members of an ordered relationship that make room for others stay where they are.
    case unspreadPlaces
    /// An object in which nothing but a count changes is not written.
    case lostCounts
    /// A transaction that was pruned is taken for a new one.
    case forgottenPrunedID
    /// What was pruned of an object's past is taken for nothing.
    case forgottenFloor
  }

  // MARK: - Opening

  /// Opens the store in `directory`, or makes one.
  /// - Throws: `StoreFailure`; then no file was changed.
  public init(directory: String, model: Model, options: Options = Options(), log: Logger? = nil) throws {
    self.model = model
    self.directory = directory
    self.log = log ?? Logger(label: "store") { _ in SwiftLogNoOpLogHandler() }
    self.options = options
    related = RelatedQueries(model: model)
    let path = directory + "/" + StoreFiles.name
    self.path = path
    try StoreFiles.prepare(directory: directory)
    lock = try StoreLock(directory: directory)
    do {
      try StoreRestore.finish(in: directory)
      if try StoreFiles.kind(of: path) == .absent {
        try Self.create(path, directory: directory, layout: StoreLayout(model: model), options: options)
      }
      try WriteAheadLogFile.refuseLoss(beside: path)
      let pool = try Self.open(path, options: options, fetches)
      connections = Mutex(pool)
      storeID = try pool.read { database in
        try Data.fetchOne(database, sql: "SELECT id FROM _store").flatMap { UniqueID(bytes: Array($0)) } ?? .zero
      }
      try Self.checkModel(pool, model, directory: directory)
      layout = try pool.read { try StoreVersions.layout($0, model: model) }
      pastReaders = PastReaders(maximum: options.maximumPastReaders) { [layout] in
        let queue = try DatabaseQueue(path: path, configuration: Self.pastConfiguration(options))
        return PastReader(queue, layout: layout, maximumObjects: options.maximumPastObjects)
      }
      try upgrade()
      try pool.writeWithoutTransaction { writer = try makeWriter($0) }
    } catch let error as DatabaseError {
      throw Self.failure(code: error.extendedResultCode.rawValue, message: error.message ?? "", path: path)
    } catch let error as MalformedMessage {
      throw StoreFailure(
        .corrupt, "the store \(path) is damaged", cause: "its newest commit can't be decoded: \(error.reason)",
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    }
  }

  /// Everything of a new store is made in a file beside its place and renamed when it is whole and on disk: there is no
  /// half-made store, and the header can be trusted from the first start on.
  private static func create(_ path: String, directory: String, layout: StoreLayout, options: Options) throws {
    let draft = path + ".new"
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
    do {
      let queue = try DatabaseQueue(path: draft)
      try queue.inDatabase { database in
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA application_id = \(StoreLayout.applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(StoreLayout.version)")
        try database.inTransaction {
          for statement in layout.creation { try database.execute(sql: statement) }
          let id = UniqueID(high: options.random(), low: options.random())
          try database.execute(
            sql: "INSERT INTO _store (id, created, sum) VALUES (?, ?, ?)",
            arguments: [
              Data(id.bytes), options.created, StoreLayout.sum(store: id, created: options.created),
            ])
          let (hash, source) = (layout.model.hash.bytes, layout.model.source)
          try database.execute(
            sql: "INSERT INTO _model (hash, source, sum) VALUES (?, ?, ?)",
            arguments: [Data(hash), source, StoreLayout.sum(model: hash, source: source)])
          return .commit
        }
      }
      try queue.close()
    } catch {
      for suffix in ["", "-journal"] { unlink(draft + suffix) }
      throw error
    }
    // A log without its database is of another one; SQLite would take it for this one's.
    for suffix in ["-wal", "-shm"] {
      if access(path + suffix, F_OK) == 0 { rename(path + suffix, path + suffix + ".orphan") }
    }
    guard rename(draft, path) == 0 else { throw StoreFiles.failure("\(path) can't be made", errno) }
    try StoreFiles.synchronize(directory: directory)
  }

  /// A store that is left without being closed: its connections close with their last statements.
  deinit { fetches.removeAll() }

  // MARK: - Live queries that follow paths

  public func watch(_ query: LiveQuery, number: UInt64) {
    watches.withLock { $0.append(.insert(query, number)) }
  }

  public func unwatch(_ number: UInt64) {
    watches.withLock { pending in
      // Nobody has taken it yet: nobody has to.
      let inserted = pending.lastIndex { if case .insert(_, number) = $0 { true } else { false } }
      if let inserted { pending.remove(at: inserted) } else { pending.append(.remove(number)) }
    }
  }

  /// The queries as they are now; on the writer's thread.
  func takeWatches() {
    let pending = watches.withLock { pending in
      defer { pending = [] }
      return pending
    }
    for change in pending {
      switch change {
      case .insert(let query, let number): related.insert(query, number: number)
      case .remove(let number): related.remove(number)
      }
    }
  }

  var pool: DatabasePool { connections.withLock { $0 } }

  func makeWriter(_ database: Database) throws -> StoreWriter {
    try StoreWriter(
      Connection(database), layout: layout, wordLimit: options.wordLimit, sliceObjects: options.sliceObjects,
      wholeInterval: options.wholeInterval, undoLimits: options.undoLimits, random: options.random)
  }

  /// What every connection has.
  private static func prepare(_ database: Database, _ options: Options) throws {
    try database.execute(sql: "PRAGMA cache_size = -8192")
    try database.execute(sql: "PRAGMA temp_store = MEMORY")
    SQLFunctions.register(on: database)
    if let willRunStatement = options.willRunStatement {
      let isReader = database.configuration.readonly
      database.trace { _ in willRunStatement(isReader) }
    }
  }

  /// Of a connection that shows the past: it writes into its TEMP tables only, which a read-only one may.
  private static func pastConfiguration(_ options: Options) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { try Self.prepare($0, options) }
    return configuration
  }

  static func open(_ path: String, options: Options, _ fetches: FetchStatements.Table) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.maximumReaderCount = options.maximumReaders
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = true
    configuration.allowsUnsafeTransactions = options.plantedBug == .replyBeforeCommit
    configuration.persistentReadOnlyConnections = true
    configuration.prepareDatabase { database in
      try Self.prepare(database, options)
      if database.configuration.readonly { fetches.open(database) }
    }
    let hadLog = StoreFiles.hasContent(path + "-wal")
    let pool = try DatabasePool(path: path, configuration: configuration)
    // After `prepareDatabase` the pool has set NORMAL: set and read back what durability hangs on here.
    try pool.writeWithoutTransaction { database in
      let level = options.plantedBug == .notSynchronous ? "OFF" : "FULL"
      try database.execute(sql: "PRAGMA synchronous = \(level)")
      try database.execute(sql: "PRAGMA wal_autocheckpoint = \(options.checkpointPages)")
      let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
      let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      guard mode == "wal", synchronous == 2 || options.plantedBug == .notSynchronous else {
        throw StoreFailure(
          .notDurable, "the store \(path) can't be opened durably",
          cause: "journal_mode \(mode ?? "?"), synchronous \(synchronous ?? -1)",
          advice: "Use a data directory on a local file system that SQLite's WAL works on.")
      }
      // Nobody observes transactions through the library, and its hooks must not outlive it: SQLite calls them when a
      // connection is closed in the middle of a transaction.
      sqlite3_commit_hook(database.sqliteConnection, nil, nil)
      sqlite3_rollback_hook(database.sqliteConnection, nil, nil)
      // Where there was no log, the pool has begun one with a commit of its own, not synchronized. Synchronized now, or
      // a power cut within our first commit could leave a hole before that one's last frame.
      if !hadLog { _ = try database.checkpoint(.passive) }
    }
    return pool
  }

  private static func checkModel(_ pool: DatabasePool, _ model: Model, directory: String) throws {
    let newest = try pool.read { database in
      try GRDB.Row.fetchOne(database, sql: "SELECT hash, source FROM _model ORDER BY number DESC LIMIT 1")
    }
    guard let newest, Array(newest[0] as Data) != model.hash.bytes else { return }
    let cause =
      "its hash is \(ModelHash(bytes: Array(newest[0] as Data))?.description ?? "?"), this one's \(model.hash)"
    if let kept = try? Model(parsing: (newest[1] as String).utf8), kept.name == model.name,
      kept.version != model.version
    {
      let isOlder = kept.version < model.version
      throw StoreFailure(
        .modelDiffers,
        "the store in \(directory) is of \(kept.name) version \(kept.version), and version \(model.version) is to be served",
        cause: cause,
        advice: isOlder
          ? "Run stickiesd migrate --dry-run with the same --data and --schema: it tells what becomes of the store; then "
            + "stickiesd migrate."
          : "The store is newer: use its version of the model (--schema), or another --data.")
    }
    throw StoreFailure(
      .modelDiffers, "the store in \(directory) was made with another model", cause: cause,
      advice: "Start stickiesd with the model that the store was made with (--schema).")
  }

  /// Gives a store of an older layout what it lacks.
  private func upgrade() throws {
    try pool.writeWithoutTransaction { database in
      let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
      guard version < StoreLayout.version else { return }
      try database.inTransaction(.immediate) {
        for statement in StoreLayout.parts + StoreLayout.wholes { try database.execute(sql: statement) }
        try database.execute(sql: "PRAGMA user_version = \(StoreLayout.version)")
        return .commit
      }
      // An older program looks for the version in the file itself, not in the log.
      _ = try? database.checkpoint(.full)
      log.info("the store's layout was brought up to date", metadata: ["from": "\(version)"])
    }
  }

  /// Copies the log into the database and closes the file. Call when nothing is being read or written; once is enough.
  public func close() throws {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    if wasClosed { return }
    pastReaders.forget()
    pool.writeWithoutTransaction { database in
      writer = nil
      // What is not copied now is copied at the next start.
      _ = try? database.checkpoint(.truncate)
    }
    fetches.removeAll()
    try pool.close()
    lock?.release()
  }

  /// Unique and foreign-key constraints are a backstop behind the rules.
  struct BackstopFailure: Error { let message: String }

  /// SQLITE_IOERR with its details, which are macros that Swift can't import: unlocking, reading, checking and taking
  /// a lock, and locks of the log's index.
  private static let lockCodes = Set([8, 9, 14, 15, 20].map { SQLITE_IOERR | $0 << 8 })
  /// SQLITE_IOERR_SHMSIZE: there is no room for the log's index.
  private static let sharedMemorySize = SQLITE_IOERR | 19 << 8

  static func failure(code: Int32, message: String, path: String = "") -> any Error {
    let subject = path.isEmpty ? "the store" : "the store \(path)"
    // What the primary codes put among the other troubles of a disk.
    var primary = code & 0xFF
    if lockCodes.contains(code) { primary = SQLITE_BUSY }
    if code == sharedMemorySize { primary = SQLITE_FULL }
    switch primary {
    case SQLITE_CONSTRAINT: return BackstopFailure(message: message)
    case SQLITE_FULL:
      return StoreFailure(
        .full, "the disk under \(subject) is full", cause: message,
        advice: "Make room; commits are accepted again as soon as there is some.")
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
      return StoreFailure(
        .inputOutput, "\(subject) can't be read or written", cause: message, advice: "Look at the disk.")
    }
  }
}
