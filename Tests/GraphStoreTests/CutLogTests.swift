import Foundation
import GRDB
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// SQLite's log that another program cuts short or overwrites while a store has it open. SQLite does not notice, and a
/// checkpoint would copy the missing frames over the database.
@Suite struct CutLogTests {
  enum Damage: CaseIterable, Sendable {
    case emptied, cut, overwritten, otherHeader, flippedByte

    /// Whether only a comparison of all frames finds the damage: before a checkpoint, not before a commit.
    var isHidden: Bool { self == .flippedByte }

    func apply(to path: String) throws {
      let size = try #require(FileManager.default.contents(atPath: path)?.count)
      switch self {
      case .emptied: #expect(truncate(path, 0) == 0)
      case .cut: #expect(truncate(path, 5_000) == 0)
      case .overwritten: try write(Data(count: size - 100), at: 100, path)
      case .otherHeader: try write(Data(count: 16), at: 16, path)
      // Within the page of the last frame.
      case .flippedByte: try write(Data([0xA5]), at: UInt64(size) - 2_000, path)
      }
    }

    private func write(_ bytes: Data, at offset: UInt64, _ path: String) throws {
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: offset)
      try file.write(contentsOf: bytes)
      try file.close()
    }
  }

  private static let kept = 20

  /// A store whose database file has the first boards, and SQLite's log two others.
  private func open(isLogged: Bool, _ directory: TemporaryDirectory) throws -> TestStore {
    try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = isLogged ? SQLiteStore.localLog(in: directory.path) : nil
      options.comparedNanoseconds = 0
    }
  }

  private func filled(isLogged: Bool) throws -> TestStore {
    let store = try open(isLogged: isLogged, TemporaryDirectory())
    for number in 0..<Self.kept { _ = try store.insert("Board", ["name": .string("kept \(number)")]) }
    try store.reopen()
    for name in ["three", "four"] {
      _ = try store.insert("Board", ["name": .string(name)])
      store.store.settle()
    }
    #expect(store.store.fileFailure() == nil)
    return store
  }

  private func names(_ store: TestStore) throws -> Set<String> {
    let name = try store.property("Board.name")
    return Set(try store.all("Board").compactMap { $0[name].stringValue })
  }

  @Test(arguments: [false, true], Damage.allCases)
  func damagedLogRefusesCommitsAndIsNotCopied(isLogged: Bool, damage: Damage) throws {
    let store = try filled(isLogged: isLogged)
    let path = store.directory.path + "/graph.sqlite"
    let before = FileManager.default.contents(atPath: path)
    try damage.apply(to: path + "-wal")
    if !damage.isHidden {
      let failure = #expect(throws: StoreFailure.self) { try store.insert("Board", ["name": .string("lost")]) }
      #expect(failure?.code == .moved)
      #expect(failure?.sentence == "\(path)-wal was cut short or overwritten while stickiesd had it open")
      #expect(failure?.advice.contains("Commits are refused") == true)
      #expect(store.store.fileFailure()?.sentence == failure?.sentence)
    }
    store.store.settle()
    try store.store.close()
    #expect(FileManager.default.contents(atPath: path) == before)

    let copy = try TemporaryDirectory()
    for name in ["graph.sqlite", "graph.sqlite-wal", "log"] {
      let file = store.directory.path + "/" + name
      if FileManager.default.fileExists(atPath: file) {
        try FileManager.default.copyItem(atPath: file, toPath: copy.path + "/" + name)
      }
    }
    // Without a commit log, SQLite's log has the only copy of the newest commits.
    guard isLogged else { return }
    let again = try open(isLogged: true, copy)
    let found = try names(again)
    #expect(found.isSuperset(of: (0..<Self.kept).map { "kept \($0)" }))
    #expect(found.isSuperset(of: ["three", "four"]))
    try again.store.close()
    #expect(try StoreCheck.run(directory: copy.path, model: store.model).isEmpty)
  }

  /// Acknowledged commits can't be committed in SQLite, so reads fail; `status` says why.
  @Test func statisticsShowTheDamage() throws {
    let store = try filled(isLogged: true)
    let revision = try store.store.head.revision
    _ = try store.insert("Board", ["name": .string("five")])
    let path = store.directory.path + "/graph.sqlite"
    try Damage.cut.apply(to: path + "-wal")
    #expect(throws: StoreFailure.self) { try store.all("Board") }
    let statistics = try store.store.statistics()
    #expect(statistics.failure.hasPrefix("\(path)-wal was cut short or overwritten"), "\(statistics.failure)")
    #expect(statistics.location == StoreFiles.real(store.directory.path) && statistics.size > 0)
    #expect(statistics.head.revision <= revision)
    try store.store.close()
  }

  /// SQLite appends behind the missing frames, so the newest one is sound again.
  @Test func damageRemainsUntilTheEnd() throws {
    let store = try filled(isLogged: true)
    let log = store.directory.path + "/graph.sqlite-wal"
    let sound = try #require(FileManager.default.contents(atPath: log))
    try Damage.emptied.apply(to: log)
    #expect(store.store.fileFailure() != nil)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: log))
    try file.write(contentsOf: sound)
    try file.close()
    #expect(store.store.fileFailure() != nil)
    try store.store.close()
  }

  /// Commits, checkpoints and restarts of the log are no damage, also not those of another program.
  @Test(arguments: [false, true]) func checkpointsAreNoDamage(isLogged: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try TestStore(try Fixtures.stickies(), directory: directory) { options in
      options.commitLog = isLogged ? SQLiteStore.localLog(in: directory.path) : nil
      options.comparedNanoseconds = 0
      (options.checkpointPages, options.gatheredCommits) = (8, 2)
    }
    let board = try store.insert("Board", ["name": .string("B")])
    let text = Value.string(String(repeating: "milk ", count: 2_000))
    for number in 0..<40 {
      _ = try store.insert("Note", ["board": .object(board), "text": text])
      if number % 10 == 9 { try checkpoint(directory.path + "/graph.sqlite") }
      #expect(store.store.fileFailure() == nil)
    }
    try store.reopen()
    #expect(try store.all("Note").count == 40)
    #expect(store.store.fileFailure() == nil)
  }

  private func checkpoint(_ path: String) throws {
    let others = try DatabaseQueue(path: path)
    // The store's transaction may still be open.
    others.inDatabase { _ = try? $0.checkpoint(.truncate) }
    try others.close()
  }
}
