import GraphModel
import Testing

/// Arguments as users type them: dashes, several words, numbers.
@Suite struct ArgumentTests {
  @Test func wordAfterOptionIsItsValue() throws {
    let daemon = try Daemon()
    try daemon.start()
    let note = try daemon.run("add", "x", "--tag", "-a", "--tag", "--b", "--board", "-home", "--json")
    // The command does not create a board from an unknown name.
    #expect(note.status == 4 && note.errors.contains("-home"))
    try daemon.run("add", "x", "--tag", "-a", "--tag", "--b")
    #expect(try daemon.run("list", "--tag", "-a", "--json").json().arrayValue?.count == 1)
    #expect(try daemon.run("list", "--tag", "--b", "--json").json().arrayValue?.count == 1)
    let edited = try daemon.run("edit", "1", "--text", "- milk\n- bread", "--json").json()
    #expect(edited["text"] == .string("- milk\n- bread"))
    try daemon.run("link", "1", "1", "--label", "-> here")
    #expect(try daemon.run("edit", "1", "--text", "--- rule", "--json").json()["text"] == .string("--- rule"))
    try daemon.run("add", "x", "--tag", "---")
    #expect(try daemon.run("list", "--tag", "---", "--json").json().arrayValue?.count == 1)
    for words in [["list", "--at", "-1h"], ["show", "1", "--at", "-h"], ["graph", "fetch", "Note", "--at", "-1h"]] {
      let refused = try Daemon.run(words, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(refused.status == 64 && refused.errors.contains("is neither a time nor a revision"), "\(refused.errors)")
    }
    #expect(try daemon.run("graph", "fetch", "Link", "--json").json()[0]?["label"] == .string("-> here"))
    #expect(daemon.stop() == 0)
  }

  @Test func textWithLeadingDashFollowsDoubleDash() throws {
    let daemon = try Daemon()
    try daemon.start()
    for words in [["add", "- milk"], ["add", "-x"], ["add", "--milk"]] {
      let refused = try Daemon.run(words, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(refused.status == 64)
      #expect(refused.errors.contains("stickies add -- \"- milk\""), "\(words): \(refused.errors)")
    }
    #expect(try daemon.run("board", "add", "-x").errors.contains("stickies board add -- \"- milk\""))
    #expect(try daemon.run("add", "--", "- milk", "--json", "too").output == "#1 - milk --json too\n")
    #expect(try !daemon.run("add").errors.contains("- milk"))
    #expect(daemon.stop() == 0)
  }

  @Test func severalWordsFormOneTextAndSeveralNotesOneCommit() throws {
    let daemon = try Daemon()
    try daemon.start()
    #expect(try daemon.run("add", "Buy", "oat  milk", "--color", "pink", "today").output == "#1 Buy oat  milk today\n")
    for text in ["two", "three"] { try daemon.run("add", text) }
    let deleted = try daemon.run("delete", "2", "#3", "3", "--json").json()
    #expect(deleted["changes"]?.arrayValue?.count == 2)
    // One of the notes does not exist, so none is deleted.
    #expect(try daemon.run("undo").status == 0)
    #expect(try daemon.run("delete", "1", "99").status == 4)
    #expect(try daemon.run("delete", "1", "2").output == "deleted #1 Buy oat  milk today\ndeleted #2 two\n")
    #expect(daemon.stop() == 0)
  }

  @Test func noteIsFoundByItsPrintedNumberOrID() throws {
    let daemon = try Daemon()
    try daemon.start()
    for text in ["one", "two"] { try daemon.run("add", text) }
    #expect(try daemon.run("color", "#1", "pink").output == "#1 one\n")
    #expect(try daemon.run("link", "#1", "#2").status == 0)
    #expect(try daemon.run("wait", "#1", "1", "#2", "--timeout", "0", "--json").json()["count"] == .integer(2))
    #expect(try daemon.run("why", "#1.color").status == 0)
    #expect(try daemon.run("show", "#99").errors.contains("there is no note number 99"))
    #expect(try daemon.run("show", "#").status == 64)
    #expect(try daemon.run("graph", "update", "#1", "pinned=true").status == 0)
    #expect(try daemon.run("graph", "show", "Note", "#1", "--json").json()["pinned"] == .bool(true))
    #expect(try daemon.run("graph", "show", "Board", "#1").status == 64)
    #expect(try daemon.run("graph", "delete", "#2").status == 0)
    #expect(try daemon.run("graph", "delete", "#2").errors.contains("there is no note number 2"))
    #expect(daemon.stop() == 0)
  }

  @Test(arguments: ["", "\n"])
  func emptyPipeIsNotAText(input: String) throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "kept")
    let added = try daemon.run("add", "-", input: input)
    #expect(added.status == 2 && added.errors.contains("standard input is empty"))
    #expect(try daemon.run("edit", "1", "--text", "-", input: input).status == 2)
    #expect(try daemon.run("list", "--json").json().arrayValue?.count == 1)
    #expect(try daemon.run("edit", "1", "--text", "", "--json").json()["text"] == .string(""))
    #expect(daemon.stop() == 0)
  }
}
