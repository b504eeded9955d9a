import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// The tools on a killed store of which some commits are only in the commit log.
@Suite struct UnappliedLogTests {
  private let stores: KilledStores

  init() throws { stores = try KilledStores() }

  // MARK: - Damage

  /// The other tools refuse such a store, as a start does, and leave it unchanged.
  @Test(arguments: KilledStores.LogDamage.allCases) func storeWithDamagedLogIsRefused(damage: KilledStores.LogDamage)
    throws
  {
    let directory = try stores.damaged(damage)
    let (path, target) = (directory.path, try TemporaryDirectory())
    #expect(failure { _ = try SQLiteStore(directory: path, model: stores.model) } != nil)
    #expect(failure { _ = try StoreMigration(directory: path, models: [stores.model], now: 0).run() } != nil)
    let policy = HistoryPolicy(commits: 2, age: nil)
    #expect(
      failure { _ = try StoreCompaction.run(directory: path, model: stores.model, policy: policy, now: 0) } != nil)
    #expect(
      failure { _ = try StoreBackup.run(directory: path, model: stores.model, file: target.path + "/copy") } != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
    #expect(try stores.isMarked(directory))
    #expect(try stores.check(directory).findings.map(\.kind) == [.commitLog])
  }

  /// The mark of the log and the commits were in SQLite's log, which was removed.
  @Test func lostSQLiteLogIsRepeatedFromCommitLog() throws {
    let store = try stores.open(gathered: 1)
    for number in 0..<5 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    let directory = try stores.killed(store)
    try FileManager.default.removeItem(atPath: directory.path + "/graph.sqlite-wal")
    let report = try stores.check(directory)
    #expect(report == StoreCheck.Report(findings: [], unappliedCommits: 5), "\(report.findings)")
    #expect(try stores.names(stores.open(directory)) == KilledStores.everyName)
  }

  /// The commit log lacks commits that only SQLite's log had.
  @Test func gapBehindLostSQLiteLogIsRefused() throws {
    let directory = try stores.withLogOfLaterPast()
    try FileManager.default.removeItem(atPath: directory.path + "/graph.sqlite-wal")
    let refusal = failure { _ = try SQLiteStore(directory: directory.path, model: stores.model) }
    #expect(refusal?.sentence.contains("lacks the commits of revisions 1 to 3") == true)
    #expect(refusal?.advice.contains("restore a backup") == true)
    let findings = try stores.check(directory).findings
    #expect(findings.map(\.kind) == [.commitLog], "\(findings)")
  }

  // MARK: - Migration and compaction

  private func filledShop() throws -> TemporaryDirectory {
    let store = try stores.open(nil, try ShopVersions.model(ShopVersions.first))
    let shop = try store.insert("Shop", ["title": .string("corner shop")])
    for number in 0..<3 {
      _ = try store.insert(
        "Item",
        [
          "name": .string("item \(number)"), "text": .string("words \(number)"), "origin": .string("farm"),
          "shop": .object(shop),
        ])
    }
    return try stores.killed(store)
  }

  @Test(arguments: [false, true]) func migrationIncludesCommitsOfLog(isRehearsal: Bool) throws {
    let directory = try filledShop()
    #expect(try stores.isMarked(directory))
    let second = try ShopVersions.model(ShopVersions.second)
    var options = StoreMigration.Options()
    options.isRehearsal = isRehearsal
    let report = try StoreMigration(
      directory: directory.path, models: [second], now: 1_800_000_000_000_000, options: options
    ).run()
    #expect(report.revision == 5)
    #expect(try !stores.isMarked(directory))
    if isRehearsal {
      let store = try stores.open(directory, try ShopVersions.model(ShopVersions.first))
      #expect(try store.all("Item").count == 3)
    } else {
      let store = try ShopVersions.opened(second, directory)
      #expect(try store.all("Article").count == 3)
      let findings = try StoreCheckRun(store).findings
      #expect(findings.isEmpty, "\(findings)")
      #expect(try LogMark.isSet(inStoreAt: try #require(report.backup)) == false)
    }
  }

  @Test func storeOfNewestVersionIsBroughtUpToDateByMigration() throws {
    let directory = try stores.filled()
    #expect(try StoreMigration(directory: directory.path, models: [stores.model], now: 0).run().steps.isEmpty)
    #expect(try !stores.isMarked(directory))
    #expect(try stores.names(stores.openWithoutLog(directory)) == KilledStores.everyName)
  }

  @Test func compactionIncludesCommitsOfLog() throws {
    let directory = try stores.filled()
    var policy = HistoryPolicy(commits: 2, age: nil)
    policy.minimumRetention = 0
    let report = try StoreCompaction.run(
      directory: directory.path, model: stores.model, policy: policy, now: 1_700_000_100_000_000)
    #expect(report.pruning.head == 5)
    #expect(report.pruning.floor == 3)
    #expect(try !stores.isMarked(directory))
    #expect(try stores.check(directory) == StoreCheck.Report(findings: []))
    #expect(try stores.names(stores.openWithoutLog(directory)) == KilledStores.everyName)
  }

  // MARK: - Backup and restore

  @Test func backupOfKilledStoreIncludesCommitsOfLog() throws {
    let (directory, target) = (try stores.filled(), try TemporaryDirectory())
    let report = try StoreBackup.run(directory: directory.path, model: stores.model, file: target.path + "/copy")
    #expect(report.head.revision == 5)
    #expect(report.objects == 5)
    #expect(try stores.names(inFile: target.path + "/copy") == KilledStores.everyName)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["copy"])
    // No daemon served the store: a tool applied the commits.
    #expect(try !stores.isMarked(directory))
    let store = try stores.open(directory)
    #expect(try store.store.head == report.head)
  }

  /// A backup of revision 1 of a store, and the store, killed at revision 3.
  private func backupAndKilledStore() throws -> (backup: String, folder: TemporaryDirectory, TemporaryDirectory) {
    let (store, folder) = (try stores.open(), try TemporaryDirectory())
    _ = try store.insert("Person", ["name": .string("a")])
    _ = try StoreBackup.run(directory: store.directory.path, model: stores.model, file: folder.path + "/backup")
    for name in ["b", "c"] { _ = try store.insert("Person", ["name": .string(name)]) }
    return (folder.path + "/backup", folder, try stores.killed(store))
  }

  @Test func previousStoreIsSetAsideWithItsLog() throws {
    let (backup, folder, directory) = try backupAndKilledStore()
    defer { withExtendedLifetime(folder) {} }
    let report = try StoreRestore.run(file: backup, directory: directory.path, model: stores.model, stamp: "S")
    #expect(report.head.revision == 1)
    let old = "graph.sqlite.before-S"
    #expect(try stores.names(in: directory) == ["graph.sqlite", old, old + "-log", old + "-wal", "lock"])
    // The restored store begins a log of its own.
    let restored = try stores.open(directory)
    // Transactions are numbered for each replica.
    restored.replica = UniqueID(high: 9, low: 9)
    #expect(try stores.names(restored) == ["a"])
    _ = try restored.insert("Person", ["name": .string("d")])
    let again = try stores.killed(restored)
    #expect(try stores.names(stores.open(again)) == ["a", "d"])
    try restored.store.close()
    // The previous one is restored with its log.
    let previous = directory.path + "/" + old
    #expect(report.previous == previous)
    let back = try StoreRestore.run(file: previous, directory: directory.path, model: stores.model, stamp: "S")
    #expect(back.head.revision == 3)
    #expect(back.previous == previous + "-2")
    #expect(try stores.names(stores.openWithoutLog(directory)) == ["a", "b", "c"])
  }

  @Test func previousStoreCanBePutBackByHand() throws {
    let (backup, folder, directory) = try backupAndKilledStore()
    defer { withExtendedLifetime(folder) {} }
    _ = try StoreRestore.run(file: backup, directory: directory.path, model: stores.model, stamp: "S")
    try FileManager.default.removeItem(atPath: directory.path + "/graph.sqlite")
    for (suffix, name) in [("", "graph.sqlite"), ("-wal", "graph.sqlite-wal"), ("-log", "log")] {
      try FileManager.default.moveItem(
        atPath: directory.path + "/graph.sqlite.before-S" + suffix, toPath: directory.path + "/" + name)
    }
    #expect(try stores.names(stores.open(directory)) == ["a", "b", "c"])
  }

  /// A log under the stamp's name is not replaced.
  @Test func takenNameOfLogIsAvoided() throws {
    let (backup, folder, directory) = try backupAndKilledStore()
    defer { withExtendedLifetime(folder) {} }
    let taken = directory.path + "/graph.sqlite.before-S-log"
    try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: false)
    let report = try StoreRestore.run(file: backup, directory: directory.path, model: stores.model, stamp: "S")
    #expect(report.previous == directory.path + "/graph.sqlite.before-S-2")
    #expect(try FileManager.default.contentsOfDirectory(atPath: taken).isEmpty)
  }

  /// Killed after the decision: before anything was moved, and behind each of the log, SQLite's log, and the database.
  @Test(arguments: 0..<4) func killedRestoreMovesLogAtNextStart(step: Int) throws {
    let (backup, folder, directory) = try backupAndKilledStore()
    defer { withExtendedLifetime(folder) {} }
    let (path, old) = (directory.path + "/graph.sqlite", directory.path + "/graph.sqlite.before-S")
    try FileManager.default.copyItem(atPath: backup, toPath: path + ".restoring-S")
    let moves = [(directory.path + "/log", old + "-log"), (path + "-wal", old + "-wal"), (path, old)]
    for (name, newName) in moves.prefix(step) { try FileManager.default.moveItem(atPath: name, toPath: newName) }
    let store = try stores.open(directory)
    #expect(try stores.names(store) == ["a"])
    try store.store.close()
    let empty = try TemporaryDirectory()
    #expect(try StoreRestore.run(file: old, directory: empty.path, model: stores.model, stamp: "T").head.revision == 3)
  }

  /// Without its log the store that was set aside is not complete.
  @Test func markedFileWithoutItsLogIsNotRestored() throws {
    let (_, folder, directory) = try backupAndKilledStore()
    defer { withExtendedLifetime(folder) {} }
    try FileManager.default.removeItem(atPath: directory.path + "/log")
    let empty = try TemporaryDirectory()
    let refused = failure {
      _ = try StoreRestore.run(
        file: directory.path + "/graph.sqlite", directory: empty.path, model: stores.model, stamp: "S")
    }
    #expect(refused?.sentence == "the log folder \(directory.path)/log is missing")
    #expect(refused?.advice == "Give another backup; the store was not touched.")
    #expect(try stores.names(in: empty) == ["lock"])
  }

  // MARK: - Read-only media

  @Test func readOnlyMediumWithNeededLogIsCheckedAndNotBackedUp() throws {
    guard let disk = try MountedDisk(mebibytes: 64) else { return }
    let directory = try stores.filled()
    // Its WAL is copied into the database, which still needs the log.
    let queue = try DatabaseQueue(path: directory.path + "/graph.sqlite")
    _ = try queue.inDatabase { try $0.checkpoint(.truncate) }
    try queue.close()
    for name in KilledStores.files where FileManager.default.fileExists(atPath: directory.path + "/" + name) {
      try FileManager.default.copyItem(atPath: directory.path + "/" + name, toPath: disk.path + "/" + name)
    }
    guard disk.remountForReadingOnly() else { return }
    let report = try StoreCheck.report(directory: disk.path, model: stores.model, heldObjects: 3)
    #expect(report == StoreCheck.Report(findings: [], unappliedCommits: 5), "\(report.findings)")
    let target = try TemporaryDirectory()
    let refused = failure {
      _ = try StoreBackup.run(directory: disk.path, model: stores.model, file: target.path + "/copy")
    }
    #expect(refused?.code == .readOnly)
    #expect(refused?.cause.contains("commit log") == true)
    #expect(refused?.advice.contains("Copy all files") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
  }

  // MARK: - Older programs and older layouts

  /// A program that does not know the log reads the layout from the header and refuses the file.
  @Test func newStoreExcludesProgramsWithoutLog() throws {
    let store = try stores.openWithoutLog(TemporaryDirectory())
    let header = try #require(FileManager.default.contents(atPath: store.directory.path + "/graph.sqlite")).prefix(64)
    #expect(header[63] == 6)
    try store.store.close()
  }

  /// A store of the layout before the log, as a program without it left it: migrated, pruned or neither.
  @Test(arguments: [3, 4, 5]) func olderLayoutIsCheckedAndUpgraded(layout: Int) throws {
    let store = try stores.openWithoutLog(TemporaryDirectory())
    _ = try store.insert("Person", ["name": .string("a")])
    try store.store.close()
    let queue = try DatabaseQueue(path: store.directory.path + "/graph.sqlite")
    try queue.inDatabase { database in
      try database.execute(sql: "DROP TABLE _log")
      let version = try #require(try Int.fetchOne(database, sql: "PRAGMA user_version"))
      try database.execute(sql: "PRAGMA user_version = \(version & ~0xFF | layout)")
    }
    try queue.close()
    #expect(try stores.check(store.directory) == StoreCheck.Report(findings: []))
    let logged = try stores.open(store.directory)
    logged.replica = UniqueID(high: 9, low: 9)
    _ = try logged.insert("Person", ["name": .string("b")])
    let header = try #require(FileManager.default.contents(atPath: store.directory.path + "/graph.sqlite")).prefix(64)
    #expect(header[63] == 6)
    let directory = try stores.killed(logged)
    #expect(try stores.check(directory) == StoreCheck.Report(findings: [], unappliedCommits: 1))
  }

  @Test func missingTableOfPresentLayoutIsFound() throws {
    let store = try stores.openWithoutLog(TemporaryDirectory())
    try store.store.close()
    let queue = try DatabaseQueue(path: store.directory.path + "/graph.sqlite")
    try queue.inDatabase { try $0.execute(sql: "DROP TABLE _log") }
    try queue.close()
    #expect(try stores.check(store.directory).findings.map(\.kind) == [.schema])
  }
}
