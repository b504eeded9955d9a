import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// The store's own files never change, even while another program uses them.
@Suite struct StoreSnapshotTests {
  /// The names and contents of a folder's files.
  private func contents(_ folder: TemporaryDirectory) throws -> [String: Data] {
    var contents = [String: Data]()
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      contents[name] = FileManager.default.contents(atPath: folder.path + "/" + name)
    }
    return contents
  }

  @Test(arguments: ["Cars.sqlite", "Bookmarks1.sqlite", "Bookmarks4.sqlite", "WorldFacts.sqlite", "Notes.sqlite"])
  func readStoreIsUnchanged(name: String) throws {
    let fixture = try StoreFixture(name)
    let before = try contents(fixture.folder)
    #expect(try fixture.read().rows.count >= 9)
    #expect(try contents(fixture.folder) == before)
  }

  @Test func storeInReadOnlyFolderIsRead() throws {
    let fixture = try StoreFixture("Bookmarks4.sqlite")
    #expect(chmod(fixture.path, 0o400) == 0 && chmod(fixture.folder.path, 0o500) == 0)
    defer { chmod(fixture.folder.path, 0o700) }
    #expect(try fixture.read().counts == ["BookmarkEntity": 10])
  }

  @Test func storeIsReadThroughLink() throws {
    let fixture = try StoreFixture("Bookmarks1.sqlite")
    let link = fixture.folder.path + "/link.sqlite"
    #expect(symlink("Bookmarks1.sqlite", link) == 0)
    // The write-ahead log is beside the file that the link names.
    let file = try CoreDataFile(link)
    #expect(try SourceReader(file, StoreLayout(file, fixture.model)).keys().count == 10)
  }

  @Test func storeThatAnotherProgramHasOpenIsRead() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    let queue = try DatabaseQueue(path: fixture.path, configuration: configuration)
    try queue.write { try $0.execute(sql: "INSERT INTO ZIDMTAG VALUES (8, 3, 1, 'committed')") }
    try queue.inDatabase { database in
      try database.execute(sql: "BEGIN IMMEDIATE; INSERT INTO ZIDMTAG VALUES (9, 3, 1, 'not committed')")
      let store = try fixture.read()
      #expect(try store.value("IDMTag 8", "text") == .string("committed"))
      #expect(store.rows["IDMTag 9"] == nil)
      try database.execute(sql: "COMMIT")
    }
    #expect(try fixture.read().rows["IDMTag 9"] != nil)
  }

  /// A killed app leaves a journal that reverts its unfinished transaction.
  @Test func hotJournalIsRolledBackInTheCopy() throws {
    let fixture = try StoreFixture("WorldFacts.sqlite")
    let queue = try DatabaseQueue(path: fixture.path)
    try queue.inDatabase { database in
      try database.execute(
        sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE ZCOUNTRY SET ZNAME = 'lost'")
      try FileManager.default.copyItem(atPath: fixture.path, toPath: fixture.folder.path + "/killed")
      try FileManager.default.copyItem(
        atPath: fixture.path + "-journal", toPath: fixture.folder.path + "/killed-journal")
      try database.execute(sql: "ROLLBACK")
    }
    let file = try CoreDataFile(fixture.folder.path + "/killed")
    let reader = try SourceReader(file, StoreLayout(file, fixture.model))
    for key in try reader.keys() {
      let name = try #require(try reader.row(key).fields.first { $0.property.name == "name" })
      #expect(name.content != .value(.string("lost")))
    }
  }

  @Test func privateCopyIsRemoved() throws {
    let fixture = try StoreFixture("Cars.sqlite")
    let snapshot = try StoreSnapshot(of: fixture.path)
    #expect(FileManager.default.contents(atPath: snapshot.copy) == FileManager.default.contents(atPath: fixture.path))
    snapshot.remove()
    #expect(!FileManager.default.fileExists(atPath: snapshot.copy))
    #expect(
      !FileManager.default.fileExists(atPath: URL(fileURLWithPath: snapshot.copy).deletingLastPathComponent().path))
  }
}
