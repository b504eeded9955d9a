import Foundation
import GRDB
import GraphModel
import GraphStoreFaults
import GraphTesting
import Testing

@testable import GraphStore

/// The writes that reach the disk, observed by a layer below SQLite that counts syncs and can lose unsynced writes.
@Suite struct DurabilityTests {
  private func requests(_ store: TestStore, _ count: Int, from start: Int) throws -> [WriteRequest] {
    try (0..<count).map { number in
      .transaction(
        Transaction(
          id: store.nextID(), changes: [try store.insertion("Board", ["name": .string("b\(start + number)")])]),
        author: "ann")
    }
  }

  @Test func commitSyncsOnceAndGroupOnlyOnce() throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory)
    _ = try store.insert("Board", ["name": .string("first")])
    var before = CrashableFiles.syncs(directory.path)
    for number in 0..<10 { _ = try store.store.commit(try requests(store, 1, from: number), now: 1) }
    #expect(CrashableFiles.syncs(directory.path) - before == 10)
    before = CrashableFiles.syncs(directory.path)
    _ = try store.store.commit(try requests(store, 100, from: 100), now: 1)
    #expect(CrashableFiles.syncs(directory.path) - before == 1)
  }

  @Test func acknowledgedCommitsSurvivePowerCut() throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let model = try Fixtures.stickies()
    func commitOne(_ round: UInt64) throws -> Token {
      let store = try TestStore(model, directory: directory)
      store.replica = UniqueID(high: 9, low: round)
      _ = try store.insert("Board", ["name": .string("kept \(try store.all("Board").count)")])
      let head = try store.store.head
      CrashableFiles.crash(directory.path)
      return head
    }
    for round in 1...5 {
      let head = try commitOne(UInt64(round))
      CrashableFiles.recover(directory.path)
      let store = try TestStore(model, directory: directory)
      #expect(try store.store.head == head)
      #expect(try store.all("Board").count == round)
      try store.store.close()
    }
  }

  @Test(arguments: [
    (CrashableFiles.Fault.full, StoreFailure.Code.full), (.fullAfter(operations: 4), .full),
    (.inputOutput, .inputOutput), (.notSynchronized, .inputOutput), (.readOnly, .readOnly),
  ])
  func failingDiskRefusesCommitsAndLosesNone(fault: CrashableFiles.Fault, code: StoreFailure.Code) throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory)
    _ = try store.insert("Board", ["name": .string("kept")])
    CrashableFiles.fail(directory.path, with: fault)
    let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
    #expect(failure?.code == code)
    #expect(failure?.advice.isEmpty == false)
    #expect(try store.all("Board").count == 1)
    CrashableFiles.fail(directory.path, with: nil)
    _ = try store.insert("Board", ["name": .string("after")])
    #expect(try store.all("Board").count == 2)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// The system's own error decides the message, not the call that received it.
  @Test(arguments: [EDQUOT, ENOSPC, EIO, EMFILE, EROFS], [true, false])
  func messageMatchesSystemError(error: Int32, atSyncOnly: Bool) throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory)
    _ = try store.insert("Board", ["name": .string("kept")])
    CrashableFiles.fail(directory.path, with: .system(error: error, atSyncOnly: atSyncOnly))
    let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
    let expected: [Int32: (StoreFailure.Code, String)] = [
      EDQUOT: (.full, "quota"), ENOSPC: (.full, "full"), EIO: (.inputOutput, "Check the disk"),
      EMFILE: (.noDescriptors, "ulimit -n"), EROFS: (.readOnly, "Mount"),
    ]
    #expect(failure?.code == expected[error]?.0)
    #expect(failure?.description.contains(expected[error]?.1 ?? "?") == true, "\(failure?.description ?? "")")
    #expect(failure?.description.contains("right to write") == false)
    CrashableFiles.fail(directory.path, with: nil)
    _ = try store.insert("Board", ["name": .string("after")])
    #expect(try store.all("Board").count == 2)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// A commit has failed, and then the store can't be opened again: the failure gives advice, like any other.
  @Test func failedReopenReportsAdvice() throws {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("kept")])
    let (path, aside) = (store.directory.path + "/graph.sqlite", store.directory.path + "/aside")
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    store.store.health.isOutcomeUnknown = true
    for _ in 1...2 {
      let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
      #expect(failure?.sentence.contains(path) == true)
      #expect(failure?.advice.isEmpty == false)
    }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    _ = try store.insert("Board", ["name": .string("after")])
    #expect(try store.all("Board").count == 2)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// Another program has the lock for writing, so that BEGIN fails. The connection is not used again.
  @Test(arguments: [false, true]) func failedBeginReopensStore(hasLog: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.lockSeconds = 0.05
      options.commitLog = hasLog ? SQLiteStore.localLog(in: directory.path) : nil
    }
    _ = try store.insert("Board", ["name": .string("kept")])
    // Behind a log, the read ends the open transaction.
    #expect(try store.all("Board").count == 1)
    try DatabaseQueue(path: directory.path + "/graph.sqlite").inDatabase { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      let first = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
      #expect(first?.code == .cannotLock)
      // With a log, the second attempt brings the store up to date first.
      let second = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
      #expect(second?.code == (hasLog ? .inUse : .cannotLock))
      try database.execute(sql: "ROLLBACK")
    }
    _ = try store.insert("Board", ["name": .string("after")])
    #expect(try store.all("Board").count == 2)
    try store.reopen()
    #expect(try store.all("Board").count == 2)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// The system refuses the lock for writing, for a moment or for longer than a commit waits.
  @Test(arguments: [3, 1_000_000], [false, true])
  func refusedLockForWritingCostsNoLaterCommit(attempts: Int, hasLog: Bool) throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let isShort = attempts < 10
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.lockSeconds = isShort ? 30 : 0.05
      options.commitLog = hasLog ? SQLiteStore.localLog(in: directory.path) : nil
    }
    _ = try store.insert("Board", ["name": .string("kept")])
    // Behind a log, the read ends the open transaction.
    #expect(try store.all("Board").count == 1)
    CrashableFiles.fail(directory.path, with: .cannotLockForWriting(attempts: attempts))
    if isShort {
      _ = try store.insert("Board", ["name": .string("late")])
    } else {
      let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
      #expect(failure?.code == .cannotLock)
      #expect(failure?.sentence.hasSuffix("can't be locked") == true, "\(failure?.description ?? "")")
      #expect(failure?.advice.contains("local file system") == true, "\(failure?.description ?? "")")
    }
    CrashableFiles.fail(directory.path, with: nil)
    _ = try store.insert("Board", ["name": .string("after")])
    let count = isShort ? 3 : 2
    #expect(try store.all("Board").count == count)
    try store.reopen()
    #expect(try store.all("Board").count == count)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// The process keeps a lock that no connection knows of, and SQLite refuses every commit for it.
  @Test(arguments: [false, true]) func failedUnlockCostsOneCommit(hasLog: Bool) throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.lockSeconds = 0.05
      // The log begins again and again, and the readers' marks are moved.
      options.checkpointPages = 1
      options.commitLog = hasLog ? SQLiteStore.localLog(in: directory.path) : nil
      options.gatheredCommits = 1
    }
    _ = try store.insert("Board", ["name": .string("kept")])
    CrashableFiles.fail(directory.path, with: .cannotUnlockOnce)
    var refused = 0
    for number in 1...8 {
      do {
        _ = try store.insert("Board", ["name": .string("board \(number)")])
      } catch let failure as StoreFailure {
        #expect(failure.code == .lockLost || failure.code == .cannotLock)
        refused += 1
      }
    }
    #expect(refused <= 1)
    #expect(try store.all("Board").count == 9 - refused)
    try store.reopen()
    #expect(try store.all("Board").count == 9 - refused)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// A read loses every read mark, and only the last connection to close releases them. No commit has to fail for this.
  @Test(arguments: [false, true]) func readsResumeAfterFailedUnlocks(hasLog: Bool) throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.lockSeconds = 0.05
      if hasLog { options.commitLog = SQLiteStore.localLog(in: directory.path) }
    }
    _ = try store.insert("Board", ["name": .string("kept")])
    #expect(try store.all("Board").count == 1)
    _ = try store.insert("Board", ["name": .string("after a read")])
    CrashableFiles.fail(directory.path, with: .cannotUnlock)
    // SQLite tries for ten seconds.
    let failure = #expect(throws: StoreFailure.self) { try store.all("Board") }
    #expect(failure?.code == .lockLost)
    CrashableFiles.fail(directory.path, with: nil)
    for _ in 0..<3 { #expect(try store.all("Board").count == 2) }
    _ = try store.insert("Board", ["name": .string("behind")])
    #expect(try store.all("Board").count == 3)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// The client has received a failure and sends the commit again: it exists once, under one revision.
  @Test(arguments: [CrashableFiles.Fault.full, .fullAfter(operations: 2), .inputOutput, .notSynchronized])
  func failedCommitIsStoredOnceWhenResent(fault: CrashableFiles.Fault) throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let store = try TestStore(try Fixtures.stickies(), directory: directory)
    _ = try store.insert("Board", ["name": .string("kept")])
    let batch = try requests(store, 3, from: 1)
    CrashableFiles.fail(directory.path, with: fault)
    #expect(throws: StoreFailure.self) { try store.store.commit(batch, now: 1) }
    #expect(throws: StoreFailure.self) { try store.store.commit(batch, now: 1) }
    CrashableFiles.fail(directory.path, with: nil)
    let first = try store.store.commit(batch, now: 1).map(\.outcome)
    let again = try store.store.commit(batch, now: 1).map(\.outcome)
    #expect(first == again)
    #expect(try store.all("Board").count == 4)
    try store.reopen()
    #expect(try store.all("Board").count == 4)
    #expect(try store.store.head.revision == 4)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }
}
