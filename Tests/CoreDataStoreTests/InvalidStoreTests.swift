import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// Files that are not stores, and damaged stores.
@Suite struct InvalidStoreTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryDirectory() }

  private func refusal(_ bytes: [UInt8]) throws -> Refusal {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try #require(throws: Refusal.self) { try CoreDataFile(path) }
  }

  @Test func missingFileIsNotFound() throws {
    let refusal = try #require(throws: Refusal.self) { try CoreDataFile(path) }
    #expect(refusal.code == .notFound)
    #expect(refusal.message == "\(path) can't be read (No such file or directory)")
  }

  @Test func folderAndPipeAreRefused() throws {
    let refusal = try #require(throws: Refusal.self) { try CoreDataFile(folder.path) }
    #expect(refusal.code == .invalid && refusal.message.contains("is not a regular file"))
    #expect(mkfifo(path, 0o600) == 0)
    let pipe = try #require(throws: Refusal.self) { try CoreDataFile(path) }
    #expect(pipe.message.contains("is not a regular file"))
  }

  @Test func fileThatIsNotSQLiteIsRefused() throws {
    #expect(try refusal([]).message == "\(path) is empty")
    #expect(try refusal(Array("hello".utf8)).message.contains("is not a SQLite database, or it is encrypted"))
    var random = SeededGenerator(seed: 1)
    let encrypted = (0..<4096).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    #expect(try refusal(encrypted).message.contains("is not a SQLite database, or it is encrypted"))
    #expect(try refusal(Array("SQLite format 3\0".utf8)).message.contains("is not a SQLite database"))
  }

  @Test func newerFileFormatIsRefused() throws {
    var bytes = try Fixtures.file("Schema/CoreDataStores/WorldFacts.sqlite")
    (bytes[18], bytes[19]) = (3, 3)
    #expect(try refusal(bytes).message.contains("has version 3 of SQLite's file format"))
  }

  @Test func otherDatabaseIsNoCoreDataStore() throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE a (b); INSERT INTO a VALUES (1)") }
    try queue.close()
    let refusal = try #require(throws: Refusal.self) { try CoreDataFile(path) }
    #expect(refusal.code == .invalid)
    #expect(refusal.message.contains("is a SQLite database, but not a Core Data store"))
  }

  /// An app that was never closed has everything in its `-wal`.
  @Test func storeWithoutItsLogIsRefusedWithAdvice() throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE a (b); DROP TABLE a") }
    try queue.close()
    let refusal = try #require(throws: Refusal.self) { try CoreDataFile(path) }
    let advice = "the newest data of an app are in \(path)-wal; copy that file with the store"
    #expect(refusal.message == "\(path) has no tables: \(advice)")
  }

  @Test(arguments: [
    ("DELETE FROM Z_METADATA", "Z_METADATA has no Z_UUID"), ("DROP TABLE Z_METADATA", "no such table: Z_METADATA"),
    ("DROP TABLE Z_PRIMARYKEY", "no such table: Z_PRIMARYKEY"), ("DELETE FROM Z_PRIMARYKEY", "has no entities"),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 77", "has no root of the entity"),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", "has no root of the entity"),
    ("ALTER TABLE Z_PRIMARYKEY DROP COLUMN Z_SUPER", "no such column: Z_SUPER"),
  ])
  func damagedBookkeepingIsRefused(sql: String, words: String) throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(sql)
    let refusal = try fixture.refusal()
    #expect(refusal.code == .invalid)
    #expect(refusal.message.contains(words), "\(refusal.message)")
  }

  @Test func damagedPagesAreRefused() throws {
    var bytes = try Fixtures.file("Schema/CoreDataStores/WorldFacts.sqlite")
    for place in 8_192..<12_288 { bytes[place] = 0xA5 }
    let refusal = try refusal(bytes)
    #expect(refusal.code == .invalid)
    #expect(refusal.message.contains("is damaged"), "\(refusal.message)")
    let half = Array(try Fixtures.file("Schema/CoreDataStores/WorldFacts.sqlite").prefix(40_000))
    #expect(try self.refusal(half).message.contains("is damaged"))
  }

  @Test func rowsThatCanNotBeTakenAreReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      """
      INSERT INTO ZIDMTAG VALUES (20, 9, 1, 'unknown entity'), (21, NULL, 1, 'none');
      UPDATE ZIDMNOTE SET ZIMAGEFILE = 'seven', ZCREATIONDATE = 'today' WHERE Z_PK = 2
      """)
    let store = try fixture.read()
    let reason = "Z_PRIMARYKEY does not list the entity of the row"
    #expect(store.unreadable == ["IDMTag 20": reason, "IDMTag 21": reason])
    #expect(
      try store.problems("IDMNote 2") == [
        "creationDate: the column has a text, and the attribute is a date",
        "imageFile: the column has a text, and a row's key is expected",
      ])
    #expect(try store.value("IDMNote 2", "uniqueIdentifier") == .string("n2"))
  }

  @Test func hugeValueCostsOnlyItself() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      "UPDATE ZIDMMEDIAFILE SET ZDATA = zeroblob(\(StoreDatabase.maximumValueSize + 1)) WHERE Z_PK = 1")
    let store = try fixture.read(untagged: ["IDMMediaFile.data"])
    #expect(store.unreadable.isEmpty && store.counts["IDMMediaFile"] == 2)
    let reason = RowSize.reason(String(StoreDatabase.maximumValueSize + 1))
    #expect(try store.problems("IDMMediaFile 1") == ["data: \(reason)"])
  }
}
