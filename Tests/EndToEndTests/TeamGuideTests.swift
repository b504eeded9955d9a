import Foundation
import GraphTesting
import Testing

/// The section "A daemon for a team" of docs/operating.md, line by line: each command prints the output that the page
/// shows.
@Suite struct TeamGuideTests {
  private let daemon: Daemon

  init() throws { daemon = try Daemon() }

  private func steps() throws -> [ConsoleStep] {
    let page = String(decoding: try Fixtures.file("docs/operating.md"), as: UTF8.self)
    let section = try #require(page.split(separator: "## A daemon for a team\n").last?.split(separator: "\n## ").first)
    return ConsoleStep.read(section)
  }

  /// Ids, keys and times differ from run to run.
  private func plain(_ text: String) -> String {
    text.replacing(#/user:[0-9a-f]{16}/#, with: "user:ID").replacing(#/sha256:[0-9a-f]{64}/#, with: "sha256:KEY")
      .replacing(#/\d{4}-\d\d-\d\dT\S+Z/#, with: "DATE")
      .replacing(daemon.data + "/", with: "/home/notes/.local/share/stickies/")
      .replacing(#/(localhost|notes\.example\.org)(:\d+)?/#, with: "HOST")
  }

  private func shell(_ command: String, _ variables: [String: String] = [:]) throws -> Daemon.Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.currentDirectoryURL = URL(fileURLWithPath: daemon.home.path)
    process.environment = ProcessInfo.processInfo.environment.merging(
      [
        "XDG_CONFIG_HOME": daemon.home.path, "STICKIESD_DATA": daemon.data, "XDG_STATE_HOME": daemon.home.path + "/ann",
        "STICKIES_AUTHOR": "somebody@test", "NO_COLOR": "1",
        "PATH": Daemon.binary("stickies").deletingLastPathComponent().path + ":/usr/bin:/bin",
      ].merging(variables) { $1 }
    ) { $1 }
    process.arguments = ["-c", command + " 2>&1"]
    return try process.result()
  }

  /// The port of the page may be taken, so the daemon chooses one. The host of the page does not exist.
  private var server: String {
    daemon.listening.first { $0.hasPrefix("tls:") }?.replacing("0.0.0.0", with: "localhost") ?? ""
  }

  @Test func commandsMakeReachableDaemonWithThreeUsers() throws {
    let steps = try steps()
    #expect((5...10).contains(steps.count))
    var pin = ""
    for step in steps {
      if step.command.hasPrefix("stickiesd --listen ") {
        #expect(
          step.command
            == "stickiesd --listen tls://0.0.0.0:7417 --listen unix://$HOME/.local/share/stickies/socket")
        try daemon.start(listen: ["tls://0.0.0.0:0"])
        continue
      }
      let command = step.command.replacing("tls://notes.example.org", with: server)
        .replacing("notes.example.org", with: "localhost").replacing(#/sha256:[0-9a-f]{64}/#, with: pin)
      let result = try shell(command)
      #expect(result.status == 0 && plain(result.output) == plain(step.output), "$ \(command)\n\(result.output)")
      if let key = result.output.firstMatch(of: #/sha256:[0-9a-f]{64}/#) { pin = String(key.output) }
    }
    #expect(!daemon.errorText.contains("is reachable from other machines"))
    try expectThatTheOthersRemain(pin)
    #expect(daemon.stop() == 0)
  }

  /// The removed user is refused, and the third one logs in. No token can be read by other users.
  private func expectThatTheOthersRemain(_ pin: String) throws {
    let login = "stickies login --server \(server) --pin \(pin) < "
    let ben = try shell(login + "ben.token", ["XDG_STATE_HOME": daemon.home.path + "/ben"])
    #expect(ben.status == 2 && ben.output.contains("was removed"), "\(ben.output)")
    let cleo = try shell(login + "cleo.token", ["XDG_STATE_HOME": daemon.home.path + "/cleo"])
    #expect(cleo.status == 0 && cleo.output.hasSuffix(" as cleo\n"), "\(cleo.output)")
    // A board of the owner, on which neither Cleo nor the guests have a role.
    let hidden = try daemon.run("board", "add", "Private")
    #expect(hidden.status == 0, "\(hidden.errors)")
    for (name, token) in [("cleo", nil), ("guests", "guests.token")] as [(String, String?)] {
      let state = ["XDG_STATE_HOME": daemon.home.path + "/" + name]
      if let token { #expect(try shell(login + token, state).status == 0) }
      let boards = try shell("stickies board list --json --server \(server)", state)
      #expect(boards.output.contains("Plans") && !boards.output.contains("Private"), "\(boards.output)")
    }
    for name in ["ann", "ben", "cleo"] {
      var status = stat()
      #expect(stat(daemon.home.path + "/\(name).token", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }
}
