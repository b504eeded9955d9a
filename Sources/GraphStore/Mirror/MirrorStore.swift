// Tests: MirrorStoreTests.swift
import Foundation
import GRDB
import GraphModel
import Logging
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A copy of a server's objects in a store's tables, read by the same readers. It is disposable: the server has it all.
///
/// It has the server's images and revisions, and one SQLite transaction writes all of a revision together with its
/// token, so a token is never ahead of its data. Several processes may have it open; one at a time writes.
///
/// `@unchecked Sendable`: the writer and the statements are accessed inside the queue only.
package final class MirrorStore: @unchecked Sendable {
  /// The size up to which a mirror is kept.
  package struct Limit: Sendable {
    package var objects = 100_000
    package var bytes = 256 << 20

    package init() {}

    func refusal(_ what: String) -> Refusal {
      Refusal(
        .limit,
        "the graph that you may see \(what), the maximum of a copy for work without the server: keep a part of it "
          + "(stickies sync on --board NAME), or work with the server")
    }
  }

  /// Commits do not lead from the mirror's objects to the server's: a new mirror must be loaded.
  ///
  /// A commit that hides an object from the user does not name the objects that refer to it.
  package struct Outdated: Error {}

  package let path: String
  package let model: Model
  /// The id of the server's store.
  package let storeID: UniqueID
  /// Whether it lacks what its user could not see when it was loaded, and might see now.
  package let isPartial: Bool
  /// The scopes whose objects it has; nil if it has everything that its user could see.
  package var kept: KeptScopes? { keptScopes.withLock { $0 } }
  let layout: StoreLayout
  /// Guarded by its mutex: reads come from outside of the queue.
  private let keptScopes: Mutex<KeptScopes?>
  private let queue: DatabaseQueue
  /// Accessed inside the queue only.
  private var writer: StoreWriter?
  /// The statements of reads. Accessed inside the queue only.
  private var statements = StatementCache()

  /// Opens a mirror.
  /// - Throws: `StoreFailure`: `notAStore` if there is none, `modelDiffers` for one of another model version. Then a
  ///   new one must be loaded.
  package init(path: String, model: Model) throws {
    (self.path, self.model) = (path, model)
    guard case .store = try StoreFiles.kind(of: path) else {
      throw StoreFailure(
        .notAStore, "there is no copy of the server's objects at \(path)",
        advice: "Run stickies sync on while the server can be reached.")
    }
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(Self.lockSeconds)
      configuration.prepareDatabase { database in
        try Self.useWriteAheadLog(database)
        // Objects that become invisible must not stay in free pages.
        try database.execute(sql: "PRAGMA secure_delete = ON")
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        try database.execute(sql: "PRAGMA temp_store = MEMORY")
        SQLFunctions.register(on: database)
      }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      self.queue = queue
      let kept: KeptScopes?
      (storeID, layout, isPartial, kept) = try queue.inDatabase { database in
        let hash = try Data.fetchOne(database, sql: "SELECT hash FROM _model ORDER BY number DESC LIMIT 1")
        guard let hash, Array(hash) == model.hash.bytes else {
          throw StoreFailure(
            .modelDiffers, "the copy of the server's objects at \(path) is of another version of the model",
            advice: "It is loaded again when the server can be reached.")
        }
        let tables = try Self.tables(database)
        guard tables.contains(Self.loadTable) else {
          throw StoreFailure(
            .notAStore, "the copy of the server's objects at \(path) is of an earlier version of this program",
            advice: "It is loaded again when the server can be reached.")
        }
        let id = try invariant(try database.storeID(), "a mirror has the id of its store")
        return (
          id, StoreLayout(model: model), tables.contains(Self.partialTable),
          tables.contains(KeptScopes.table) ? try KeptScopes.read(database) : nil
        )
      }
      keptScopes = Mutex(kept)
    } catch let error as DatabaseError {
      throw Self.failure(error, path)
    }
  }

  /// Puts a file into WAL mode, in which it stays.
  ///
  /// GRDB's own setting writes to the log each time a file is opened, so that a command which only reads would sync it
  /// at its end.
  package static func useWriteAheadLog(_ database: Database) throws {
    let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
    guard mode == "wal" else {
      throw StoreFailure(
        .notDurable, "a file of the replica can't be written durably",
        advice: "Use a data directory on a local file system that SQLite's WAL works on.")
    }
  }

  private static let lockSeconds = 5.0

  /// A table that every mirror has.
  private static let loadTable = "_mirror"
  /// A table that a mirror of a part has.
  static let partialTable = "_partial"

  /// The tables that say what kind of mirror it is. One query: reading the schema would take longer than all the rest.
  private static func tables(_ database: Database) throws -> Set<String> {
    let names = [loadTable, partialTable, KeptScopes.table].map { "'\($0)'" }.joined(separator: ", ")
    return try Set(String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE name IN (\(names))"))
  }

  /// The state of the server that the mirror has.
  package var head: Token {
    get throws {
      try inQueue { database in
        let head = try HistoryReader(objects: reader(database)).head()
        return Token(store: storeID, revision: head.revision, fingerprint: head.fingerprint)
      }
    }
  }

  /// An object as the server has it; nil if there is none.
  package func image(of id: ObjectID) throws -> ObjectImage? {
    try inQueue { try reader($0).readImage(of: id) }
  }

  /// The mirror's state during a read.
  package struct Snapshot {
    /// The revision of the server's state.
    package let head: Revision
    fileprivate let objects: ObjectReader

    package var model: Model { objects.model }

    /// An object of the state; nil if there is none.
    package func image(of id: ObjectID) throws -> ObjectImage? { try objects.readImage(of: id) }

    /// The image without references to objects that the mirror does not have.
    package func withKnownReferences(_ image: ObjectImage) throws -> ObjectImage {
      try objects.withKnownReferences(image, [])
    }
  }

  /// Reads the mirror in one transaction, also while other processes write to it. This takes the locks of the file
  /// once instead of for each object.
  /// - Parameter body: must not keep the snapshot.
  package func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    try inQueue { database in
      try database.beginTransaction(.deferred)
      // Nothing is written, so both ends are the same.
      defer { try? database.rollback() }
      let objects = reader(database)
      return try body(Snapshot(head: try HistoryReader(objects: objects).head().revision, objects: objects))
    }
  }

  func reader(_ database: Database) -> ObjectReader {
    ObjectReader(Connection(database, statements: statements), layout: layout)
  }

  /// Writes commits in one SQLite transaction; commits that the mirror already has, from another process, are skipped.
  /// - Returns: the objects that changed.
  /// - Throws: `Outdated` if an object that is gone is still referred to. Then nothing is written.
  package func apply(_ commits: [MirroredCommit]) throws -> Set<ObjectID> {
    do {
      return try inQueue { try write(commits, $0) }
    } catch is SQLConstraintFailure {
      throw Outdated()
    }
  }

  private func write(_ commits: [MirroredCommit], _ database: Database) throws -> Set<ObjectID> {
    var changed = Set<ObjectID>()
    do {
      try database.inTransaction(.immediate) {
        let writer = try currentWriter(database)
        for commit in commits where commit.token.revision > writer.revision {
          let applied = try writer.mirror(commit, of: kept)
          changed.formUnion(applied.changed)
          if applied.isReduced { try KeptScopes.recordReduced(commit, in: database) }
        }
        try writer.fullText.updateIfDue(head: writer.revision)
        try trimHistory(writer)
        return .commit
      }
    } catch {
      writer = nil
      throw error
    }
    return changed
  }

  /// Adds a scope without objects to those that the mirror has: its objects arrive with later commits.
  /// - Precondition: the mirror has some scopes only.
  package func keep(_ container: UniqueID) throws {
    try inQueue { try KeptScopes.add(container, to: $0) }
    keptScopes.withLock { $0?.containers.insert(container) }
  }

  /// The number of commits that are kept, for comparisons and for undo.
  package static let keptCommits: Int64 = 1_000

  /// Removes the oldest commits, some at a time.
  private func trimHistory(_ writer: StoreWriter) throws {
    let count = try invariant(
      writer.connection.integer("SELECT count(*) FROM _commit"), "a count of rows is a number")
    if count <= Self.keptCommits * 5 / 4 { return }
    let target = try invariant(
      writer.connection.integer(
        "SELECT revision FROM _commit ORDER BY revision DESC LIMIT 1 OFFSET ?", .integer(Self.keptCommits)),
      "there are more commits than are kept")
    // The full-text indexes are completed from history.
    try writer.fullText.update(upTo: target, head: writer.revision)
    _ = try HistoryPruner(connection: writer.connection, sliceCommits: Int(count)).removeCommits(through: target)
    if kept != nil { try KeptScopes.forgetReduced(through: target, in: writer.connection) }
  }

  /// The writer, with the state that the file has now: another process may have written since.
  private func currentWriter(_ database: Database) throws -> StoreWriter {
    if let writer {
      let head = try writer.history.head()
      if head.revision == writer.revision { return writer }
      try writer.reload()
      return writer
    }
    let fresh = try Self.makeWriter(database, layout: layout)
    writer = fresh
    return fresh
  }

  static func makeWriter(_ database: Database, layout: StoreLayout) throws -> StoreWriter {
    let options = SQLiteStore.Options()
    let reporter = StoreReporter(
      model: layout.model, log: Logger(label: "mirror") { _ in SwiftLogNoOpLogHandler() }, options: options)
    let writer = try StoreWriter(
      Connection(database), layout: layout, wordLimit: options.wordLimit, sliceObjects: options.sliceObjects,
      keyframeInterval: 0, undoLimits: options.undoLimits, reporter: reporter, names: ShownNames(),
      random: options.random)
    // The server verifies its objects; rows of history have the server's fingerprints.
    writer.objects.skipsVerification = true
    return writer
  }

  /// A reader of the mirror with unsent edits over it.
  /// - Parameters:
  ///   - source: the queue; nil for no edits.
  ///   - file: where the plans are kept; nil for memory.
  package func makeOverlay(of source: (any UnsentEditSource)? = nil, file: String? = nil) throws -> MirrorOverlay {
    let source = if let source { source } else { ListedEdits() }
    return try MirrorOverlay(path: path, layout: layout, source: source, file: file)
  }

  /// The random number of the load that has made the mirror.
  static func load(of database: Database) throws -> Int64 {
    try invariant(Int64.fetchOne(database, sql: "SELECT load FROM _mirror"), "a mirror has the number of its load")
  }

  func inQueue<Result>(_ body: (Database) throws -> Result) throws -> Result {
    do {
      return try queue.inDatabase(body)
    } catch let error as DatabaseError {
      throw Self.failure(error, path)
    }
  }

  /// The failure for an error of SQLite. A copy on a full disk needs other advice than a daemon's store.
  static func failure(_ error: DatabaseError, _ path: String) -> any Error {
    let failure = SQLiteFailure.of(error, path: path)
    guard var full = failure as? StoreFailure, full.code == .full else { return failure }
    full.advice = "Free some space. Nothing is lost: the daemon has what the copy lacks."
    return full
  }

  /// Closes the file. Call it when no read is running.
  package func close() {
    queue.inDatabase { _ in
      writer = nil
      statements = StatementCache()
    }
    try? queue.close()
  }

  // MARK: - Files

  /// The file with the plans of unsent edits beside a mirror.
  package static func plans(beside path: String) -> String { path + "-plans" }

  /// The size in bytes, with SQLite's write-ahead log.
  package static func size(of path: String) -> Int { StoreFiles.size(of: path) }

  /// Removes a mirror with SQLite's files beside it.
  ///
  /// The database goes first: a process that is killed here leaves none, so that a new one is made. Without its WAL a
  /// database may have some pages of newer commits only, which SQLite does not notice.
  package static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }

  /// Moves all of a mirror from SQLite's log into its database.
  /// - Returns: false if that can't be done now: the mirror is damaged, or a process reads an earlier state of it.
  private static func completeWithoutLog(_ path: String) -> Bool {
    do {
      guard case .store = try StoreFiles.kind(of: path) else { return false }
      let queue = try DatabaseQueue(path: path)
      defer { try? queue.close() }
      // The result says whether a reader or a writer was in the way.
      return try queue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0 }
    } catch {
      return false
    }
  }

  /// Syncs a complete draft and gives it the mirror's name.
  static func replace(_ path: String, by draft: String) throws {
    let descriptor = open(draft, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreFiles.failure("\(draft) can't be read", errno) }
    let isSynced = fsync(descriptor) == 0
    let code = errno
    closeDescriptor(descriptor)
    guard isSynced else { throw StoreFiles.failure("\(draft) can't be written", code) }
    // Plans over an earlier mirror may have objects that the user no longer sees.
    remove(plans(beside: path))
    if completeWithoutLog(path) {
      // A process that is killed here leaves the earlier mirror, which is complete without its log.
      for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    } else {
      // SQLite would apply the earlier WAL to the new database.
      remove(path)
    }
    guard rename(draft, path) == 0 else { throw StoreFiles.failure("\(path) can't be created", errno) }
    try StoreFiles.synchronize(directory: URL(fileURLWithPath: path).deletingLastPathComponent().path)
  }
}

/// Outside of the class, which has a method of the system call's name.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

extension StoreFailure {
  /// Whether there is no usable mirror, so that one must be loaded.
  package var isMissingMirror: Bool { [.notAStore, .modelDiffers, .corrupt].contains(code) }
}
