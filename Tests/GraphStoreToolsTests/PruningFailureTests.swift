import Foundation
import GRDB
import GraphModel
import GraphStoreFaults
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

@testable import GraphStore

/// Interrupted prunings, and other programs that open a pruned store.
@Suite struct PruningFailureTests {
  private let model: Model

  init() throws { model = try Fixtures.stickies() }

  /// Eight commits, with words that the indexes do not know yet.
  private func filled(in directory: TemporaryDirectory? = nil) throws -> TestStore {
    let store = try TestStore(model, directory: directory, wordLimit: 100)
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("the first cat")])
    let gone = try store.insert("Note", ["board": .object(board), "text": .string("the second cat")])
    for x in 0..<3 { try store.must([store.update(note, "Note.x", .double(Double(x) + 1))]) }
    try store.must([Change(.delete, gone, base: .max)])
    _ = try store.insert("Tag", ["name": .string("t")])
    return store
  }

  private func expectConsistent(_ directory: TemporaryDirectory, _ words: String) throws {
    let store = try TestStore(model, directory: directory, wordLimit: 100)
    #expect(try store.store.head.revision == 8, "\(words)")
    #expect(try store.all("Note", "text CONTAINS 'cat'").count == 1, "\(words)")
    #expect((0...6).contains(try store.store.oldestRevision), "\(words)")
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(words): \(findings)")
    try store.prune(through: 6)
    #expect(try store.store.oldestRevision == 6, "\(words)")
    let after = try StoreCheckRun(store).findings
    #expect(after.isEmpty, "\(words): \(after)")
    try store.store.close()
  }

  /// The power fails at the beginning of each statement: unsynced writes are lost.
  @Test func powerCutAtAnyStatementLeavesConsistentStore() throws {
    var cut = 1
    var isDone = false
    while !isDone {
      let directory = try TemporaryDirectory()
      CrashableFiles.watch(directory.path)
      defer { CrashableFiles.unwatch(directory.path) }
      try filled(in: directory).store.close()
      isDone = try prune(directory, cut: cut)
      CrashableFiles.recover(directory.path)
      try expectConsistent(directory, "cut at statement \(cut)")
      cut += 1
    }
    // Three slices of two commits, with their preparation.
    #expect(cut > 20)
  }

  /// - Returns: whether it came to its end before the cut.
  private func prune(_ directory: TemporaryDirectory, cut: Int) throws -> Bool {
    let count = Mutex(Int?.none)
    let path = directory.path
    var options = SQLiteStore.Options()
    options.prunedCommits = 2
    options.hooks.willRunStatement = { isReader in
      let isNow = count.withLock { count in
        guard !isReader, let before = count else { return false }
        count = before + 1
        return before + 1 == cut
      }
      if isNow { CrashableFiles.crash(path) }
    }
    let store = try SQLiteStore(directory: directory.path, model: model, options: options)
    count.withLock { $0 = 0 }
    do {
      while try store.prune(through: 6) {}
    } catch {
      count.withLock { $0 = nil }
      return false
    }
    let isDone = count.withLock { count in
      defer { count = nil }
      return (count ?? 0) < cut
    }
    if isDone { try store.close() }
    return isDone
  }

  @Test func fullDiskLeavesUsableStore() throws {
    for operations in [0, 1, 2, 4, 8, 16] {
      let directory = try TemporaryDirectory()
      CrashableFiles.watch(directory.path)
      defer { CrashableFiles.unwatch(directory.path) }
      let store = try filled(in: directory)
      CrashableFiles.fail(directory.path, with: .fullAfter(operations: operations))
      do {
        try store.prune(through: 6)
      } catch let failure as StoreFailure {
        #expect(failure.code == .full, "after \(operations): \(failure)")
      }
      CrashableFiles.fail(directory.path, with: nil)
      _ = try store.insert("Tag", ["name": .string("after")])
      try store.prune(through: 6)
      #expect(try store.store.oldestRevision == 6)
      #expect(try StoreCheckRun(store).findings.isEmpty)
      try store.store.close()
    }
  }

  // MARK: - stickiesd compact

  private func compact(
    _ store: TestStore, _ policy: HistoryPolicy, isRehearsal: Bool = false
  ) throws -> StoreCompaction.Report {
    try store.store.close()
    let report = try StoreCompaction.run(
      directory: store.directory.path, model: model, policy: policy, now: store.now, isRehearsal: isRehearsal)
    try store.reopen()
    return report
  }

  @Test func rehearsalPredictsPruning() throws {
    let store = try filled()
    let policy = HistoryPolicy(commits: 3, minimumRetention: 0)
    let rehearsed = try compact(store, policy, isRehearsal: true)
    #expect(rehearsed.pruning.floor == 5 && rehearsed.pruning.commits == 5)
    #expect(rehearsed.after == rehearsed.before)
    #expect(try store.store.oldestRevision == 0)
    let report = try compact(store, policy)
    #expect(report.pruning == rehearsed.pruning)
    #expect(try store.store.oldestRevision == 5)
    #expect(try StoreCheckRun(store).findings.isEmpty)
    #expect(try compact(store, policy).pruning.commits == 0)
  }

  @Test func activeReplicasKeepTheirHistory() throws {
    let store = try filled()
    // A commit a second: the fifth is three seconds old.
    let report = try compact(store, HistoryPolicy(commits: 1, minimumRetention: 3_500_000))
    #expect(report.pruning.floor == 4)
    #expect(report.pruning.wanted == 7)
    #expect(try compact(store, HistoryPolicy(commits: 1)).pruning.floor == 4)
    #expect(try compact(store, HistoryPolicy(age: 2_500_000, minimumRetention: 0)).pruning.floor == 5)
    #expect(try compact(store, HistoryPolicy(minimumRetention: 0)).pruning.commits == 0)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// A commit a second, and a clock that is 200 days ahead: ages are counted from the newest commit.
  @Test func clockFarAheadDoesNotCompactRecentHistory() throws {
    let store = try filled()
    try store.store.close()
    let day: Timestamp = 86_400_000_000
    func compact(_ policy: HistoryPolicy, after span: Timestamp) throws -> StoreCompaction.Report {
      try StoreCompaction.run(
        directory: store.directory.path, model: model, policy: policy, now: store.now + span, isRehearsal: true)
    }
    let ahead = try compact(HistoryPolicy(age: 90 * day), after: 200 * day)
    #expect(ahead.pruning.commits == 0 && ahead.clockLead == 200 * day)
    // A limit by number does not read the clock.
    let counted = try compact(HistoryPolicy(commits: 3, minimumRetention: 0), after: 200 * day)
    #expect(counted.pruning.commits == 5 && counted.clockLead == nil)
    let right = try compact(HistoryPolicy(age: 2_500_000, minimumRetention: 0), after: 600_000)
    #expect(right.pruning.floor == 6 && right.clockLead == nil)
    try store.reopen()
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// Commits that a clock 200 days ahead has made do not confirm it; a commit of the day before does.
  @Test func commitOfWrongClockDoesNotConfirmIt() throws {
    let store = try filled()
    let day: Timestamp = 86_400_000_000
    let recent = store.now
    func confirmed(after span: Timestamp, retention: Timestamp = 90 * day) throws -> Timestamp? {
      try PruningClock.confirmedTime(of: store.store, wall: recent + span, retention: retention)
    }
    #expect(try confirmed(after: 200 * day) == recent)
    store.now = recent + 200 * day
    _ = try store.insert("Tag", ["name": .string("late")])
    let late = store.now
    // The newest commit before the gap counts until the later one is a day old.
    #expect(try confirmed(after: 200 * day + day / 2) == recent)
    #expect(try confirmed(after: 202 * day) == late)
    // A gap within the tolerated error is no gap, and a count of commits needs no clock.
    #expect(try confirmed(after: 200 * day + day / 2, retention: 2_001 * day) == late)
    #expect(try confirmed(after: 200 * day + day / 2, retention: 0) == late)
    // Set back, the clock has not made the commit in its future.
    #expect(try confirmed(after: 2 * day) == late)
    let empty = try TestStore(model)
    #expect(try PruningClock.confirmedTime(of: empty.store, wall: recent, retention: day) == nil)
    try store.store.close()
    let report = try StoreCompaction.run(
      directory: store.directory.path, model: model, policy: HistoryPolicy(age: 90 * day),
      now: recent + 200 * day + day / 2, isRehearsal: true)
    #expect(report.pruning.commits == 0 && report.clockLead == 200 * day + day / 2)
    try store.reopen()
  }

  @Test func commitsAboveCeilingAreKept() throws {
    let store = try filled()
    let policy = HistoryPolicy(age: 1, minimumRetention: 0)
    let later = store.now + 86_400_000_000
    #expect(try store.store.pruning(policy, now: later).floor == 7)
    #expect(try store.store.pruning(policy, now: later, through: 4).floor == 4)
    #expect(try store.store.pruning(policy, now: later, through: 4).wanted == 4)
    #expect(try store.store.pruning(policy, now: later, through: 0).commits == 0)
  }

  @Test func freedSpaceIsReturned() throws {
    let store = try filled()
    let note = try #require(try store.all("Note").first)
    for number in 0..<40 {
      try store.must([store.update(note.id, "Note.text", .string(String(repeating: "word\(number) ", count: 5_000)))])
    }
    let report = try compact(store, HistoryPolicy(commits: 1, minimumRetention: 0))
    #expect(report.after < report.before / 4)
    #expect(try store.all("Note", "text CONTAINS 'word39'").count == 1)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func storeInUseAndMissingStoreAreRefused() throws {
    let store = try filled()
    let policy = HistoryPolicy(commits: 1, minimumRetention: 0)
    let inUse = #expect(throws: StoreFailure.self) {
      _ = try StoreCompaction.run(directory: store.directory.path, model: model, policy: policy, now: store.now)
    }
    #expect(inUse?.code == .inUse)
    let empty = try TemporaryDirectory()
    let none = #expect(throws: StoreFailure.self) {
      _ = try StoreCompaction.run(directory: empty.path, model: model, policy: policy, now: 0)
    }
    #expect(none?.code == .notAStore)
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
  }

  // MARK: - Backups and migrations

  @Test func backupOfPrunedStoreIsRestorable() throws {
    let store = try filled()
    try store.prune(through: 6)
    let folder = try TemporaryDirectory()
    let file = folder.path + "/backup"
    _ = try StoreBackup.run(directory: store.directory.path, model: model, file: file)
    _ = try store.insert("Tag", ["name": .string("after")])
    try store.prune(through: 8)
    try store.store.close()
    _ = try StoreRestore.run(
      file: file, directory: store.directory.path, model: model, stamp: "20261121T205432Z", replacesOther: false)
    try store.reopen()
    #expect(try store.store.head.revision == 8)
    #expect(try store.store.oldestRevision == 6)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func prunedAndMigratedStoresCombine() throws {
    let second = try ShopVersions.model(ShopVersions.second)
    for prunesBefore in [true, false] {
      let old = try ShopVersions.filled()
      if prunesBefore { try old.prune(through: 5) }
      try old.store.close()
      try ShopVersions.migrate(old.directory, to: [second])
      let store = try ShopVersions.opened(second, old.directory)
      #expect(try store.store.oldestRevision == (prunesBefore ? 5 : 0))
      #expect(try store.all("Article", "title == 'renamed'").count == 1)
      var findings = try StoreCheckRun(store).findings
      #expect(findings.isEmpty, "\(findings)")
      _ = try store.insert("Shop", ["title": .string("new")])
      try store.prune(through: .max)
      findings = try StoreCheckRun(store).findings
      #expect(findings.isEmpty, "\(findings)")
      #expect(try store.all("Article", "title == 'renamed'").count == 1)
      try store.store.close()
    }
  }

  // MARK: - Findings of the check

  @Test(arguments: [
    "UPDATE _floor SET time = time - 1", "UPDATE _floor SET fingerprint = fingerprint + 1", "DELETE FROM _floor",
    "UPDATE _words SET revision = 3", "INSERT INTO _pruned (replica, sequence) VALUES (99, 1)",
    "INSERT INTO _whole (id, revision) VALUES (zeroblob(16), 2)", "PRAGMA user_version = 3",
    "DELETE FROM _commit WHERE revision = 7", "UPDATE _tombstone SET revision = 8",
  ])
  func damagedPruningRecordsAreFound(_ damage: String) throws {
    let store = try filled()
    try store.prune(through: 6)
    #expect(try StoreCheckRun(store).findings.isEmpty)
    try store.store.close()
    try execute(damage, store.directory)
    #expect(try !StoreCheck.run(directory: store.directory.path, model: model, heldObjects: 3).isEmpty, "\(damage)")
  }

  private func execute(_ sql: String, _ directory: TemporaryDirectory) throws {
    try DatabaseQueue(path: directory.path + "/graph.sqlite").inDatabase { try $0.execute(sql: sql) }
  }
}
