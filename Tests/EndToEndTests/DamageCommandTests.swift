import Foundation
import GraphModel
import GraphTesting
import StickiesKit
import Testing

/// Commands over a store in which bytes of the file have changed: they show everything else, and name the damage.
@Suite struct DamageCommandTests {
  /// Replaces a text in the store's file by one of the same length.
  private static func damage(_ text: String, in daemon: Daemon) throws {
    #expect(daemon.stop() == 0)
    let file = URL(fileURLWithPath: daemon.data + "/graph.sqlite")
    var bytes = try Data(contentsOf: file)
    let other = Data(text.utf8.map { $0 ^ 1 })
    var count = 0
    while let range = bytes.range(of: Data(text.utf8)) {
      bytes.replaceSubrange(range, with: other)
      count += 1
    }
    try #require(count > 0, "the file has no \(text)")
    try bytes.write(to: file)
    try daemon.start()
  }

  @Test func listAndSearchShowEverythingButDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "milk and eggs")
    let id = try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue)
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let message = "stickies: note \(id) is damaged and not shown: its row has changed outside a commit\n"
    for arguments in [
      ["list"], ["search", "milk"], ["list", "--sort", "-number"], ["list", "--where", "number > 0"],
    ] {
      let result = try Daemon.run(arguments, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 1)
      #expect(result.output.contains("milk and eggs") && !result.output.contains("zzzz"), "\(result.output)")
      #expect(result.errors.hasPrefix(message), "\(result.errors)")
      #expect(result.errors.contains("run stickiesd check"))
    }
    let json = try daemon.run("list", "--json")
    #expect(json.status == 1)
    #expect(try json.json().arrayValue?.count == 1)
    let error = try JSON(parsing: json.errors.trimmingCharacters(in: .newlines))["error"]
    #expect(error?["code"] == .string("unavailable"))
    #expect(error?["objects"]?.arrayValue?.first?["id"] == .string(id))
    let fetched = try daemon.run("graph", "fetch", "Note", "--json")
    #expect(fetched.status == 1)
    #expect(try fetched.json().arrayValue?.count == 1)

    // A result that does not need the note is complete.
    let other = try daemon.run("search", "eggs")
    #expect(other.status == 0 && other.errors.isEmpty, "\(other.errors)")
    #expect(try daemon.run("board", "list").status == 0)
    #expect(try daemon.run("graph", "fetch", "Note", "--count").output == "2\n")
    let shown = try daemon.run("show", "1")
    #expect(shown.status == 1 && shown.output.isEmpty)
    #expect(shown.errors.contains("\(id) is damaged"), "\(shown.errors)")
  }

  @Test func exportsHaveEverythingButDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "milk and eggs")
    let id = try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue)
    let file = daemon.home.path + "/graph.jsonl"
    #expect(try daemon.run("graph", "export", file).status == 0)
    let complete = try Data(contentsOf: URL(fileURLWithPath: file))
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let export = try daemon.run("export")
    #expect(export.status == 1)
    #expect(export.output.contains("milk and eggs") && !export.output.contains(id), "\(export.output)")
    #expect(export.errors.contains("note \(id) is damaged and not shown"), "\(export.errors)")

    // An export that lacks a note does not replace a complete one.
    let replaced = try daemon.run("graph", "export", file, "--replace")
    #expect(replaced.status == 1)
    #expect(replaced.errors.contains(id) && replaced.errors.contains("graph.jsonl.incomplete"), "\(replaced.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == complete)
    let rest = try String(contentsOfFile: file + ".incomplete", encoding: .utf8)
    #expect(rest.contains("milk and eggs") && !rest.contains(id))
    #expect(rest.contains("\"$end\""))
    let lines = try daemon.run("graph", "export")
    #expect(lines.status == 1)
    #expect(lines.output.contains("milk and eggs") && !lines.output.contains(id))
  }

  @Test func differencesAndCountOfPastNameDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "milk and eggs")
    let revision = try #require(try daemon.run("log", "--json").json()[0]?["revision"]?.text)
    let id = try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue)
    try daemon.run("move", "1", "5,5")
    try daemon.run("move", "2", "5,5")
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let diff = try daemon.run("diff", revision)
    #expect(diff.status == 1)
    #expect(diff.output.contains("milk and eggs") && !diff.output.contains("zzzz"), "\(diff.output)")
    #expect(diff.errors.contains(id), "\(diff.errors)")
    let count = try daemon.run("graph", "fetch", "Note", "--count", "--at", revision)
    #expect(count.status == 1)
    #expect(count.output == "1\n")
    #expect(count.errors.contains(id), "\(count.errors)")
  }

  @Test func followShowsEverythingButDamagedCommit() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "zzzzqqqqzzzz")
    try daemon.run("edit", "1", "--text", "bread")
    try daemon.run("add", "milk")
    let revisions = try #require(try daemon.run("log", "--json").json().arrayValue?.compactMap { $0["revision"]?.text })
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let follow = try daemon.run("graph", "follow", "--since", "0", "--until-now")
    #expect(follow.status == 1)
    for revision in [revisions[0]] + revisions.dropFirst(2) {
      #expect(follow.output.contains("\"revision\":\(revision),"), "\(follow.output)")
    }
    #expect(!follow.output.contains("\"revision\":\(revisions[1]),"), "\(follow.output)")
    #expect(follow.errors.contains("revision \(revisions[1]) is damaged"), "\(follow.errors)")
  }

  /// The file of a damaged note is neither removed nor overwritten, and no edit of it is sent.
  @Test func folderKeepsFileOfDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "eggs and bread")
    let id = try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue)
    let folder = daemon.home.path + "/notes"
    #expect(try daemon.run("export", "--board", "Notes", "--to", folder).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let file = folder + "/" + (try #require(names.first { $0.hasPrefix("milk-") }))
    let other = folder + "/" + (try #require(names.first { $0.hasPrefix("eggs-") }))
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let before = try String(contentsOfFile: file, encoding: .utf8)
    let edited = before.replacing("milk", with: "oat milk")
    try edited.write(toFile: file, atomically: false, encoding: .utf8)
    try String(contentsOfFile: other, encoding: .utf8).replacing("bread", with: "jam")
      .write(toFile: other, atomically: false, encoding: .utf8)
    let sync = try daemon.run("sync-folder", folder, "--delete", "--json")
    #expect(sync.status == 1)
    #expect(sync.errors.contains(id), "\(sync.errors)")
    let report = try sync.json()
    #expect(report["edited"]?.integerValue == 1 && report["deleted"]?.integerValue == 0)
    #expect(report["removed"]?.integerValue == 0)
    #expect(report["skipped"]?[0]?["reason"]?.stringValue?.contains("can't be read") == true, "\(sync.output)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == edited)
    #expect(try daemon.run("show", "2", "--json").json()["text"] == .string("eggs and jam"))
    // A deleted file is not taken for a deleted note.
    try FileManager.default.removeItem(atPath: file)
    let again = try daemon.run("sync-folder", folder, "--delete", "--json")
    #expect(try again.json()["deleted"]?.integerValue == 0)
    #expect(again.status == 1)
  }

  @Test func listOfPastShowsEverythingButDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "milk and eggs")
    let revision = try #require(try daemon.run("log", "--json").json()[0]?["revision"]?.text)
    let id = try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue)
    // Not the damaged note, whose own change might be a keyframe.
    try daemon.run("move", "2", "5,5")
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let list = try daemon.run("list", "--at", revision)
    #expect(list.status == 1)
    #expect(list.output.contains("milk and eggs") && !list.output.contains("zzzz"), "\(list.output)")
    #expect(list.errors.contains(id), "\(list.errors)")
    let shown = try daemon.run("show", "1", "--at", revision)
    #expect(shown.status == 1 && shown.output.isEmpty)
    #expect(shown.errors.contains("damaged"), "\(shown.errors)")
  }

  /// A note without a position is placed beside the others of its board.
  @Test func noteIsPlacedOnBoardWithDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "eggs", "--position", "0,0")
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let insert = try daemon.run("graph", "insert", "Note", "board=\(board)", "text=bread")
    #expect(insert.status == 0, "\(insert.errors)")
    let found = try daemon.run("graph", "fetch", "Note", "--where", "text == \"bread\"", "--json")
    let bread = try #require(try found.json().arrayValue?.first)
    let (x, y) = (try #require(bread["x"]?.doubleValue), try #require(bread["y"]?.doubleValue))
    #expect(abs(x) >= 200 || abs(y) >= 200, "\(x), \(y)")
  }

  @Test func watchShowsEverythingButDamagedNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk zzzzqqqqzzzz")
    try daemon.run("add", "milk and eggs")
    let id = try #require(try daemon.run("show", "1", "--json").json()["id"]?.stringValue)
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    for command in [["watch"], ["graph", "watch", "Note"]] {
      let watch = try BackgroundProcess(daemon, command + ["--json"])
      let snapshot = watch.read()
      #expect(snapshot.contains("milk and eggs") && !snapshot.contains("zzzz"), "\(snapshot)")
      // The query stays alive.
      try daemon.run("add", "bread")
      #expect(watch.read().contains("bread"))
      watch.kill()
      let errors = watch.end().errors
      #expect(errors.contains(id) && errors.contains("is damaged and not shown"), "\(errors)")
    }
    let wait = try daemon.run("wait", "--where", "number == 1", "--count", "0", "--timeout", "10s")
    #expect(wait.status == 1 && wait.errors.contains(id), "\(wait.errors)")
  }

  @Test func logShowsEverythingButDamagedCommit() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "zzzzqqqqzzzz")
    try daemon.run("edit", "1", "--text", "bread")
    try daemon.run("add", "milk")
    let revisions = try #require(try daemon.run("log", "--json").json().arrayValue?.compactMap { $0["revision"] })
    try Self.damage("zzzzqqqqzzzz", in: daemon)
    let log = try daemon.run("log", "--json")
    #expect(log.status == 1)
    #expect(try log.json().arrayValue?.compactMap { $0["revision"] } == [revisions[0]] + revisions.dropFirst(2))
    let error = try JSON(parsing: log.errors.trimmingCharacters(in: .newlines))["error"]
    #expect(error?["revisions"]?.arrayValue == [revisions[1]])
    let text = try daemon.run("log")
    #expect(text.status == 1)
    #expect(text.output.contains("milk"))
    #expect(
      text.errors.hasPrefix("stickies: revision \(revisions[1].text) is damaged and not shown: "), "\(text.errors)")
    let list = try daemon.run("list")
    #expect(list.status == 0 && list.output.contains("bread") && list.output.contains("milk"))
  }
}
