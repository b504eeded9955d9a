import Foundation
import GraphTesting
import Testing

/// Completion: the program's answers to the shells. scripts/terminal-tests tests the shells themselves.
@Suite struct CompletionTests {
  private static func words(_ daemon: Daemon, _ typed: String...) throws -> [String] {
    let result = try Daemon.run(
      ["complete", "--"] + typed, server: daemon.socket.description, author: "ann@test", input: nil)
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    return result.lines.map { String($0.split(separator: "\t")[0]) }
  }

  @Test func commandsOptionsAndLiveObjectsAreCompleted() throws {
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
    // Without a daemon, only the program's own candidates are offered, without an error message.
    #expect(try Self.words(daemon, "move", "").isEmpty)
    #expect(try Self.words(daemon, "color", "1", "te") == ["teal"])
  }

  /// Names that other users may give to their boards. Each of them has an effect in a shell that reads it as source
  /// text.
  private static let hostileNames = [
    "$(touch harm)", "`touch harm`", "x;touch harm;", "it's;touch harm;'", "'", "\"$(touch harm)\"", "!touch harm!",
    "\\$(touch harm)", "\\", "~ #{a,b}*?[x]", "a&touch harm", "b>harm", "c'\"`$(touch harm)", "<(touch harm)", "=ls",
    ":files", "--json", "\u{e9}", "e\u{301}",
  ]

  /// Tabs, line ends, control characters, and a character that reverses the direction of the line: no shell can offer
  /// these names.
  private static let unofferedNames = ["tab\there", "line\nend", "bell\u{7}", "turned\u{202E}eman"]

  /// The line of bash after readline has replaced its end by the only candidate: it takes a quotation mark at the
  /// beginning of the candidate for the open one, and closes the open one unless the candidate ends with one.
  private static func completed(_ line: String, _ candidate: String, mark: String) -> String {
    guard !mark.isEmpty else { return line + candidate }
    let line = candidate.hasPrefix(mark) ? String(line.dropLast()) : line
    return line + candidate + (candidate.hasSuffix(mark) ? "" : mark)
  }

  @Test(arguments: ["", "'", "\"", "$'", "$\""], ["--board ", "--board="])
  func boardNamesAreQuotedForBash(opening: String, option: String) throws {
    let daemon = try Daemon()
    try daemon.start()
    for name in Self.hostileNames + Self.unofferedNames {
      // After `--`, a name that begins with a dash is an argument.
      #expect(try daemon.run("board", "add", "--", name).status == 0)
    }
    let line = "stickies list \(option)\(opening)"
    let candidates = try Daemon.run(
      ["complete", "--bash", "--", line, ""], server: daemon.socket.description, author: "ann@test", input: nil)
    #expect(candidates.status == 0 && candidates.errors.isEmpty)
    let mark = opening.last.map(String.init) ?? ""
    let commands = candidates.lines.map { candidate in
      Self.completed(line, candidate, mark: mark).replacing("stickies list", with: "printf '%s\\n'", maxReplacements: 1)
    }
    let bash = Process()
    bash.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    bash.arguments = ["bash", "--norc", "-c", commands.joined(separator: "\n")]
    bash.currentDirectoryURL = URL(fileURLWithPath: daemon.home.path)
    let read = try bash.result()
    #expect(read.errors.isEmpty)
    let words = read.lines.filter { $0 != "--board" || option.hasSuffix("=") }
    let expected = Self.hostileNames.map { option.hasSuffix("=") ? option + $0 : $0 }
    #expect(Set(words.map { Array($0.utf8) }) == Set(expected.map { Array($0.utf8) }))
    #expect(!FileManager.default.fileExists(atPath: daemon.home.path + "/harm"))
    // zsh and fish quote by themselves, and are offered the same names; one that looks like an order to them is a word.
    let plain = try Daemon.run(
      ["complete", "--", "list", "--board", ""], server: daemon.socket.description, author: "ann@test", input: nil)
    #expect(Set(plain.lines) == Set(Self.hostileNames.map { $0 == ":files" ? ":files\t" : $0 }))
    #expect(daemon.stop() == 0)
  }

  @Test func bashLineIsParsedAsBashDoes() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "it's $5")
    func replacement(_ line: String, _ replaced: String) throws -> [String] {
      try Daemon.run(
        ["complete", "--bash", "--", line, replaced], server: daemon.socket.description, author: "ann@test", input: nil
      ).lines
    }
    #expect(try replacement("stickies list --board it\\'", "it\\'") == ["it\\'s\\ \\$5"])
    #expect(try replacement("stickies list --board 'it'\\''s", "s") == ["s $5"])
    #expect(try replacement("stickies list --board \"it'", "it'") == ["it's \\$5"])
    #expect(try replacement("stickies list --board $'it\\047s", "it\\047s") == ["it\\047s $5"])
    #expect(try replacement("stickies list --board=it", "it") == ["it\\'s\\ \\$5"])
    #expect(try replacement("stickies list --board it\\", "it\\") == ["it\\'s\\ \\$5"])
    #expect(try replacement("stickies list --where \"$(cat where)\" > out --board i", "i") == ["it\\'s\\ \\$5"])
    // Readline takes the mark behind the backslash for the closing one, and would replace another text.
    #expect(try replacement("stickies list --board $'it\\'s", "$'it\\'s").isEmpty)
    #expect(try replacement("stickies add $'a\\'b' --board i", "--board i").isEmpty)
    // Another command, and one inside of this one.
    #expect(try replacement("stickies status; stickies list --board i", "i").isEmpty)
    #expect(try replacement("stickies list --board $(stickies i", "i").isEmpty)
    #expect(try replacement("stickies import lett", "lett") == ["\tfiles"])
    #expect(daemon.stop() == 0)
  }

  @Test func nameWithLeadingDashIsNotAnOption() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("board", "add", "--", "--yes")
    #expect(try Self.words(daemon, "board", "delete", "").isEmpty)
    #expect(try Self.words(daemon, "board", "delete", "--", "") == ["--yes"])
    #expect(try Self.words(daemon, "list", "--board=") == ["--board=--yes"])
    #expect(daemon.stop() == 0)
  }
}
