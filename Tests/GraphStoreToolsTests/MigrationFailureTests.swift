import Foundation
import GraphModel
import GraphStore
import GraphStoreFaults
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// Interrupted migrations: the store has one version or the other, and the next attempt succeeds.
@Suite struct MigrationFailureTests {
  private struct InterruptedMigration: Error {}

  /// The contents of the store, with the names of its version.
  private func expectConsistent(_ directory: TemporaryDirectory, sourceLocation: SourceLocation = #_sourceLocation)
    throws
  {
    let (first, second) = (
      try ShopVersions.model(ShopVersions.first), try ShopVersions.model(ShopVersions.second)
    )
    if let store = try? ShopVersions.opened(first, directory) {
      #expect(try store.all("Item", "name == 'renamed'").count == 1, sourceLocation: sourceLocation)
      let findings = try StoreCheckRun(store).findings
      #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
      try store.store.close()
    }
    try ShopVersions.migrate(directory, to: [second])
    let store = try ShopVersions.opened(second, directory)
    #expect(try store.all("Article", "title == 'renamed' AND label == 'renamed-farm 1'").count == 1)
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
    try store.store.close()
  }

  private func steps() throws -> [String] {
    let store = try ShopVersions.filled()
    try store.store.close()
    let steps = Mutex<[String]>([])
    try ShopVersions.migrate(store.directory, to: [try ShopVersions.model(ShopVersions.second)]) { step, _ in
      steps.withLock { $0.append(step) }
    }
    return steps.withLock { $0 }
  }

  /// The power fails at the beginning of each step: unsynced writes are lost.
  @Test func powerCutAtAnyStepLeavesConsistentStore() throws {
    let steps = try steps()
    #expect(steps.count >= 9)
    for cut in steps {
      let directory = try TemporaryDirectory()
      CrashableFiles.watch(directory.path)
      defer { CrashableFiles.unwatch(directory.path) }
      try ShopVersions.filled(in: directory).store.close()
      let path = directory.path
      #expect(throws: (any Error).self, "\(cut)") {
        try ShopVersions.migrate(directory, to: [try ShopVersions.model(ShopVersions.second)]) { step, _ in
          guard step == cut else { return }
          CrashableFiles.crash(path)
          throw InterruptedMigration()
        }
      }
      CrashableFiles.recover(directory.path)
      try expectConsistent(directory)
    }
  }

  /// The disk is full after this number of writes: in the copy, in the tables, or at the end.
  @Test func fullDiskLeavesConsistentStore() throws {
    for operations in [0, 1, 3, 8, 20, 40, 60, 80, 100, 140] {
      let directory = try TemporaryDirectory()
      CrashableFiles.watch(directory.path)
      defer { CrashableFiles.unwatch(directory.path) }
      try ShopVersions.filled(in: directory).store.close()
      CrashableFiles.fail(directory.path, with: .fullAfter(operations: operations))
      do {
        try ShopVersions.migrate(directory, to: [try ShopVersions.model(ShopVersions.second)])
      } catch let failure as StoreFailure {
        #expect(failure.code == .full, "after \(operations): \(failure)")
        #expect(!failure.advice.isEmpty)
      }
      CrashableFiles.fail(directory.path, with: nil)
      try expectConsistent(directory)
    }
  }

  /// A damaged store is not migrated, because its copy would not be restorable.
  @Test func damagedStoreIsNotMigrated() throws {
    let store = try ShopVersions.filled()
    try store.store.close()
    let path = store.directory.path + "/graph.sqlite"
    var bytes = try #require(FileManager.default.contents(atPath: path))
    let place = try #require(bytes.range(of: Data("some words 3".utf8))).lowerBound
    bytes[place] = 0x53
    try bytes.write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: StoreFailure.self) {
      try ShopVersions.migrate(store.directory, to: [try ShopVersions.model(ShopVersions.second)])
    }
    #expect(failure?.code == .corrupt)
    // A rehearsal reports the same.
    var options = StoreMigration.Options()
    options.isRehearsal = true
    let rehearsal = StoreMigration(
      directory: store.directory.path, models: [try ShopVersions.model(ShopVersions.second)], now: 0,
      options: options)
    #expect(#expect(throws: StoreFailure.self) { try rehearsal.run() }?.code == .corrupt)
    #expect(FileManager.default.contents(atPath: path) == bytes)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
    #expect(!names.contains { $0.contains("backup") })
  }

  @Test func storeInUseIsNotMigrated() throws {
    let store = try ShopVersions.filled()
    let failure = #expect(throws: StoreFailure.self) {
      try ShopVersions.migrate(store.directory, to: [try ShopVersions.model(ShopVersions.second)])
    }
    #expect(failure?.code == .inUse)
    #expect(try store.all("Item").count == 4)
  }

  /// The check finds a changed byte, both in rows that the migration left alone and in those that it wrote.
  @Test(arguments: ["some words 3", "item 3-farm 3", "farm 0"])
  func unchangedObjectsRemainChecksummed(text: String) throws {
    let store = try ShopVersions.filled()
    try store.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(store.directory, to: [model])
    let path = store.directory.path + "/graph.sqlite"
    var bytes = try #require(FileManager.default.contents(atPath: path))
    // The byte may be anywhere, even in a page that is free now.
    var places = [Int]()
    while let range = bytes.range(of: Data(text.utf8)) {
      places.append(range.lowerBound)
      bytes[range.lowerBound] = 0x53
    }
    try #require(!places.isEmpty)
    try bytes.write(to: URL(fileURLWithPath: path))
    let findings = try StoreCheck.run(directory: store.directory.path, model: model)
    #expect(findings.contains { $0.kind == .checksum }, "\(findings)")
  }
}
