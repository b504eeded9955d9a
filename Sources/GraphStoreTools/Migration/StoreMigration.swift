// Tests: MigrationTests.swift, MigrationFailureTests.swift
import Foundation
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// `stickiesd migrate`: migrates a store of an older model version to the newest.
///
/// First, commits that are only in the commit log are applied. The plan depends only on the models. Then the store is
/// copied to a file beside it, the copy is verified as by `check`, and the migration runs in one SQLite transaction.
/// After an interruption, the store therefore has either the old version, and the migration can be repeated, or the new
/// one.
public struct StoreMigration: Sendable {
  /// The settings of a migration.
  public struct Options: Sendable {
    /// Whether to migrate only a temporary copy.
    public var isRehearsal = false
    /// Whether to keep a copy of the old store beside it.
    public var makesBackup = true
    /// Whether `check` has just found the store sound. Otherwise, without a copy, objects are checked where the next
    /// version restricts them.
    public var isChecked = false
    /// The author of the migration's commit.
    public var author = "migration"
    /// Called with the current step and the completed fraction, from 0 to 1. If it throws, the migration ends.
    public var progress: @Sendable (_ step: String, _ done: Double) throws -> Void = { _, _ in }
    /// Returns random bits for the ids of the migration's commit.
    public var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

    /// Creates options for a migration that keeps a copy.
    public init() {}
  }

  /// The data directory.
  public let directory: String
  let models: [Model]
  let now: Timestamp
  let options: Options
  var path: String { directory + "/" + StoreFiles.name }

  /// - Parameters:
  ///   - directory: the data directory, which no daemon may be using.
  ///   - models: the available versions of the model; those after the store's own are applied one by one.
  ///   - now: the time of the migration, for its commit and the copy's name.
  public init(directory: String, models: [Model], now: Timestamp, options: Options = Options()) {
    self.directory = directory
    self.models = models.sorted { $0.version < $1.version }
    self.now = now
    self.options = options
  }

  /// Migrates the store, or rehearses the migration.
  /// - Returns: the result or, for a rehearsal, the expected one. A store of the newest version stays untouched.
  /// - Throws: `MigrationRefusal` with all problems, `StoreFailure` for the disk; then the store is unchanged.
  @discardableResult
  public func run() throws -> MigrationReport {
    guard try PendingRestore.exists(in: directory) || StoreFiles.kind(of: path) != .absent else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    // A pending restore is completed first, so that the restored store is migrated, with all commits of its log.
    let lock = try LogRecovery.lock(directory)
    defer { lock.release() }
    do {
      try WriteAheadLogFile.refuseLoss(beside: path)
      let kept = try LogRecovery.newestModel(ofStoreAt: path)
      var report = MigrationReport(from: kept, to: models.last ?? kept)
      let plans = try plans(from: kept)
      guard !plans.isEmpty else { return report }
      report.steps = plans.flatMap(\.steps)
      if options.isRehearsal {
        let folder = directory + "/rehearsal"
        try? FileManager.default.removeItem(atPath: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try StoreFiles.prepare(directory: folder)
        let copy = folder + "/" + StoreFiles.name
        let isKept = try makeVerifiedCopy(of: kept, at: copy)
        try perform(isKept ? plans : rechecked(plans), on: copy, &report)
      } else {
        discardDrafts()
        // Unchecked objects may violate the old version's rules.
        var isKept = options.isChecked
        if options.makesBackup {
          let backup = backupPath(kept)
          isKept = try makeVerifiedCopy(of: kept, at: backup)
          report.backup = backup
        }
        do {
          // The store may have been replaced during the copy and the check.
          try lock.verify()
          try perform(isKept ? plans : rechecked(plans), on: path, &report)
        } catch {
          // The store is unchanged, so the copy is not needed. After a failure of the disk, the copy is kept, because
          // the store may be damaged.
          let isOfTheDisk =
            if let failure = error as? DatabaseError { failure.resultCode != .SQLITE_FULL } else { false }
          if let backup = report.backup, !isOfTheDisk { unlink(backup) }
          throw error
        }
      }
      try options.progress("done", 1)
      return report
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }

  /// The plans, one for each version after the store's; empty if the store has the newest one.
  private func plans(from kept: Model) throws -> [MigrationPlan] {
    guard let newest = models.last else { return [] }
    for (earlier, model) in zip([kept] + models, models) where model.version > max(earlier.version, kept.version) {
      guard let what = MigrationPlan.undetectedChange(from: earlier, to: model) else { continue }
      throw MigrationRefusal(
        from: earlier.version, to: model.version,
        problems: ["version \(model.version) \(what), but its hash is that of version \(earlier.version)"])
    }
    guard newest.hash != kept.hash else { return [] }
    guard newest.name == kept.name, newest.version > kept.version else {
      throw StoreFailure(
        .modelDiffers,
        "the store in \(directory) has \(kept.name) version \(kept.version), but the given model is "
          + "\(newest.name) version \(newest.version)",
        advice: "A store can only be migrated to a higher version of its own model; the store was not touched.")
    }
    var plans = [MigrationPlan]()
    var last = kept
    for model in models where model.version > kept.version && model.hash != last.hash {
      do {
        plans.append(try MigrationPlan.infer(from: last, to: model))
      } catch {
        throw MigrationRefusal(from: last.version, to: model.version, problems: error.all.map(\.description))
      }
      last = model
    }
    return plans
  }

  /// The plans for objects that may violate the store's own version.
  ///
  /// The store may have been served with another model file of the same hash and with fewer restrictions, so the first
  /// step checks all rules of its version.
  private func rechecked(_ plans: [MigrationPlan]) -> [MigrationPlan] {
    plans.prefix(1).map { $0.checkingAllRules() } + plans.dropFirst()
  }

  // MARK: - The copy

  /// Removes incomplete copies of interrupted runs.
  private func discardDrafts() {
    for name in StoreFiles.names(in: directory)
    where name.hasPrefix(StoreFiles.name + ".version-") && name.contains(".backup.new") {
      unlink(directory + "/" + name)
    }
  }

  /// The path of the copy beside the store.
  private func backupPath(_ kept: Model) -> String {
    let time = RFC3339.text(now).split(separator: ".")[0].filter { $0.isNumber || $0 == "T" }
    return "\(path).version-\(kept.version).\(time).backup"
  }

  /// - Returns: whether all objects satisfy the version's rules. Objects that do not satisfy them are unchanged since
  ///   their commits.
  private func makeVerifiedCopy(of kept: Model, at copy: String) throws -> Bool {
    var isKept = true
    try options.progress("copying the store", 0)
    try MigrationCopy.make(of: path, at: copy) { draft in
      try options.progress("verifying the copy", 0.02)
      let findings = try StoreCheck.run(file: draft, model: kept)
      let damage = findings.filter(\.isDamage)
      guard damage.isEmpty else {
        throw StoreFailure(
          .corrupt, "the store in \(directory) is not sound, and was not migrated",
          cause: damage.prefix(3).map(\.description).joined(separator: "; "),
          advice: "Run stickiesd check with the model that the store was made with.")
      }
      isKept = findings.isEmpty
    }
    return isKept
  }

  static func open<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      SQLFunctions.register(on: database)
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.inDatabase(body)
  }

  // MARK: - The transaction

  private func perform(_ plans: [MigrationPlan], on path: String, _ report: inout MigrationReport) throws {
    var rewritten = 0
    var lost = [MigrationLoss]()
    var revision: Revision = 0
    let clock = ContinuousClock()
    let duration = try clock.measure {
      try Self.open(path) { database in
        try database.execute(sql: "PRAGMA journal_mode = WAL")
        try database.inTransaction(.immediate) {
          for (number, plan) in plans.enumerated() {
            let writer = try migrate(database, plan) { step, done in
              let share = (Double(number) + done) / Double(plans.count)
              try options.progress("version \(plan.new.version): \(step)", 0.1 + 0.9 * share)
            }
            lost += writer.lost
            rewritten += writer.rewritten
          }
          revision = try invariant(
            Int64.fetchOne(database, sql: "SELECT max(revision) FROM _commit"), "a migration makes a commit")
          return .commit
        }
        // An older program reads the layout from the database file, not from the WAL.
        _ = try? database.checkpoint(.truncate)
      }
    }
    report.lost = lost
    report.rewritten = rewritten
    report.revision = revision
    report.milliseconds = Int(duration / .milliseconds(1))
  }

  /// - Returns: the writer, with its counts and losses.
  private func migrate(
    _ database: Database, _ plan: MigrationPlan, _ progress: (String, Double) throws -> Void
  ) throws -> MigrationWriter {
    if try Int.fetchOne(database, sql: "SELECT 1 FROM _model WHERE hash = ?", arguments: [Data(plan.new.hash.bytes)])
      != nil
    {
      throw MigrationRefusal(
        from: plan.old.version, to: plan.new.version,
        problems: ["the store had this same model before; to go back, the version needs another change"])
    }
    let old = try StoreVersions.layout(database, model: plan.old)
    let head = try commitHead(database)
    let present = try invariant(
      Int64.fetchOne(database, sql: "SELECT max(number) FROM _model"), "a store that is migrated has a model")
    let number = present + 1
    let connection = Connection(database)
    // Completes the full-text indexes with the old model, so that no text must be read across a migration.
    if try FullTextRebuild.isDue(database) {
      try FullTextRebuild.perform(connection, layout: old, head: head.revision)
    } else {
      let words = FullTextIndexer(connection, layout: old, limit: 0)
      try words.reload(HistoryReader(objects: ObjectReader(connection, layout: old)))
      try words.updateIfDue(head: head.revision + 1)
    }
    var writer = MigrationWriter(
      connection, plan: plan, old: old, number: number, since: head.revision + 1,
      highest: MigrationWriter.highest(old))
    try writer.refuseUnfilled(old)
    try writer.alter(progress)
    try writer.writeVersion()
    try commit(connection, head, number: number, name: "migrated to version \(plan.new.version)")
    try database.execute(sql: "UPDATE _words SET revision = ?", arguments: [head.revision + 1])
    try progress("verifying", 0.95)
    try writer.verify()
    return writer
  }

  private struct StoreHead {
    var revision: Revision = 0
    var fingerprint: UInt64 = 0
    var time: Timestamp = 0
    var counters = [UInt8]()
  }

  private func commitHead(_ database: Database) throws -> StoreHead {
    let row = try GRDB.Row.fetchOne(
      database, sql: "SELECT revision, fingerprint, time, counters FROM _commit ORDER BY revision DESC LIMIT 1")
    guard let row else { return StoreHead() }
    return StoreHead(
      revision: row[0], fingerprint: UInt64(bitPattern: row[1]), time: row[2], counters: Array(row[3] as Data))
  }

  /// Writes the migration's commit.
  ///
  /// It is an ordinary one without changes, so that tokens and fingerprints continue. Its undo name describes the
  /// migration; its undo scope is separate and has nothing to undo.
  private func commit(_ connection: Connection, _ head: StoreHead, number: Int64, name: String) throws {
    let database = connection.database
    let id = TransactionID(replica: UniqueID(high: options.random(), low: options.random()), sequence: 1)
    let undo = UndoGroup(scope: id.replica, group: 0, name: name).binary
    let row = CommitRow(
      revision: head.revision + 1, time: max(now, head.time), author: options.author, transaction: id, model: number,
      undo: undo, counters: head.counters, changes: [])
    try database.execute(sql: "INSERT OR IGNORE INTO _author (name) VALUES (?)", arguments: [row.author])
    try database.execute(sql: "INSERT INTO _replica (id) VALUES (?)", arguments: [Data(id.replica.bytes)])
    try database.execute(
      sql: """
        INSERT INTO _commit (revision, time, author, replica, sequence, model, fingerprint, undo, counters, changes)
        VALUES (?, ?, (SELECT number FROM _author WHERE name = ?), last_insert_rowid(), 1, ?, ?, ?, ?, ?)
        """,
      arguments: [
        row.revision, row.time, row.author, number, Int64(bitPattern: row.fingerprint(after: head.fingerprint)),
        Data(undo), Data(row.counters), Data(),
      ])
  }
}
