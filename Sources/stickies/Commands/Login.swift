import ArgumentParser
import CommandLineIO
import GraphClient
import GraphModel
import GraphShell
import GraphWire
import StickiesKit
import StickiesModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

struct Login: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Log in to a daemon with a token.",
    discussion: """
      Reads the token, which the daemon's owner makes with "stickiesd token create", from standard input or a \
      file. No option takes the token itself, because other users can see the options of a program. If the daemon \
      accepts the token, it is kept in $XDG_STATE_HOME/stickies/tokens, where only you can read it, and used for each \
      connection to this daemon.

      With --browser, it prints a link with which your browser logs in as you, once and within a minute. The browser \
      then has a token of its own, which "stickiesd token list" shows.
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: ArgumentHelp("Read the token from this file; default: standard input.", valueName: "file"))
  var file: String?

  @Flag(help: "Print a link that logs a browser in.") var browser = false

  @Option(
    help: ArgumentHelp("With --browser: the user to log in; only for the daemon's owner.", valueName: "name"))
  var user: String?

  func validate() throws {
    if browser, file != nil { throw ValidationError("--browser reads no token; leave --file out") }
    if !browser, user != nil { throw ValidationError("--user needs --browser") }
  }

  @MainActor
  func run() async throws {
    if browser { return try await logBrowserIn() }
    let token = try read()
    let address = try options.address
    let client = try await options.connecting { security in
      try await Stickies.connectToAnyModel(at: address, token: token, security: security)
    }
    try await options.run(client) { shell in
      let login = LoginFile(for: client.address)
      try login.write(token)
      let name = client.welcome?.author ?? ""
      if shell.output.json {
        shell.output.print(JSON.object([.init("address", .string("\(client.address)")), .init("name", .string(name))]))
      } else {
        shell.output.print("logged in to \(client.address) as \(TextTable.visible(name))")
      }
    }
  }

  /// Prints the link: the code is in its fragment, which browsers send to no server.
  @MainActor
  private func logBrowserIn() async throws {
    try await options.withGraph { shell in
      let wanted = if let user { user } else { "" }
      let code = try await shell.client.browserCode(user: wanted)
      let link = code.code.isEmpty ? code.url : "\(code.url)#code=\(code.code)"
      if shell.output.json {
        shell.output.print(
          JSON.object([
            .init("link", .string(link)), .init("milliseconds", .integer(Int64(clamping: code.milliseconds))),
          ]))
      } else {
        shell.output.print(TextTable.visible(link))
      }
    }
  }

  private func read() throws -> String {
    let bytes: [UInt8]?
    if let file {
      bytes = FileManager.default.contents(atPath: file).map(Array.init)
    } else {
      if isatty(0) == 1 { StandardError.write("Paste the token, then press Enter and Ctrl-D:") }
      bytes = Descriptor.readToEnd(0)
    }
    guard let bytes else {
      throw Refusal(.unavailable, file.map { "\($0) can't be read" } ?? "standard input can't be read")
    }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 1, let word = words.first, word.utf8.count <= ProtocolLimits.maximumCredentialSize else {
      throw Refusal(.invalid, "the input is not a token; a token is one word that begins with stk_")
    }
    return String(word)
  }
}

struct Logout: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Forget the token for a daemon.",
    discussion: """
      The token stays valid until it expires or the daemon's owner revokes it (stickiesd token revoke). No daemon needs \
      to run.
      """)

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let environment = ProcessEnvironment.current
    var addresses = environment.daemonPlaces.map(\.address)
    if let address = try options.address ?? environment.server { addresses = [address] }
    if addresses.isEmpty { addresses = [environment.defaultSocket] }
    var removed = [ServerAddress]()
    for address in addresses where try LoginFile(for: address).remove() { removed.append(address) }
    if options.json {
      let list = JSON.array(removed.map { .string("\($0)") })
      StandardOutput.write(JSON.object([.init("loggedOut", list)]).text) { _ in }
    } else if removed.isEmpty {
      StandardOutput.write("no token was kept for \(addresses.map { "\($0)" }.joined(separator: ", "))") { _ in }
    } else {
      for address in removed { StandardOutput.write("logged out of \(address)") { _ in } }
    }
  }
}

struct Whoami: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami", abstract: "Show the name under which your changes are kept, and how the daemon knows it.")

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      guard let welcome = shell.client.welcome else {
        preconditionFailure("a command has a connection that was welcomed")
      }
      let identity = Identity(shell.client)
      let roles = try await GrantedRoles(shell)
      if shell.output.json {
        shell.output.print(
          JSON.object([
            .init("name", .string(welcome.author)), .init("principal", .string(welcome.principal)),
            .init("established", .string(identity.rawValue)),
            .init("role", .string(welcome.role)), .init("grants", roles.json),
            .init("address", .string("\(shell.client.address)")),
          ]))
      } else {
        let reason = "\(identity.sentence), at \(shell.client.address)"
        let role = TextTable.visible(welcome.role)
        shell.output.print("\(TextTable.visible(welcome.author))\n\(reason)\nrole \(role)\(roles.text("  "))")
      }
    }
  }
}
