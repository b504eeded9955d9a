import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import StickiesKit
import Testing

/// Undo and redo in the shell and in a program, also after a kill of the daemon.
@Suite struct UndoTests {
  @Test func undoAndRedoContinueAfterDaemonKill() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    try daemon.run("move", "1", "1,1")
    try daemon.run("move", "1", "2,2")
    func x() throws -> JSON? { try daemon.run("show", "1", "--json").json()["x"] }
    let last = try #require(try daemon.run("log", "--json").json()[0]?["revision"]?.integerValue)
    for _ in 0..<2 {
      #expect(try daemon.run("undo").output.hasPrefix("undone revision \(last): 1 change taken back"))
      daemon.kill()
      try daemon.start()
      #expect(try x() == .integer(1))
      #expect(try daemon.run("undo").output == "undone revision \(last - 1): 1 change taken back\n")
      #expect(try x() == .integer(0))
      daemon.kill()
      try daemon.start()
      #expect(try daemon.run("redo").output == "redone revision \(last - 1): 1 change made again\n")
      #expect(try x() == .integer(1))
      daemon.kill()
      try daemon.start()
      let redo = try daemon.run("redo", "--json").json()
      #expect(redo["redoes"] == .integer(last))
      #expect(try x() == .integer(2))
      #expect(try daemon.run("redo").status == 4)
    }
    let log = try daemon.run("log").output
    #expect(log.contains(", undo of \(last)\n"))
    #expect(log.contains(", redo of \(last - 1)\n"))
    #expect(try daemon.run("redo").errors == "stickies: ann@test has nothing to redo\n")
    #expect(daemon.stop() == 0)
  }

  @Test func newEditEndsRedoAndUndoneRevisionIsRefused() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    let moved = try daemon.run("move", "1", "1,1", "--json").json()["revision"]?.integerValue
    let revision = String(try #require(moved))
    try daemon.run("color", "1", "pink")
    #expect(try daemon.run("undo", revision).output == "undone revision \(revision): 1 change taken back\n")
    #expect(try daemon.run("show", "1", "--json").json()["color"] == .string("pink"))
    let again = try daemon.run("undo", revision)
    #expect(again.status == 2)
    #expect(again.errors.contains("revision \(revision) is undone already"))
    #expect(try daemon.run("undo", "4711").status == 4)
    #expect(try daemon.run("undo", "0").status == 64)
    #expect(try daemon.run("undo", revision, author: "bob@test").status == 2)
    try daemon.run("color", "1", "blue")
    #expect(try daemon.run("redo").status == 4)
    #expect(try daemon.run("redo", author: "nobody@test").status == 4)
  }

  @Test func valuesChangedByOthersAreSkippedAndReported() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    try daemon.run("move", "1", "1,1")
    try daemon.run("move", "1", "1,9", author: "bob@test")
    let undo = try daemon.run("undo")
    #expect(undo.errors.contains("left alone: bob@test has changed y of "))
    #expect(undo.status == 0)
    let note = try daemon.run("show", "1", "--json").json()
    #expect(note["x"] == .integer(0))
    #expect(note["y"] == .integer(9))
    try daemon.run("color", "1", "pink")
    try daemon.run("color", "1", "red", author: "bob@test")
    // Nothing can be reverted: nothing is committed, and the next undo finds the same step.
    let head = try daemon.run("log", "--json").json()[0]?["revision"]
    for _ in 0..<2 {
      let nothing = try daemon.run("undo")
      #expect(nothing.status == 2)
      #expect(nothing.output.isEmpty)
      #expect(nothing.errors.contains("undo would set color to "))
      #expect(nothing.errors.contains(", but bob@test set it to "))
      #expect(!nothing.errors.contains("left alone"))
      #expect(nothing.errors.contains("could be undone"))
      #expect(try daemon.run("log", "--json").json()[0]?["revision"] == head)
    }
    try daemon.run("move", "1", "7,7")
    try daemon.run("move", "1", "7,8", author: "bob@test")
    let json = try daemon.run("undo", "--json")
    #expect(json.errors.isEmpty)
    #expect(try json.json()["skipped"]?[0]?["property"] == .string("y"))
    #expect(try json.json()["skipped"]?[0]?["author"] == .string("bob@test"))
  }

  /// The board itself is as its author made it: an object that another author added keeps it.
  @Test func undoneBoardWithNotesOfOthersStaysAndIsReported() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "Plans")
    try daemon.run("add", "x", "--board", "Plans", author: "bob@test")
    let undo = try daemon.run("undo")
    #expect(undo.status == 2)
    #expect(undo.errors.contains("undo would delete it, but bob@test changed its notes in revision "))
    #expect(try daemon.run("list", "--board", "Plans").output.contains("x"))
  }

  @MainActor
  @Test func undoStackSurvivesRestarts() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x", author: "zoe@test")
    let stack = UniqueID(high: 77, low: 1)
    func connect() async throws -> (GraphClient, Note) {
      let client = try await Stickies.connect(to: daemon.socket, author: "ann@test")
      client.context.undoScope = client.undoScope(stack)
      return (client, try #require(try await client.fetch(Note.self).first))
    }
    var (client, note) = try await connect()
    client.context.undoScope?.beginGroup(named: "Arrange")
    note["x"] = .double(5)
    try await client.save()
    note["y"] = .double(6)
    try await client.save()
    client.context.undoScope?.endGroup()
    note["z"] = .double(7)
    try await client.save()
    #expect(try await client.undoState(scope: stack).undo?.count == 1)
    _ = try await client.undo(scope: stack)
    await client.close()
    daemon.kill()
    try daemon.start()
    (client, note) = try await connect()
    #expect(note["z"] == .double(0))
    let state = try await client.undoState(scope: stack)
    #expect(state.undo?.name == "Arrange")
    #expect(state.undo?.count == 2)
    #expect(state.redo != nil)
    _ = try await client.undo(scope: stack)
    await client.close()
    (client, note) = try await connect()
    #expect(note["x"] == .double(0))
    #expect(note["y"] == .double(0))
    _ = try await client.redo(scope: stack)
    _ = try await client.redo(scope: stack)
    let refusal = await #expect(throws: Refusal.self) { _ = try await client.redo(scope: stack) }
    #expect(refusal?.code == .notFound)
    await client.close()
    (client, note) = try await connect()
    #expect([note["x"], note["y"], note["z"]] == [.double(5), .double(6), .double(7)])
    await client.close()
    #expect(daemon.stop() == 0)
  }
}
