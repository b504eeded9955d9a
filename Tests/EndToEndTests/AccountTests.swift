import Foundation
import GraphModel
import GraphTesting
import Testing

/// Users and tokens, with the programs: `stickiesd user` and `token`, `stickies login`, `logout` and `whoami`.
@Suite struct AccountTests {
  private let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try daemon.start()
  }

  /// Runs `stickies` over TCP, with a state folder of its own.
  private func remote(_ arguments: String..., input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(
      arguments, server: daemon.tcp, author: "eve@test", input: input, environment: ["XDG_STATE_HOME": state])
  }

  private var state: String { daemon.home.path + "/state" }

  private func login(_ user: String) throws -> String {
    #expect(try daemon.stickiesd("user", "add", user).status == 0)
    let token = try daemon.stickiesd("token", "create", user, "--label", "laptop").lines
    let secret = try #require(token.first)
    #expect(secret.hasPrefix("stk_"))
    let login = try remote("login", input: secret + "\n")
    #expect(login.status == 0 && login.output == "logged in to \(daemon.tcp) as \(user)\n", "\(login.errors)")
    return secret
  }

  /// Starts `stickies watch` over TCP, and returns when it is connected.
  private func watchRemotely() throws -> Process {
    let watch = Process()
    watch.executableURL = Daemon.binary("stickies")
    watch.arguments = ["watch", "--json", "--server", daemon.tcp]
    watch.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": state]) { $1 }
    let output = Pipe()
    (watch.standardOutput, watch.standardError) = (output, output)
    watch.standardInput = FileHandle.nullDevice
    try watch.run()
    // The first line comes when it is connected.
    var text = ""
    while !text.contains("\n") {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    #expect(text.contains("\"snapshot\""), "\(text)")
    return watch
  }

  @Test func networkNeedsTokenOnceThereIsUser() throws {
    let before = try remote("whoami")
    #expect(before.lines.first == "eve@test", "\(before.errors)")
    _ = try daemon.stickiesd("user", "add", "ann")
    let refused = try remote("whoami")
    #expect(refused.status != 0 && refused.errors.contains("this server needs a token"))
    // The daemon's own user needs none on the socket, and keeps choosing a name.
    #expect(try daemon.run("whoami", author: "me").lines.first == "me")
    // To remove the last user does not open the daemon again.
    _ = try daemon.stickiesd("user", "remove", "ann")
    #expect(try remote("whoami").errors.contains("this server needs a token"))
  }

  @Test func firstUserEndsSessionsWithoutToken() throws {
    let watch = try watchRemotely()
    #expect(try daemon.stickiesd("user", "add", "ann").status == 0)
    // Ends by itself: the daemon closes the session, and accepts no other one.
    watch.waitUntilExit()
    #expect(watch.terminationStatus != 0)
  }

  @Test func labelInTheListCannotControlTheTerminal() throws {
    #expect(try daemon.stickiesd("user", "add", "ann").status == 0)
    #expect(try daemon.stickiesd("token", "create", "ann", "--label", "a\u{1B}[2Jb").status == 0)
    let list = try daemon.stickiesd("token", "list").output
    #expect(list.contains("a\\u{1b}[2Jb") && !list.contains("\u{1B}"), "\(list)")
    let refused = try daemon.stickiesd("token", "create", "x\u{1B}[2J")
    #expect(refused.status != 0 && !refused.errors.contains("\u{1B}"), "\(refused.errors)")
  }

  /// The accounts of a network daemon are made before its first start.
  @Test func firstUserCreatesTheDataDirectory() throws {
    let folder = daemon.home.path + "/not/yet"
    let added = try daemon.stickiesd("user", "add", "ann", "--data", folder)
    #expect(added.status == 0 && added.output.hasPrefix("user:"), "\(added.errors)")
    #expect(try daemon.stickiesd("user", "list", "--data", folder).output.contains("ann"))
    let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
    #expect(mode == 0o700)
  }

  @Test func changesHaveTheNameOfTheAccount() throws {
    let secret = try login("ann")
    let who = try remote("whoami", "--json").json()
    #expect(who["name"]?.stringValue == "ann" && who["established"]?.stringValue == "token")
    #expect(try remote("add", "hello").status == 0)
    #expect(try daemon.run("log").output.contains("ann"))
    #expect(try !daemon.run("log").output.contains("eve@test"))
    // A rename shows from the next change on; the account's undo stack stays.
    #expect(try daemon.stickiesd("user", "rename", "ann", "anna").status == 0)
    #expect(try remote("undo").status == 0)
    let log = try daemon.run("log").output
    #expect(log.contains("anna") && !log.contains("ann "))
    // The secret is in the login file only, which is private.
    let folder = state + "/stickies/tokens"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
    var status = stat()
    #expect(lstat(folder + "/" + name, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try String(contentsOfFile: folder + "/" + name, encoding: .utf8) == secret + "\n")
    #expect(!daemon.errorText.contains(secret))
    for file in try FileManager.default.contentsOfDirectory(atPath: daemon.data) {
      guard let content = FileManager.default.contents(atPath: daemon.data + "/" + file) else { continue }
      #expect(content.range(of: Data(secret.utf8.dropFirst(20))) == nil, "\(file)")
    }
  }

  @Test func revokedTokenEndsItsSessionsAndLogins() throws {
    _ = try login("ann")
    let list = try daemon.stickiesd("token", "list", "--json").json()
    let selector = try #require(list[0]?["token"]?.stringValue)
    #expect(list[0]?["label"]?.stringValue == "laptop" && list[0]?["name"]?.stringValue == "ann")
    let watch = try watchRemotely()
    #expect(try daemon.stickiesd("token", "revoke", selector).status == 0)
    // Ends by itself: the daemon closes the session, and no other one opens.
    watch.waitUntilExit()
    #expect(watch.terminationStatus != 0)
    #expect(try remote("list").errors.contains("the token was revoked"))
    #expect(try remote("logout").output == "logged out of \(daemon.tcp)\n")
    #expect(try remote("list").errors.contains("this server needs a token"))
    #expect(try remote("logout").output.hasPrefix("no token was kept"))
  }

  @Test func wrongTokensAreRefusedAndNotKept() throws {
    let secret = try login("ann")
    #expect(try remote("logout").status == 0)
    let other = try Daemon()
    try other.start()
    _ = try other.stickiesd("user", "add", "ann")
    let foreign = try #require(try other.stickiesd("token", "create", "ann").lines.first)
    let mistyped = String(secret.dropLast()) + (secret.hasSuffix("a") ? "b" : "a")
    let texts: [(String, String)] = [
      (foreign, "the token is not valid here"), (String(secret.dropLast()), "was it cut?"),
      (mistyped, "the token can't be read"), ("", "is not a token"), ("stk_ abc", "is not a token"),
    ]
    for (text, reason) in texts {
      let login = try remote("login", input: text)
      #expect(login.status != 0 && login.errors.contains(reason), "\(login.errors)")
      if text.utf8.count > 40 { #expect(!login.errors.contains(text.dropFirst(8).prefix(20))) }
    }
    #expect(try remote("list").errors.contains("this server needs a token"))
    #expect(daemon.errorText.contains("a login was refused"))
  }

  @Test func lostAccountsDoNotOpenTheDaemon() throws {
    _ = try login("ann")
    #expect(try remote("add", "one").status == 0)
    let tcp = daemon.tcp
    #expect(daemon.stop() == 0)
    #expect(unlink(daemon.data + "/access.sqlite") == 0)
    try daemon.start(listen: [tcp])
    #expect(daemon.errorText.contains("access.sqlite is missing"))
    #expect(try remote("list").errors.contains("can't read its accounts"))
    #expect(try remote("logout").status == 0)
    #expect(try remote("list").errors.contains("can't read its accounts"))
    // The owner still reaches it, and can make accounts again.
    #expect(try daemon.run("list").output.contains("one"))
    #expect(try daemon.stickiesd("user", "add", "ben").status == 0)
    #expect(try remote("list").errors.contains("this server needs a token"))
    #expect(daemon.stop() == 0)
  }

  @Test func cutAccountsKeepTheDaemonFromStarting() throws {
    _ = try daemon.stickiesd("user", "add", "ann")
    #expect(daemon.stop() == 0)
    #expect(truncate(daemon.data + "/access.sqlite", 0) == 0)
    let failure = #expect(throws: Daemon.DaemonExited.self) { try daemon.start() }
    #expect(failure?.log.contains("it is empty") == true)
  }

  @Test func validTokenDoesNotWaitForWrongOnesOfItsAddress() throws {
    _ = try login("ann")
    let other = try Daemon()
    try FileManager.default.createDirectory(atPath: other.data, withIntermediateDirectories: true)
    _ = try other.stickiesd("user", "add", "eve")
    let foreign = try other.stickiesd("token", "create", "eve").output
    // The answers to these take 0, 100, 200, 400, 800 and 1,600 ms.
    for _ in 0..<6 {
      let refused = try Daemon.run(
        ["login"], server: daemon.tcp, author: "eve@test", input: foreign,
        environment: ["XDG_STATE_HOME": daemon.home.path + "/eve"])
      #expect(refused.status != 0)
    }
    let begun = ContinuousClock.now
    #expect(try remote("list").status == 0)
    // The next wrong token would wait for 3.2 s.
    #expect(ContinuousClock.now - begun < .seconds(3))
  }

  @Test func accountsThatOthersCanWriteKeepTheDaemonFromStarting() throws {
    _ = try daemon.stickiesd("user", "add", "ann")
    #expect(daemon.stop() == 0)
    chmod(daemon.data + "/access.sqlite", 0o660)
    let failure = #expect(throws: Daemon.DaemonExited.self) { try daemon.start() }
    #expect(failure?.log.contains("other users have access") == true)
    #expect(try daemon.stickiesd("user", "list").errors.contains("chmod 600"))
  }
}
