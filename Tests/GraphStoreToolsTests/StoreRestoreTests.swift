import Foundation
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// A restore replaces the store completely or not at all, and the previous store stays beside it.
@Suite struct StoreRestoreTests {
  private let folder: TemporaryDirectory
  private let store: TestStore
  private let model: Model

  private var data: String { store.directory.path }
  private var backup: String { folder.path + "/backup" }

  /// A store at revision 2, its backup of revision 1.
  init() throws {
    folder = try TemporaryDirectory()
    model = try Fixtures.stickies()
    store = try TestStore(model)
    _ = try store.insert("Tag", ["name": .string("before")])
    _ = try StoreBackup.run(directory: store.directory.path, model: model, file: folder.path + "/backup")
    _ = try store.insert("Tag", ["name": .string("after")])
  }

  private func restore(_ file: String? = nil, to directory: String? = nil, other: Bool = false) throws
    -> StoreRestore.Report
  {
    try StoreRestore.run(
      file: file ?? backup, directory: directory ?? data, model: model, stamp: "20261121T205432Z",
      replacesOther: other)
  }

  private func files(_ directory: String? = nil) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory ?? data)
      // A commit log is in `UnappliedLogTests`.
      .filter { $0 != "lock" && $0 != "log" && !$0.hasSuffix("-log") }.sorted()
  }

  private func tags(_ directory: String) throws -> [String] {
    let folder = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: directory, toPath: folder.path + "/graph.sqlite")
    return try names(in: TestStore(model, directory: folder))
  }

  private func names(in store: TestStore) throws -> [String] {
    let name = try store.property("Tag.name")
    return try store.all("Tag", sort: "name").compactMap { $0[name].stringValue }
  }

  @Test func backupReplacesStoreAndOldStoreIsKept() throws {
    try store.store.close()
    let report = try restore()
    #expect(report.head.revision == 1)
    #expect(report.objects == 1)
    let previous = data + "/graph.sqlite.before-20261121T205432Z"
    #expect(report.previous == previous)
    #expect(try files() == ["graph.sqlite", "graph.sqlite.before-20261121T205432Z"])
    #expect(try StoreCheck.run(directory: data, model: model).isEmpty)
    #expect(try tags(data + "/graph.sqlite") == ["before"])
    #expect(try tags(previous) == ["after", "before"])
    // The previous store is restored in turn.
    let back = try restore(previous)
    #expect(back.head.revision == 2)
    #expect(back.previous == previous + "-2")
    #expect(try tags(data + "/graph.sqlite") == ["after", "before"])
  }

  /// As after a kill: the newest commits are only in the log, which must go with its database.
  @Test func storeIsSetAsideWithItsWAL() throws {
    let killed = try TemporaryDirectory()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: data + "/graph.sqlite" + suffix, toPath: killed.path + "/graph.sqlite" + suffix)
    }
    let report = try restore(to: killed.path)
    #expect(
      try files(killed.path) == [
        "graph.sqlite", "graph.sqlite.before-20261121T205432Z", "graph.sqlite.before-20261121T205432Z-wal",
      ])
    #expect(try tags(killed.path + "/graph.sqlite") == ["before"])
    // The previous store can be restored from its place, with its log.
    let empty = try TemporaryDirectory()
    let whole = try restore(report.previous, to: empty.path)
    #expect(whole.head.revision == 2)
    #expect(whole.previous == nil)
  }

  @Test func servedStoreIsUnchanged() throws {
    let before = try files()
    let refused = failure { _ = try restore() }
    #expect(refused?.code == .inUse)
    #expect(try files() == before)
  }

  @Test(arguments: ["damaged", "torn", "foreign", "other model", "not there", "itself", "another store"])
  func invalidBackupIsRefusedWithReason(_ what: String) throws {
    try store.store.close()
    let file = folder.path + "/wrong"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
    var wanted = file
    switch what {
    case "damaged":
      while let place = bytes.range(of: Data("before".utf8)) { bytes[place.lowerBound] ^= 1 }
      try bytes.write(to: URL(fileURLWithPath: file))
    case "torn": try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: file))
    case "foreign": try Data(repeating: 65, count: 5_000).write(to: URL(fileURLWithPath: file))
    case "other model":
      let company = try TestStore(try Fixtures.company())
      _ = try StoreBackup.run(directory: company.directory.path, model: company.model, file: file)
    case "another store":
      let other = try TestStore(model)
      _ = try StoreBackup.run(directory: other.directory.path, model: model, file: file)
    case "itself": wanted = data + "/graph.sqlite"
    default: break
    }
    let before = try files()
    let content = try Data(contentsOf: URL(fileURLWithPath: data + "/graph.sqlite"))
    do {
      _ = try restore(wanted)
      Issue.record("it was restored")
    } catch let unsound as StoreBackup.VerificationError {
      #expect(what == "damaged" || what == "torn")
      #expect(unsound.source == file)
      #expect(!unsound.findings.isEmpty)
      #expect(unsound.description.hasSuffix("Give another backup; the store was not touched."))
    } catch let failure as StoreFailure {
      #expect(failure.sentence.contains(wanted))
      let codes: [String: [StoreFailure.Code]] = [
        "torn": [.corrupt], "foreign": [.notAStore], "not there": [.notAStore], "other model": [.modelDiffers],
        "itself": [.alreadyThere], "another store": [.alreadyThere],
      ]
      #expect(codes[what]?.contains(failure.code) == true, "\(failure)")
      // The backup is damaged, so the advice does not concern the store.
      if what == "torn" || what == "foreign" {
        #expect(failure.advice == "Give another backup; the store was not touched.", "\(failure)")
      }
    }
    #expect(try files() == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: data + "/graph.sqlite")) == content)
  }

  @Test func backupOfOtherStoreNeedsOption() throws {
    try store.store.close()
    let other = try TestStore(model)
    _ = try other.insert("Tag", ["name": .string("other")])
    let file = folder.path + "/other"
    _ = try StoreBackup.run(directory: other.directory.path, model: model, file: file)
    #expect(try restore(file, other: true).head == (try other.store.head))
    #expect(try tags(data + "/graph.sqlite") == ["other"])
  }

  /// The directory after a restore that was killed after its decision: before it renamed a file, after the log, or
  /// after the database.
  private func killed(behind step: Int) throws -> TemporaryDirectory {
    let killed = try TemporaryDirectory()
    let path = killed.path + "/graph.sqlite"
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: data + "/graph.sqlite" + suffix, toPath: path + suffix)
    }
    let old = path + ".before-S"
    try FileManager.default.copyItem(atPath: backup, toPath: path + ".restoring-S")
    if step >= 1 { try FileManager.default.moveItem(atPath: path + "-wal", toPath: old + "-wal") }
    if step >= 2 { try FileManager.default.moveItem(atPath: path, toPath: old) }
    return killed
  }

  /// Killed after the decision, at every step: the next daemon or command finishes the restore.
  @Test(arguments: 0..<3, ["start", "check", "backup", "migrate"])
  func killedRestoreIsCompletedAtNextStart(_ step: Int, _ next: String) throws {
    let killed = try killed(behind: step)
    switch next {
    case "check": #expect(try StoreCheck.run(directory: killed.path, model: model).isEmpty)
    case "backup":
      let report = try StoreBackup.run(directory: killed.path, model: model, file: folder.path + "/second")
      #expect(report.head.revision == 1)
    case "migrate": #expect(try StoreMigration(directory: killed.path, models: [model], now: 0).run().steps.isEmpty)
    default: break
    }
    if next != "start" {
      #expect(!FileManager.default.fileExists(atPath: killed.path + "/graph.sqlite.restoring-S"))
    }
    let opened = try TestStore(model, directory: killed)
    #expect(try names(in: opened) == ["before"])
    try opened.store.close()
    #expect(
      try files(killed.path).filter { !$0.hasSuffix("-shm") && $0 != "graph.sqlite-wal" } == [
        "graph.sqlite", "graph.sqlite.before-S", "graph.sqlite.before-S-wal",
      ])
  }

  /// Killed before the decision: the draft stays, and no program opens it as a store.
  @Test func draftIsNotAStore() throws {
    try store.store.close()
    try FileManager.default.copyItem(atPath: backup, toPath: data + "/graph.sqlite.restore")
    let opened = try TestStore(model, directory: store.directory)
    #expect(try names(in: opened) == ["after", "before"])
    try opened.store.close()
    #expect(try restore().head.revision == 1)
    #expect(try files() == ["graph.sqlite", "graph.sqlite.before-20261121T205432Z"])
  }
}
