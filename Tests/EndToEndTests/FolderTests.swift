import Foundation
import GraphModel
import GraphTesting
import StickiesKit
import Testing

/// A board as a folder of files, edited by hand while others work on the same notes.
@Suite struct FolderTests {
  /// A daemon with the board `Notes`, and a folder that it is exported to.
  private struct SyncFixture {
    let daemon: Daemon
    let path: String

    init(_ notes: String...) throws {
      daemon = try Daemon()
      try daemon.start()
      path = daemon.home.path + "/notes"
      for note in notes { try daemon.run("add", note) }
    }

    @discardableResult
    func export() throws -> JSON { try report(daemon.run("export", "--board", "Notes", "--to", path, "--json")) }

    @discardableResult
    func sync(_ options: String...) throws -> JSON {
      try report(
        Daemon.run(
          ["sync-folder", path, "--json"] + options, server: daemon.socket.description, author: "ann@test", input: nil))
    }

    private func report(_ result: Daemon.Result) throws -> JSON {
      #expect(result.status == 0, "\(result.errors)")
      return try result.json()
    }

    /// The files that are notes.
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The one file whose name begins so.
    func name(_ beginning: String) throws -> String {
      try #require(try names().first { $0.hasPrefix(beginning) }, "no file begins with \(beginning)")
    }

    func read(_ name: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)), as: UTF8.self)
    }

    func write(_ name: String, _ text: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    /// Edits a file as an editor does.
    func edit(_ beginning: String, _ old: String, _ new: String) throws {
      let name = try name(beginning)
      let text = try read(name)
      #expect(text.contains(old), "\(name) does not say \(old)")
      try write(name, text.replacing(old, with: new))
    }

    func text(_ number: Int) throws -> String? {
      try daemon.run("show", "\(number)", "--json").json()["text"]?.stringValue
    }

    func revision() throws -> Int64? {
      try daemon.run("log", "--limit", "1", "--json").json()[0]?["revision"]?.integerValue
    }
  }

  private static func counts(_ report: JSON) -> [Int64?] {
    ["edited", "added", "deleted", "written", "removed"].map { report[$0]?.integerValue }
  }

  @Test func concurrentEditsInFileAndShellAreMerged() throws {
    let desk = try SyncFixture("milk\nbread\neggs")
    try desk.export()
    try desk.edit("milk-", "bread", "brown bread")
    try desk.edit("milk-", "eggs\n", "eggs\njam\n")
    try desk.daemon.run("edit", "1", "--text", "oat milk\nbread\neggs", author: "bob@test")
    #expect(try Self.counts(desk.sync()) == [1, 0, 0, 1, 0])
    let merged = "oat milk\nbrown bread\neggs\njam"
    #expect(try desk.text(1) == merged)
    #expect(try desk.read(desk.name("milk-")).hasSuffix("\n---\n\(merged)\n"))
    let revision = try desk.revision()
    #expect(try Self.counts(desk.sync()) == [0, 0, 0, 0, 0])
    #expect(try desk.revision() == revision, "a second run commits nothing")
    let log = try desk.daemon.run("log", "--limit", "1", "--json").json()
    #expect(log[0]?["author"] == .string("ann@test"))
  }

  @Test func folderOlderThanKeptHistoryLosesNothing() throws {
    let desk = try SyncFixture("milk\nbread\neggs", "one")
    try desk.export()
    try desk.daemon.run("edit", "1", "--text", "oat milk\nbread\neggs", author: "bob@test")
    try desk.edit("milk-", "bread", "brown bread")
    try desk.edit("one-", "color: yellow", "color: pink")
    for x in 1...3 { try desk.daemon.run("move", "2", "\(x),5", author: "bob@test") }
    #expect(desk.daemon.stop() == 0)
    let process = Process()
    process.executableURL = Daemon.binary("stickiesd")
    process.environment = ProcessInfo.processInfo.environment.merging([
      "XDG_CONFIG_HOME": desk.daemon.home.path, "STICKIESD_DATA": desk.daemon.data,
    ]) { $1 }
    process.arguments = ["compact", "--keep-commits", "1", "--minimum-retention", "0s"]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try desk.daemon.start()
    let report = try desk.sync()
    #expect(Self.counts(report) == [2, 0, 0, 2, 0])
    #expect(report["compared"]?.arrayValue?.count == 2)
    #expect(try desk.text(1) == "oat milk\nbrown bread\neggs")
    #expect(try desk.daemon.run("show", "2", "--json").json()["color"] == .string("pink"))
    let again = try desk.sync()
    #expect(Self.counts(again) == [0, 0, 0, 0, 0] && again["compared"]?.arrayValue?.isEmpty == true)
  }

  /// No note is moved over a deleted one; the edits of other clients are written anyway.
  @Test func restoredNoteIsMergedWithItsPresentState() throws {
    let desk = try SyncFixture("one", "two", "three")
    try desk.export()
    try desk.daemon.run("delete", "1", author: "bob@test")
    #expect(try desk.daemon.run("undo", author: "bob@test").status == 0)
    try desk.daemon.run("edit", "1", "--text", "one of bob", author: "bob@test")
    try desk.edit("one", "one", "my one")
    try desk.edit("two", "two", "my two")
    let report = try desk.sync()
    #expect(report["edited"] == .integer(2))
    #expect(report["compared"] == .array([.string(try desk.name("one"))]))
    #expect(try desk.text(1) == "my one of bob")
    #expect(try desk.text(2) == "my two")
    #expect(try desk.sync()["edited"] == .integer(0))
    #expect(desk.daemon.stop() == 0)
  }

  @Test func frontMatterBecomesFieldsAndTags() throws {
    let desk = try SyncFixture("one")
    try desk.daemon.run("tag", "1", "home", "phone")
    try desk.export()
    #expect(try desk.read(desk.name("one-")).contains("\ncolor: yellow\ntags: [home, phone]\nx: 0\ny: 0\nwidth: 200\n"))
    try desk.edit("one-", "tags: [home, phone]", "tags:\n  - home\n  - \"to do\"")
    try desk.edit("one-", "color: yellow", "color: pink")
    try desk.edit("one-", "pinned: false", "pinned: true")
    try desk.edit("one-", "x: 0", "x: -12.5")
    try desk.daemon.run("tag", "1", "work", author: "bob@test")
    try desk.daemon.run("resize", "1", "300x150", author: "bob@test")
    #expect(try Self.counts(desk.sync()) == [1, 0, 0, 1, 0])
    let note = try desk.daemon.run("show", "1", "--json").json()
    #expect(note["color"] == .string("pink"))
    #expect(note["pinned"] == .bool(true))
    #expect(try desk.daemon.run("list", "--tag", "to do", "--json").json().count == 1)
    #expect(try desk.daemon.run("list", "--tag", "phone", "--json").json().count == 0)
    let file = try desk.read(desk.name("one-"))
    #expect(file.contains("\ncolor: pink\ntags: [home, \"to do\", work]\nx: -12.5\ny: 0\nwidth: 300\nheight: 150\n"))
  }

  @Test func conflictingFieldStaysInFileUntilResolved() throws {
    let desk = try SyncFixture("one")
    try desk.export()
    try desk.edit("one-", "color: yellow", "color: pink")
    try desk.daemon.run("color", "1", "blue", author: "bob@test")
    let revision = try desk.revision()
    for _ in 0..<2 {
      let conflicts = try #require(try desk.sync()["conflicts"])
      #expect(conflicts.count == 1)
      #expect(conflicts[0]?["property"] == .string("color"))
      #expect(conflicts[0]?["mine"] == .string("pink"))
      #expect(conflicts[0]?["theirs"] == .string("blue"))
      #expect(try desk.read(desk.name("one-")).contains("\ncolor: pink\nserver-color: blue\n"))
    }
    #expect(try desk.revision() == revision)
    try desk.edit("one-", "server-color: blue\n", "")
    #expect(try Self.counts(desk.sync()) == [1, 0, 0, 1, 0])
    #expect(try desk.daemon.run("show", "1", "--json").json()["color"] == .string("pink"))
  }

  @Test func newFileCreatesOneNoteAndGetsItsID() throws {
    let desk = try SyncFixture("one")
    try desk.export()
    try desk.write("Shopping list.md", "---\ncolor: green\ntags: [home]\n---\nmilk\n")
    try desk.write("plain.md", "just text")
    #expect(try Self.counts(desk.sync()) == [0, 2, 0, 2, 0])
    let log = try desk.daemon.run("log", "--limit", "1", "--json").json()
    #expect(log[0]?["changes"]?.count == 3, "two notes and a tag in one commit")
    #expect(try desk.read("Shopping list.md").hasPrefix("---\nid: "))
    #expect(try desk.read("plain.md").hasSuffix("---\njust text\n"))
    #expect(try desk.daemon.run("list", "--tag", "home", "--json").json()[0]?["text"] == .string("milk"))
    #expect(try Self.counts(desk.sync()) == [0, 0, 0, 0, 0])
    #expect(try desk.daemon.run("list", "--json").json().count == 3)
    try desk.edit("plain", "just text", "just a text")
    try FileManager.default.moveItem(atPath: desk.path + "/plain.md", toPath: desk.path + "/renamed.md")
    #expect(try Self.counts(desk.sync()) == [1, 0, 0, 1, 0])
    #expect(try desk.daemon.run("list", "--json").json().count == 3)
    #expect(try desk.names().contains("renamed.md"))
  }

  @Test func missingFileDeletesItsNoteOnlyWithOption() throws {
    let desk = try SyncFixture("one", "two")
    try desk.export()
    for name in try desk.names() { try FileManager.default.removeItem(atPath: desk.path + "/" + name) }
    try desk.daemon.run("edit", "2", "--text", "two!", author: "bob@test")
    let missing = try desk.sync()
    #expect(missing["missing"]?.count == 2)
    #expect(Self.counts(missing) == [0, 0, 0, 0, 0])
    let deleted = try desk.sync("--delete")
    #expect(Self.counts(deleted) == [0, 0, 1, 0, 0])
    #expect(
      deleted["skipped"]?[0]?["reason"]
        == .string(
          "its note was changed since the file was written, and is not deleted; export writes the file again"))
    #expect(try desk.daemon.run("show", "1").status == 4)
    #expect(try desk.text(2) == "two!")
    try desk.export()
    #expect(try desk.names().count == 1)
  }

  @Test func boardChangesAreWrittenToFolder() throws {
    let desk = try SyncFixture("one", "two", "three")
    try desk.export()
    let before = try desk.names()
    try desk.edit("three-", "\n---\nthree", "\n---\nthree edited")
    try desk.daemon.run("edit", "1", "--text", "another beginning")
    try desk.daemon.run("delete", "2")
    try desk.daemon.run("delete", "3")
    try desk.daemon.run("add", "four")
    let untouched = try desk.read(desk.name("three-"))
    let again = try desk.export()
    #expect(Self.counts(again) == [0, 0, 0, 2, 1])
    let three = try desk.name("three-")
    #expect(again["unsent"] == .array([.string(three)]))
    #expect(try desk.read(three) == untouched)
    let one = try desk.name("one-")
    #expect(before.contains(one), "a file keeps its name when the text begins otherwise")
    #expect(try desk.read(one).hasSuffix("\nanother beginning\n"))
    let orphan = try desk.sync()
    #expect(orphan["conflicts"]?[0]?["file"] == .string(three))
    #expect(orphan["conflicts"]?[0]?["property"] == .null)
    #expect(try desk.read(three) == untouched)
  }

  @Test func onlyChangedFilesAreRewritten() throws {
    let desk = try SyncFixture("one", "two")
    try desk.export()
    func inode(_ beginning: String) throws -> UInt64 {
      var status = stat()
      #expect(stat(desk.path + "/" + (try desk.name(beginning)), &status) == 0)
      return UInt64(status.st_ino)
    }
    let (one, two) = (try inode("one-"), try inode("two-"))
    try desk.daemon.run("move", "2", "5,5")
    #expect(try Self.counts(desk.export()) == [0, 0, 0, 1, 0])
    #expect(try inode("one-") == one)
    #expect(try inode("two-") != two)
  }

  @Test func malformedFilesAreReportedAndOthersImported() throws {
    let desk = try SyncFixture("one", "two")
    try desk.export()
    try desk.edit("one-", "x: 0", "x: left")
    try desk.edit("two-", "\n---\ntwo", "\n---\ntwo!")
    let (one, two) = (try desk.name("one-"), try desk.name("two-"))
    try desk.write("copy.md", desk.read(two))
    try desk.write("open.md", "---\ncolor: red\n")
    try Data([0x61, 0x0A, 0xFF]).write(to: URL(fileURLWithPath: desk.path + "/bytes.md"))
    let outside = desk.daemon.home.path + "/outside"
    try Data("secret".utf8).write(to: URL(fileURLWithPath: outside))
    try FileManager.default.createSymbolicLink(atPath: desk.path + "/link.md", withDestinationPath: outside)
    #expect(mkfifo(desk.path + "/pipe.md", 0o600) == 0)
    let before = try desk.read(one)
    let report = try desk.sync()
    #expect(Self.counts(report) == [1, 0, 0, 1, 0])
    let reasons = (report["skipped"]?.arrayValue ?? []).map {
      "\($0["file"]?.stringValue ?? ""): \($0["reason"]?.stringValue ?? "")"
    }
    #expect(
      reasons.sorted() == [
        "bytes.md: line 2: this is not UTF-8",
        "copy.md: it has the same id as \(two); remove its id to make it a new note",
        "link.md: it is a symbolic link; links are not followed",
        "\(one): line 6: \"x\" is not a number",
        "open.md: line 1: the front matter is not closed: a second line --- is missing",
        "pipe.md: it is not a regular file",
      ])
    #expect(try desk.read(one) == before)
    #expect(try desk.text(2) == "two!")
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "secret")
  }

  @Test func folderOfOtherBoardIsRefused() throws {
    let desk = try SyncFixture("one")
    try FileManager.default.createDirectory(atPath: desk.path, withIntermediateDirectories: true)
    try desk.write("README.md", "mine")
    func refusal(_ arguments: String...) throws -> String {
      let result = try Daemon.run(arguments, server: desk.daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status != 0)
      return result.errors
    }
    #expect(try refusal("export", "--board", "Notes", "--to", desk.path).contains("files that export did not write"))
    #expect(try desk.names() == ["README.md"])
    #expect(try refusal("sync-folder", desk.path).contains("is not a folder of notes"))
    #expect(try refusal("sync-folder", desk.path + "/nowhere").contains("there is no folder"))
    #expect(try refusal("export", "--to", desk.path).contains("--board and --to go together"))
    #expect(try refusal("export", "--board", "None", "--to", desk.path + "2").contains("no board called"))
    #expect(!FileManager.default.fileExists(atPath: desk.path + "2"))
    try FileManager.default.removeItem(atPath: desk.path + "/README.md")
    try desk.export()
    try desk.daemon.run("board", "add", "Other")
    #expect(try refusal("export", "--board", "Other", "--to", desk.path).contains("the notes of another board"))
    let other = try SyncFixture("else")
    let elsewhere = try other.daemon.run("sync-folder", desk.path)
    #expect(elsewhere.status == 2)
    #expect(elsewhere.errors.contains("has the notes of another store"))
    try desk.write(".stickies.json", "{\"format\":1}")
    #expect(try refusal("sync-folder", desk.path).contains(".stickies.json can't be used: its fingerprint is missing"))
  }

  /// The newest commit's replica and revision.
  @MainActor
  private static func newestCommit(_ daemon: Daemon) async throws -> (replica: String, revision: Revision) {
    let client = try await Stickies.connect(to: daemon.socket, author: "reader@test")
    let commits = try await client.log(limit: 1)
    await client.close()
    let commit = try #require(commits.first)
    return (commit.transaction.replica.description, commit.revision)
  }

  @Test func runInterruptedAfterCommitSendsNothingTwice() async throws {
    let desk = try SyncFixture("ab")
    try desk.export()
    let before = try desk.read(".stickies.json")
    let file = try desk.name("ab-")
    try desk.edit("ab-", "\n---\nab", "\n---\nabc")
    try desk.write("new.md", "new")
    let edited = try desk.read(file)
    try desk.sync()
    // The folder as a run leaves it that is killed after its commit: the manifest has the changes that were about to be
    // sent.
    let commit = try await Self.newestCommit(desk.daemon)
    let list = try JSON(parsing: before)
    let entry = try #require(list["files"]?[0])
    let origin = try #require(try desk.daemon.run("show", "2", "--json").json()["origin"]?.stringValue)
    let sent: [JSON] = [
      .object([.init("file", .string(file)), .init("id", entry["id"] ?? .null), .init("text", .string("abc"))]),
      .object([.init("file", .string("new.md")), .init("origin", .string(origin)), .init("text", .string("new"))]),
    ]
    let sending = JSON.object([
      .init("replica", .string(commit.replica)), .init("after", .integer(commit.revision - 1)),
      .init("files", .array(sent)),
    ])
    try desk.write(".stickies.json", JSON.object((list.members ?? []) + [.init("sending", sending)]).text)
    try desk.write(file, edited.replacing("\n---\nabc", with: "\n---\nabcd"))
    try desk.write("new.md", "new")
    try desk.daemon.run("edit", "1", "--text", "Xabc", author: "bob@test")
    #expect(try Self.counts(desk.sync()) == [1, 0, 0, 2, 0])
    #expect(try desk.text(1) == "Xabcd")
    #expect(try desk.daemon.run("list", "--json").json().count == 2)
  }

  @Test func largeAndUnusualTextsRoundTrip() throws {
    let strange = "---\nid: x\n---\n\u{0}\u{1}\u{7F}\r\nends\rx"
    let desk = try SyncFixture("x", "y")
    #expect(try desk.daemon.run("edit", "1", "--text", "-", input: strange + "\n").status == 0)
    let large = String(repeating: "many lines, é\n", count: 200_000)
    #expect(try desk.daemon.run("edit", "2", "--text", "-", input: large + "\n").status == 0)
    try desk.export()
    #expect(try Self.counts(desk.sync()) == [0, 0, 0, 0, 0])
    #expect(try desk.text(1).map { Array($0.utf8) } == Array(strange.utf8))
    #expect(try desk.text(2) == large)
    try desk.edit("many-lines", "\n---\nmany", "\n---\nMANY")
    #expect(try Self.counts(desk.sync()) == [1, 0, 0, 1, 0])
    #expect(try desk.text(2) == "MANY" + large.dropFirst(4))
  }

  @Test func newFilesWithoutPositionArePlacedBesideNotes() throws {
    let desk = try SyncFixture("one")
    try desk.export()
    for name in ["a", "b"] { try desk.write("\(name).md", name) }
    try desk.write("c.md", "---\nx: -40\ny: 7\n---\nc")
    #expect(try desk.sync()["added"] == .integer(3))
    let notes = (try desk.daemon.run("list", "--json").json().arrayValue ?? [])
      .sorted { ($0["text"]?.stringValue ?? "") < ($1["text"]?.stringValue ?? "") }
    #expect(notes.map { $0["text"] } == [.string("a"), .string("b"), .string("c"), .string("one")])
    #expect(notes.map { $0["x"] } == [.integer(224), .integer(448), .integer(-40), .integer(0)])
    #expect(notes.map { $0["y"] } == [.integer(0), .integer(0), .integer(7), .integer(0)])
    #expect(try desk.read("a.md").contains("\nx: 224\ny: 0\n"))
  }
}
