import GraphTesting
import Testing

/// Completion: what the program says to the shells. What they make of it is tested before them (scripts/terminal-tests).
@Suite struct CompletionTests {
  private static func words(_ daemon: Daemon, _ typed: String...) throws -> [String] {
    let result = try Daemon.run(
      ["complete", "--"] + typed, server: daemon.socket.description, author: "ann@test", input: nil)
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    return result.lines.map { String($0.split(separator: "\t")[0]) }
  }

  @Test func commandsOptionsAndWhatTheGraphHasAreOffered() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "To do")
    try daemon.run("add", "one", "--tag", "home", "--board", "To do")
    try daemon.run("add", "two", "--tag", "house", "--board", "To do")
    #expect(try Self.words(daemon, "mo") == ["move"])
    #expect(try !Self.words(daemon, "").contains("complete"))
    #expect(try Self.words(daemon, "board", "re") == ["rename"])
    #expect(try Self.words(daemon, "list", "--bo") == ["--board"])
    #expect(try Self.words(daemon, "list", "--board", "") == ["To do"])
    #expect(try Self.words(daemon, "list", "--board", "x", "--bo").isEmpty)
    #expect(try Self.words(daemon, "list", "--board=T") == ["--board=To do"])
    #expect(try Self.words(daemon, "list", "--bored=T").isEmpty)
    #expect(try Self.words(daemon, "add", "--", "--board=T").isEmpty)
    #expect(try Self.words(daemon, "list", "--server=\(daemon.socket)", "--board", "T") == ["To do"])
    #expect(try Self.words(daemon, "move", "") == ["2", "1"])
    #expect(try Self.words(daemon, "tag", "1", "ho") == ["home", "house"])
    #expect(try Self.words(daemon, "tag", "1", "home", "hou") == ["house"])
    #expect(try Self.words(daemon, "color", "1", "p") == ["pink", "purple"])
    #expect(try Self.words(daemon, "graph", "fetch", "No") == ["Note"])
    #expect(try Self.words(daemon, "open", "--interface", "") == ["board", "list"])
    #expect(try Self.words(daemon, "open", "--interface=l") == ["--interface=list"])
    #expect(try Self.words(daemon, "import", "") == [":files"])
    #expect(try Self.words(daemon, "completion", "") == ["bash", "zsh", "fish"])
    #expect(daemon.stop() == 0)
    // Without a daemon only what the program knows by itself, and no word about it.
    #expect(try Self.words(daemon, "move", "").isEmpty)
    #expect(try Self.words(daemon, "color", "1", "te") == ["teal"])
  }
}
