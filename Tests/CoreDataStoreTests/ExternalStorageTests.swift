import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// Values in files beside the store.
@Suite struct ExternalStorageTests {
  private static let file = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

  private func files(_ fixture: StoreFixture) -> String { fixture.folder.path + "/.Notes_SUPPORT/_EXTERNAL_DATA/" }

  @Test func fileNameIsReadWithAndWithoutNul() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute("UPDATE ZIDMMEDIAFILE SET ZDATA = substr(ZDATA, 1, 37) WHERE Z_PK = 2")
    guard case .data(let bytes)? = try fixture.read().value("IDMMediaFile 2", "data") else {
      Issue.record("the value is in a file")
      return
    }
    #expect(bytes.count == 150_000)
  }

  @Test func missingFileIsReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try FileManager.default.removeItem(atPath: files(fixture) + Self.file)
    let store = try fixture.read()
    #expect(try store.content("IDMMediaFile 2", "data") == nil)
    #expect(
      try store.problems("IDMMediaFile 2") == [
        "data: its external file \(Self.file) can't be read (No such file or directory)"
      ])
    #expect(try store.problems("IDMMediaFile 1") == [])
  }

  @Test func fileOfWrongKindOrSizeIsReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    let path = files(fixture) + Self.file
    try FileManager.default.removeItem(atPath: path)
    #expect(mkfifo(path, 0o600) == 0)
    #expect(try fixture.read().problems("IDMMediaFile 2").first?.contains("is not a regular file") == true)
    unlink(path)
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    #expect(truncate(path, ExternalStorage.maximumFileSize + 1) == 0)
    #expect(
      try fixture.read().problems("IDMMediaFile 2").first
        == "data: its 15728641 bytes in the external file \(Self.file) "
        + "do not fit into an object, which has at most 15728640 with all its values")
  }

  /// A name from the store can't lead out of the folder.
  @Test func nameThatIsNoUUIDIsNoReference() throws {
    #expect(ExternalStorage.fileName([2] + Array(Self.file.utf8)) == Self.file)
    #expect(ExternalStorage.fileName([2] + Array(Self.file.utf8) + [0]) == Self.file)
    #expect(ExternalStorage.fileName([2] + Array(Self.file.utf8) + [1]) == nil)
    #expect(ExternalStorage.fileName([1] + Array(Self.file.utf8)) == nil)
    #expect(ExternalStorage.fileName([2] + Array("../../../../../../../../../etc/passwd".utf8)) == nil)
    #expect(ExternalStorage.fileName([2]) == nil)
  }

  /// Each value is read by its own first byte.
  @Test func tagOfAKnownFormatIsRemovedBesideValuesWithoutATag() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      "DELETE FROM ZIDMMEDIAFILE WHERE Z_PK = 2; INSERT INTO ZIDMMEDIAFILE VALUES (3, 1, 1, 'x', x'FFD8FF00')")
    let store = try fixture.read()
    #expect(try data(store).count == 208)
    #expect(try store.value("IDMMediaFile 3", "data") == .data([0xFF, 0xD8, 0xFF, 0]))
    #expect(store.remarks.first?.contains("(in files: 0, in the store: 1, without a tag: 1)") == true)
  }

  /// An attribute without external storage may have values that begin with 1.
  @Test func byteThatMayBeDataStaysAndIsReported() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute(
      "DELETE FROM ZIDMMEDIAFILE; INSERT INTO ZIDMMEDIAFILE VALUES (1, 1, 1, 'x', x'01'), (2, 1, 1, 'y', x'010203')")
    var store = try fixture.read()
    #expect(try store.value("IDMMediaFile 1", "data") == .data([1]))
    #expect(try store.value("IDMMediaFile 2", "data") == .data([1, 2, 3]))
    #expect(
      store.remarks == [
        "IDMMediaFile.data: values begin with the byte 1, which is data or a tag of external storage, and the import "
          + "keeps this byte; if it is a tag, name the attribute with --tagged, otherwise with --untagged (2)"
      ])
    store = try fixture.read(tagged: ["IDMMediaFile.data"])
    #expect(try store.value("IDMMediaFile 1", "data") == .data([]))
    #expect(try store.value("IDMMediaFile 2", "data") == .data([2, 3]))
    #expect(store.remarks.isEmpty)
    let refusal = try #require(throws: Refusal.self) {
      try fixture.read(untagged: ["IDMMediaFile.data"], tagged: ["IDMMediaFile.data"])
    }
    #expect(refusal.code == .malformed)
  }

  @Test func valueFromBeforeExternalStorageHasNoTag() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    try fixture.execute("INSERT INTO ZIDMMEDIAFILE VALUES (3, 1, 1, 'x', x'0505')")
    let store = try fixture.read()
    #expect(try store.value("IDMMediaFile 3", "data") == .data([5, 5]))
    #expect(try data(store).count == 208)
  }

  @Test func untaggedAttributeKeepsItsBytes() throws {
    let fixture = try StoreFixture("Notes.sqlite")
    let store = try fixture.read(untagged: ["IDMMediaFile.data"])
    #expect(try data(store).count == 209)
    #expect(store.layout.remarks.isEmpty)
    let refusal = try #require(throws: Refusal.self) { try fixture.read(untagged: ["IDMNote.text"]) }
    #expect(refusal.code == .malformed)
  }

  private func data(_ store: ReadStore) throws -> [UInt8] {
    guard case .data(let bytes)? = try store.value("IDMMediaFile 1", "data") else { return [] }
    return bytes
  }
}
