import Foundation
import GraphLog
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// Backups of a store behind a commit log that is open and written.
@Suite struct ServedBackupTests {
  private let model: Model

  init() throws { model = try Fixtures.company() }

  private func open(gathered: Int, segmentBytes: Int = 8 << 20) throws -> TestStore {
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/log"
    return try TestStore(model, directory: directory) { options in
      options.gatheredCommits = gathered
      options.heldLogBytes = 2 * segmentBytes
      options.commitLog = { store, beginning in
        let size = LocalCommitLog.Options(segmentBytes: segmentBytes, maximumSegments: 6)
        guard let beginning else { return try LocalCommitLog(opening: folder, store: store, options: size) }
        return try LocalCommitLog(beginning: folder, store: store, after: beginning, options: size)
      }
    }
  }

  /// None of the commits is in SQLite, and none is committed there by the backup.
  @Test func backupIncludesGatheredCommits() throws {
    let (store, target) = (try open(gathered: 1_000), try TemporaryDirectory())
    for number in 1...5 {
      _ = try store.insert("Person", ["name": .string("p\(number)")])
      let report = try StoreBackup.run(
        directory: store.directory.path, model: model, file: target.path + "/copy", replaces: true)
      #expect(report.head.revision == Revision(number))
      #expect(report.objects == number)
      #expect(try LogMark.isSet(inStoreAt: target.path + "/copy") == false)
    }
    // It has the same bytes in all rows.
    let copy = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: target.path + "/copy", toPath: copy.path + "/graph.sqlite")
    #expect(try LogMark.isSet(inStoreAt: store.directory.path + "/graph.sqlite"))
    try store.store.close()
    #expect(try StoreComparison.differences(store.directory.path, copy.path) == [])
  }

  @Test func commitsDuringCopyAreExcluded() throws {
    let (store, target) = (try open(gathered: 2), try TemporaryDirectory())
    for number in 1...3 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    var commits = 0
    let report = try StoreBackup.run(directory: store.directory.path, model: model, file: target.path + "/copy") { _ in
      commits += 1
      _ = try store.insert("Person", ["name": .string("during \(commits)")])
    }
    #expect(commits > 1)
    #expect(report.head.revision == 3)
    #expect(report.objects == 3)
  }

  /// A batch is committed in SQLite at once; the commits behind it are in the log.
  @Test func backupIncludesAllKindsOfCommits() throws {
    let (store, target) = (try open(gathered: 1_000), try TemporaryDirectory())
    let first = try store.insert("Person", ["name": .string("a"), "bio": .string("some words")])
    let rows = (0..<10).map { [Value.string("r\($0)")] }
    _ = try store.batch("Person", .insert([try store.property("Person.name").number], rows: rows.count), rows: rows)
    try store.must([store.update(first, "Person.bio", .string("other words"))])
    try store.by("bob") { try store.must([store.update(first, "Person.name", .string("b"))]) }
    try store.must([Change(.delete, first)])
    let report = try StoreBackup.run(directory: store.directory.path, model: model, file: target.path + "/copy")
    #expect(report.head.revision == 5)
    #expect(report.objects == 10)
    #expect(report.head == (try store.store.head))
  }

  // MARK: - Beside a writer

  /// A thread that inserts one person per commit, as many as it is allowed to.
  private final class Writer: Sendable {
    /// The revision of the newest acknowledged commit.
    let acknowledged = Atomic<Int64>(0)
    private let allowed = Atomic<Int64>(0)
    private let isEnded = Atomic<Bool>(false)
    private let failed = Atomic<Bool>(false)
    private let thread = DispatchGroup()

    var hasFailed: Bool { failed.load(ordering: .acquiring) }

    func start(_ store: SQLiteStore, _ person: EntityNumber, _ name: PropertyNumber, _ bio: PropertyNumber) {
      DispatchQueue.global().async(group: thread) { [self] in
        let text = Value.string(String(repeating: "word ", count: 200))
        var next: Int64 = 1
        while !isEnded.load(ordering: .acquiring) {
          guard next <= allowed.load(ordering: .acquiring) else {
            sched_yield()
            continue
          }
          let change = Change(
            .insert, .temporary(UInt64(next), entity: person),
            edits: [Edit(name, .set(.string("p\(next)"))), Edit(bio, .set(text))])
          let id = TransactionID(replica: UniqueID(high: 5, low: 5), sequence: UInt64(next))
          let request = WriteRequest.transaction(Transaction(id: id, changes: [change]), author: "ann")
          let results = try? store.commit([request], now: 1_800_000_000_000_000 + next * 1_000_000)
          guard results?.first?.record?.revision == next else { return failed.store(true, ordering: .releasing) }
          acknowledged.store(next, ordering: .releasing)
          next += 1
        }
      }
    }

    /// Allows more commits, and returns when the first of them are acknowledged.
    func proceed(_ count: Int64) {
      let (_, allowed) = allowed.add(count, ordering: .acquiringAndReleasing)
      while acknowledged.load(ordering: .acquiring) < allowed - count + 10, !hasFailed { sched_yield() }
    }

    func end() {
      isEnded.store(true, ordering: .releasing)
      thread.wait()
    }
  }

  /// The writer commits in SQLite, recycles segments and appends while the backup takes its snapshot and reads the log.
  @Test func backupBesideWriterHasEveryAcknowledgedCommit() throws {
    let (store, target) = (try open(gathered: 16, segmentBytes: 64 << 10), try TemporaryDirectory())
    let writer = Writer()
    writer.start(
      store.store, try store.entity("Person").number, try store.property("Person.name").number,
      try store.property("Person.bio").number)
    defer { writer.end() }
    for round in 0..<12 {
      writer.proceed(100)
      let before = writer.acknowledged.load(ordering: .acquiring)
      let report = try StoreBackup.run(
        directory: store.directory.path, model: model, file: target.path + "/copy", replaces: true)
      #expect(report.head.revision >= before, "round \(round)")
      // Every commit inserts one object, and the check of the copy has compared objects and history.
      #expect(report.objects == Int(report.head.revision), "round \(round)")
      #expect(!writer.hasFailed)
    }
    writer.end()
    #expect(writer.acknowledged.load(ordering: .acquiring) > 1_000)
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: model).isEmpty)
  }
}
