import Foundation
import GraphLog
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// The check of a killed store of which some commits are only in the commit log.
@Suite struct LogCheckTests {
  private let stores: KilledStores

  init() throws { stores = try KilledStores() }

  @Test func checkCountsCommitsAndChangesNothing() throws {
    let directory = try stores.filled()
    let before = try stores.contents(directory)
    #expect(before.keys.contains { $0.hasPrefix("log/") })
    for _ in 0..<2 {
      let report = try stores.check(directory)
      #expect(report == StoreCheck.Report(findings: [], unappliedCommits: 5), "\(report.findings)")
      #expect(try stores.contents(directory) == before)
    }
    let store = try stores.open(directory)
    #expect(try stores.names(store) == KilledStores.everyName)
    try store.store.close()
    #expect(try stores.check(directory) == StoreCheck.Report(findings: []))
  }

  /// Some commits are in SQLite, and the newest of them is compared with the log's.
  @Test func checkCountsOnlyCommitsThatSQLiteLacks() throws {
    let store = try stores.open(gathered: 3)
    for number in 0..<5 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    let report = try stores.check(try stores.killed(store))
    #expect(report == StoreCheck.Report(findings: [], unappliedCommits: 2), "\(report.findings)")
  }

  /// A batch has several records, and is one commit.
  @Test func checkCountsBatchOnce() throws {
    let store = try stores.open()
    // SQLite's files are those of before the batch.
    let directory = try stores.killed(store)
    let rows = (0..<10).map { [Value.string("r\($0)")] }
    _ = try store.batch("Person", .insert([try store.property("Person.name").number], rows: rows.count), rows: rows)
    _ = try store.insert("Person", ["name": .string("behind")])
    try stores.copy(["log"], of: store.directory, to: directory)
    let report = try stores.check(directory)
    #expect(report == StoreCheck.Report(findings: [], unappliedCommits: 2), "\(report.findings)")
    let target = try TemporaryDirectory()
    let backup = try StoreBackup.run(directory: directory.path, model: stores.model, file: target.path + "/copy")
    #expect(backup.head.revision == 2)
    #expect(try stores.names(inFile: target.path + "/copy").count == 11)
  }

  /// A power failure may leave gaps in SQLite's log, which the commit log fills.
  @Test func gapInSQLitesLogIsNoFindingAndIsBackedUp() throws {
    let store = try stores.open(gathered: 4)
    for number in 0..<20 { _ = try store.insert("Person", ["name": .string("p\(number + 10)")]) }
    let directory = try stores.killed(store)
    let path = directory.path + "/graph.sqlite-wal"
    var log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // A frame is a page and its header of 24 bytes, behind the log's header of 32 bytes.
    let frame = 32 + 5 * (4_096 + 24)
    try #require(log.count > frame + 4_096)
    for place in frame..<frame + 4_096 { log[place] = 0 }
    try Data(log).write(to: URL(fileURLWithPath: path))
    let report = try stores.check(directory)
    #expect(report.findings.isEmpty, "\(report.findings)")
    #expect(report.unappliedCommits > 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(log))
    let target = try TemporaryDirectory()
    let backup = try StoreBackup.run(directory: directory.path, model: stores.model, file: target.path + "/copy")
    #expect(backup.head.revision == 20)
    #expect(try stores.names(inFile: target.path + "/copy").count == 20)
  }

  @Test(arguments: KilledStores.LogDamage.allCases) func damagedLogIsFound(damage: KilledStores.LogDamage) throws {
    let directory = try stores.damaged(damage)
    let before = try stores.contents(directory)
    let report = try stores.check(directory)
    #expect(report.findings.map(\.kind) == [.commitLog], "\(report.findings)")
    #expect(report.findings.first?.text.contains(damage.words) == true, "\(report.findings)")
    #expect(try stores.contents(directory) == before)
    #expect(report.findings.first?.isDamage == true)
  }

  /// The log alone can't distinguish damage in its last group from a crash: it ends before the group.
  @Test func flippedBitInLastGroupEndsLog() throws {
    let directory = try stores.filled()
    let url = URL(fileURLWithPath: try stores.segment(directory))
    var bytes = [UInt8](try Data(contentsOf: url))
    let last = try #require(bytes.lastIndex { $0 != 0 })
    bytes[last] ^= 4
    try Data(bytes).write(to: url)
    let report = try stores.check(directory)
    #expect(report == StoreCheck.Report(findings: [], unappliedCommits: 4), "\(report.findings)")
    #expect(try stores.names(stores.open(directory)) == Array(KilledStores.everyName.dropLast()))
  }

  /// Sound records whose commits do not follow each other, and one that is no entry.
  @Test func commitsThatDoNotFollowAreFound() throws {
    let store = try stores.open()
    for number in 0..<4 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    let (directory, entries) = (try stores.killed(store), store.recorder.all)
    func write(_ records: [LogRecord]) throws {
      let log = try LocalCommitLog(
        beginning: directory.path + "/log", store: store.store.storeID, after: LogPosition(revision: 0, fingerprint: 0))
      try log.append(records)
    }
    func records(alter: Revision? = nil) -> [LogRecord] {
      entries.map { entry in
        var entry = entry
        if case .commit(var commit) = entry, commit.revision == alter {
          commit.fingerprint &+= 1
          entry = .commit(commit)
        }
        return LogRecord(revision: entry.revision, isLast: entry.isLast, body: entry.binary)
      }
    }
    try write(records())
    #expect(try stores.check(directory) == StoreCheck.Report(findings: [], unappliedCommits: 4))
    // The next commit follows the original one.
    try write(records(alter: 2))
    #expect(
      try stores.check(directory).findings.map(\.text)
        == [2, 3].map {
          "the logged commit of revision \($0) does not follow the commit before it"
        })
    var broken = records()
    broken[3].body = []
    try write(broken)
    let found = try stores.check(directory).findings
    #expect(found.map(\.kind) == [.commitLog])
    #expect(found.first?.text.contains("revision 4 can't be decoded") == true, "\(found)")
  }
}
