import Foundation
import GraphLog
import GraphModel
import GraphStore
import GraphStoreFaults
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// Groups of commits that are prepared while earlier ones wait for the disk.
@Suite struct PreparedCommitsTests {
  @Test func groupsPreparedTogetherShareOneSync() throws {
    let run = try PreparedRun()
    _ = run.disk.takeCalls()
    let groups = try (0..<3).map { try run.prepare(["a\($0)", "b\($0)"]) }
    #expect(run.disk.takeCalls() == [], "nothing is written before a group is finished")
    #expect(try groups[0].finish().count == 2)
    let calls = run.disk.takeCalls()
    #expect(calls.count == 2 && calls[0].hasPrefix("write ") && calls[1].hasPrefix("synchronize "), "\(calls)")
    for group in groups[1...] {
      let results = try group.finish()
      #expect(results.map(\.record?.revision).count == 2)
    }
    #expect(run.disk.takeCalls() == [])
    #expect(try run.names() == ["a0", "a1", "a2", "b0", "b1", "b2"])
    #expect(try run.killed().names() == ["a0", "a1", "a2", "b0", "b1", "b2"])
  }

  @Test func readsSeeFinishedGroupsOnly() throws {
    let run = try PreparedRun()
    let first = try run.prepare(["a"])
    #expect(try run.names() == [])
    #expect(try run.killed().names() == [])
    _ = try first.finish()
    let second = try run.prepare(["b"])
    // The read needs the first group, whose transaction also has the second one: both become durable before it.
    #expect(try run.names() == ["a", "b"])
    #expect(try run.killed().names() == ["a", "b"])
    let results = try second.finish()
    #expect(results[0].record?.revision == 2)
  }

  @Test func groupAloneIsNotDurableBeforeItIsFinished() throws {
    let run = try PreparedRun()
    _ = try run.prepare(["a"]).finish()
    _ = try run.prepare(["b"])
    #expect(try run.killed().names() == ["a"])
  }

  /// The same transaction again, while the first one waits for the disk: it is answered only when it is durable.
  @Test func repeatedTransactionWaitsForTheFirst() throws {
    let run = try PreparedRun()
    let request = try run.request("a")
    let first = try run.store.store.prepare([request], now: 1)
    let again = try run.store.store.prepare([request], now: 2)
    let outcome = try again.finish()[0]
    #expect(outcome.record == nil)
    guard case .committed(let committed) = outcome.outcome else { Issue.record("\(outcome.outcome)"); return }
    #expect(committed.revision == 1)
    #expect(try run.killed().names() == ["a"])
    #expect(try first.finish()[0].record?.revision == 1)
  }

  // MARK: - Failures

  /// Each call of the log fails once while several groups wait. SQLite commits them instead, in their order.
  @Test(arguments: [SimulatedLogDisk.Call.write, .synchronize], 0..<3)
  func failureOfLogConcernsNoGroup(call: SimulatedLogDisk.Call, calls: Int) throws {
    let run = try PreparedRun()
    run.disk.plan(.error(5), after: calls, kind: call)
    var expected = [String]()
    for round in 0..<4 {
      let groups = try (0..<3).map { try run.prepare(["r\(round)g\($0)"]) }
      for (number, group) in groups.enumerated() {
        #expect(try group.finish()[0].record?.revision == Revision(expected.count + 1))
        expected.append("r\(round)g\(number)")
      }
      #expect(try run.killed().names() == expected, "\(call) \(calls) \(round)")
    }
    #expect(!run.disk.hasPlan)
    #expect(try run.names() == expected)
  }

  /// A group that is never finished becomes durable with the others.
  @Test func groupThatNobodyFinishesIsKept() throws {
    let run = try PreparedRun()
    let first = try run.prepare(["a"])
    run.disk.plan(.error(5), after: 0, kind: .synchronize)
    _ = try run.prepare(["b"])
    #expect(try first.finish()[0].record?.revision == 1)
    let third = try run.prepare(["c"])
    #expect(try third.finish()[0].record?.revision == 3)
    #expect(try run.names() == ["a", "b", "c"])
    #expect(try run.killed().names() == ["a", "b", "c"])
  }

  /// Neither the log nor SQLite can be written: every group is refused, and none is lost that counts as committed.
  @Test func groupsAreRefusedWhileBothDisksFail() throws {
    let run = try PreparedRun()
    _ = try run.prepare(["before"]).finish()
    let groups = try (0..<3).map { try run.prepare(["g\($0)"]) }
    CrashableFiles.fail(run.directory.path, with: .inputOutput)
    run.disk.plan(.error(5), after: 0, kind: .synchronize)
    for group in groups {
      let failure = #expect(throws: StoreFailure.self) { try group.finish() }
      // They may appear: the store repeats them as soon as it can be written.
      #expect(failure?.advice.hasSuffix("may or may not have been committed; check before you repeat it.") == true)
      #expect(failure?.refusal.isOutcomeUnknown == true)
    }
    CrashableFiles.fail(run.directory.path, with: nil)
    run.disk.plan(nil)
    let behind = try run.prepare(["z"]).finish()
    #expect(behind[0].record != nil)
    let names = try run.names()
    #expect(names.contains("before") && names.contains("z"))
    #expect(try run.killed().names() == names)
  }

  /// A group that fires a constraint rolls the open transaction back, in which others wait.
  @Test func rolledBackGroupKeepsWaitingOnes() throws {
    let run = try PreparedRun { options in
      options.hooks.alterPlan = { plan, _ in
        if plan.changes.contains(where: { $0.after?.values.contains(.string("bad")) == true }) { throw Unexpected() }
      }
    }
    let first = try run.prepare(["a"])
    #expect(throws: Unexpected.self) { try run.prepare(["bad"]) }
    let last = try run.prepare(["b"])
    #expect(try first.finish()[0].record?.revision == 1)
    #expect(try last.finish()[0].record?.revision == 2)
    #expect(try run.names() == ["a", "b"])
    #expect(try run.killed().names() == ["a", "b"])
  }

  private struct Unexpected: Error {}

  /// A batch and pruning commit the open transaction, in which groups wait.
  @Test func batchAndPruningFinishWaitingGroups() throws {
    let run = try PreparedRun()
    let first = try run.prepare(["a"])
    let name = try run.store.property("Person.name").number
    let result = try run.store.batch("Person", .insert([name], rows: 1), rows: [[.string("row")]])
    #expect(result.record?.revision == 2)
    #expect(try run.killed().names() == ["a", "row"])
    let third = try run.prepare(["c"])
    _ = try run.store.store.prune(through: 1)
    #expect(try run.killed().names() == ["a", "c", "row"])
    #expect(try first.finish()[0].record?.revision == 1)
    #expect(try third.finish()[0].record?.revision == 3)
    #expect(try run.store.store.oldestRevision == 1)
  }

  @Test func closingMakesWaitingGroupsDurable() throws {
    let run = try PreparedRun()
    _ = try run.prepare(["a"])
    try run.store.store.close()
    #expect(try run.killed().names() == ["a"])
  }

  // MARK: - Threads

  /// One thread prepares, another one finishes, a third one reads, and the log fails at times. A read sees all commits
  /// that were finished before it, and the last state exists after a kill.
  @Test(arguments: 0..<4) func threadsAgree(seed: UInt64) throws {
    let run = try PreparedRun(seed: seed)
    let queue = Mutex([PreparedCommits]())
    let prepared = Mutex(0)
    let finished = Mutex(0)
    let isPrepared = DispatchSemaphore(value: 0)
    let total = 120
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      do {
        switch thread {
        case 0:
          for number in 0..<total {
            let group = try run.prepare(["p\(number)"])
            queue.withLock { $0.append(group) }
            prepared.withLock { $0 += 1 }
            isPrepared.signal()
            if number % 17 == Int(seed) { run.disk.plan(.error(5), after: number % 3, kind: .synchronize) }
          }
        case 1:
          for number in 0..<total {
            #expect(isPrepared.wait(timeout: .now() + 60) == .success)
            let group = queue.withLock { $0.removeFirst() }
            #expect(try group.finish()[0].record?.revision == Revision(number + 1))
            finished.withLock { $0 += 1 }
          }
        default:
          while finished.withLock({ $0 }) < total {
            let before = finished.withLock { $0 }
            let count = try run.names().count
            let after = prepared.withLock { $0 }
            #expect(count >= before && count <= after + 1, "\(before) were finished, \(count) were read")
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    run.disk.plan(nil)
    #expect(try run.names().count == total)
    #expect(try run.killed().names() == run.names())
    try run.store.store.close()
    #expect(try StoreCheck.run(directory: run.directory.path, model: run.store.model).isEmpty)
  }
}

/// A store whose log is on a simulated disk.
///
/// `@unchecked Sendable`: store and disk are Sendable; only the preparing thread uses the test store's numbers.
private final class PreparedRun: @unchecked Sendable {
  let directory: TemporaryDirectory
  let disk: SimulatedLogDisk
  let store: TestStore

  init(seed: UInt64 = 1, configure: @escaping (inout SQLiteStore.Options) -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    let random = Mutex(SeededGenerator(seed: seed))
    disk = SimulatedLogDisk { random.withLock { $0.next() } }
    store = try Self.open(directory, disk, configure)
  }

  private init(directory: TemporaryDirectory, disk: SimulatedLogDisk) throws {
    (self.directory, self.disk) = (directory, disk)
    store = try Self.open(directory, disk) { _ in }
  }

  private static func open(
    _ directory: TemporaryDirectory, _ disk: SimulatedLogDisk,
    _ configure: @escaping (inout SQLiteStore.Options) -> Void
  ) throws -> TestStore {
    try TestStore(try Fixtures.company(), directory: directory) { options in
      options.gatheredCommits = 50
      options.commitLog = { store, beginning in
        let size = LocalCommitLog.Options(segmentBytes: 16 * 4_096, maximumSegments: 4)
        guard let beginning else { return try LocalCommitLog(opening: disk, store: store, options: size) }
        return try LocalCommitLog(beginning: disk, store: store, after: beginning, options: size)
      }
      configure(&options)
    }
  }

  func request(_ name: String) throws -> WriteRequest {
    let change = try store.insertion("Person", ["name": .string(name)])
    return .transaction(Transaction(id: store.nextID(), policy: .error, changes: [change]), author: "ann")
  }

  /// Prepares a group with one insert for each name.
  func prepare(_ names: [String]) throws -> PreparedCommits {
    store.now += 1_000_000
    return try store.store.prepare(try names.map(request), now: store.now)
  }

  func names() throws -> [String] {
    try store.all(store.entity("Person"), where: .always, sort: "name").compactMap { image in
      if case .string(let name) = image[try store.property("Person.name")] { name } else { nil }
    }
  }

  /// The store as it is found after a kill, opened by another process.
  func killed() throws -> PreparedRun {
    let copy = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      let path = directory.path + "/" + name
      guard FileManager.default.fileExists(atPath: path) else { continue }
      try FileManager.default.copyItem(atPath: path, toPath: copy.path + "/" + name)
    }
    return try PreparedRun(directory: copy, disk: disk.copy())
  }
}
