import Foundation
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// Names that no longer lead to the opened files of a store: commits to these files are not acknowledged, and reads
/// never use other files under the names.
@Suite struct MovedFilesTests {
  private func moved(_ store: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws -> StoreFailure {
    let failure = #expect(throws: StoreFailure.self, sourceLocation: sourceLocation) {
      try store.insert("Board", ["name": .string("lost")])
    }
    #expect(failure?.code == .moved, sourceLocation: sourceLocation)
    #expect(failure?.advice.contains("Commits are refused") == true, sourceLocation: sourceLocation)
    // The failure of a commit that was written also says that its outcome is unknown.
    let present = store.store.fileFailure()
    #expect(present?.sentence == failure?.sentence && present?.cause == failure?.cause, sourceLocation: sourceLocation)
    #expect(try store.store.statistics().failure == present?.description, sourceLocation: sourceLocation)
    return try #require(failure, sourceLocation: sourceLocation)
  }

  private func store(in directory: TemporaryDirectory? = nil) throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies(), directory: directory)
    _ = try store.insert("Board", ["name": .string("kept")])
    #expect(store.store.fileFailure() == nil)
    #expect(try store.store.statistics().failure.isEmpty)
    return store
  }

  @Test func removedDirectoryRefusesCommits() throws {
    let store = try store()
    try FileManager.default.removeItem(atPath: store.directory.path)
    let failure = try moved(store)
    #expect(failure.sentence == "the data directory \(store.directory.path) was moved away or removed")
    #expect(failure.advice.contains("restore a backup"))
  }

  @Test func returnedDirectoryAcceptsCommitsAgain() throws {
    let store = try store()
    let (path, aside) = (store.directory.path, store.directory.path + "-aside")
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    _ = try moved(store)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    #expect(store.store.fileFailure() == nil)
    _ = try store.insert("Board", ["name": .string("after")])
    try store.reopen()
    #expect(try store.all("Board").count >= 2)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test(arguments: ["", "-wal", "-shm"]) func removedFileRefusesCommits(_ suffix: String) throws {
    let store = try store()
    let file = store.directory.path + "/graph.sqlite" + suffix
    try FileManager.default.removeItem(atPath: file)
    #expect(try moved(store).sentence == "\(file) was moved away or removed while stickiesd had it open")
  }

  @Test func replacedDatabaseRefusesCommits() throws {
    let (store, other) = (try store(), try store())
    try other.store.close()
    let path = store.directory.path + "/graph.sqlite"
    #expect(rename(other.directory.path + "/graph.sqlite", path) == 0)
    #expect(try moved(store).sentence == "\(path) was replaced while stickiesd had it open")
  }

  @Test(arguments: [true, false]) func missingLockRefusesCommits(isReplaced: Bool) throws {
    let store = try store()
    let path = store.directory.path + "/lock"
    try FileManager.default.removeItem(atPath: path)
    if isReplaced { try Data("1\n".utf8).write(to: URL(fileURLWithPath: path)) }
    let failure = try moved(store)
    #expect(failure.sentence.hasPrefix("\(path) was "))
    #expect(failure.advice.contains("second stickiesd"))
  }

  /// Acknowledged commits lie in a file without a name; a graceful end copies it.
  @Test func removedWALIsPreservedAtGracefulEnd() throws {
    let store = try store()
    try FileManager.default.removeItem(atPath: store.directory.path + "/graph.sqlite-wal")
    #expect(try moved(store).advice.contains("SIGTERM"))
    try store.reopen()
    #expect(try store.all("Board").count >= 1)
    _ = try store.insert("Board", ["name": .string("after")])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func foreignWALIsNeitherReadNorDeleted() throws {
    let store = try store()
    let log = store.directory.path + "/graph.sqlite-wal"
    try FileManager.default.removeItem(atPath: log)
    try Data("not the store's".utf8).write(to: URL(fileURLWithPath: log))
    _ = try moved(store)
    try store.reopen()
    #expect(FileManager.default.contents(atPath: log + ".orphan") == Data("not the store's".utf8))
    #expect(try store.all("Board").count >= 1)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// Opening a pipe without a writer would wait for one.
  @Test(.timeLimit(.minutes(1))) func pipeInPlaceOfWALDoesNotBlock() throws {
    let store = try store()
    let path = store.directory.path + "/graph.sqlite"
    try FileManager.default.removeItem(atPath: path + "-wal")
    #expect(mkfifo(path + "-wal", 0o600) == 0)
    #expect(try moved(store).sentence == "\(path)-wal was replaced while stickiesd had it open")
    #expect(throws: StoreFailure.self) { try WriteAheadLogFile.refuseLoss(beside: path) }
    try store.reopen()
    #expect(try store.all("Board").count >= 1)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// The directory is a link, and the link is turned to another store while this one is served.
  @Test func retargetedLinkExposesNoOtherStore() throws {
    let model = try Fixtures.stickies()
    let (folder, other) = (try TemporaryDirectory(), try store())
    for name in ["theirs", "theirs too"] { _ = try other.insert("Board", ["name": .string(name)]) }
    let (real, link) = (folder.path + "/real", folder.path + "/link")
    try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: false)
    #expect(symlink(real, link) == 0)
    let store = try SQLiteStore(directory: link, model: model)
    func commit(_ number: UInt64) throws {
      let change = try other.insertion("Board", ["name": .string("ours \(number)")])
      let id = TransactionID(replica: UniqueID(high: 5, low: 5), sequence: number)
      let results = try store.commit([.transaction(Transaction(id: id, changes: [change]), author: "ann")], now: 1)
      guard case .committed? = results.first?.outcome else { throw Refusal(.unavailable, "\(results)") }
    }
    for number in 1...3 { try commit(UInt64(number)) }
    #expect(unlink(link) == 0 && symlink(other.directory.path, link) == 0)
    // The connection that shows the past is opened now.
    var request = FetchRequest(entity: try other.entity("Board").number)
    request.at = 2
    let failure = #expect(throws: StoreFailure.self) { try store.answer(request) { _ in } }
    #expect(failure?.code == .moved)
    #expect(failure?.sentence == "the data directory \(link) leads to another directory than the one that was opened")
    #expect(#expect(throws: StoreFailure.self) { try commit(4) }?.code == .moved)
    #expect(try store.statistics().location == StoreFiles.real(real))
    // The names are restored.
    #expect(unlink(link) == 0 && symlink(real, link) == 0)
    var count = 0
    _ = try store.answer(request) { if case .object = $0 { count += 1 } }
    #expect(count == 2)
    try commit(5)
    try store.close()
    try other.store.close()
    #expect(try StoreCheck.run(directory: real, model: model).isEmpty)
    #expect(try StoreCheck.run(directory: other.directory.path, model: model).isEmpty)
  }

  /// A connection for the past is opened only now, and finds no file.
  @Test func missingDatabaseIsTheReasonWhyThePastCantBeRead() throws {
    let store = try store()
    _ = try store.insert("Board", ["name": .string("second")])
    var request = FetchRequest(entity: try store.entity("Board").number)
    request.at = 1
    try FileManager.default.removeItem(atPath: store.directory.path)
    let failure = #expect(throws: StoreFailure.self) { try store.store.answer(request) { _ in } }
    #expect(failure?.sentence == "the data directory \(store.directory.path) was moved away or removed")
  }

  @Test func lockReplacedDuringLockingIsLockedAgain() throws {
    let directory = try TemporaryDirectory()
    let lock = try StoreLock(directory: directory.path)
    try lock.verify()
    #expect(unlink(lock.path) == 0)
    #expect(failure { try lock.verify() }?.code == .moved)
    let second = try StoreLock(directory: directory.path)
    try second.verify()
    #expect(second.identity != lock.identity)
  }

  // MARK: - Backups

  private func backup(
    _ store: TestStore, to file: String, replaces: Bool = false, _ act: @escaping () throws -> Void
  ) -> StoreFailure? {
    failure {
      _ = try StoreBackup.run(
        directory: store.directory.path, model: store.model, file: file, replaces: replaces
      ) { progress in
        if case .checking = progress { try act() }
      }
    }
  }

  @Test func backupReplacesOnlyCheckedFile() throws {
    let (store, folder) = (try store(), try TemporaryDirectory())
    let file = folder.path + "/copy"
    try Data("old".utf8).write(to: URL(fileURLWithPath: file))
    let refused = backup(store, to: file, replaces: true) {
      // The new file exists before the old one is removed, because the next file could get the number of a removed one.
      try Data("of another program".utf8).write(to: URL(fileURLWithPath: folder.path + "/new"))
      #expect(rename(folder.path + "/new", file) == 0)
    }
    #expect(refused?.code == .moved)
    #expect(FileManager.default.contents(atPath: file) == Data("of another program".utf8))
    #expect(access(file + ".partial", F_OK) != 0)
  }

  @Test func backupInExchangedFolderFails() throws {
    let (store, folder) = (try store(), try TemporaryDirectory())
    let (place, aside) = (folder.path + "/place", folder.path + "/aside")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let refused = backup(store, to: place + "/copy") {
      try FileManager.default.moveItem(atPath: place, toPath: aside)
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    }
    #expect(refused?.code == .moved)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
  }

  @Test func backupWithoutLostWALIsRefused() throws {
    let (store, folder) = (try store(), try TemporaryDirectory())
    try FileManager.default.removeItem(atPath: store.directory.path + "/graph.sqlite-wal")
    let refused = backup(store, to: folder.path + "/copy") {}
    #expect(refused?.code == .moved)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
