import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies` without its daemon: the commands work on a copy, and each edit is sent later or becomes a conflict.
@Suite struct OfflineCommandTests {
  private let daemon: Daemon

  init() throws { daemon = try Daemon() }

  /// Runs a command on the computer that has the copy.
  @discardableResult
  private func here(_ arguments: String...) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.socket.description, author: "ann@train", input: nil,
      environment: ["XDG_DATA_HOME": daemon.home.path + "/here"])
  }

  /// Runs a command on another computer, without a copy.
  @discardableResult
  private func elsewhere(_ arguments: String...) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.socket.description, author: "bob@desk", input: nil,
      environment: ["XDG_DATA_HOME": daemon.home.path + "/elsewhere"])
  }

  @Test func editsOfATrainRideArrive() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    let on = try here("sync", "on")
    #expect(on.status == 0 && on.output.contains("sync is on"), "\(on.errors)")
    daemon.kill()
    let added = try here("add", "call Ann")
    #expect(added.status == 0 && added.output == "+1 call Ann\n", "\(added.output) \(added.errors)")
    #expect(added.errors.contains("no daemon answers") && added.errors.contains("not sent yet"))
    let json = try here("add", "third", "--json")
    #expect(try json.json()["unsent"] == .bool(true) && json.json()["number"] == .string("+2"), "\(json.output)")
    let list = try here("list")
    for text in ["buy milk", "call Ann", "third", "+1", "+2"] { #expect(list.output.contains(text), "\(list.output)") }
    #expect(try here("edit", "+1", "--text", "call Ann tomorrow").status == 0)
    let found = try here("search", "tomorrow")
    #expect(found.status == 0 && found.output.contains("call Ann tomorrow"), "\(found.errors)")
    #expect(try here("show", "1").output.contains("buy milk"))
    let undone = try here("undo")
    #expect(undone.status == 0 && !undone.errors.contains("not sent yet:"), "\(undone.errors)")
    #expect(try here("show", "+1").output.contains("call Ann\n"))
    let log = try here("log")
    #expect(log.status != 0 && log.errors.contains("needs the server"), "\(log.errors)")
    let state = try here("sync", "--json").json()
    #expect(state["unsent"] == .integer(2) && state["parked"] == .integer(0), "\(state.text)")
    try daemon.start()
    let now = try here("sync", "now")
    #expect(now.status == 0 && now.output.contains("2 edits sent"), "\(now.output) \(now.errors)")
    let arrived = try elsewhere("list").output
    for text in ["buy milk", "call Ann", "third"] { #expect(arrived.contains(text), "\(arrived)") }
    // The name of the ride still finds the note.
    #expect(try here("show", "+1").output.contains("call Ann"))
    #expect(daemon.stop() == 0)
  }

  @Test func editOfADeletedNoteWaitsInTheListOfConflicts() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    #expect(try here("sync", "on").status == 0)
    daemon.kill()
    #expect(try here("edit", "1", "--text", "buy bread").status == 0)
    #expect(try here("add", "later").status == 0)
    try daemon.start()
    #expect(try elsewhere("delete", "1").status == 0)
    // An unrelated command sends the edits first.
    let list = try here("list")
    #expect(list.output.contains("later") && !list.output.contains("buy bread"), "\(list.output)")
    #expect(list.errors.contains("stickies sync conflicts"), "\(list.errors)")
    let conflicts = try #require(try here("sync", "conflicts", "--json").json().arrayValue)
    #expect(conflicts.count == 1 && conflicts[0]["state"] == .string("parked"))
    let number = try #require(conflicts[0]["number"]?.integerValue)
    let listed = try here("sync", "conflicts").output
    #expect(listed.contains("\(number)  ann@train") && listed.contains(" theirs deleted (bob@desk"), "\(listed)")
    #expect(listed.contains("Note.text mine   \"buy bread\"") && listed.contains("    of Note "), "\(listed)")
    // Without the daemon the edit is queued again.
    daemon.kill()
    let retried = try here("sync", "retry", "\(number)")
    #expect(retried.status == 0 && retried.errors.contains("not sent yet"), "\(retried.errors)")
    #expect(try here("sync", "--json").json()["unsent"] == .integer(1))
    try daemon.start()
    #expect(try here("sync", "now").status == 0)
    #expect(try here("sync", "export", "\(number)").output.contains("bread"))
    #expect(try here("sync", "discard", "\(number)").status == 0)
    #expect(try here("sync", "conflicts", "--json").json().arrayValue?.isEmpty == true)
    #expect(daemon.stop() == 0)
  }

  /// The copy has received further commits since the command showed the objects.
  @Test func deleteEverywhereDeletesWhatItHasShown() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    #expect(try elsewhere("add", "call Ann").status == 0)
    #expect(try here("sync", "on").status == 0)
    let shown = try here("sync", "delete-everywhere")
    #expect(shown.status == 2 && shown.errors.contains("3 objects would be deleted"), "\(shown.errors)")
    #expect(try elsewhere("edit", "1", "--text", "buy bread").status == 0)
    #expect(try elsewhere("add", "new").status == 0)
    // This command brings the copy up to date.
    #expect(try here("list").output.contains("buy bread"))
    let deleted = try here("sync", "delete-everywhere", "--yes")
    #expect(deleted.status == 0, "\(deleted.output) \(deleted.errors)")
    let left = try elsewhere("list").output
    #expect(left.contains("buy bread") && left.contains("new") && !left.contains("call Ann"), "\(left)")
    #expect(daemon.stop() == 0)
  }

  @Test func answersSayThatTheyWereNotSent() throws {
    try daemon.start()
    for text in ["one", "two"] { #expect(try elsewhere("add", text).status == 0) }
    #expect(try elsewhere("link", "1", "2").status == 0)
    #expect(try elsewhere("board", "add", "More").status == 0)
    #expect(try here("sync", "on").status == 0)
    daemon.kill()
    for arguments in [["unlink", "1", "2"], ["delete", "1"], ["board", "delete", "More"]] {
      let result = try Daemon.run(
        arguments + ["--json"], server: daemon.socket.description, author: "ann@train", input: nil,
        environment: ["XDG_DATA_HOME": daemon.home.path + "/here"])
      #expect(try result.json()["unsent"] == .bool(true), "\(arguments) \(result.output) \(result.errors)")
    }
  }

  /// The file of unsent edits can't be opened, as on a full disk.
  @Test func daemonIsUsedWithoutTheFileOfUnsentEdits() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    let state = try here("sync", "on", "--json").json()
    let file = try #require(state["folder"]?.stringValue) + "/unsent.sqlite"
    try Data("nothing".utf8).write(to: URL(fileURLWithPath: file))
    let list = try here("list")
    #expect(list.status == 0 && list.output.contains("buy milk"), "\(list.errors)")
    #expect(list.errors.contains("can't be sent"), "\(list.errors)")
    daemon.kill()
    let failed = try here("list")
    #expect(failed.status == 1 && failed.errors.contains("unsent.sqlite"), "\(failed.errors)")
  }

  /// The copy was loaded after the backup, so no state is known that both have.
  @Test func editOfALostStateWaitsWithItsValues() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    #expect(daemon.stop() == 0)
    let backup = daemon.home.path + "/backup"
    try FileManager.default.copyItem(atPath: daemon.data, toPath: backup)
    try daemon.start()
    #expect(try elsewhere("edit", "1", "--text", "buy oat milk").status == 0)
    #expect(try here("sync", "on").status == 0)
    daemon.kill()
    #expect(try here("color", "1", "blue").status == 0)
    try FileManager.default.removeItem(atPath: daemon.data)
    try FileManager.default.moveItem(atPath: backup, toPath: daemon.data)
    try daemon.start()
    let now = try here("sync", "now")
    #expect(now.status == 0 && now.output.contains("1 in conflict"), "\(now.output) \(now.errors)")
    #expect(now.output.contains("the server was restored from a backup: the copy and the edits"), "\(now.output)")
    let listed = try here("sync", "conflicts").output
    #expect(listed.contains("was restored from a backup"), "\(listed)")
    #expect(listed.contains("    Note.color mine   \"blue\"\n"), "\(listed)")
    let conflicts = try #require(try here("sync", "conflicts", "--json").json().arrayValue)
    let number = try #require(conflicts.first?["number"]?.integerValue)
    #expect(try here("sync", "retry", "\(number)").output.contains("1 edit sent"))
    #expect(try elsewhere("show", "1", "--json").json()["color"] == .string("blue"))
    #expect(daemon.stop() == 0)
  }

  /// A user who may see more than a copy can have names some boards.
  @Test func copyOfSomeBoardsSaysWhatItLacks() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    for board in ["Work", "Home"] { #expect(try elsewhere("board", "add", board).status == 0) }
    #expect(try elsewhere("add", "call Ann", "--board", "Work").status == 0)
    #expect(try here("sync", "on", "--board", "Work", "--all-boards").status == 64)
    #expect(try here("sync", "on", "--board", "Garden").errors.contains("there is no board called \"Garden\""))
    let on = try here("sync", "on", "--board", "Work", "--board", "Home")
    #expect(on.status == 0 && on.output.contains("the copy has the boards Home and Work only"), "\(on.output)")
    daemon.kill()
    let list = try here("list")
    #expect(list.output.contains("call Ann") && !list.output.contains("buy milk"), "\(list.output)")
    #expect(list.errors.contains("this computer's copy of the boards Home and Work only"), "\(list.errors)")
    #expect(try here("show", "1").errors.contains("there is no note number 1 in this computer's copy"))
    let notes = try here("list", "--board", "Notes")
    #expect(notes.status == 4 && notes.errors.contains("no board called \"Notes\" in this computer's copy"))
    #expect(try here("board", "add", "Train").status == 0)
    #expect(try here("add", "window seat", "--board", "Train").status == 0)
    try daemon.start()
    let now = try here("sync", "now")
    #expect(now.output.contains("2 edits sent, 2 commits received"), "\(now.output) \(now.errors)")
    #expect(
      try here("sync", "--json").json()["boards"] == .array(["Home", "Train", "Work"].map { .string($0) }))
    // The daemon knows the boards that the copy lacks, also while sync is off.
    #expect(try here("sync", "off").status == 0)
    let other = try here("sync", "on", "--board", "Notes")
    #expect(other.output.contains("the copy has the board Notes only"), "\(other.output) \(other.errors)")
    let all = try here("sync", "on", "--all-boards", "--json").json()
    #expect(all["reloaded"] == .bool(true) && all["boards"] == nil && all["notices"] == .array([]), "\(all.text)")
    daemon.kill()
    #expect(try here("list").output.contains("buy milk"))
  }

  @Test func editsWhileSyncIsOffSurviveKillsAndArrive() throws {
    try daemon.start()
    #expect(try here("sync", "on").status == 0)
    #expect(try here("sync", "off").status == 0)
    #expect(try here("add", "kept").status == 0)
    #expect(try !elsewhere("list").output.contains("kept"))
    #expect(try here("sync", "now").status == 2)
    daemon.kill()
    let waits = try here("sync", "on", "--json")
    #expect(waits.status == 0 && waits.errors.contains("your edits are sent when it does"), "\(waits.errors)")
    #expect(try waits.json()["state"] == .string("on") && waits.json()["unsent"] == .integer(1), "\(waits.output)")
    #expect(try here("sync", "off").status == 0)
    try daemon.start()
    #expect(try here("list").output.contains("kept"))
    let on = try here("sync", "on")
    #expect(on.status == 0, "\(on.errors)")
    #expect(try elsewhere("list").output.contains("kept"))
    #expect(daemon.stop() == 0)
  }

  /// Mail and editors of other systems change the line endings of a file.
  @Test func exportedEditsAreTakenWithOtherLineEndings() throws {
    try daemon.start()
    #expect(try elsewhere("add", "first").status == 0)
    #expect(try here("sync", "on").status == 0)
    #expect(try here("sync", "off").status == 0)
    for text in ["one", "two"] { #expect(try here("add", text).status == 0) }
    let exported = try here("sync", "export").output
    #expect(exported.split(separator: "\n").count == 2, "\(exported)")
    let file = daemon.home.path + "/edits"
    try (exported.replacing("\n", with: "\r\n") + "\r\n").write(toFile: file, atomically: false, encoding: .utf8)
    let taken = try here("sync", "take", file)
    #expect(taken.status == 0 && taken.output.hasPrefix("2 edits taken"), "\(taken.output) \(taken.errors)")
    #expect(daemon.stop() == 0)
  }

  /// Each daemon has a replica of its own, in which `+1` is another note.
  @Test func provisionalNumberIsThatOfTheNamedDaemon() throws {
    try daemon.start()
    #expect(try here("sync", "on").status == 0)
    daemon.kill()
    #expect(try here("add", "mine").output == "+1 mine\n")
    try daemon.start()
    #expect(try here("sync", "now").status == 0)
    let team = try Daemon()
    try team.start()
    let named = ["--server", team.socket.description]
    func atTeam(_ arguments: String...) throws -> Daemon.Result {
      try Daemon.run(
        arguments + named, server: daemon.socket.description, author: "ann@train", input: nil,
        environment: ["XDG_DATA_HOME": daemon.home.path + "/here"])
    }
    #expect(try team.run("add", "theirs").status == 0)
    #expect(try atTeam("sync", "on").status == 0)
    team.kill()
    #expect(try atTeam("add", "ours").output == "+1 ours\n")
    try team.start()
    #expect(try atTeam("sync", "now").status == 0)
    let edited = try atTeam("edit", "+1", "--text", "ours, edited")
    #expect(edited.status == 0, "\(edited.errors)")
    let list = try team.run("list").output
    #expect(list.contains("theirs") && list.contains("ours, edited"), "\(list)")
    #expect(try here("show", "+1").output.contains("mine"))
    #expect(team.stop() == 0 && daemon.stop() == 0)
  }

  /// The output up to a line with the mark.
  private func read(_ watcher: BackgroundProcess, until mark: String) -> String {
    var text = ""
    while !text.contains(mark) || !text.hasSuffix("\n") {
      let part = watcher.read()
      if part.isEmpty { break }
      text += part
    }
    return text
  }

  /// A watch that begins without the daemon follows the edits of other programs, and moves to the daemon.
  @Test func watchOfTheCopyShowsEditsAndMovesToTheDaemon() throws {
    try daemon.start()
    #expect(try elsewhere("add", "buy milk").status == 0)
    #expect(try here("sync", "on").status == 0)
    daemon.kill()
    let watcher = try BackgroundProcess(
      daemon, ["watch"],
      environment: ["XDG_DATA_HOME": daemon.home.path + "/here", "STICKIES_AUTHOR": "ann@train"])
    let first = read(watcher, until: "changes follow")
    #expect(first == "this computer's copy: 1 note; changes follow\n")
    #expect(try here("add", "call Ann").status == 0)
    let second = read(watcher, until: "this computer's copy: 2 notes; changes follow")
    #expect(second.contains("  + +1 call Ann"), "\(second)")
    try daemon.start()
    let third = read(watcher, until: "#2 call Ann")
    #expect(try elsewhere("add", "later").status == 0)
    let rest = third + read(watcher, until: "later")
    #expect(rest.contains("  + #2 call Ann") && rest.contains("#3 later"), "\(rest)")
    #expect(!rest.contains("- +1") && !rest.contains("buy milk") && !rest.contains("restored"), "\(rest)")
    watcher.kill()
    #expect(daemon.stop() == 0)
  }

  @Test func commandsOfSyncNeedACopy() throws {
    for arguments in [["status"], ["off"], ["now"], ["conflicts"], ["export"]] {
      let result = try Daemon.run(
        ["sync"] + arguments, server: daemon.socket.description, author: "ann@train", input: nil,
        environment: ["XDG_DATA_HOME": daemon.home.path + "/here"])
      #expect(result.status == 4, "\(arguments) \(result.errors)")
    }
    #expect(try here("sync", "on").status == 69)
    #expect(try here("list").status == 69)
  }
}
