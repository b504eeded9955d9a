import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import Logging
import Synchronization

import struct GraphModel.FetchRequest

/// A store in one SQLite file: the one place that knows SQL.
///
/// One writer and several readers, as WAL allows: readers never block the writer. Nothing here owns a thread or waits
/// for a client; every call runs on the caller's thread and returns when it is done.
///
/// `@unchecked Sendable`: the pool and the constants are Sendable by themselves; `writer` is read and written inside
/// the pool's writer queue only, which runs one closure at a time.
public final class SQLiteStore: GraphStoring, @unchecked Sendable {
  public let model: Model
  public let directory: String
  public let storeID: UniqueID

  private let path: String
  private let pool: DatabasePool
  private let lock: StoreLock?
  private let layout: StoreLayout
  private let log: Logger
  private let random: () -> UInt64
  private let plantedBug: PlantedBug?
  private let wordLimit: Int
  private var writer: StoreWriter?
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
    public var maximumReaders = 5
    /// So many changes may wait for the full-text indexes. More make commits cheaper and searches dearer: a search looks
    /// into each of them, some microseconds a piece.
    public var wordLimit = 512
    /// Test only: called as each statement begins to run, with whether it runs on a reader's connection.
    public var willRunStatement: (@Sendable (_ isReader: Bool) -> Void)?
    /// A bug to plant; the simulation must catch each.
    public var plantedBug: PlantedBug?

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
  }

  // MARK: - Opening

  /// Opens the store in `directory`, or makes one.
  /// - Throws: `StoreFailure`; then no file was changed.
  public init(directory: String, model: Model, options: Options = Options(), log: Logger? = nil) throws {
    self.model = model
    self.directory = directory
    self.log = log ?? Logger(label: "store") { _ in SwiftLogNoOpLogHandler() }
    random = options.random
    plantedBug = options.plantedBug
    wordLimit = options.wordLimit
    layout = StoreLayout(model: model)
    path = directory + "/" + StoreFiles.name
    try StoreFiles.prepare(directory: directory)
    lock = try StoreLock(directory: directory)
    do {
      if try StoreFiles.kind(of: path) == .absent {
        try Self.create(path, directory: directory, layout: layout, options: options)
      }
      try WriteAheadLogFile.refuseLoss(beside: path)
      pool = try Self.open(path, options: options)
      storeID = try pool.read { database in
        try Data.fetchOne(database, sql: "SELECT id FROM _store").flatMap { UniqueID(bytes: Array($0)) } ?? .zero
      }
      try checkModel()
      try pool.writeWithoutTransaction { database in
        writer = try StoreWriter(
          Connection(database), layout: layout, wordLimit: wordLimit, random: random)
      }
    } catch let error as DatabaseError {
      throw Self.failure(code: error.extendedResultCode.rawValue, message: error.message ?? "", path: path)
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

  private static func open(_ path: String, options: Options) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.maximumReaderCount = options.maximumReaders
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = true
    configuration.allowsUnsafeTransactions = options.plantedBug == .replyBeforeCommit
    configuration.persistentReadOnlyConnections = true
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -8192")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      if let willRunStatement = options.willRunStatement {
        let isReader = database.configuration.readonly
        database.trace { _ in willRunStatement(isReader) }
      }
    }
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
    }
    return pool
  }

  private func checkModel() throws {
    let hash = try pool.read { try Data.fetchOne($0, sql: "SELECT hash FROM _model ORDER BY number DESC LIMIT 1") }
    guard let hash, Array(hash) != model.hash.bytes else { return }
    throw StoreFailure(
      .modelDiffers, "the store in \(directory) was made with another model",
      cause: "its hash is \(ModelHash(bytes: Array(hash))?.description ?? "?"), this one's \(model.hash)",
      advice: "Start stickiesd with the model that the store was made with (--schema).")
  }

  /// Copies the log into the database and closes the file. Call when nothing is being read or written; once is enough.
  public func close() throws {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    if wasClosed { return }
    pool.writeWithoutTransaction { database in
      writer = nil
      // What is not copied now is copied at the next start.
      _ = try? database.checkpoint(.truncate)
    }
    try pool.close()
    lock?.release()
  }

  // MARK: - Writing

  public func commit(_ batch: [WriteRequest], now: Timestamp) throws -> [WriteResult] {
    try pool.writeWithoutTransaction { database in
      if writer == nil {
        writer = try StoreWriter(
          Connection(database), layout: layout, wordLimit: wordLimit, random: random)
      }
      guard let writer else { return [] }
      do {
        return try perform(batch, now: now, writer)
      } catch let failure as BackstopFailure {
        log.error("a constraint of the database fired", metadata: ["constraint": "\(failure.message)"])
        return batch.map { performAlone($0, now: now, writer) }
      }
    }
  }

  private static let begin = SQL("BEGIN IMMEDIATE")
  private static let save = SQL("SAVEPOINT request")
  private static let release = SQL("RELEASE request")
  private static let commit = SQL("COMMIT")

  /// One SQLite transaction, a savepoint for each request, one wait for the disk.
  private func perform(_ batch: [WriteRequest], now: Timestamp, _ writer: StoreWriter) throws -> [WriteResult] {
    let connection = writer.connection
    if plantedBug == .replyBeforeCommit, sqlite3_get_autocommit(connection.database.sqliteConnection) == 0 {
      try connection.run("COMMIT")
    }
    try connection.run(Self.begin)
    do {
      var results = [WriteResult]()
      results.reserveCapacity(batch.count)
      for request in batch {
        // A savepoint gives a request's half-done writes back; a lone one has the transaction itself for that.
        if batch.count > 1 { try connection.run(Self.save) }
        results.append(
          try writer.perform(request, now: now, forgetful: plantedBug == .forgottenTransactionID))
        if batch.count > 1 { try connection.run(Self.release) }
      }
      try writer.words.feedIfDue(head: writer.revision)
      if plantedBug != .replyBeforeCommit { try connection.run(Self.commit) }
      return results
    } catch {
      try abandon(writer)
      throw error
    }
  }

  /// A request of a batch that a constraint of SQL refused: the rules let something through that they should not have.
  /// Each has its own answer: those before a failure are on disk.
  private func performAlone(_ request: WriteRequest, now: Timestamp, _ writer: StoreWriter) -> WriteResult {
    let refusal: Refusal
    do {
      return try perform([request], now: now, writer)[0]
    } catch let failure as BackstopFailure {
      refusal = Refusal(.invalid, "the store refused the transaction (\(failure.message))")
    } catch {
      refusal = Refusal(.unavailable, "\(error)")
    }
    return WriteResult(outcome: .refused(refusal), record: nil)
  }

  /// After any failure the connection's own view is the only truth: roll back, and read again where the store stands.
  /// A commit whose fsync failed is never tried again on this connection.
  private func abandon(_ writer: StoreWriter) throws {
    if sqlite3_get_autocommit(writer.connection.database.sqliteConnection) == 0 {
      try? writer.connection.run("ROLLBACK")
    }
    do {
      try writer.reload()
    } catch {
      self.writer = nil
      throw error
    }
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

  // MARK: - Reading

  /// Runs `body` in a read transaction, with the state that it sees.
  private func read<Result>(_ body: (ObjectReader, HistoryReader, Token) throws -> Result) throws -> Result {
    do {
      return try pool.read { database in
        let objects = ObjectReader(Connection(database), layout: layout)
        let history = HistoryReader(objects: objects)
        let head = try history.head()
        return try body(
          objects, history, Token(store: storeID, revision: head.revision, fingerprint: head.fingerprint))
      }
    } catch let error as DatabaseError {
      throw Self.failure(code: error.resultCode.rawValue, message: error.message ?? "", path: path)
    }
  }

  public var head: Token { get throws { try read { _, _, head in head } } }

  public func fetch(_ request: FetchRequest, _ body: (ObjectImage) throws -> Void) throws -> Token {
    try read { objects, history, head in
      try Self.fetch(request, objects, history, layout, body)
      return head
    }
  }

  private static func fetch(
    _ request: FetchRequest, _ objects: ObjectReader, _ history: HistoryReader, _ layout: StoreLayout,
    _ body: (ObjectImage) throws -> Void
  ) throws {
    guard let entity = layout.model.entity(request.entity), let table = layout.table(of: request.entity) else {
      throw Refusal(.malformed, "there is no entity number \(request.entity)")
    }
    var builder = PredicateSQL(
      layout: layout, recentTexts: request.predicate.searchesText ? try RecentTexts(history) : nil)
    let isWholeTable = entity.family.count == layout.model.entity(entity.root)?.family.count
    let condition = builder.condition(request.predicate, in: table)
    let families = entity.family.map(String.init).joined(separator: ", ")
    var sql = table.select + " WHERE \(condition)" + (isWholeTable ? "" : " AND t._entity IN (\(families))")
    let order = request.sort.compactMap { descriptor in
      table.column(of: descriptor.property).map { "t.\(quoted($0.name))" + (descriptor.ascending ? "" : " DESC") }
    }
    sql += " ORDER BY " + (order + ["t._id"]).joined(separator: ", ")
    // What SQL can't decide is decided here, so SQL must not count.
    if builder.isExact, request.limit != nil || request.offset > 0 {
      sql += " LIMIT ? OFFSET ?"
      builder.append(.integer(Int64(request.limit ?? -1)))
      builder.append(.integer(Int64(request.offset)))
    }
    // Not cached: there is no end to the shapes that predicates have.
    let query = try objects.connection.database.makeStatement(sql: sql)
    defer { withExtendedLifetime(query) {} }
    let row = Row(statement: query.sqliteStatement)
    for (index, value) in builder.arguments.enumerated() { row.bind(Int32(index + 1), value) }
    defer { sqlite3_reset(row.statement) }
    let evaluator = builder.isExact ? nil : PredicateEvaluator(request.predicate, model: layout.model)
    var (skipped, taken) = (0, 0)
    while try objects.connection.step(row) {
      let image = try objects.image(row, in: table)
      if let evaluator {
        guard evaluator.matches(image, in: objects) else { continue }
        if skipped < request.offset {
          skipped += 1
          continue
        }
      }
      try body(image)
      taken += 1
      if let limit = request.limit, taken >= limit { break }
    }
    if let failure = objects.failure { throw failure }
  }

  public func count(_ request: FetchRequest) throws -> (count: Int, at: Token) {
    try read { objects, history, head in
      var count = 0
      try Self.fetch(request, objects, history, layout) { _ in count += 1 }
      return (count, head)
    }
  }

  public func commits(after: Revision, through: Revision?, maximumChanges: Int) throws -> [CommitRecord] {
    try read { _, history, _ in
      try history.records(after: after, through: through, maximumChanges: maximumChanges)
    }
  }

  public func recognizes(_ token: Token) throws -> Bool {
    try token.store == storeID
      && read { _, history, _ in try history.fingerprint(of: token.revision) == token.fingerprint }
  }

  public func statistics() throws -> StoreStatistics {
    let counters = try pool.read { database in
      try Data.fetchOne(database, sql: "SELECT counters FROM _commit ORDER BY revision DESC LIMIT 1")
    }
    var next = try counters.map { try StoreWriter.decodeCounters(Array($0)) } ?? [:]
    for property in model.entities.flatMap(\.attributes) where property.attribute?.assignment == .sequence {
      next[property.number] = next[property.number] ?? 1
    }
    return StoreStatistics(
      head: try head, location: directory, size: StoreFiles.size(of: path),
      sequences: next.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }
}
