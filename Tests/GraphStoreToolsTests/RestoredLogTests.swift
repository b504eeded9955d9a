import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// The commit log of a store that a restore sets aside. A store that was closed does not need it.
@Suite struct RestoredLogTests {
  private let stores: KilledStores

  init() throws { stores = try KilledStores() }

  /// A backup of revision 1 of a store, and the store, closed at revision 2.
  private func backupAndClosedStore() throws -> (backup: String, folder: TemporaryDirectory, store: TestStore) {
    let (store, folder) = (try stores.open(), try TemporaryDirectory())
    _ = try store.insert("Person", ["name": .string("a")])
    _ = try StoreBackup.run(directory: store.directory.path, model: stores.model, file: folder.path + "/backup")
    _ = try store.insert("Person", ["name": .string("b")])
    try store.store.close()
    return (folder.path + "/backup", folder, store)
  }

  private func segments(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".segment") }
  }

  @Test func logOfClosedStoreIsRemoved() throws {
    let (backup, folder, store) = try backupAndClosedStore()
    defer { withExtendedLifetime(folder) {} }
    let directory = store.directory
    #expect(try !segments(directory.path + "/log").isEmpty)
    let report = try StoreRestore.run(file: backup, directory: directory.path, model: stores.model, stamp: "S")
    #expect(report.head.revision == 1)
    #expect(try stores.names(in: directory) == ["graph.sqlite", "graph.sqlite.before-S", "lock"])
    // The previous store is complete without it.
    let previous = try #require(report.previous)
    let back = try StoreRestore.run(file: previous, directory: directory.path, model: stores.model, stamp: "T")
    #expect(back.head.revision == 2)
    #expect(try stores.names(stores.open(directory)) == ["a", "b"])
  }

  @Test func otherFilesInLogFolderStay() throws {
    let (backup, folder, store) = try backupAndClosedStore()
    defer { withExtendedLifetime(folder) {} }
    try Data("mine".utf8).write(to: URL(fileURLWithPath: store.directory.path + "/log/note.txt"))
    _ = try StoreRestore.run(file: backup, directory: store.directory.path, model: stores.model, stamp: "S")
    let log = store.directory.path + "/graph.sqlite.before-S-log"
    #expect(try FileManager.default.contentsOfDirectory(atPath: log) == ["note.txt"])
  }

  @Test func logOfUnreadableStoreIsKept() throws {
    let (backup, folder, store) = try backupAndClosedStore()
    defer { withExtendedLifetime(folder) {} }
    let path = store.directory.path + "/graph.sqlite"
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.write(contentsOf: Data(count: 4_096))
    try file.close()
    _ = try StoreRestore.run(file: backup, directory: store.directory.path, model: stores.model, stamp: "S")
    #expect(try !segments(path + ".before-S-log").isEmpty)
  }

  /// A restore that was interrupted while it removed the log removes the rest.
  @Test func interruptedRemovalIsCompleted() throws {
    let (backup, folder, store) = try backupAndClosedStore()
    defer { withExtendedLifetime(folder) {} }
    let (path, old) = (store.directory.path + "/graph.sqlite", store.directory.path + "/graph.sqlite.before-S")
    try FileManager.default.copyItem(atPath: backup, toPath: path + ".restoring-S")
    try FileManager.default.moveItem(atPath: store.directory.path + "/log", toPath: old + "-log")
    try FileManager.default.moveItem(atPath: path, toPath: old)
    let restored = try stores.open(store.directory)
    #expect(try stores.names(restored) == ["a"])
    #expect(!FileManager.default.fileExists(atPath: old + "-log"))
  }
}
