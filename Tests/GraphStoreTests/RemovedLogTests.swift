import Foundation
import GraphModel
import GraphStore
import GraphTesting
import Synchronization
import Testing

/// A commit log that another program moves or removes while a store uses it: a start after a kill would not find it.
///
/// The clock advances between two commits only, as far as between those of a person.
@Suite struct RemovedLogTests {
  private let time = ManualTime()

  private final class ManualTime: Sendable {
    private let nanoseconds = Mutex<Int64>(1)

    var now: Int64 { nanoseconds.withLock { $0 } }

    func pause() { nanoseconds.withLock { $0 += 200_000_000 } }
  }

  private func open(_ directory: TemporaryDirectory) throws -> TestStore {
    try TestStore(try Fixtures.company(), directory: directory) { options in
      options.commitLog = SQLiteStore.localLog(in: directory.path)
      options.gatheredCommits = 1_000
      options.comparedNanoseconds = SQLiteStore.Options().comparedNanoseconds
      options.monotonicNanoseconds = { [time] in time.now }
    }
  }

  /// A store with three commits.
  private func filled() throws -> TestStore {
    let store = try open(TemporaryDirectory())
    for number in 0..<3 {
      time.pause()
      _ = try store.insert("Person", ["name": .string("p\(number)")])
    }
    return store
  }

  private func remove(_ name: String, of store: TestStore) throws {
    try FileManager.default.removeItem(atPath: store.directory.path + "/" + name)
    time.pause()
  }

  private func segments(_ store: TestStore) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store.directory.path + "/log").sorted()
  }

  private func names(_ store: TestStore) throws -> [String] {
    try store.all("Person", sort: "name").compactMap { $0[try store.property("Person.name")].stringValue }
  }

  /// The names that a start after a kill finds.
  private func namesAfterKill(_ store: TestStore) throws -> [String] {
    let killed = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal", "log"] {
      try FileManager.default.copyItem(atPath: store.directory.path + "/" + name, toPath: killed.path + "/" + name)
    }
    return try names(open(killed))
  }

  /// The comparison of the store's files, before a commit is planned, is none of the log's.
  @Test(arguments: ["log", "log/0000000001.segment"]) func slowCommitFindsRemovedLog(name: String) throws {
    let store = try filled()
    try remove(name, of: store)
    _ = try store.insert("Person", ["name": .string("p3")])
    #expect(try segments(store) == ["0000000002.segment"])
    #expect(try namesAfterKill(store) == ["p0", "p1", "p2", "p3"])
  }

  /// Commits within the age of a comparison share one.
  @Test func comparisonIsNotRepeatedAtOnce() throws {
    let store = try filled()
    try FileManager.default.moveItem(
      atPath: store.directory.path + "/log", toPath: store.directory.path + "/elsewhere")
    _ = try store.insert("Person", ["name": .string("p3")])
    #expect(!FileManager.default.fileExists(atPath: store.directory.path + "/log"))
    time.pause()
    _ = try store.insert("Person", ["name": .string("p4")])
    #expect(try namesAfterKill(store) == ["p0", "p1", "p2", "p3", "p4"])
  }

  /// Without commits, the daemon's check once a second finds it.
  @Test(arguments: ["log", "log/0000000001.segment"]) func idleStoreReplacesRemovedLog(name: String) throws {
    let store = try filled()
    time.pause()
    store.store.settle()
    #expect(try segments(store) == ["0000000001.segment"])
    try remove(name, of: store)
    store.store.settle()
    #expect(try segments(store) == ["0000000002.segment"])
    #expect(try namesAfterKill(store) == ["p0", "p1", "p2"])
    _ = try store.insert("Person", ["name": .string("p3")])
    #expect(try namesAfterKill(store) == ["p0", "p1", "p2", "p3"])
  }
}
