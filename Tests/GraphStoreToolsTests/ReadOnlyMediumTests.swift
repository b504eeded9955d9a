import Foundation
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// A store on a read-only file system, as in a snapshot or on a disc.
@Suite struct ReadOnlyMediumTests {
  private func store() throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("kept")])
    return store
  }

  /// The name contains characters that a URI must escape.
  private func folder(on disk: MountedDisk) throws -> String {
    let path = disk.path + "/a store? 100% # of mine"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    return path
  }

  @Test func cleanlyClosedStoreIsCheckedAndBackedUp() throws {
    guard let disk = try MountedDisk(mebibytes: 16) else { return }
    let (store, path) = (try store(), try folder(on: disk))
    try store.store.close()
    try FileManager.default.copyItem(
      atPath: store.directory.path + "/graph.sqlite", toPath: path + "/graph.sqlite")
    guard disk.remountForReadingOnly() else { return }
    #expect(ReadOnlyMedium.holds(path + "/graph.sqlite"))
    #expect(try StoreCheck.run(directory: path, model: store.model).isEmpty)
    let target = try TemporaryDirectory()
    let report = try StoreBackup.run(directory: path, model: store.model, file: target.path + "/graph.sqlite")
    #expect(report.head.revision == 1)
    #expect(try TestStore(store.model, directory: target).all("Board").count == 1)
    // The store can't be served; the advice of the message works.
    let refused = failure { _ = try SQLiteStore(directory: path, model: store.model) }
    #expect(refused?.code == .readOnly)
    #expect(refused?.advice.contains("Mount the file system for writing") == true)
  }

  /// Without the refusal, its newest commits would be missing silently.
  @Test func storeWithWALIsRefusedWithAdvice() throws {
    guard let disk = try MountedDisk(mebibytes: 16) else { return }
    let (store, path) = (try store(), try folder(on: disk))
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: store.directory.path + "/" + name, toPath: path + "/" + name)
    }
    guard disk.remountForReadingOnly() else { return }
    let target = try TemporaryDirectory()
    for refused in [
      failure { _ = try StoreCheck.run(directory: path, model: store.model) },
      failure { _ = try StoreBackup.run(directory: path, model: store.model, file: target.path + "/copy") },
    ] {
      #expect(refused?.code == .readOnly)
      #expect(refused?.advice.contains("Copy all files") == true)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: path + "/" + name, toPath: target.path + "/" + name)
    }
    #expect(try StoreCheck.run(directory: target.path, model: store.model).isEmpty)
  }
}
