import ArgumentParser
import Foundation
import GraphAccess
import GraphModel

/// `stickiesd share`
struct ShareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Make, list and remove share links: secrets that give a role on one scope.",
    discussion: """
      A share link is a token for people without an account. Each program that has it sees the scope, and nothing else, \
      and acts under the link's name. "stickies login" reads it from standard input, as any token.
      """,
    subcommands: [Create.self, List.self, Remove.self], defaultSubcommand: Create.self)

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Make a share link, and print its secret once.")

    @OptionGroup var store: StoreFlags
    @Argument(help: ArgumentHelp("The scope: \(ObjectName.forms).")) var object: String
    @Argument(help: ArgumentHelp("One of reader, commenter, editor.")) var role: Role
    @Option(
      help: ArgumentHelp("The link's name, which others see beside changes; default: random digits.", valueName: "text")
    )
    var label: String?
    @Option(help: ArgumentHelp("The time until it ends, such as 30d; default: 90d.", valueName: "age"))
    var expires = "90d"
    @Flag(help: "Make a link that never ends.") var forever = false

    func validate() throws {
      try ObjectName.check(object)
      if DurationOption(expires) == nil { throw ValidationError("--expires takes \(DurationOption.expected)") }
      if role == .owner { throw ValidationError("a share link can't make its holders owners") }
    }

    mutating func run() async throws {
      let (label, role, object, flags, now) = (label, role, ObjectName(object), store, AccountCommand.now)
      guard let age = DurationOption(expires) else { throw ValidationError("--expires was checked") }
      let end = forever ? nil : now + age.microseconds
      try await AccountCommand.run(store, json: false, creates: true) { file in
        let scope = try await object.key(flags)
        let name = if let label { label } else { TokenSelector(AccountCommand.random()).description }
        let made = try file.createLink(
          to: scope, role: role, label: name, expires: end, now: now, random: AccountCommand.random)
        Console.print(made.token.secretText)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the share links, without their secrets.")

    @OptionGroup var store: StoreFlags
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let flags = store
      try await AccountCommand.run(store, json: json) { file in
        // A browser that has opened a link has a token of its own.
        let tokens = try file.tokens(now: AccountCommand.now).filter { $0.user.isLink && !$0.isBrowser }
        let names = await ScopeNames(of: tokens.flatMap(\.user.grants), flags)
        if json { return Console.print(JSON.array(tokens.map { Self.json($0, names) }).text) }
        let users = try file.names()
        for token in tokens {
          for grant in token.user.grants {
            Console.printLine(
              "\(names.text(grant))  \(grant.role.rawValue)  expires \(AccountCommand.text(token.expires))  used "
                + "\(AccountCommand.text(token.lastUsed))  \(token.user.name)\(Self.maker(of: token, users))")
          }
        }
      }
    }

    /// The end of a line: the name of the user who made the link, or its id if the name was erased.
    private static func maker(of token: TokenRecord, _ names: [String: String]) -> String {
      guard let id = token.user.maker else { return "" }
      return "  by \(names[id, default: Principal.accountPrefix + id])"
    }

    private static func json(_ token: TokenRecord, _ names: ScopeNames) -> JSON {
      .object([
        .init("name", .string(token.user.name)), .init("user", .string(token.user.principal.id)),
        .init("token", .string(token.selector.description)),
        .init("maker", token.user.maker.map { .string(Principal.accountPrefix + $0) } ?? .null),
        .init("grants", .array(token.user.grants.map { .object(names.members(of: $0)) })),
        .init("created", AccountCommand.json(token.created)), .init("expires", AccountCommand.json(token.expires)),
        .init("used", AccountCommand.json(token.lastUsed)),
      ])
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a share link.",
      discussion: "A running daemon ends the sessions of its holders within a second.")

    @OptionGroup var store: StoreFlags
    @Argument(help: "The name that stickiesd share list shows, with or without \"link: \".") var name: String
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let prefix = AccessFile.linkPrefix
      let name = self.name.hasPrefix(prefix) ? self.name : prefix + self.name
      try await AccountCommand.run(store, json: json) { file in
        try file.removeUser(name, now: AccountCommand.now)
        if json { Console.print(JSON.object([.init("removed", .string(name))]).text) }
      }
    }
  }
}
