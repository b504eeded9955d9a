import ArgumentParser
import GraphAccess
import GraphModel

/// `stickiesd token`
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Make, list and revoke the tokens with which users log in.",
    discussion: """
      A token is a secret: each program that has it acts as its user. It is printed once, because the daemon keeps \
      only a hash of it. The user gives it to "stickies login", which keeps it on the user's machine.
      """,
    subcommands: [Create.self, List.self, Revoke.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Make a token, and print it once.")

    @OptionGroup var store: StoreFlags
    @Argument(help: "The name of the user.") var user: String
    @Option(help: ArgumentHelp("The purpose of the token, to find it in the list.", valueName: "text")) var label = ""
    @Option(help: ArgumentHelp("The time until it expires, such as 90d.", valueName: "age"))
    var expires = "365d"
    @Flag(help: "Make a token that never expires.") var forever = false

    func validate() throws {
      if DurationOption(expires) == nil { throw ValidationError("--expires takes \(DurationOption.expected)") }
    }

    mutating func run() async throws {
      let (user, label, now) = (user, label, AccountCommand.now)
      guard let age = DurationOption(expires) else {
        throw ValidationError("--expires takes \(DurationOption.expected)")
      }
      let end = forever ? nil : now + age.microseconds
      try await AccountCommand.run(store, json: false) { file in
        let token = try file.createToken(
          of: user, label: label, expires: end, now: now, random: AccountCommand.random)
        Console.print(token.secretText)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the tokens, without their secrets.")

    @OptionGroup var store: StoreFlags
    @Option(help: ArgumentHelp("Only the tokens of this user.", valueName: "name")) var user: String?
    @Flag(help: "Include tokens that can no longer be used.") var all = false
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      try await AccountCommand.run(store, json: json) { file in
        let tokens = try file.tokens(of: user, withEnded: all, now: AccountCommand.now)
        if json { return Console.print(JSON.array(tokens.map(\.json)).text) }
        for token in tokens {
          var parts = ["\(token.selector)", token.user.name]
          parts.append("created \(AccountCommand.text(token.created))")
          parts.append("expires \(AccountCommand.text(token.expires))")
          parts.append("used \(AccountCommand.text(token.lastUsed))")
          if let revoked = token.revoked { parts.append("revoked \(AccountCommand.text(revoked))") }
          if !token.label.isEmpty { parts.append(token.label) }
          Console.printLine(parts.joined(separator: "  "))
        }
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke", abstract: "Revoke a token, and those of the browsers that logged in with it.",
      discussion: """
        A running daemon ends its sessions within a second. After a theft look at "stickiesd share list", too: an owner's \
        token makes share links, which stay.
        """)

    @OptionGroup var store: StoreFlags
    @Argument(help: "The first column of stickiesd token list: sixteen digits.") var token: String
    @Flag(help: "Print the result as one line of JSON.") var json = false

    func validate() throws {
      // The argument may be the secret by mistake, so the message must not repeat it.
      if TokenSelector(token) == nil {
        throw ValidationError("name the token by the sixteen digits that stickiesd token list shows, not by its secret")
      }
    }

    mutating func run() async throws {
      guard let selector = TokenSelector(token) else { throw ValidationError("the token has no sixteen digits") }
      try await AccountCommand.run(store, json: json) { file in
        let wasRevoked = try file.revokeToken(selector, now: AccountCommand.now)
        if json { return Console.print(JSON.object([.init("revoked", .bool(wasRevoked))]).text) }
        if !wasRevoked { Console.print("it was revoked before") }
      }
    }
  }
}

extension TokenRecord {
  fileprivate var json: JSON {
    .object([
      .init("token", .string(selector.description)), .init("user", .string(user.principal.id)),
      .init("name", .string(user.name)), .init("label", .string(label)), .init("browser", .bool(isBrowser)),
      .init("parent", parent.map { .string($0.description) } ?? .null),
      .init("created", AccountCommand.json(created)), .init("expires", AccountCommand.json(expires)),
      .init("used", AccountCommand.json(lastUsed)), .init("revoked", AccountCommand.json(revoked)),
    ])
  }
}
