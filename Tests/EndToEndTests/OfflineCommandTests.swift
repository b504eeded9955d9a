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
    #expect(try here("undo").status == 0)
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
    #expect(try here("sync", "conflicts").output.contains("\(number)  ann@train"))
    #expect(try here("sync", "export", "\(number)").output.contains("bread"))
    #expect(try here("sync", "discard", "\(number)").status == 0)
    #expect(try here("sync", "conflicts", "--json").json().arrayValue?.isEmpty == true)
    #expect(daemon.stop() == 0)
  }

  @Test func editsWhileSyncIsOffSurviveKillsAndArrive() throws {
    try daemon.start()
    #expect(try here("sync", "on").status == 0)
    #expect(try here("sync", "off").status == 0)
    #expect(try here("add", "kept").status == 0)
    #expect(try !elsewhere("list").output.contains("kept"))
    #expect(try here("sync", "now").status == 2)
    daemon.kill()
    try daemon.start()
    #expect(try here("list").output.contains("kept"))
    let on = try here("sync", "on")
    #expect(on.status == 0, "\(on.errors)")
    #expect(try elsewhere("list").output.contains("kept"))
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
