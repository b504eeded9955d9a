import Foundation
import GraphTesting
import Testing

/// Roles on scopes and share links, with the programs: `stickiesd grant`, `share` and `access explain`.
@Suite struct GrantCommandTests {
  private let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try daemon.start()
    #expect(try daemon.stickiesd("user", "add", "ann", "--role", "none").status == 0)
  }

  /// Runs `stickies` on the network.
  private func remote(_ arguments: [String], input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.tcp, author: "eve@test", input: input,
      environment: ["XDG_STATE_HOME": daemon.home.path + "/state"])
  }

  @Test func rolesOnScopesAreGrantedListedAndRemoved() throws {
    let id = try #require(try daemon.run("add", "one", "--json").json()["id"]?.stringValue)
    let granted = try daemon.stickiesd("grant", "ann", "commenter", "--on", id, "--json").json()
    #expect(granted["role"] == .null && granted["grants"]?[0]?["scope"]?.stringValue == id)
    #expect(try daemon.stickiesd("grant", "list").output.hasPrefix("\(id)  commenter  "))
    #expect(try daemon.stickiesd("user", "list").output.contains("  scopes  ann"))
    #expect(try daemon.stickiesd("grant", "ann", "reader", "--on", "one").status == 64)
    #expect(try daemon.stickiesd("grant", "remove", "ann").status == 1)
    #expect(try daemon.stickiesd("grant", "remove", "ann", "--on", id).status == 0)
    #expect(try daemon.stickiesd("grant", "list", "--json").json()[0] == nil)
    #expect(daemon.stop() == 0)
  }

  /// The new board is in the commit log only when the command begins.
  @Test func scopeIsNamedByItsContainer() throws {
    let board = try #require(try daemon.run("board", "add", "Plan: B", "--json").json()["id"]?.stringValue)
    let granted = try daemon.stickiesd("grant", "ann", "editor", "--on", "Board:Plan: B", "--json")
    #expect(try granted.json()["grants"]?[0]?["scope"]?.stringValue == board, "\(granted.errors)")
    #expect(try daemon.stickiesd("share", "Board:Plan: B", "reader", "--label", "guests").status == 0)
    let place = "\(board) (Board:Plan: B)"
    #expect(try daemon.stickiesd("grant", "list").lines.contains { $0.hasPrefix("\(place)  editor  ") })
    #expect(try daemon.stickiesd("share", "list").output.hasPrefix("\(place)  reader  "))
    #expect(try daemon.stickiesd("user", "list").lines.last == "  editor on \(place)")
    let listed = try daemon.stickiesd("grant", "list", "ann", "--json").json()
    #expect(listed[0]?["scope"]?.stringValue == board && listed[0]?["on"]?.stringValue == "Board:Plan: B")
    #expect(try daemon.stickiesd("grant", "remove", "ann", "--on", "Board:Plan: B").status == 0)
    let explained = try daemon.stickiesd("access", "explain", "ann", "Board:Plan: B", "read")
    #expect(explained.output.contains("ann has no role here"), "\(explained.errors)")
    let unknown = try daemon.stickiesd("grant", "ann", "editor", "--on", "Board:plan: b")
    #expect(unknown.status == 1 && unknown.errors.contains("there is no Board called \"plan: b\""))
    let tag = try daemon.stickiesd("grant", "ann", "editor", "--on", "Tag:x")
    #expect(tag.status == 1 && tag.errors.contains("\"Tag\" is not a container of the model Stickies; there is Board"))
    for wrong in ["Board:", ":Plan", "Board"] {
      #expect(try daemon.stickiesd("grant", "ann", "editor", "--on", wrong).status == 64)
    }
    #expect(daemon.stop() == 0)
  }

  @Test func holderOfALinkSeesNothingElse() throws {
    let id = try #require(try daemon.run("add", "secret text", "--json").json()["id"]?.stringValue)
    // No note: an id that no object has.
    let other = String(id.dropLast(2)) + (id.hasSuffix("00") ? "20" : "00")
    let secret = try daemon.stickiesd("share", other, "reader", "--label", "plan").output
    #expect(try daemon.stickiesd("share", "list").output.contains("link: plan"))
    #expect(try remote(["login"], input: secret).status == 0)
    #expect(try remote(["whoami"]).output.contains("link: plan"))
    for command in [["list"], ["search", "secret"], ["log"]] {
      let result = try remote(command)
      #expect(result.status == 0 && !result.output.contains("secret"), "\(command): \(result.output)\(result.errors)")
    }
    #expect(try remote(["show", id]).status != 0)
    #expect(try daemon.stickiesd("share", "remove", "plan").status == 0)
    #expect(try remote(["list"]).status != 0)
    #expect(daemon.stop() == 0)
  }

  @Test func explanationNamesTheRole() throws {
    let id = try #require(try daemon.run("add", "one", "--json").json()["id"]?.stringValue)
    #expect(try daemon.stickiesd("grant", "ann", "reader").status == 0)
    // Afterwards the database file has every commit.
    #expect(daemon.stop() == 0)
    let explained = try daemon.stickiesd("access", "explain", "ann", id)
    #expect(explained.output.contains("ann has the role reader on the complete store"), "\(explained.errors)")
    #expect(explained.output.contains("read: yes") && explained.output.contains("update: no, "))
    let json = try daemon.stickiesd("access", "explain", "ann", id, "delete", "--json").json()
    #expect(json["operations"]?[0]?["allowed"] == .bool(false))
    #expect(try daemon.stickiesd("access", "explain", "ann", id, "sing").status == 64)
    #expect(try daemon.stickiesd("access", "explain", "eve", id).status == 1)
  }

  @Test func erasedNameLeavesHistory() throws {
    #expect(try daemon.stickiesd("grant", "ann", "editor").status == 0)
    let secret = try daemon.stickiesd("token", "create", "ann").output
    #expect(try remote(["login"], input: secret).status == 0)
    #expect(try remote(["add", "one"]).status == 0)
    #expect(daemon.stop() == 0)
    #expect(try daemon.stickiesd("user", "remove", "ann", "--erase-name").status == 0)
    #expect(try !daemon.stickiesd("user", "list", "--all").output.contains("ann"))
    #expect(try daemon.stickiesd("user", "remove", "ann").status == 1)
  }
}
