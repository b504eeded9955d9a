import Foundation
import GraphTesting
import Testing

/// No output and no file of the programs contains a token.
@Suite struct SecretTests {
  private let daemon: Daemon
  private let secret: String

  init() throws {
    daemon = try Daemon()
    try daemon.start()
    _ = try daemon.stickiesd("user", "add", "ann")
    secret = try #require(try daemon.stickiesd("token", "create", "ann").lines.first)
  }

  /// A part of the secret that no message may have.
  private var tail: String { String(secret.dropFirst(20)) }

  @Test func mistakenArgumentsAreNotRepeated() throws {
    let commands = [
      ["login", secret], ["login", "--token", secret], ["login", "--file", secret], [secret], ["show", secret],
      ["list", "--server", "tls://\(secret)@localhost"], ["list", "--server", secret], ["login", secret, "--json"],
    ]
    for command in commands {
      let result = try Daemon.run(command, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status != 0 && !result.errors.isEmpty && !result.errors.contains(tail), "\(result.errors)")
      #expect(!result.output.contains(tail))
    }
    let administration = [
      ["token", "revoke", secret], ["token", "list", secret], ["token", "create", secret], ["user", "add", secret],
      ["token", "create", "ann", "--label", secret], ["user", "rename", "ann", secret, "--json"],
    ]
    for command in administration {
      let result = try daemon.stickiesd(command)
      #expect(result.status != 0 && !result.errors.isEmpty && !result.errors.contains(tail), "\(result.errors)")
    }
    #expect(!daemon.errorText.contains(tail))
    #expect(daemon.stop() == 0)
  }

  @Test func daemonWritesNoCoreDump() throws {
    let limits = try String(contentsOfFile: "/proc/\(daemon.process.processIdentifier)/limits", encoding: .utf8)
    let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    #expect(line.split(separator: " ").filter { $0 == "0" }.count == 2)
    #expect(daemon.stop() == 0)
  }

  @Test func restoreRevivesNoToken() throws {
    let (environment, tcp) = (["XDG_STATE_HOME": daemon.home.path + "/state"], daemon.tcp)
    let backup = daemon.home.path + "/backup.sqlite"
    let login = try daemon.run("login", input: secret, server: tcp, environment: environment)
    #expect(login.status == 0, "\(login.errors)")
    #expect(try daemon.run("add", "one", server: tcp, environment: environment).status == 0)
    #expect(try daemon.stickiesd("backup", backup).status == 0)
    let list = try daemon.stickiesd("token", "list", "--json").json()
    let selector = try #require(list[0]?["token"]?.stringValue)
    let content = try Data(contentsOf: URL(fileURLWithPath: backup))
    #expect(content.range(of: Data(selector.utf8)) == nil && content.range(of: Data(tail.utf8)) == nil)
    // A right that was taken after the backup stays taken.
    #expect(try daemon.stickiesd("token", "revoke", selector).status == 0)
    #expect(daemon.stop() == 0)
    #expect(try daemon.stickiesd("restore", backup).status == 0)
    try daemon.start(listen: [tcp])
    let refused = try daemon.run("whoami", server: tcp, environment: environment)
    #expect(refused.status != 0 && refused.errors.contains("the token was revoked"), "\(refused.errors)")
    #expect(try daemon.run("list").output.contains("one"))
    #expect(daemon.stop() == 0)
  }
}
