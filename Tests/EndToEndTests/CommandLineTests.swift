import Foundation
import GraphModel
import GraphTesting
import Testing

@Suite struct CommandLineTests {
  @Test func noteIsAddedMovedTaggedFoundDeletedAndRestored() throws {
    let daemon = try Daemon()
    try daemon.start()
    let note = try daemon.run("add", "Hello world", "--tag", "a", "--position", "-10,20", "--json").json()
    #expect(note["number"] == .integer(1))
    #expect(note["x"] == .integer(-10))
    let id = try #require(note["id"]?.stringValue)
    #expect(try daemon.run("board", "list", "--json").json().arrayValue?.count == 1)
    #expect(try daemon.run("move", "1", "-5,-7.5", "--json").json()["y"] == .double(-7.5))
    #expect(try daemon.run("resize", String(id.prefix(8)), "300x150", "--json").json()["width"] == .integer(300))
    #expect(try daemon.run("color", "1", "pink", "--json").json()["color"] == .string("pink"))
    #expect(try daemon.run("tag", "1", "a", "b", "--json").json()["tags"]?.arrayValue?.count == 2)
    #expect(try daemon.run("untag", "1", "a", "--json").json()["tags"]?.arrayValue?.count == 1)
    #expect(try daemon.run("edit", "1", "--text", "-", input: "From stdin\n").output.contains("From stdin"))
    #expect(try daemon.run("edit", "1").output.contains("From an-editor"))
    #expect(try daemon.run("edit", "1", "--text", "From stdin").status == 0)
    #expect(try daemon.run("search", "std", "--json").json().arrayValue?.count == 1)
    #expect(try daemon.run("search", "hello", "--json").json().arrayValue?.isEmpty == true)
    try daemon.run("add", "Second", "--board", "Notes")
    #expect(try daemon.run("raise", "1", "--json").json()["z"] == .integer(2))
    #expect(try daemon.run("lower", "1", "--json").json()["z"] == .integer(0))
    let link = try daemon.run("link", "1", "2", "--label", "see", "--json").json()
    #expect(link["entity"] == .string("Link"))
    #expect(try daemon.run("unlink", "1", "2", "--json").json()["changes"]?[0]?["deleted"] == .bool(true))
    let deleted = try daemon.run("delete", "1", "--json").json()
    #expect(deleted["changes"]?[0]?["kind"] == .string("removed"))
    #expect(try daemon.run("show", "1").status == 4)
    #expect(try daemon.run("undo", "--json").json()["changes"]?[0]?["kind"] == .string("inserted"))
    #expect(try daemon.run("show", id, "--json").json()["text"] == .string("From stdin"))
    let log = try daemon.run("log", "--limit", "2", "--json").json()
    #expect(log.arrayValue?.count == 2)
    #expect(log[0]?["author"] == .string("ann@test"))
    #expect(daemon.stop() == 0)
  }

  @Test func exitCodesMatchOutcomes() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    #expect(try daemon.run("board", "add", "B").status == 2)
    #expect(try daemon.run("add", "x", "--board", "nowhere").status == 4)
    #expect(try daemon.run("show", "77").status == 4)
    #expect(try daemon.run("show", "!!").status == 64)
    #expect(try daemon.run("list", "--where", "colr == \"red\"").status == 64)
    #expect(try daemon.run("list", "--sort", "-pinned,number").status == 0)
    #expect(try daemon.run("add").status == 64)
    #expect(try daemon.run("undo", author: "nobody@test").status == 4)
    try daemon.run("add", "x", "--board", "B")
    let refused = try daemon.run("board", "delete", "B", "--json")
    #expect(refused.status == 2)
    #expect(refused.output.isEmpty)
    let error = try JSON(parsing: refused.errors.trimmingCharacters(in: .newlines))
    #expect(error["error"]?["code"] == .string("denied"))
    #expect(error["error"]?["message"]?.stringValue?.contains("1 note") == true)
    #expect(try daemon.run("board", "delete", "B", "--yes").status == 0)
    let usage = try daemon.run("move", "1", "--json")
    #expect(usage.status == 64)
    #expect(usage.errors == #"{"error":{"code":"usage","message":"missing expected argument '<X,Y>'"}}"# + "\n")
    let reported = try daemon.run("move", "1").errors
    #expect(reported.hasPrefix("stickies: missing expected argument '<X,Y>'"))
    #expect(reported.contains("Usage: stickies move"))
    // Errors at run time have the command's name, too.
    let screenless = try daemon.run("open").errors
    #expect(screenless.hasPrefix("stickies: open draws a screen"))
    #expect(screenless.contains("\nUsage: stickies open [") && screenless.contains("See 'stickies open --help'"))
    for arguments in [["list"], ["log"]] {
      let limit = try Daemon.run(
        arguments + ["--limit", "-1"], server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(limit.status == 64)
      #expect(limit.errors.hasPrefix("stickies: --limit must be "))
    }
    let word = try daemon.run("show", "--", "-5")
    #expect(word.status == 64)
    #expect(
      word.errors
        == "stickies: \"-5\" is neither a number nor the beginning of an id; stickies search finds notes by their words\n"
    )
  }

  @Test(arguments: ["stickies", "stickiesd"])
  func argumentWithInvalidUTF8IsRefused(program: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "exec \"$0\" add \"$(printf 'caf\\351')\"", Daemon.binary(program).path]
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = Pipe()
    try process.run()
    let text = String(decoding: try #require(try errors.fileHandleForReading.readToEnd()), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 64)
    #expect(text.contains("argument 2, \"caf\u{FFFD}\", is not UTF-8"), "\(text)")
  }

  @Test func mistypedCommandSuggestsNearestOne() throws {
    let daemon = try Daemon()
    let result = try daemon.run("lst")
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(result.errors == "stickies: there is no command \"lst\". Did you mean \"list\"?\n")
    #expect(try daemon.run("serach", "milk").errors.contains("Did you mean \"search\"?"))
    #expect(try daemon.run("board", "rnm", "a", "b").status == 64)
    #expect(try daemon.run("board", "renaem", "a", "b").errors.contains("Did you mean \"board rename\"?"))
    let far = try daemon.run("frobnicate", "--json")
    #expect(far.status == 64)
    #expect(
      far.errors
        == #"{"error":{"code":"usage","message":"there is no command \"frobnicate\"; see stickies help"}}"# + "\n")
    #expect(try daemon.run("help", "board").status == 0)
    let helped = try daemon.run("help", "wiat")
    #expect(helped.status == 64 && helped.errors.contains("Did you mean \"wait\"?"))
    #expect(try daemon.run("help", "board", "renaem").errors.contains("Did you mean \"board rename\"?"))
    #expect(try daemon.run("help").status == 0)
    #expect(try daemon.run("--version").status == 0)
  }

  @Test func negativeSizeIsRefusedAsSize() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    let negative = try daemon.run("resize", "1", "-5x5")
    #expect(negative.status == 2)
    #expect(negative.errors == "stickies: Note.width is less than 1\n")
    #expect(try daemon.run("resize", "1", "5x-5").errors == "stickies: Note.height is less than 1\n")
    #expect(try daemon.run("resize", "1", "5", "--json").status == 64)
    // In other commands such a word is an ordinary argument; the message does not mention coordinates.
    #expect(try daemon.run("tag", "1", "--", "-5,5").status == 0)
    #expect(try daemon.run("list", "--tag=-5,5", "--json").json().arrayValue?.count == 1)
  }

  @Test func singularIsUsedForOneObject() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "B")
    try daemon.run("add", "x", "--board", "B")
    try daemon.run("move", "1", "1,1")
    #expect(try daemon.run("undo").output == "undone revision 3: 1 change taken back\n")
    #expect(try daemon.run("board", "delete", "B", "--yes").output == "deleted board B with 1 note\n")
    try daemon.run("board", "add", "C")
    #expect(try daemon.run("board", "delete", "C").output == "deleted board C\n")
  }

  @Test func undoReportsTheUndoneCommit() throws {
    let daemon = try Daemon()
    try daemon.start()
    let added = try daemon.run("add", "x", "--json").json()
    let undo = try daemon.run("undo", "--json").json()
    #expect(undo["undoes"] == added["revision"])
    let log = try daemon.run("log", "--json").json()
    #expect(log[0] == undo)
    #expect(log[1]?["revision"] == added["revision"])
    #expect(log[1]?["undoes"] == nil)
  }

  @Test func invalidSortKeyIsReportedAsSort() throws {
    let daemon = try Daemon()
    try daemon.start()
    let result = try daemon.run("list", "--sort", "number,colr")
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("stickies: --sort can't be read at column 8: Note has no property \"colr\""))
    #expect(result.errors.hasSuffix("\nnumber,colr\n       ^\n"))
  }

  @Test func missingDaemonIsReportedWithHowToStartOne() throws {
    let daemon = try Daemon()
    // Where no daemon of the user that runs the tests is.
    let result = try daemon.run("list", environment: ["XDG_DATA_HOME": daemon.home.path])
    #expect(result.status == 69)
    #expect(
      result.errors
        == "stickies: no stickiesd answers at \(daemon.socket); start one with: stickiesd --listen \(daemon.socket)\n")
    // Mistakes of the command line are reported first.
    let unknown = try daemon.run("open", "--interface", "lst")
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("no interface is called 'lst'; the interfaces are board, list"))
  }

  @Test func predicateErrorReportsItsColumn() throws {
    let daemon = try Daemon()
    try daemon.start()
    let result = try daemon.run("list", "--where", "colr == \"red\"")
    #expect(result.errors.contains("column 1"))
    #expect(result.errors.contains("\n^"))
  }

  @Test func ambiguousPrefixListsTheCandidates() throws {
    let daemon = try Daemon()
    try daemon.start()
    var ids = [String]()
    for _ in 0..<20 { ids.append(try #require(try daemon.run("add", "n", "--json").json()["id"]?.stringValue)) }
    let letters = Dictionary(grouping: ids) { $0.prefix(1) }
    let shared = try #require(letters.first { $0.value.count > 1 })
    let result = try daemon.run("show", String(shared.key))
    #expect(result.status == 2)
    for id in shared.value { #expect(result.errors.contains(id)) }
  }

  @Test func watchReportsEveryCommitOnce() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "before")
    let everything = try Watcher(daemon)
    let pink = try Watcher(daemon, "--where", "color == \"pink\"")
    #expect(try everything.next()["snapshot"]?.arrayValue?.count == 2)
    #expect(try pink.next()["snapshot"]?.arrayValue?.isEmpty == true)
    try daemon.run("add", "second")
    try daemon.run("color", "2", "pink")
    try daemon.run("move", "2", "1,1")
    try daemon.run("color", "2", "blue")
    try daemon.run("delete", "2")
    var kinds = [String]()
    for _ in 0..<5 { kinds.append(try everything.next()["changes"]?[0]?["kind"]?.stringValue ?? "") }
    #expect(kinds == ["inserted", "updated", "updated", "updated", "removed"])
    var seen = [JSON]()
    for _ in 0..<3 { seen.append(try pink.next()) }
    #expect(seen.map { $0["changes"]?[0]?["kind"] } == [.string("inserted"), .string("updated"), .string("removed")])
    #expect(seen[2]["changes"]?[0]?["deleted"] == nil)
    let since = try Watcher(daemon, "--since", "2")
    #expect(try since.next() == JSON(parsing: #"{"revision":2,"since":2}"#))
    #expect(try since.next()["revision"] == .integer(3))
  }

  @Test func watchSurvivesDaemonRestartWithoutLoss() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let watcher = try Watcher(daemon)
    _ = try watcher.next()
    daemon.kill()
    try daemon.start()
    try daemon.run("add", "two")
    let commit = try watcher.next()
    #expect(commit["changes"]?[0]?["object"]?["text"] == .string("two"))
    daemon.kill()
    try daemon.start()
    try daemon.run("add", "three")
    #expect(try watcher.next()["changes"]?[0]?["object"]?["text"] == .string("three"))
  }

  @Test func sessionsEndWithTheirClients() throws {
    let daemon = try Daemon()
    try daemon.start()
    let watchers = try (0..<3).map { _ in try Watcher(daemon) }
    for watcher in watchers { _ = try watcher.next() }
    let status = try daemon.run("status", "--json").json()
    #expect(status["sessions"] == .integer(3))
    #expect(status["registrations"] == .integer(12))
    for watcher in watchers { watcher.kill() }
    var last = JSON.null
    for _ in 0..<100 {
      last = try daemon.run("status", "--json").json()
      if last["sessions"] == .integer(0) { break }
    }
    #expect(last["sessions"] == .integer(0))
    #expect(last["registrations"] == .integer(0))
  }

  @Test func exportAndImportPreserveTheGraph() throws {
    let (one, two) = (try Daemon(), try Daemon())
    try one.start()
    try two.start()
    try one.run("add", "first\nline", "--tag", "t", "--color", "teal", "--position", "3,4")
    try one.run("add", "second 🎈")
    try one.run("link", "1", "2", "--label", "l")
    let exported = try one.run("export").output
    #expect(exported.split(separator: "\n").count == 5)
    let file = one.home.path + "/graph.jsonl"
    try exported.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try two.run("import", file, "--json").json()["imported"] == .integer(2))
    #expect(try two.run("import", file, "--json").json()["unchanged"] == .integer(2))
    #expect(try one.run("import", file, "--json").json()["unchanged"] == .integer(2))
    let note = try two.run("show", "1", "--json").json()
    #expect(note["text"] == .string("first\nline"))
    #expect(note["x"] == .integer(3))
    #expect(try two.run("export").output.split(separator: "\n").count == 5)
    try (exported + "{broken").write(toFile: file, atomically: true, encoding: .utf8)
    let broken = try two.run("import", file, "--json")
    #expect(broken.status == 0)
    #expect(try broken.json()["skipped"]?[0]?["reason"]?.stringValue?.contains("line 6") == true)
  }
}
