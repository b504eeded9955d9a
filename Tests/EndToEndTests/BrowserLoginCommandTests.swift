import Foundation
import GraphModel
import GraphTesting
import Testing

/// `stickies login --browser`, and what a browser does with the link; curl is the browser.
@Suite(.timeLimit(.minutes(1))) struct BrowserLoginCommandTests {
  private let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try daemon.start(["--http", "127.0.0.1:0"])
  }

  private var address: String { get throws { try #require(daemon.listening.first { $0.hasPrefix("http://") }) } }

  /// Requests a resource with the cookies of the browser; returns the status and the body.
  private func browse(_ target: String, _ arguments: [String] = []) throws -> (status: String, body: String) {
    let jar = daemon.home.path + "/cookies"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["curl", "-s", "--max-time", "20", "-b", jar, "-c", jar, "-w", "\n%{http_code}", try address + target] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let lines = text.split(separator: "\n")
    return (lines.last.map(String.init) ?? "", lines.first.map(String.init) ?? "")
  }

  /// A stream of events with the cookies of the browser, behind its first bytes.
  private func follow() throws -> FileHandle {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "curl", "-sN", "--max-time", "20", "-b", daemon.home.path + "/cookies", try address + "/v1/live?entity=Note",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    #expect(!output.fileHandleForReading.availableData.isEmpty, "the stream begins with a snapshot")
    return output.fileHandleForReading
  }

  private func logIn(_ secret: String, kind: String = "code") throws -> (status: String, body: String) {
    // A page sends its origin with each POST.
    try browse(
      "/v1/login",
      ["-H", "Content-Type: application/json", "-H", "Origin: \(try address)", "-d", #"{"\#(kind)":"\#(secret)"}"#])
  }

  @Test func withoutAccountsTheLinkNeedsNoCode() throws {
    #expect(try daemon.run("login", "--browser").output == address + "/\n")
    #expect(try daemon.run("status", "--json").json()["web"] == .string(address + "/"))
    #expect(try daemon.run("status").lines.contains("web board      \(address)/"))
    let session = try JSON(parsing: try browse("/v1/session").body)
    #expect(session["accounts"] == .bool(false) && session["role"] == .string("owner"))
  }

  @Test func linkLogsABrowserInOnceAndItsTokenCanBeRevoked() throws {
    #expect(try daemon.stickiesd("user", "add", "ann").status == 0)
    let owner = try daemon.run("login", "--browser")
    #expect(owner.status != 0 && owner.errors.contains("--user"), "\(owner.errors)")
    #expect(try daemon.run("login", "--browser", "--user", "eve").status != 0)
    let link = try daemon.run("login", "--browser", "--user", "ann")
    let prefix = try address + "/#code="
    #expect(link.output.hasPrefix(prefix), "\(link.output) \(link.errors)")
    let code = String(link.output.dropFirst(prefix.count).dropLast())
    let first = try logIn(code)
    #expect(first.status == "200" && first.body.contains(#""user":"ann""#), "\(first)")
    #expect(try logIn(code).status == "401")
    #expect(try browse("/v1/session").body.contains(#""user":"ann""#))
    let tokens = try daemon.stickiesd("token", "list", "--json").json().arrayValue
    let token = try #require(tokens?.first)
    #expect(tokens?.count == 1 && token["browser"] == .bool(true) && token["name"] == .string("ann"))
    let selector = try #require(token["token"]?.stringValue)
    let stream = try follow()
    #expect(try daemon.stickiesd("token", "revoke", selector).status == 0)
    // The stream ends with the right, at the same time as the kept sessions of the browser.
    #expect(String(decoding: stream.readDataToEndOfFile(), as: UTF8.self).contains("event: end"))
    let revoked = try browse("/v1/history")
    #expect(revoked.status == "401", "\(revoked)")
    // The cookie was taken away with the refusal.
    #expect(try browse("/v1/session").body.contains(#""user":null"#))
    #expect(!daemon.errorText.contains(code))
  }

  @Test func revokedTokenEndsItsBrowsersAndCodes() throws {
    #expect(try daemon.stickiesd("user", "add", "ann").status == 0)
    let secret = try #require(try daemon.stickiesd("token", "create", "ann").lines.first)
    let program = try daemon.stickiesd("token", "list", "--json").json().arrayValue?.first
    let selector = try #require(program?["token"]?.stringValue)
    #expect(program?["parent"] == .null)
    let environment = ["XDG_STATE_HOME": daemon.home.path + "/state"]
    let login = try Daemon.run(
      ["login"], server: daemon.tcp, author: "eve", input: secret + "\n", environment: environment)
    #expect(login.status == 0, "\(login.errors)")
    let link = try Daemon.run(
      ["login", "--browser"], server: daemon.tcp, author: "eve", input: nil, environment: environment)
    let code = try #require(link.output.split(separator: "=").last?.trimmingCharacters(in: .newlines))
    #expect(try logIn(secret, kind: "token").status == "200")
    let tokens = try daemon.stickiesd("token", "list", "--json").json().arrayValue
    let browser = tokens?.first { $0["browser"] == .bool(true) }
    #expect(browser?["parent"] == .string(selector))
    let stream = try follow()
    #expect(try daemon.stickiesd("token", "revoke", selector).status == 0)
    #expect(String(decoding: stream.readDataToEndOfFile(), as: UTF8.self).contains("event: end"))
    #expect(try browse("/v1/history").status == "401")
    let late = try logIn(code)
    #expect(late.status == "401" && late.body.contains("was revoked"), "\(late)")
  }

  @Test func usageNamesTheMistake() throws {
    #expect(try daemon.run("login", "--user", "ann").errors.contains("--user needs --browser"))
    #expect(try daemon.run("login", "--browser", "--file", "x").errors.contains("leave --file out"))
  }
}
