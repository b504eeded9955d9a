import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickiesd audit`, with the programs: who has logged in, what was refused, which rights were changed.
@Suite struct AuditCommandTests {
  private let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try daemon.start()
    #expect(try daemon.stickiesd("user", "add", "ann", "--role", "reader").status == 0)
  }

  private func remote(_ arguments: [String], input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.tcp, author: "eve@test", input: input,
      environment: ["XDG_STATE_HOME": daemon.home.path + "/state"])
  }

  /// The events of the log, from lines of JSON.
  private func events(_ arguments: String...) throws -> [JSON] {
    let result = try daemon.stickiesd(["audit", "--json"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return try result.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
  }

  /// The log is written after the answer to the client; waits until it has an event.
  private func waitForEvent(_ name: String) async throws {
    while try !events().contains(where: { $0["event"]?.stringValue == name }) { await Task.yield() }
  }

  @Test(.timeLimit(.minutes(1))) func loginsRefusalsAndChangesAreListed() async throws {
    let secret = try daemon.stickiesd("token", "create", "ann").output
    #expect(try remote(["login"], input: secret).status == 0)
    #expect(try remote(["add", "secret text"]).status == 77)
    #expect(try remote(["login"], input: String(secret.dropLast(8)) + "aaaaaaaa").status != 0)
    try await waitForEvent("login")
    try await waitForEvent("refused")
    try await waitForEvent("login refused")
    let all = try events()
    let login = try #require(all.first { $0["event"]?.stringValue == "login" })
    #expect(login["name"]?.stringValue == "ann" && login["address"]?.stringValue == "127.0.0.1")
    #expect(login["token"]?.stringValue?.count == 16)
    let refused = try #require(all.first { $0["event"]?.stringValue == "refused" })
    #expect(refused["text"]?.stringValue?.contains("needs the role commenter") == true)
    let names = all.compactMap { $0["event"]?.stringValue }
    #expect(names.starts(with: ["user add", "grant", "token create"]), "\(names)")
    // Neither contents nor secrets.
    let text = try daemon.stickiesd("audit").output
    #expect(text.contains("  login  ann  127.0.0.1  token "))
    #expect(!text.contains("secret text") && !text.contains("stk_"))
    // A login with a wrong token belongs to no user.
    let ofAnn = all.filter { $0["name"]?.stringValue == "ann" }
    #expect(try events("--user", "ann").count == ofAnn.count && ofAnn.count < all.count)
    #expect(try events("--since", "1h").count == all.count)
    #expect(try events("--since", "2100-01-01T00:00:00Z").isEmpty)
    let file = daemon.data + "/audit.log"
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    #expect(daemon.stop() == 0)
  }

  @Test func wrongOptionsAreRefused() throws {
    let time = try daemon.stickiesd("audit", "--since", "yesterday")
    #expect(time.status == 64 && time.errors.contains("--since takes a time"))
    let user = try daemon.stickiesd("audit", "--user", "eve")
    #expect(user.status == 1 && user.errors.contains("there is no user"))
    #expect(daemon.stop() == 0)
  }

  @Test func erasedNameIsInNoLine() throws {
    #expect(try daemon.stickiesd("user", "remove", "ann", "--erase-name").status == 0)
    let output = try daemon.stickiesd("audit").output
    #expect(output.contains("user erase") && !output.contains("ann"))
    #expect(daemon.stop() == 0)
  }
}
