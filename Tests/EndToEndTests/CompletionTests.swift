import Foundation
import GraphTesting
import Testing

/// Completion: what the program says to the shells, and what bash makes of it.
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
    #expect(try Self.words(daemon, "move", "") == ["2", "1"])
    #expect(try Self.words(daemon, "tag", "1", "ho") == ["home", "house"])
    #expect(try Self.words(daemon, "tag", "1", "home", "hou") == ["house"])
    #expect(try Self.words(daemon, "color", "1", "p") == ["pink", "purple"])
    #expect(try Self.words(daemon, "graph", "fetch", "No") == ["Note"])
    #expect(try Self.words(daemon, "import", "") == [":files"])
    #expect(try Self.words(daemon, "completion", "") == ["bash", "zsh", "fish"])
    #expect(daemon.stop() == 0)
    // Without a daemon only what the program knows by itself, and no word about it.
    #expect(try Self.words(daemon, "move", "").isEmpty)
    #expect(try Self.words(daemon, "color", "1", "te") == ["teal"])
  }

  @Test func bashCompletes() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "To do")
    let script = """
      set -eu
      source <(stickies completion bash)
      COMP_WORDS=(stickies list --board T); COMP_CWORD=3; _stickies
      printf '%s\\n' "${COMPREPLY[@]}"
      COMP_WORDS=(stickies wat); COMP_CWORD=1; _stickies
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let file = daemon.home.path + "/script"
    try script.write(toFile: file, atomically: true, encoding: .utf8)
    let result = try Companion(daemon, ["bash", file], program: "/usr/bin/env").end()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines == ["To\\ do", "watch"])
    #expect(daemon.stop() == 0)
  }
}
