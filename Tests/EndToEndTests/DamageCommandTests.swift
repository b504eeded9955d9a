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
    // Incomplete exports and folders would lose the note.
    #expect(try daemon.run("export").status == 1)
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
