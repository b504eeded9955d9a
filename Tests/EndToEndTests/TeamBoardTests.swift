import Foundation
import GraphModel
import GraphTesting
import Testing

/// Three users with boards of their own, and every command of `stickies`: nothing shows what a user may not see, and
/// nothing changes what it may not change.
///
/// | note | board | Ann | Ben | Cleo |
/// | --- | --- | --- | --- | --- |
/// | 1 | Ann | editor | | reader |
/// | 2 | Ben | | owner | reader |
/// | 3 | Shared | commenter | editor | reader |
@Suite struct TeamBoardTests {
  private let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try daemon.start()
    for (user, role) in [("ann", "none"), ("ben", "none"), ("cleo", "reader")] {
      #expect(try daemon.stickiesd("user", "add", user, "--role", role).status == 0)
    }
    for board in ["Ann", "Ben", "Shared"] {
      #expect(try daemon.run("board", "add", board, author: "owner").status == 0)
      let note = try daemon.run("add", "note of \(board)", "--board", board, "--tag", "red", author: "owner")
      #expect(note.status == 0, "\(note.errors)")
    }
    let grants = [
      ("ann", "editor", "Ann"), ("ann", "commenter", "Shared"), ("ben", "owner", "Ben"), ("ben", "editor", "Shared"),
    ]
    for (user, role, board) in grants {
      let granted = try daemon.stickiesd("grant", user, role, "--on", "Board:\(board)")
      #expect(granted.status == 0, "\(granted.errors)")
    }
    for user in ["ann", "ben", "cleo"] {
      let secret = try daemon.stickiesd("token", "create", user).output
      #expect(try self.as(user, ["login"], input: secret).status == 0)
    }
  }

  /// Runs `stickies` as a user, with a state folder of its own.
  private func `as`(_ user: String, _ arguments: [String], input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.tcp, author: "eve@test", input: input,
      environment: ["XDG_STATE_HOME": "\(daemon.home.path)/\(user)"])
  }

  private func revision() throws -> Int64 {
    try #require(try daemon.run("status", "--json").json()["revision"]?.integerValue)
  }

  /// `stickies watch --json` of a user, and its output so far.
  private final class UserWatch {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private(set) var text = ""

    init(_ daemon: Daemon, _ user: String) throws {
      process.executableURL = Daemon.binary("stickies")
      process.arguments = ["watch", "--json", "--server", daemon.tcp]
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["XDG_STATE_HOME": daemon.home.path + "/" + user]
      ) { $1 }
      (process.standardOutput, process.standardError) = (output, errors)
      process.standardInput = FileHandle.nullDevice
      try process.run()
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Reads until the output has a part, behind the first `count` characters.
    func readUntil(_ part: String, after count: Int = 0) {
      while !text.dropFirst(count).contains(part) {
        let bytes = output.fileHandleForReading.availableData
        if bytes.isEmpty { return }
        text += String(decoding: bytes, as: UTF8.self)
      }
    }

    /// Everything on standard error; ends the program.
    var errorText: String {
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      return String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
  }

  // MARK: - Reading

  @Test(arguments: [
    ("ann", ["Ann", "Shared"], ["Ben"]), ("ben", ["Ben", "Shared"], ["Ann"]), ("cleo", ["Ann", "Ben", "Shared"], []),
  ]) func eachCommandShowsOwnBoardsOnly(user: String, seen: [String], hidden: [String]) throws {
    for command in [["list"], ["search", "note"], ["log"], ["export"], ["graph", "export"], ["list", "--at", "6"]] {
      let result = try self.as(user, command)
      #expect(result.status == 0, "\(command): \(result.errors)")
      for board in seen { #expect(result.output.contains("note of \(board)"), "\(command)") }
      for board in hidden {
        #expect(!(result.output + result.errors).contains("note of \(board)"), "\(command): \(result.output)")
      }
    }
    let boards = try self.as(user, ["board", "list", "--json"]).json().arrayValue
    #expect(boards?.compactMap { $0["name"]?.stringValue } == seen)
    // All boards share the tags.
    #expect(try self.as(user, ["graph", "fetch", "Tag", "--count"]).output == "1\n")
    #expect(try self.as(user, ["list", "--tag", "red", "--json"]).json().arrayValue?.count == seen.count)
  }

  @Test func invisibleNoteIsNotFoundByAnyCommand() throws {
    let id = try #require(try daemon.run("show", "2", "--json").json()["id"]?.stringValue)
    let missing = String(id.dropLast(2)) + (id.hasSuffix("00") ? "20" : "00")
    let commands = [["show"], ["edit", "--text", "x"], ["color", "pink"], ["delete"], ["move", "1,1"], ["raise"]]
    for command in commands {
      let words = { (name: String) in [command[0], name] + command.dropFirst() }
      let byNumber = try self.as("ann", words("2"))
      #expect(byNumber.status != 0 && byNumber.errors.contains("no note number 2"), "\(command): \(byNumber.errors)")
      let byID = try self.as("ann", words(id))
      let unknown = try self.as("ann", words(missing))
      // In the words for a note that never existed.
      #expect(byID.status == unknown.status && byID.status != 0, "\(command)")
      #expect(byID.errors.replacing(id, with: "ID") == unknown.errors.replacing(missing, with: "ID"), "\(command)")
    }
    for command in [["why", "2.text"], ["restore", "2"], ["diff", "#2", "1"], ["undo", "4"]] {
      let result = try self.as("ann", command)
      #expect(result.status != 0 && !result.errors.contains("note of Ben"), "\(command): \(result.output)")
    }
    #expect(try self.as("ann", ["why", "3.text"]).output.hasPrefix("note of Shared\n"))
  }

  @Test func watchAndFollowShowVisibleBoardsOnly() throws {
    let watch = try UserWatch(daemon, "ann")
    watch.readUntil("\"snapshot\"")
    let since = try revision()
    #expect(try self.as("ben", ["edit", "2", "--text", "secret of Ben"]).status == 0)
    #expect(try self.as("ben", ["edit", "3", "--text", "news of Shared"]).status == 0)
    watch.readUntil("news of Shared")
    #expect(watch.text.contains("note of Shared") && watch.text.contains("news of Shared"))
    #expect(!watch.text.contains("note of Ben") && !watch.text.contains("secret of Ben"), "\(watch.text)")
    let followed = try self.as("ann", ["follow", "--since", "\(since)", "--until-now"])
    #expect(followed.output.contains("news of Shared") && !followed.output.contains("secret"), "\(followed.errors)")
  }

  /// The program keeps its connection: visible objects change as they do by commits.
  @Test func changedRolesReachRunningPrograms() throws {
    let watch = try UserWatch(daemon, "ann")
    watch.readUntil("\"snapshot\"")
    #expect(try daemon.stickiesd("grant", "ann", "reader", "--on", "Board:Ben").status == 0)
    watch.readUntil("note of Ben")
    #expect(try self.as("ben", ["edit", "2", "--text", "more of Ben"]).status == 0)
    watch.readUntil("more of Ben")
    #expect(watch.text.contains("note of Ben") && watch.text.contains("more of Ben"), "\(watch.text)")

    let read = watch.text.count
    #expect(try daemon.stickiesd("grant", "remove", "ann", "--on", "Board:Ben").status == 0)
    // The new snapshot shows that the right has ended.
    watch.readUntil("\"snapshot\"", after: read)
    #expect(try self.as("ben", ["edit", "2", "--text", "secret of Ben"]).status == 0)
    #expect(try self.as("ben", ["edit", "3", "--text", "news of Shared"]).status == 0)
    watch.readUntil("news of Shared")
    let later = watch.text.dropFirst(read)
    #expect(later.contains("news of Shared") && !later.contains("secret"), "\(later)")
    #expect(watch.errorText == "", "the connection was kept")
  }

  /// `open` finds its board in the same way.
  @Test func invisibleBoardIsUnknown() throws {
    for command in [["add", "x", "--board"], ["list", "--board"], ["board", "delete"], ["watch", "--board"]] {
      let hidden = try self.as("ann", command + ["Ben"])
      let unknown = try self.as("ann", command + ["Nowhere"])
      #expect(hidden.status == unknown.status && hidden.status != 0, "\(command)")
      #expect(hidden.errors.replacing("Ben", with: "Nowhere") == unknown.errors, "\(command)")
      #expect(hidden.errors.contains("there is no board called \"Ben\""), "\(command): \(hidden.errors)")
    }
  }

  @Test func movedNoteIsNotThereAndDeletedOneIsDeleted() throws {
    func id(_ number: Int) throws -> String {
      try #require(try daemon.run("show", "\(number)", "--json").json()["id"]?.stringValue)
    }
    let (own, shared) = (try id(1), try id(3))
    let boards = try daemon.run("board", "list", "--json").json()
    let other = try #require(boards[1]?["id"]?.stringValue)
    #expect(boards[1]?["name"] == .string("Ben"))
    #expect(try self.as("ann", ["graph", "show", shared]).status == 0)
    #expect(try daemon.run("graph", "update", "#3", "board=\(other)").status == 0)
    #expect(try daemon.run("delete", "1").status == 0)
    let number = try self.as("ann", ["show", "3"])
    #expect(number.errors == "stickies: there is no note number 3 for you\n")
    let moved = try self.as("ann", ["graph", "show", shared])
    #expect(moved.errors.contains("this Note is not there for you since revision"), "\(moved.errors)")
    for result in [number, moved, try self.as("ann", ["show", shared])] {
      #expect(result.status != 0 && !result.errors.contains("deleted"), "\(result.errors)")
    }
    let deleted = try self.as("ann", ["graph", "show", own])
    #expect(deleted.errors.contains("this Note is deleted"), "\(deleted.errors)")
  }

  @Test func statusShowsIdentityAndRights() throws {
    let text = try self.as("ann", ["status"]).lines
    #expect(text.contains("user           ann (editor)"))
    #expect(text.contains("identity       by the token that you logged in with"))
    let rights = text.filter { $0.hasPrefix("rights") }
    let boards = try self.as("ann", ["board", "list", "--json"]).json().arrayValue
    let keys = try #require(boards).compactMap { $0["id"]?.stringValue }
    try #require(keys.count == 2)
    let places = ["editor on Board Ann (\(keys[0]))", "commenter on Board Shared (\(keys[1]))"]
    #expect(rights == places.map { "rights         \($0)" }, "\(text)")
    #expect(try self.as("ann", ["whoami"]).lines.suffix(3) == ["role editor"] + places.map { "  \($0)" })
    let json = try self.as("ann", ["status", "--json"]).json()
    #expect(json["established"] == .string("token") && json["grants"]?.arrayValue?.count == 2)
    #expect(json["grants"]?[0]?["name"] == .string("Ann") && json["grants"]?[0]?["role"] == .string("editor"))
    for figure in ["size", "commitLogSize", "nextNumber", "sessions", "registrations", "data", "process"] {
      #expect(json[figure] == nil, "\(figure)")
    }
    let whole = try self.as("cleo", ["status", "--json"]).json()
    #expect(whole["grants"] == .array([.object([.init("role", .string("reader")), .init("scope", .null)])]))
    #expect(whole["nextNumber"] == .integer(4) && whole["sessions"] != nil && whole["data"] == nil)
    let owner = try daemon.run("status").lines
    #expect(owner.contains { $0.hasPrefix("identity       as the daemon's own user") })
    #expect(!owner.contains { $0.hasPrefix("rights") })
  }

  // MARK: - Writing

  @Test func rolesDecideAboutEachBoard() throws {
    // An editor of one board, and a commenter on another.
    #expect(try self.as("ann", ["edit", "1", "--text", "by ann"]).status == 0)
    #expect(try self.as("ann", ["add", "own", "--board", "Shared", "--tag", "red", "--tag", "new"]).status == 0)
    let own = try #require(try self.as("ann", ["list", "--where", "text == 'own'", "--json"]).json()[0])
    #expect(own["creator"]?.stringValue?.hasPrefix("user:") == true && own["tags"]?.arrayValue?.count == 2)
    #expect(try self.as("ann", ["edit", "4", "--text", "mine"]).status == 0)
    for command in [["edit", "3", "--text", "x"], ["delete", "3"], ["tag", "3", "blue"], ["raise", "3"]] {
      let result = try self.as("ann", command)
      #expect(result.status == 77 && result.errors.contains("commenter"), "\(command): \(result.errors)")
    }
    // A move needs the role at both ends.
    let board = try #require(try self.as("ann", ["board", "list", "--json"]).json()[1]?["id"]?.stringValue)
    let move = try self.as("ann", ["graph", "update", "#1", "board=\(board)"])
    #expect(move.status == 77, "\(move.errors)")
    // Only the creator and owners delete a board.
    let mine = try self.as("ann", ["board", "delete", "Ann", "--yes"])
    #expect(mine.status == 77 && mine.errors.contains("a rule of the model does not allow you to delete Board"))
    #expect(try self.as("ben", ["board", "delete", "Ben", "--yes"]).status == 0)
    #expect(try self.as("ann", ["board", "add", "Ann's"]).status == 77)
    #expect(try self.as("cleo", ["add", "x", "--board", "Ann"]).status == 77)
    // A tag of another user belongs to all boards.
    let rename = { (tag: String) in
      ["graph", "update", "Tag", "--where", "name == '\(tag)'", "--one-commit", "name=other \(tag)"]
    }
    #expect(try self.as("ben", rename("red")).status == 77)
    #expect(try self.as("ann", rename("new")).status == 0)
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  @Test func undoIsOfOwnCommitsAndJudgedAgain() throws {
    #expect(try self.as("ann", ["edit", "1", "--text", "by ann"]).status == 0)
    #expect(try self.as("ben", ["edit", "2", "--text", "by ben"]).status == 0)
    #expect(try self.as("ann", ["undo"]).status == 0)
    #expect(try daemon.run("show", "1").output.hasSuffix("note of Ann\n"))
    #expect(try daemon.run("show", "2").output.hasSuffix("by ben\n"))
    #expect(try self.as("ann", ["redo"]).status == 0)
    #expect(try daemon.stickiesd("grant", "ann", "reader", "--on", "Board:Ann").status == 0)
    let refused = try self.as("ann", ["undo"])
    #expect(refused.status == 77, "\(refused.errors)")
    #expect(try daemon.run("show", "1").output.hasSuffix("by ann\n"))
  }
}
