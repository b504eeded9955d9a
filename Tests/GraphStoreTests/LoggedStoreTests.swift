import Foundation
import GRDB
import GraphLog
import GraphModel
import GraphStore
import GraphStoreFaults
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// A store behind a commit log: a commit is durable in the log, and SQLite follows.
@Suite struct LoggedStoreTests {
  private func open(
    _ directory: TemporaryDirectory? = nil, gathered: Int = 4,
    configure: @escaping (inout SQLiteStore.Options) -> Void = { _ in }
  ) throws -> TestStore {
    let directory = try directory ?? TemporaryDirectory()
    return try TestStore(try Fixtures.company(), directory: directory) { options in
      options.commitLog = SQLiteStore.localLog(in: directory.path)
      options.gatheredCommits = gathered
      configure(&options)
    }
  }

  private func copy(_ names: [String], of directory: TemporaryDirectory, to target: TemporaryDirectory) throws {
    for name in names where FileManager.default.fileExists(atPath: directory.path + "/" + name) {
      let path = target.path + "/" + name
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
      try FileManager.default.copyItem(atPath: directory.path + "/" + name, toPath: path)
    }
  }

  fileprivate static let database = ["graph.sqlite", "graph.sqlite-wal"]

  private func names(_ store: TestStore) throws -> [String] {
    try store.all("Person", sort: "name").compactMap { image in
      if case .string(let name) = image[try store.property("Person.name")] { name } else { nil }
    }
  }

  @Test(arguments: 0..<11) func killLosesNothing(commits: Int) throws {
    let store = try open()
    for number in 0..<commits { _ = try store.insert("Person", ["name": .string("p\(number + 10)")]) }
    // A kill leaves everything that was written, synced or not.
    let killed = try TemporaryDirectory()
    try copy(Self.database + ["log"], of: store.directory, to: killed)
    let again = try open(killed)
    #expect(try names(again) == (0..<commits).map { "p\($0 + 10)" })
    #expect(try again.store.head == store.store.head)
    try again.store.close()
    #expect(try StoreCheck.run(directory: killed.path, model: store.model).isEmpty)
    try store.store.close()
    #expect(try StoreComparison.differences(store.directory.path, killed.path) == [])
  }

  /// SQLite syncs nothing between two checkpoints; in the worst case, nothing since the start is on disk.
  @Test func powerCutLosesNothing() throws {
    let store = try open()
    let cut = try TemporaryDirectory()
    try copy(Self.database, of: store.directory, to: cut)
    for number in 0..<30 { _ = try store.insert("Person", ["name": .string("p\(number + 10)")]) }
    try copy(["log"], of: store.directory, to: cut)
    let again = try open(cut)
    #expect(try names(again).count == 30)
    #expect(try again.store.head == store.store.head)
    try again.store.close()
    #expect(try StoreCheck.run(directory: cut.path, model: store.model).isEmpty)
  }

  /// A daemon settles its store once a second.
  @Test func settledCommitsAreVisibleToOtherPrograms() throws {
    let store = try open(gathered: 1_000)
    let others = try DatabaseQueue(path: store.directory.path + "/graph.sqlite")
    func newest() throws -> Int64? {
      try others.read { try Int64.fetchOne($0, sql: "SELECT COALESCE(MAX(revision), 0) FROM _commit") }
    }
    for number in 1...3 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    #expect(try #require(try newest()) < 3)
    store.store.settle()
    #expect(try newest() == 3)
    store.store.settle()
    #expect(try newest() == 3)
    try others.close()
  }

  @Test func readSeesEveryAcknowledgedCommit() throws {
    let store = try open(gathered: 1_000)
    for number in 1...20 {
      _ = try store.insert("Person", ["name": .string("p\(number)")])
      #expect(try store.all("Person").count == number)
      #expect(try store.store.head.revision == Int64(number))
      #expect(try store.store.statistics().head.revision == Int64(number))
    }
  }

  /// After a second without commits, other programs see the gathered commits.
  @Test func settledCommitsAreInSQLite() throws {
    let run = try FailingLog(gathered: 1_000)
    run.store.store.settle()
    #expect(try run.commitsInSQLite() == 0, "nothing has gathered")
    for number in 0..<3 { _ = try run.store.insert("Person", ["name": .string("p\(number)")]) }
    #expect(try run.commitsInSQLite() == 0)
    run.store.store.settle()
    #expect(try run.commitsInSQLite() == 3)
    _ = try run.store.insert("Person", ["name": .string("p3")])
    #expect(try run.commitsInSQLite() == 3)
    // A failure is reported, not thrown: the commits are in the log, and the next call repeats them.
    CrashableFiles.fail(run.directory.path, with: .inputOutput)
    run.store.store.settle()
    #expect(try run.commitsInSQLite() == 3)
    CrashableFiles.fail(run.directory.path, with: nil)
    run.store.store.settle()
    #expect(try run.commitsInSQLite() == 4)
    #expect(try names(run.store) == ["p0", "p1", "p2", "p3"])
    #expect(try names(run.killed()) == ["p0", "p1", "p2", "p3"])
  }

  @Test func refusedCommitKeepsGatheredOnes() throws {
    let store = try open(gathered: 1_000) { options in
      options.hooks.alterPlan = { plan, _ in
        // A value that the rules never pass on: the object would differ from its row.
        if plan.changes.contains(where: { $0.after?.values.contains(.string("bad")) == true }) {
          throw SQLConstraintFailureForTests()
        }
      }
    }
    let first = try store.insertion("Person", ["name": .string("a")])
    _ = try store.commit([first])
    let bad = try store.insertion("Person", ["name": .string("bad")])
    let refused = try? store.commit([bad])
    #expect(refused?.record == nil)
    _ = try store.insert("Person", ["name": .string("b")])
    #expect(try names(store) == ["a", "b"])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  private struct SQLConstraintFailureForTests: Error {}

  @Test func batchLargerThanLogIsSyncedInStore() throws {
    let store = try open()
    let rows = (0..<60).map { [Value.string("r\($0)"), .string(String(repeating: "x", count: 400_000))] }
    let properties = [try store.property("Person.name").number, try store.property("Person.bio").number]
    _ = try store.insert("Person", ["name": .string("before")])
    let result = try store.batch("Person", .insert(properties, rows: rows.count), rows: rows)
    #expect(result.record != nil)
    _ = try store.insert("Person", ["name": .string("behind")])
    let killed = try TemporaryDirectory()
    try copy(Self.database + ["log"], of: store.directory, to: killed)
    let again = try open(killed)
    #expect(try again.store.head == store.store.head)
    #expect(try names(again).count == 62)
  }

  // MARK: - Opening

  @Test func closedStoreNeedsNoLog() throws {
    let store = try open()
    _ = try store.insert("Person", ["name": .string("a")])
    try store.store.close()
    try FileManager.default.removeItem(atPath: store.directory.path + "/log")
    let again = try open(store.directory)
    #expect(try names(again) == ["a"])
  }

  @Test func missingLogIsRefusedAfterKill() throws {
    let store = try open()
    _ = try store.insert("Person", ["name": .string("a")])
    let killed = try TemporaryDirectory()
    try copy(Self.database, of: store.directory, to: killed)
    let failure = #expect(throws: StoreFailure.self) { try open(killed) }
    #expect("\(try #require(failure))".contains("log"), "\(String(describing: failure))")
    // A store that is opened without a log also has to apply the entries of its folder's log.
    #expect(throws: StoreFailure.self) { try TestStore(store.model, directory: killed) }
  }

  @Test func logIsAppliedByStoreThatUsesNone() throws {
    let store = try open()
    for number in 0..<6 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    let killed = try TemporaryDirectory()
    try copy(Self.database + ["log"], of: store.directory, to: killed)
    let plain = try TestStore(store.model, directory: killed)
    #expect(try names(plain).count == 6)
    // Transactions are numbered for each replica.
    plain.replica = UniqueID(high: 9, low: 9)
    _ = try plain.insert("Person", ["name": .string("p6")])
    try plain.store.close()
    let again = try open(killed)
    #expect(try names(again).count == 7)
  }

  @Test func logOfAnotherStoreIsRefused() throws {
    let (store, other) = (try open(), try open())
    for one in [store, other] { _ = try one.insert("Person", ["name": .string("a")]) }
    let killed = try TemporaryDirectory()
    try copy(Self.database, of: store.directory, to: killed)
    try copy(["log"], of: other.directory, to: killed)
    #expect(throws: StoreFailure.self) { try open(killed) }
  }

  /// The database of an earlier moment is older than the beginning of the log.
  @Test func logThatBeginsLaterIsRefused() throws {
    let store = try open()
    let killed = try TemporaryDirectory()
    _ = try store.insert("Person", ["name": .string("a")])
    try copy(Self.database, of: store.directory, to: killed)
    try store.reopen()
    _ = try store.insert("Person", ["name": .string("b")])
    _ = try store.insert("Person", ["name": .string("c")])
    try store.reopen()
    _ = try store.insert("Person", ["name": .string("d")])
    try copy(["log"], of: store.directory, to: killed)
    #expect(throws: StoreFailure.self) { try open(killed) }
  }

  /// Another program has written the same revision without the log.
  @Test func logWithAnotherNewestCommitIsRefused() throws {
    let store = try open(gathered: 1_000)
    _ = try store.insert("Person", ["name": .string("a")])
    let killed = try TemporaryDirectory()
    try copy(Self.database + ["log"], of: store.directory, to: killed)
    func mark(_ isNeeded: Bool) throws {
      let queue = try DatabaseQueue(path: killed.path + "/graph.sqlite")
      try queue.write { try $0.execute(sql: "UPDATE _log SET isNeeded = ?", arguments: [isNeeded]) }
      try queue.close()
    }
    try mark(false)
    let other = try TestStore(store.model, directory: killed)
    _ = try other.insert("Person", ["name": .string("b")])
    try other.store.close()
    try mark(true)
    let failure = #expect(throws: StoreFailure.self) { try open(killed) }
    #expect(failure?.cause.contains("another commit with this revision") == true, "\(String(describing: failure))")
  }

  /// A power failure keeps any of the writes that SQLite has not synced.
  @Test func holeInSQLitesLogIsFilledFromCommitLog() throws {
    let store = try open()
    for number in 0..<20 { _ = try store.insert("Person", ["name": .string("p\(number + 10)")]) }
    let cut = try TemporaryDirectory()
    try copy(Self.database + ["log"], of: store.directory, to: cut)
    let path = cut.path + "/graph.sqlite-wal"
    var log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // A frame is a page and its header of 24 bytes, behind the log's header of 32 bytes.
    let frame = 32 + 5 * (4_096 + 24)
    try #require(log.count > frame + 4_096)
    for place in frame..<frame + 4_096 { log[place] = 0 }
    try Data(log).write(to: URL(fileURLWithPath: path))
    let again = try open(cut)
    #expect(try again.store.head == store.store.head)
    #expect(try names(again).count == 20)
    try again.store.close()
    #expect(try StoreCheck.run(directory: cut.path, model: store.model).isEmpty)
  }

  // MARK: - Failures of the log

  /// Every call of the log fails once, in a run of its own. The commit is made in SQLite instead, and nothing is lost.
  @Test(arguments: [SimulatedLogDisk.Call.write, .synchronize], [EIO, ENOSPC, EDQUOT])
  func failureOfLogIsNoFailureOfCommits(call: SimulatedLogDisk.Call, code: Int32) throws {
    for calls in 0..<6 {
      let run = try FailingLog()
      for number in 0..<3 { _ = try run.store.insert("Person", ["name": .string("p\(number)")]) }
      run.disk.plan(.error(code), after: calls, kind: call)
      for number in 3..<12 { _ = try run.store.insert("Person", ["name": .string("p\(number)")]) }
      #expect(!run.disk.hasPlan, "\(call) \(calls)")
      #expect(try run.store.all("Person").count == 12)
      let again = try run.killed()
      #expect(try again.all("Person").count == 12, "\(call) \(calls)")
      #expect(try again.store.head == run.store.store.head)
    }
  }

  /// The same for the calls that make segments and change names. Each third call fails in a run of its own.
  @Test(arguments: [EIO, ENOSPC]) func noCallOfLogFailsCommits(error: Int32) throws {
    let bio = Value.string(String(repeating: "x", count: 3_000))
    var failures = 0
    for calls in stride(from: 0, to: 60, by: 3) {
      let run = try FailingLog()
      run.disk.plan(.error(error), after: calls)
      // More than the log holds at once.
      for number in 0..<24 { _ = try run.store.insert("Person", ["name": .string("p\(number)"), "bio": bio]) }
      guard !run.disk.hasPlan else { break }
      failures += 1
      #expect(try run.store.all("Person").count == 24, "call \(calls)")
      let again = try run.killed()
      #expect(try again.all("Person").count == 24, "call \(calls)")
      #expect(try again.store.head == run.store.store.head, "call \(calls)")
    }
    #expect(failures > 14)
  }

  /// A checkpoint can't sync SQLite's files: no acknowledged commit is lost, and commits resume.
  @Test(arguments: [ENOSPC, EDQUOT, EIO]) func failedCheckpointLosesNoCommit(error: Int32) throws {
    let run = try FailingLog(checkpointPages: 8)
    var acknowledged = Set<String>()
    func commit(_ numbers: Range<Int>) throws -> Int {
      var refused = 0
      for number in numbers {
        let change = try run.store.insertion("Person", ["name": .string("p\(number)")])
        if (try? run.store.commit([change]))?.record == nil { refused += 1 } else { acknowledged.insert("p\(number)") }
      }
      return refused
    }
    #expect(try commit(0..<20) == 0)
    CrashableFiles.fail(run.directory.path, with: .system(error: error, atSyncOnly: true))
    #expect(try commit(20..<40) > 0, "a checkpoint is due after a few commits")
    CrashableFiles.fail(run.directory.path, with: nil)
    #expect(try commit(40..<60) == 0)
    let names = try names(run.store)
    #expect(acknowledged.isSubset(of: names) && Set(names).count == names.count)
    #expect(try self.names(run.killed()) == names)
    #expect(try StoreCheckRun(run.store).findings.isEmpty)
  }

  /// The disk of the store fails, too: commits are refused until it works, and none of the acknowledged ones is lost.
  @Test func commitsResumeAfterBothDisksFailed() throws {
    let run = try FailingLog()
    var acknowledged = 0
    CrashableFiles.fail(run.directory.path, with: .inputOutput)
    run.disk.plan(.error(5), after: 3, kind: .synchronize)
    for number in 0..<8 {
      let change = try run.store.insertion("Person", ["name": .string("p\(number)")])
      if (try? run.store.commit([change]))?.record != nil { acknowledged += 1 }
    }
    #expect(acknowledged > 0 && acknowledged < 8)
    CrashableFiles.fail(run.directory.path, with: nil)
    _ = try run.store.insert("Person", ["name": .string("behind")])
    let names = try names(run.store)
    #expect(names.count > acknowledged && names.contains("behind"))
    let again = try run.killed()
    #expect(try self.names(again) == names)
  }

  /// Without a usable log, the store syncs SQLite's own; a disk may notice only then that it is full.
  @Test(arguments: [ENOSPC, EDQUOT]) func fullDiskAtSyncIsReportedAsFull(error: Int32) throws {
    let run = try FailingLog()
    run.disk.plan(.error(5), after: 0, kind: .synchronize)
    CrashableFiles.fail(run.directory.path, with: .system(error: error, atSyncOnly: true))
    let failure = #expect(throws: StoreFailure.self) { try run.store.insert("Person", ["name": .string("lost")]) }
    #expect(failure?.code == .full, "\(failure?.description ?? "")")
    #expect(failure?.sentence.contains(error == EDQUOT ? "quota" : "full") == true, "\(failure?.description ?? "")")
    CrashableFiles.fail(run.directory.path, with: nil)
    _ = try run.store.insert("Person", ["name": .string("after")])
    #expect(try names(run.store).contains("after"))
    #expect(try names(run.killed()).contains("after"))
    #expect(try StoreCheckRun(run.store).findings.isEmpty)
  }

  /// A store whose log is on a simulated disk.
  private struct FailingLog {
    let directory: TemporaryDirectory
    let disk: SimulatedLogDisk
    let store: TestStore

    init(gathered: Int = 4, checkpointPages: Int = 4_000) throws {
      directory = try TemporaryDirectory()
      CrashableFiles.watch(directory.path)
      let random = Mutex(SeededGenerator(seed: 1))
      disk = SimulatedLogDisk { random.withLock { $0.next() } }
      store = try Self.open(directory, disk, gathered: gathered, checkpointPages: checkpointPages)
    }

    static func open(
      _ directory: TemporaryDirectory, _ disk: SimulatedLogDisk, gathered: Int = 4, checkpointPages: Int = 4_000
    ) throws -> TestStore {
      try TestStore(try Fixtures.company(), directory: directory) { options in
        options.gatheredCommits = gathered
        options.checkpointPages = checkpointPages
        options.commitLog = { store, beginning in
          let size = LocalCommitLog.Options(segmentBytes: 4 * 4_096, maximumSegments: 4)
          guard let beginning else { return try LocalCommitLog(opening: disk, store: store, options: size) }
          return try LocalCommitLog(beginning: disk, store: store, after: beginning, options: size)
        }
      }
    }

    /// The store as it is found after a kill, opened by another process.
    func killed() throws -> TestStore { try Self.open(copyOfFiles(), disk) }

    private func copyOfFiles() throws -> TemporaryDirectory {
      let copy = try TemporaryDirectory()
      for name in LoggedStoreTests.database where FileManager.default.fileExists(atPath: directory.path + "/" + name) {
        try FileManager.default.copyItem(atPath: directory.path + "/" + name, toPath: copy.path + "/" + name)
      }
      return copy
    }

    /// The number of commits that another program sees without the log.
    func commitsInSQLite() throws -> Int? {
      let copy = try copyOfFiles()
      let queue = try DatabaseQueue(path: copy.path + "/graph.sqlite")
      let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _commit") }
      try queue.close()
      return count
    }
  }
}
