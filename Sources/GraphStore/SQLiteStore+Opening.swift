import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// A store's file made, its connections opened durably, and its model and layout compared with what is to be served.
extension SQLiteStore {
  /// Everything of a new store is made in a file beside its place and renamed when it is whole and on disk: there is no
  /// half-made store, and the header can be trusted from the first start on.
  static func create(_ path: String, directory: String, layout: StoreLayout, options: Options) throws {
    let draft = path + ".new"
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
    do {
      let queue = try DatabaseQueue(path: draft)
      try queue.inDatabase { database in
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA application_id = \(StoreLayout.applicationID)")
        try database.execute(sql: LayoutMark(layout: StoreLayout.version).statement)
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
  static func pastConfiguration(_ options: Options, _ files: OpenedFiles) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(options.lockSeconds)
    configuration.prepareDatabase { database in
      try files.verify(database)
      try Self.prepare(database, options)
    }
    return configuration
  }

  /// - Parameter files: what the names must lead to; they are compared for every connection that is opened, the readers'
  ///   included, which are opened when they are first needed.
  static func open(
    _ path: String, options: Options, _ fetches: FetchStatements.Table, _ files: OpenedFiles
  ) throws -> DatabasePool {
    try files.verify()
    var configuration = Configuration()
    configuration.maximumReaderCount = options.maximumReaders
    configuration.busyMode = .timeout(options.lockSeconds)
    configuration.foreignKeysEnabled = true
    configuration.allowsUnsafeTransactions = options.plantedBug == .replyBeforeCommit
    configuration.persistentReadOnlyConnections = true
    configuration.prepareDatabase { database in
      try files.verify(database)
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
    try files.seal()
    return pool
  }

  static func checkModel(_ pool: DatabasePool, _ model: Model, directory: String) throws {
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

  /// Gives a store of an older layout what it lacks, and one whose texts an older program has split other indexes.
  func upgrade() throws {
    try pool.writeWithoutTransaction { database in
      let mark = try LayoutMark.read(database)
      let hasOldWords = try FullTextRebuild.isDue(database)
      guard mark.layout < StoreLayout.version || hasOldWords else { return }
      try database.inTransaction(.immediate) {
        if mark.layout < StoreLayout.version {
          for statement in StoreLayout.parts + StoreLayout.wholes { try database.execute(sql: statement) }
        }
        if hasOldWords {
          let objects = ObjectReader(Connection(database), layout: layout)
          let head = try HistoryReader(objects: objects).head().revision
          try FullTextRebuild.perform(objects.connection, layout: layout, head: head)
        }
        try database.execute(sql: LayoutMark(layout: max(mark.layout, StoreLayout.version)).statement)
        return .commit
      }
      // An older program looks for the version in the file itself, not in the log.
      _ = try? database.checkpoint(.full)
      log.info(
        "the store's layout was brought up to date", metadata: ["from": "\(mark.layout)", "words": "\(mark.words)"])
    }
  }

  /// Makes the writer of a store that was opened. The full-text indexes lack the newest commits; if one of these is damaged, the
  /// indexes are made again from the objects, so that damage in history does not stop the start.
  func openWriter(_ database: Database) throws -> StoreWriter {
    do {
      return try makeWriter(database)
    } catch let error as MalformedMessage {
      let objects = ObjectReader(Connection(database), layout: layout)
      let head = try HistoryReader(objects: objects).head().revision
      try database.inTransaction(.immediate) {
        try FullTextRebuild.perform(objects.connection, layout: layout, head: head)
        return .commit
      }
      log.error(
        "a commit that the full-text indexes lack is damaged: they were made again; stop stickiesd and run stickiesd check",
        metadata: ["cause": "\(error.reason)"])
      return try makeWriter(database)
    }
  }
}
