// Tests: CheckTests.swift, BitFlipTests.swift
import GRDB
import GraphModel
import GraphStore

/// `stickiesd check`: verifies everything that a store's data can prove about itself.
///
/// The steps are independent: each reports its findings and what it can't read, and the next one continues with the
/// rest. They open the file read-only, so damage stays as it was found. The commit log is read only if the store needs
/// it (`LogMark`).
public enum StoreCheck {
  /// The number of past objects in memory while history is read; the others are in a temporary file.
  public static let heldObjects = 50_000

  /// The result of a check.
  public struct Report: Sendable, Hashable {
    /// The findings, with the kinds in the order of `StoreFinding.Kind`: at most `maximumPerKind` of each, and a last
    /// one that counts the others. Empty for a sound store.
    public var findings: [StoreFinding]
    /// The number of commits that are in the commit log only. The next start applies them.
    public var unappliedCommits = 0

    /// Creates a report.
    public init(findings: [StoreFinding], unappliedCommits: Int = 0) {
      (self.findings, self.unappliedCommits) = (findings, unappliedCommits)
    }
  }

  /// Verifies the store in `directory` as `report` does, and returns the findings.
  public static func run(
    directory: String, model: Model, heldObjects: Int = StoreCheck.heldObjects
  ) throws -> [StoreFinding] {
    try report(directory: directory, model: model, heldObjects: heldObjects).findings
  }

  /// Verifies the store in `directory`, which no daemon may be using, and its commit log if the store needs it.
  ///
  /// Changes no object and no commit, and applies no commit of the log. Finishes an interrupted restore first. A store
  /// without damage is then opened writable for SQLite's check of the full-text indexes; closing it may checkpoint the
  /// WAL, unless the store needs its commit log.
  /// - Parameter heldObjects: the number of past objects held in memory, at least 1.
  /// - Throws: `StoreFailure` if there is no store, or none that this program may open; `full` or `inputOutput` if
  ///   the temporary file can't be written, which is no finding about the store.
  public static func report(
    directory: String, model: Model, heldObjects: Int = StoreCheck.heldObjects
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    if ReadOnlyMedium.holds(path) { return try report(onReadOnlyMedium: path, directory, model, heldObjects) }
    func storeExists() throws -> Bool { try StoreFiles.kind(of: path) != .absent }
    guard try storeExists() || PendingRestore.exists(in: directory) else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    if try PendingRestore.finish(in: directory) { _ = try storeExists() }
    return try report(file: path, model: model, heldObjects: heldObjects)
  }

  /// Checks a store on a read-only file system, without a lock. None can be taken there, and no daemon can have one.
  private static func report(
    onReadOnlyMedium path: String, _ directory: String, _ model: Model, _ heldObjects: Int
  ) throws -> Report {
    guard !PendingRestore.exists(in: directory) else {
      throw ReadOnlyMedium.refusal(path, cause: "a restore must be finished first")
    }
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    return try report(file: path, model: model, heldObjects: heldObjects)
  }

  /// Verifies a store at any path, and returns the findings.
  static func run(
    file path: String, model: Model, heldObjects: Int = StoreCheck.heldObjects, temporaryPages: Int? = nil
  ) throws -> [StoreFinding] {
    try report(file: path, model: model, heldObjects: heldObjects, temporaryPages: temporaryPages).findings
  }

  /// Verifies a store at any path; no program may be writing it.
  private static func report(
    file path: String, model: Model, heldObjects: Int, temporaryPages: Int? = nil
  ) throws -> Report {
    let findings = FindingList()
    var unapplied = 0
    // A store that can't be read is reported below.
    let needsLog = (try? LogMark.isSet(inStoreAt: path)) == true
    // After a power failure, the commit log has the commits that SQLite's log lacks.
    if !needsLog, let loss = try WriteAheadLogFile.loss(beside: path) {
      findings.add(.log, text: "commits are missing from the middle: \(WriteAheadLogFile.sentence(loss))")
    }
    do {
      var configuration = Configuration()
      configuration.foreignKeysEnabled = false
      configuration.readonly = true
      let queue = try DatabaseQueue(path: ReadOnlyMedium.name(forReading: path), configuration: configuration)
      try queue.inDatabase { database in
        let checker = StoreChecker(
          database, model: model, findings: findings, heldObjects: heldObjects, temporaryPages: temporaryPages)
        if needsLog { unapplied = try checker.checkLog(in: StoreFiles.logFolder(ofStoreAt: path)) }
        try checker.run()
      }
      // The WAL of a store that needs its log stays as it is: a connection that is not the last one to close makes no
      // checkpoint, and a connection that only reads can't.
      if !needsLog { try queue.close() }
      if !findings.all.contains(where: \.isDamage), !ReadOnlyMedium.holds(path) {
        try checkWordTables(path, model: model, findings)
      }
      if needsLog { try queue.close() }
    } catch let failure as TemporaryFileFailure {
      throw failure.failure
    } catch let error as DatabaseError {
      // Without space for the WAL's index the store can't be read, but that is no damage.
      let failure = SQLiteFailure.of(
        code: error.extendedResultCode.rawValue, message: error.text, path: path)
      if let failure = failure as? StoreFailure, failure.code == .full { throw failure }
      findings.add(.integrity, text: "the file can't be read: \(error.reason)")
    }
    return Report(findings: findings.all, unappliedCommits: unapplied)
  }

  /// Runs the full-text indexes' own check, for which SQLite requires a writable connection. It writes nothing; but
  /// closing the file checkpoints the WAL, which is as sound as the rest.
  private static func checkWordTables(_ path: String, model: Model, _ findings: FindingList) throws {
    try DatabaseQueue(path: path).inDatabase { database in
      for words in try StoreVersions.layout(database, model: model).orderedTables.flatMap(\.fullTextTables) {
        do {
          let name = quoted(words.name)
          try database.execute(sql: "INSERT INTO \(name) (\(name)) VALUES ('integrity-check')")
        } catch {
          findings.add(.words, .init(table: words.name), text: "is damaged")
        }
      }
    }
  }
}
