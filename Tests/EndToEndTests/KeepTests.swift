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

  @Test func repeatedImportOfTakeoutFolderAddsNothing() throws {
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
    #expect(list["origin"] == .string("keep:1600000000000000:list.json"))
    #expect(list["created"] == .string("2020-09-13T12:26:40.000000Z"))
    #expect(list["updated"] == .string("2020-09-13T12:26:41.000000Z"))
    #expect(list["tags"]?.arrayValue?.count == 2)
    #expect(try daemon.run("list", "--tag", "archived", "--json").json().arrayValue?.count == 1)
    let log = try daemon.run("log", "--json").json()
    #expect(log.arrayValue?.count == 1, "an import is one commit")
  }

  private static func note(_ text: String, _ more: String = "") -> String {
    let time = 1_600_000_000_123_000
    return #"{"textContent":"\#(text)","userEditedTimestampUsec":\#(time),"createdTimestampUsec":\#(time)\#(more)}"#
  }

  private static func write(_ notes: [String: String], to folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in notes { try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8) }
  }

  @Test func notesOfSameMillisecondAreDistinct() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = daemon.home.path + "/keep"
    try Self.write(["1.json": Self.note("first of two"), "2.json": Self.note("second of two")], to: folder)
    #expect(try daemon.run("import", folder + "/1.json", "--json").json()["imported"] == .integer(1))
    // An edit here does not make the second file an edit of the first.
    try daemon.run("edit", "1", "--text", "first, edited")
    #expect(try daemon.run("import", folder + "/2.json", "--json").json()["imported"] == .integer(1))
    try Self.write(["3.json": Self.note("third"), "4.json": Self.note("fourth")], to: folder)
    let all = try daemon.run("import", folder, "--json").json()
    #expect(all["imported"] == .integer(2) && all["unchanged"] == .integer(2))
    #expect(try daemon.run("import", folder, "--json").json()["unchanged"] == .integer(4))
    let texts = try daemon.run("list", "--json").json().arrayValue?.compactMap { $0["text"]?.stringValue }
    #expect(texts?.sorted() == ["first, edited", "fourth", "second of two", "third"])
  }

  @Test func orderOfFoldersDoesNotMatter() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folders = ["a", "b", "c"].map { daemon.home.path + "/" + $0 }
    for folder in folders { try Self.write(["n.json": Self.note("text of \(folder.suffix(1))")], to: folder) }
    #expect(try daemon.run("import", folders[0], folders[1], "--json").json()["imported"] == .integer(2))
    let again = try daemon.run("import", folders[1], folders[0], "--json").json()
    #expect(again["imported"] == .integer(0) && again["unchanged"] == .integer(2), "\(again.text)")
    let more = try daemon.run("import", folders[2], folders[1], folders[0], folders[1], "--json").json()
    #expect(more["imported"] == .integer(1), "\(more.text)")
    let texts = try daemon.run("list", "--json").json().arrayValue?.compactMap { $0["text"]?.stringValue }
    #expect(texts?.sorted() == ["text of a", "text of b", "text of c"])
    #expect(daemon.stop() == 0)
  }

  @Test func noteOfEarlierReleaseIsUnchanged() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = daemon.home.path + "/keep"
    let lines = [
      #"{"entity":"Board","id":"b1","name":"Keep"}"#,
      #"{"entity":"Note","id":"n1","board":"b1","text":"first","created":"2020-09-13T12:26:40.123Z","#
        + #""updated":"2020-09-13T12:26:40.123Z","origin":"keep:1600000000123000"}"#,
    ]
    try lines.joined(separator: "\n").write(toFile: daemon.home.path + "/old.jsonl", atomically: true, encoding: .utf8)
    #expect(try daemon.run("import", daemon.home.path + "/old.jsonl", "--json").json()["imported"] == .integer(1))
    try Self.write(["first.json": Self.note("first"), "lost.json": Self.note("second")], to: folder)
    let result = try daemon.run("import", folder, "--json").json()
    #expect(
      result["imported"] == .integer(1) && result["unchanged"] == .integer(1), "the lost note comes, and no other")
    #expect(try daemon.run("import", folder, "--json").json()["unchanged"] == .integer(2))
  }

  @Test func invalidNoteRefusesOnlyItself() throws {
    let daemon = try Daemon()
    try daemon.start()
    let (long, folder) = (String(repeating: "l", count: 201), daemon.home.path + "/keep")
    try Self.write(
      [
        "a.json": Self.note("labelled", #","labels":[{"name":"home"},{"name":"\#(long)"}]"#),
        "b.json": Self.note(String(repeating: "t", count: 4 << 20) + "x"), "c.json": Self.note("good"),
      ], to: folder)
    let result = try daemon.run("import", folder, "--json").json()
    #expect(result["imported"] == .integer(2))
    let skipped = (result["skipped"]?.arrayValue ?? []).map {
      "\($0["file"]?.stringValue ?? ""): \($0["reason"]?.stringValue ?? "")"
    }
    #expect(
      skipped == [
        "a.json: the note was imported without its tag \"\(long.prefix(60))…\": it has 201 bytes; the maximum is 200",
        "b.json: its text has 4194305 bytes; the maximum is 4194304",
      ])
    #expect(try daemon.run("list", "--tag", "home", "--json").json().count == 1)
  }

  /// The real export, where it is at hand: beside the checkout, in a folder that is never part of it.
  private static let real = URL(fileURLWithPath: Fixtures.root).deletingLastPathComponent().appendingPathComponent(
    "shared/keep"
  ).path

  @Test(.enabled(if: FileManager.default.fileExists(atPath: KeepTests.real)))
  func realExportIsImportedCompletely() throws {
    let daemon = try Daemon()
    try daemon.start()
    let result = try daemon.run("import", Self.real, "--json").json()
    #expect(result["imported"] == .integer(8))
    #expect(result["skipped"]?.arrayValue?.count == 3)
    let checklist = try daemon.run("search", "sub-item", "--json").json()
    #expect(checklist[0]?["text"]?.stringValue?.contains("- [ ] First item\n- [ ] Second item and #hashtag") == true)
    #expect(try daemon.run("import", Self.real, "--json").json()["unchanged"] == .integer(8))
  }

  @Test func skippedFilesCannotControlTheTerminal() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = daemon.home.path + "/keep"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let attachments = #"[{"filePath":"\u001b[2J\nskipped all"}]"#
    let note =
      #"{"isTrashed":false,"textContent":"t","attachments":\#(attachments),"createdTimestampUsec":1600000000000000}"#
    try note.write(toFile: folder + "/a\u{1B}[1m.json", atomically: true, encoding: .utf8)
    let lines = try daemon.run("import", folder).lines
    #expect(lines.count == 2 && lines.allSatisfy { !$0.contains("\u{1B}") }, "\(lines)")
    #expect(lines.first?.contains("a\u{FFFD}[1m.json") == true && lines.first?.contains("[2J") == true, "\(lines)")
    #expect(daemon.stop() == 0)
  }
}
