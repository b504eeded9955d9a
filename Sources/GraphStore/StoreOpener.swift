// Tests: OpeningTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import Logging
import Synchronization

/// Creates the store's file, opens its connections durably, and checks its model and layout.
struct StoreOpener {
  let path: String
  let options: SQLiteStore.Options
  /// The statements of the readers' connections.
  let statements: StatementCache.Table
  /// The files that the names must refer to. They are checked for every new connection; readers' connections open
  /// when they are first needed.
  let files: OpenedFiles
  /// Updated by the writer's connection in a store with a commit log.
  let logFrames = LogFrameCount()

  /// Creates a new store in a draft file, which is renamed when it is complete and on disk. So a partial store never
  /// exists, and the header can be trusted from the first start on.
  static func create(_ path: String, directory: String, layout: StoreLayout, options: SQLiteStore.Options) throws {
    let draft = path + ".new"
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
    do {
      StoreFiles.createPrivateFile(at: draft)
      let queue = try DatabaseQueue(path: draft)
      try queue.inDatabase { database in
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA application_id = \(StoreLayout.applicationID)")
        try database.execute(sql: LayoutVersion(layout: StoreLayout.version).statement)
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
    // A WAL without its database belongs to another one; SQLite would apply it to the new one.
    for suffix in ["-wal", "-shm"] {
      if access(path + suffix, F_OK) == 0 { rename(path + suffix, path + suffix + ".orphan") }
    }
    guard rename(draft, path) == 0 else { throw StoreFiles.failure("\(path) can't be created", errno) }
    try StoreFiles.synchronize(directory: directory)
  }

  /// Sets up any connection.
  private static func prepare(_ database: Database, _ options: SQLiteStore.Options) throws {
    try database.execute(sql: "PRAGMA cache_size = -8192")
    try database.execute(sql: "PRAGMA temp_store = MEMORY")
    SQLFunctions.register(on: database)
    if let willRunStatement = options.hooks.willRunStatement {
      let isReader = database.configuration.readonly
      database.trace { _ in willRunStatement(isReader) }
    }
  }

  /// The configuration of a connection that reads the past. A read-only connection can still write to TEMP
  /// tables.
  var pastConfiguration: Configuration {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(options.lockSeconds)
    configuration.prepareDatabase { [files, options] database in
      try files.verify(database)
      try Self.prepare(database, options)
    }
    return configuration
  }

  /// Opens the writer's connection; the pool opens those of the readers.
  func open() throws -> DatabasePool {
    try files.verify()
    var configuration = Configuration()
    configuration.maximumReaderCount = options.maximumReaders
    configuration.busyMode = .timeout(options.lockSeconds)
    configuration.foreignKeysEnabled = true
    // With a commit log, a transaction stays open between two calls.
    configuration.allowsUnsafeTransactions = options.commitLog != nil || options.hooks.commit != nil
    configuration.persistentReadOnlyConnections = true
    configuration.prepareDatabase { [files, options, statements] database in
      try files.verify(database)
      try Self.prepare(database, options)
      if database.configuration.readonly { statements.open(database) }
    }
    let hadLog = StoreFiles.hasContent(path + "-wal")
    let pool = try DatabasePool(path: path, configuration: configuration)
    // The pool sets NORMAL after `prepareDatabase`. Durability depends on these values, so set them and read them
    // back.
    //
    // With a commit log, SQLite syncs at checkpoints only (NORMAL): its log then loses commits at a power failure, but
    // never one before another.
    let wanted = options.commitLog == nil ? 2 : 1
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(wanted)")
      // SQLite ignores the failure of a checkpoint of its own. With a commit log, the store makes them.
      let pages = options.commitLog == nil ? options.checkpointPages : 0
      try database.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)")
      let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
      let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      guard mode == "wal", synchronous == wanted else {
        throw StoreFailure(
          .notDurable, "the store \(path) can't be opened durably",
          cause: "journal_mode \(PragmaText.of(mode)), synchronous \(PragmaText.of(synchronous))",
          advice: "Use a data directory on a local file system that SQLite's WAL works on.")
      }
      try options.hooks.didOpenWriter?({ try database.execute(sql: $0) })
      // GRDB's transaction observers are unused, and its hooks must not outlive it: SQLite calls them when a
      // connection closes in the middle of a transaction.
      sqlite3_commit_hook(database.sqliteConnection, nil, nil)
      sqlite3_rollback_hook(database.sqliteConnection, nil, nil)
      if options.commitLog != nil { logFrames.observe(database) }
      // If there was no WAL, the pool has started one with an unsynced commit of its own. Sync it now; otherwise a
      // power failure during our first commit could leave a hole before that commit's last frame.
      if !hadLog { _ = try database.checkpoint(.passive) }
    }
    try files.seal()
    // Last, because a pool that is not returned closes, and unmaps the index.
    pool.writeWithoutTransaction { files.observeIndex($0) }
    return pool
  }

  static func checkModel(_ pool: DatabasePool, _ model: Model, directory: String) throws {
    let newest = try pool.read { database in
      try GRDB.Row.fetchOne(database, sql: "SELECT hash, source FROM _model ORDER BY number DESC LIMIT 1")
    }
    guard let newest else {
      throw StoreFailure(
        .corrupt, "the store in \(directory) has no model",
        advice: "Stop stickiesd, keep a copy of the files, and run stickiesd check.")
    }
    if Array(newest[0] as Data) == model.hash.bytes { return }
    let cause =
      "its hash is \(ModelHash.text(ofStored: newest[0])), "
      + "the given model's is \(model.hash)"
    if let kept = try? Model(parsing: (newest[1] as String).utf8), kept.name == model.name,
      kept.version != model.version
    {
      let isOlder = kept.version < model.version
      throw StoreFailure(
        .modelDiffers,
        "the store in \(directory) has \(kept.name) version \(kept.version), but the given model is version "
          + "\(model.version)",
        cause: cause,
        advice: isOlder
          ? "Run stickiesd migrate --dry-run with the same --data and --schema to see what would change, then "
            + "stickiesd migrate."
          : "The store is newer: use its version of the model (--schema), or another --data.")
    }
    throw StoreFailure(
      .modelDiffers, "the store in \(directory) was made with another model", cause: cause,
      advice: "Start stickiesd with the model that the store was made with (--schema).")
  }

  /// Adds the tables that an older layout lacks, and rebuilds outdated full-text indexes.
  static func upgrade(_ pool: DatabasePool, layout: StoreLayout, log: Logger) throws {
    try pool.writeWithoutTransaction { database in
      let mark = try LayoutVersion.read(database)
      let hasOldWords = try FullTextRebuild.isDue(database)
      let isUpToDate = mark.layout >= StoreLayout.version && !hasOldWords
      if isUpToDate { return }
      try database.inTransaction(.immediate) {
        if mark.layout < StoreLayout.version {
          for statement in StoreLayout.parts + StoreLayout.keyframes + [LogMark.creation] {
            try database.execute(sql: statement)
          }
        }
        if hasOldWords {
          let objects = ObjectReader(Connection(database), layout: layout)
          let head = try HistoryReader(objects: objects).head().revision
          try FullTextRebuild.perform(objects.connection, layout: layout, head: head)
        }
        try database.execute(sql: LayoutVersion(layout: max(mark.layout, StoreLayout.version)).statement)
        return .commit
      }
      // An older program reads the version from the database file, not from the WAL.
      _ = try? database.checkpoint(.full)
      log.info(
        "the store's layout was updated", metadata: ["from": "\(mark.layout)", "words": "\(mark.words)"])
    }
  }
}

/// The number of pages in SQLite's write-ahead log.
///
/// It can't be computed from the file's size, because the file keeps its size when the log restarts after a checkpoint.
final class LogFrameCount: Sendable {
  private let frames = Atomic<Int>(0)

  var count: Int { frames.load(ordering: .relaxed) }

  /// Updates the count after each COMMIT of a connection. The opener, which owns this object, must outlive the
  /// connection's last commit.
  func observe(_ database: Database) {
    sqlite3_wal_hook(
      database.sqliteConnection,
      { context, _, _, frames in
        guard let context else { return SQLITE_OK }
        Unmanaged<LogFrameCount>.fromOpaque(context).takeUnretainedValue().frames
          .store(Int(frames), ordering: .relaxed)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
