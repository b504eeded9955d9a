import Foundation
import GRDB
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
  private let lock: StoreLock
  /// What the names of the store's files led to when they were opened.
  let files: OpenedFiles
  /// The data directory without links, as of opening.
  let location: String
  let layout: StoreLayout
  let log: Logger
  let options: Options
  let scans: ScanReporter
  /// Failures of commits that follow each other.
  let lines: RepeatedLines
  let damage: DamageReporter
  /// Connections that show the graph as it was.
  let pastReaders: PastReaders
  var writer: StoreWriter?
  /// A commit failed and the store could not be opened anew yet; guarded as `writer` is.
  var isInDoubt = false
  /// A lock of this process was not given back: the store is opened anew without any connection left; guarded as `writer` is.
  var isLockLost = false
  /// What is known of the disk's room; guarded as `writer` is.
  var room: DiskRoom
  /// Of the database, in bytes.
  let pageSize: Int
  /// The live queries that follow paths; guarded as `writer` is.
  var related: RelatedQueries
  /// What is to become of them with the next batch.
  let watches = Mutex<[WatchChange]>([])

  enum WatchChange {
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
    /// So long a commit waits for another program's lock on the database.
    public var lockSeconds = 5.0
    /// So many changes may wait for the full-text indexes. More make commits cheaper and searches dearer: a search looks
    /// into each of them, some microseconds a piece.
    public var wordLimit = 512
    /// About every so many changes of an object one holds it whole, of a large object rarer; 0 for none.
    public var wholeInterval = 64
    /// Objects that may have changed since a revision for the whole graph to be read as of it: they are held in memory.
    public var maximumPastObjects = 100_000
    /// About so many bytes may these objects have, as they were: each of the connections below may hold as much.
    public var maximumPastBytes = 256 << 20
    /// Connections that read the past, each of one revision.
    public var maximumPastReaders = 2
    /// A batch of many objects is written so many at a time; one of no more is an ordinary commit.
    public var sliceObjects = Batch.sliceObjects
    /// Commits that one turn of the writer prunes.
    public var prunedCommits = 256
    /// What the undo of one step may take.
    public var undoLimits = UndoLimits()
    /// A fetch or a batch that steps through more rows than this without an index to lead it is worth a line in the log.
    public var longScan = 10_000
    /// A clock that only goes forward, for what a fetch that explains itself took.
    public var monotonicNanoseconds: @Sendable () -> Int64 = {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    /// Bytes that may still be written on the disk of a folder; nil when it does not say.
    public var freeBytes: @Sendable (_ directory: String) -> Int? = { DiskRoom.freeBytes(of: $0) }
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
    room = DiskRoom(checkpointPages: options.checkpointPages)
    lines = RepeatedLines(clock: options.monotonicNanoseconds)
    scans = ScanReporter(model: model, log: self.log, limit: options.longScan)
    damage = DamageReporter(model: model, log: self.log)
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
      // Before SQLite opens the file: closing a descriptor of it would drop SQLite's locks.
      pageSize = StoreFiles.pageSize(of: path)
      let files = try OpenedFiles(
        directory: directory, path: path, lock: lock, clock: options.monotonicNanoseconds)
      self.files = files
      location = StoreFiles.real(directory)
      let pool = try Self.open(path, options: options, fetches, files)
      connections = Mutex(pool)
      storeID = try pool.read { database in
        try Data.fetchOne(database, sql: "SELECT id FROM _store").flatMap { UniqueID(bytes: Array($0)) } ?? .zero
      }
      try Self.checkModel(pool, model, directory: directory)
      layout = try pool.read { try StoreVersions.layout($0, model: model) }
      pastReaders = PastReaders(maximum: options.maximumPastReaders) { [layout, damage] in
        let queue = try DatabaseQueue(path: path, configuration: Self.pastConfiguration(options, files))
        let limits = PastLimits(objects: options.maximumPastObjects, bytes: options.maximumPastBytes)
        return PastReader(queue, layout: layout, limits: limits, damage: damage)
      }
      try upgrade()
      try pool.writeWithoutTransaction { writer = try openWriter($0) }
    } catch let error as DatabaseError {
      throw Self.failure(error, path: path)
    } catch let error as MalformedMessage {
      throw StoreFailure(
        .corrupt, "the store \(path) is damaged", cause: "its newest commit can't be decoded: \(error.reason)",
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    }
  }

  /// A store that is left without being closed: its connections close with their last statements.
  deinit { fetches.removeAll() }

  var pool: DatabasePool { connections.withLock { $0 } }

  func makeWriter(_ database: Database) throws -> StoreWriter {
    try StoreWriter(
      Connection(database), layout: layout, wordLimit: options.wordLimit, sliceObjects: options.sliceObjects,
      wholeInterval: options.wholeInterval, undoLimits: options.undoLimits, scans: scans, log: log,
      damage: damage, random: options.random)
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
    putForeignLogAside()
    try pool.close()
    lock.release()
  }
}
