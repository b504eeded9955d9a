import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies wait`: scripts that synchronize on the graph.
@Suite struct WaitTests {
  @Test func satisfiedConditionReturnsImmediately() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one", "--color", "pink")
    try daemon.run("add", "two")
    let pink = try daemon.run("wait", "--where", "color == \"pink\"")
    #expect(pink.status == 0)
    #expect(pink.output == "revision 2: 1 note matches\n")
    #expect(try daemon.run("wait", "--board", "Notes", "--count", "2").output == "revision 2: 2 notes match\n")
    #expect(try daemon.run("wait", "1", "2", "--json").json() == JSON(parsing: #"{"revision":2,"count":2}"#))
    #expect(
      try daemon.run("wait", "--where", "pinned == TRUE", "--count", "0").output == "revision 2: no note matches\n")
    #expect(try daemon.run("wait", "--revision", "2").output == "revision 2\n")
    #expect(try daemon.run("wait", "--revision", "1", "--json").json() == JSON(parsing: #"{"revision":2}"#))
    #expect(daemon.stop() == 0)
  }

  @Test func waitEndsWithCommitThatSatisfiesIt() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let both = try BackgroundProcess(daemon, ["wait", "1", "2", "--where", "color == \"pink\"", "--timeout", "1h"])
    try daemon.expectQueries(1)
    try daemon.run("color", "1", "pink")
    try daemon.run("add", "two")
    try daemon.run("color", "2", "pink")
    #expect(both.end().output == "revision 4: 2 notes match\n")

    let gone = try BackgroundProcess(daemon, ["wait", "--where", "color == \"pink\"", "--count", "0"])
    try daemon.expectQueries(1)
    try daemon.run("delete", "1")
    try daemon.run("color", "2", "blue")
    #expect(gone.end().output == "revision 6: no note matches\n")

    let later = try BackgroundProcess(daemon, ["wait", "--revision", "8"])
    for text in ["three", "four"] { try daemon.run("add", text) }
    #expect(later.end().output == "revision 8\n")
    #expect(daemon.stop() == 0)
  }

  @Test func twoProcessesAlternate() throws {
    let daemon = try Daemon()
    try daemon.start()
    let script = """
      set -e
      for round in 1 2 3; do
        stickies wait --where "text == 'ping $round'" --timeout 60s >/dev/null
        stickies add "pong $round" >/dev/null
      done &
      for round in 1 2 3; do
        stickies add "ping $round" >/dev/null
        stickies wait --where "text == 'pong $round'" --timeout 60s >/dev/null
      done
      wait
      stickies list --json | tr ',' '\\n' | sed -n 's/^"text":"\\(.*\\)"$/\\1/p'
      """
    let result = try BackgroundProcess(daemon, ["-c", script], program: "/bin/sh").end()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines == ["ping 1", "pong 1", "ping 2", "pong 2", "ping 3", "pong 3"])
    #expect(daemon.stop() == 0)
  }

  /// The time includes the connection, and is long enough for the first answer.
  @Test func timeoutHasItsOwnExitCode() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let late = try daemon.run("wait", "--where", "pinned == TRUE", "--timeout", "2500ms")
    #expect(late.status == 124)
    #expect(late.output.isEmpty)
    #expect(late.errors == "stickies: timed out after 2500ms: no note matches\n")
    let json = try daemon.run("wait", "--revision", "9", "--timeout", "2.5", "--json")
    #expect(json.status == 124)
    #expect(try json.refusal()["code"] == .string("timeout"))
    #expect(try json.refusal()["message"] == .string("timed out after 2.5s: the store is at revision 1"))
    #expect(daemon.stop() == 0)
  }

  @Test func waitSurvivesDaemonKill() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let match = try BackgroundProcess(daemon, ["wait", "--where", "text == \"three\""])
    let revision = try BackgroundProcess(daemon, ["wait", "--revision", "3", "--json"])
    try daemon.expectQueries(1, sessions: 2)
    daemon.kill()
    try daemon.start()
    try daemon.run("add", "two")
    try daemon.run("add", "three")
    let found = match.end()
    #expect(found.status == 0)
    #expect(found.output == "revision 3: 1 note matches\n")
    #expect(found.errors == "stickies: the connection was lost; trying again\n")
    #expect(try revision.end().json()["revision"] == .integer(3))

    // The time also runs out without a server.
    let alone = try BackgroundProcess(daemon, ["wait", "--where", "text == \"four\"", "--timeout", "2s"])
    try daemon.expectQueries(1)
    daemon.kill()
    #expect(alone.end().status == 124)
    #expect(try daemon.run("wait", "--revision", "1").status == 69)
  }

  @Test func waitWorksWithAnyModel() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let two = try BackgroundProcess(
      company.daemon, ["graph", "wait", "Party", "--where", "name BEGINSWITH \"A\"", "--count", "2", "--json"])
    try company.daemon.expectQueries(1)
    _ = try company.person("Ann", in: department)
    _ = try company.person("Ben", in: department)
    _ = try company.person("Abe", in: department)
    #expect(try two.end().json() == JSON(parsing: #"{"revision":4,"count":2}"#))
    #expect(try company.run("wait", "--revision", "4").output == "revision 4\n")
    let late = try company.run("wait", "Person", "--where", "name == \"Cleo\"", "--timeout", "2500ms")
    #expect(late.errors == "stickies: timed out after 2500ms: no Person object matches\n")
    #expect(try company.run("wait", "Persn").errors.contains("Did you mean \"Person\"?"))
    #expect(company.daemon.stop() == 0)
  }

  @Test(arguments: [
    (["wait"], "there is nothing to wait for: name notes by --where, --board or their ids, or a --revision"),
    (["wait", "--revision", "1", "7"], "a wait is for a revision or for objects that match, not for both"),
    (["wait", "7", "--count", "-1"], "--count must be 0 or more"),
    (["wait", "7", "7", "--count", "2"], "1 note can never be 2: --count can be at most the number of named notes"),
    (["wait", "7", "--timeout", "-1s"], "the value '-1s' is invalid for '--timeout <time>'"),
    (["graph", "wait", "--where", "x == 1"], "--where goes with an entity"),
    (["graph", "wait"], "there is nothing to wait for: name an entity, or a --revision"),
  ])
  func meaninglessWaitIsUsageError(arguments: [String], message: String) throws {
    let result = try Daemon.run(arguments, server: "unix:///nowhere", author: "a", input: nil)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("stickies: " + message), "\(result.errors)")
  }

  @Test func timeoutAppliesWithoutDaemon() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    #expect(try daemon.run("wait", "1", "--timeout", "0").status == 0)
    let none = try daemon.run("wait", "9", "--timeout", "0")
    #expect(
      none.status == 124 && none.errors.hasPrefix("stickies: timed out after 0s: no note matches"), "\(none.errors)")
    kill(daemon.process.processIdentifier, SIGSTOP)
    for words in [["1"], ["--revision", "9"]] {
      let late = try Daemon.run(
        ["wait"] + words + ["--timeout", "300ms"], server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(
        late.status == 124 && late.errors.hasPrefix("stickies: timed out after 300ms: the daemon has not answered"))
    }
    kill(daemon.process.processIdentifier, SIGCONT)
    #expect(daemon.stop() == 0)
  }

  /// The only output for a script is the outcome.
  @Test func waitAtTerminalNamesMissingCondition() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let seen = try PseudoTerminal.run(["wait", "99", "--timeout", "3s"], typing: "", daemon)
    #expect(seen.status == 124)
    #expect(seen.errors.contains("waiting: no note matches (Ctrl-C stops)"), "\(seen.errors)")
    let revision = try PseudoTerminal.run(["wait", "--revision", "99", "--timeout", "3s"], typing: "", daemon)
    #expect(revision.errors.contains("waiting: the store is at revision "), "\(revision.errors)")
    let script = try daemon.run("wait", "99", "--timeout", "1500ms")
    #expect(script.status == 124 && !script.errors.contains("waiting"), "\(script.errors)")
    #expect(daemon.stop() == 0)
  }
}
