import Foundation
import GraphModel
import GraphTesting
import Testing

@Suite struct KeepTests {
  /// Notes of our own making in Keep's form.
  private static let samples: [String: String] = [
    "list.json": #"""
    {"color":"RED","isTrashed":false,"isPinned":true,"isArchived":true,"title":"Groceries",
     "listContent":[{"text":"Bread","isChecked":true},{"text":"Jam","isChecked":false}],
     "labels":[{"name":"home"}],"userEditedTimestampUsec":1600000001000000,"createdTimestampUsec":1600000000000000}
    """#,
    "plain.json":
      #"{"color":"DEFAULT","isTrashed":false,"textContent":"Only text","title":"","createdTimestampUsec":1600000000000001}"#,
    "trash.json": #"{"isTrashed":true,"textContent":"gone","createdTimestampUsec":1600000000000002}"#,
    "photo.json":
      #"{"isTrashed":false,"textContent":"With a photo","attachments":[{"filePath":"p.png"}],"createdTimestampUsec":1600000000000003}"#,
    "broken.json": "{\"title\":",
    "other.json": "{\"a\":1}",
  ]

  @Test func aTakeoutFolderIsTakenOnceHoweverOftenItIsImported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = daemon.home.path + "/keep"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in Self.samples { try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8) }
    let first = try daemon.run("import", folder, "--json")
    #expect(first.status == 0)
    let result = try first.json()
    #expect(result["imported"] == .integer(3))
    let skipped = Set(result["skipped"]?.arrayValue?.compactMap { $0["file"]?.stringValue } ?? [])
    #expect(skipped == ["trash.json", "photo.json", "broken.json", "other.json"])
    let again = try daemon.run("import", folder, "--json").json()
    #expect(again["imported"] == .integer(0))
    #expect(again["unchanged"] == .integer(3))
    let notes = try daemon.run("list", "--board", "Keep", "--json", "--sort", "created").json()
    let list = try #require(notes[0])
    #expect(list["text"] == .string("Groceries\n\n- [x] Bread\n- [ ] Jam"))
    #expect(list["color"] == .string("red"))
    #expect(list["pinned"] == .bool(true))
    #expect(list["origin"] == .string("keep:1600000000000000"))
    #expect(list["created"] == .string("2020-09-13T12:26:40.000000Z"))
    #expect(list["updated"] == .string("2020-09-13T12:26:41.000000Z"))
    #expect(list["tags"]?.arrayValue?.count == 2)
    #expect(try daemon.run("list", "--tag", "archived", "--json").json().arrayValue?.count == 1)
    let log = try daemon.run("log", "--json").json()
    #expect(log.arrayValue?.count == 1, "an import is one commit")
  }

  /// The real export, where it is at hand: beside the checkout, in a folder that is never part of it.
  private static let real = URL(fileURLWithPath: Fixtures.root).deletingLastPathComponent().appendingPathComponent(
    "shared/keep"
  ).path

  @Test(.enabled(if: FileManager.default.fileExists(atPath: KeepTests.real)))
  func aRealExportComesInWhole() throws {
    let daemon = try Daemon()
    try daemon.start()
    let result = try daemon.run("import", Self.real, "--json").json()
    #expect(result["imported"] == .integer(8))
    #expect(result["skipped"]?.arrayValue?.count == 3)
    let checklist = try daemon.run("search", "sub-item", "--json").json()
    #expect(checklist[0]?["text"]?.stringValue?.contains("- [ ] First item\n- [ ] Second item and #hashtag") == true)
    #expect(try daemon.run("import", Self.real, "--json").json()["unchanged"] == .integer(8))
  }
}
