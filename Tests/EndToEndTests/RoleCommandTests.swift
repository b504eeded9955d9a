import Foundation
import GraphTesting
import Testing

/// Roles, with the programs: `stickiesd grant`, and the output of a reader's commands.
@Suite struct RoleCommandTests {
  private let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try daemon.start()
    #expect(try daemon.stickiesd("user", "add", "ann").status == 0)
    let secret = try daemon.stickiesd("token", "create", "ann").output
    #expect(try remote(["login"], input: secret).status == 0)
  }

  /// Runs `stickies` as ann.
  private func remote(_ arguments: [String], input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.tcp, author: "eve@test", input: input,
      environment: ["XDG_STATE_HOME": daemon.home.path + "/state"])
  }

  private func role() throws -> String? { try remote(["whoami", "--json"]).json()["role"]?.stringValue }

  @Test func readerIsRefusedOnEachPath() throws {
    #expect(try role() == "editor")
    #expect(try remote(["add", "one"]).status == 0)
    let revision = try #require(try remote(["status", "--json"]).json()["revision"]?.integerValue)
    #expect(try daemon.stickiesd("grant", "ann", "reader").status == 0)
    #expect(try role() == "reader")
    let writes = [
      ["add", "two"], ["edit", "1", "--text", "two"], ["color", "1", "pink"], ["delete", "1"], ["undo"],
      ["undo", "\(revision)"], ["restore", "1", "--at", "\(revision)"],
      ["graph", "insert", "Tag", "name=x"],
      ["graph", "update", "Note", "--where", "number == 1", "--one-commit", "x=1"],
    ]
    for command in writes {
      let result = try remote(command)
      #expect(result.status == 77, "\(command): \(result.errors)")
      #expect(result.errors.contains("needs the role commenter"), "\(command): \(result.errors)")
    }
    for command in [["list"], ["show", "1"], ["log"], ["status"], ["search", "one"]] {
      #expect(try remote(command).status == 0, "\(command)")
    }
    // A refusal by the program itself is not about a right.
    let file = daemon.home.path + "/export.jsonl"
    #expect(try remote(["graph", "export", file]).status == 0)
    let again = try remote(["graph", "export", file])
    #expect(again.status == 2 && again.errors.contains("already exists"), "\(again.errors)")
    #expect(try remote(["status"]).output.contains("user           ann (reader)"))
    #expect(try daemon.run("list", "--json").json()[0]?["text"] == .string("one"))
    // The owner's own programs keep their rights.
    #expect(try daemon.run("add", "three").status == 0)
    #expect(try daemon.stickiesd("grant", "ann", "editor").status == 0)
    #expect(try remote(["add", "two"]).status == 0)
    #expect(daemon.stop() == 0)
  }

  @Test func grantIsListedAndChecksItsArguments() throws {
    #expect(try daemon.stickiesd("grant", "ann", "owner", "--json").json()["role"]?.stringValue == "owner")
    #expect(try daemon.stickiesd("user", "list").output.contains("  owner  ann"))
    #expect(try role() == "owner")
    let unknown = try daemon.stickiesd("grant", "eve", "reader")
    #expect(unknown.status == 1 && unknown.errors.contains("there is no user"))
    let wrong = try daemon.stickiesd("grant", "ann", "king")
    #expect(wrong.status == 64 && wrong.errors.contains("reader"))
    #expect(daemon.stop() == 0)
  }
}
