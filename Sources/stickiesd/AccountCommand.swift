import ArgumentParser
import Foundation
import GraphAccess
import GraphModel
import GraphStore

/// The common part of the commands for users and tokens, which change `access.sqlite` themselves. A running daemon sees
/// the change within a second.
enum AccountCommand {
  /// Opens the file and runs the command.
  /// - Parameter creates: whether a file without users is created if there is none.
  static func run(
    _ flags: StoreFlags, json: Bool, creates: Bool = false, _ body: (AccessFile) async throws -> Void
  ) async throws {
    umask(0o077)
    try await StoreCommand.reportingFailures(json: json) {
      let directory = try await flags.settings().data
      // Before the daemon's first start there is no data directory.
      if creates { try StoreFiles.prepare(directory: directory) }
      let file = creates ? try AccessFile.create(directory: directory) : try AccessFile.open(directory: directory)
      guard let file else {
        throw Refusal(.notFound, "there are no accounts in \(directory); stickiesd user add NAME makes the first one")
      }
      try await body(file)
    }
  }

  static var now: Timestamp { Int64(Date().timeIntervalSince1970 * 1_000_000) }

  /// Random bits of the system's cryptographic generator.
  static func random() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }

  static func text(_ time: Timestamp?) -> String { time.map { RFC3339.text($0) } ?? "never" }

  static func json(_ time: Timestamp?) -> JSON { time.map { .string(RFC3339.text($0)) } ?? .null }
}

/// `stickiesd user`
struct UserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Add, list, rename and remove the users of a store.",
    discussion: """
      Users log in with tokens (stickiesd token create). Once a store has a user, connections over TCP need a token; \
      programs of the daemon's own user need none on its Unix-domain socket. A running daemon sees each change within a \
      second.
      """,
    subcommands: [Add.self, List.self, Rename.self, Remove.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a user, and print its id.")

    @OptionGroup var store: StoreFlags
    @Argument(help: "The name, which others see beside the user's changes.") var name: String
    @Option(
      help: ArgumentHelp("The role on the complete store: \(Role.names), or none; default: editor.", valueName: "role"))
    var role = "editor"
    @Flag(help: "Print the result as one line of JSON.") var json = false

    func validate() throws {
      if role != "none", Role(rawValue: role) == nil {
        throw ValidationError("--role takes \(Role.names), or none")
      }
    }

    mutating func run() async throws {
      let role = Role(rawValue: role)
      try await AccountCommand.run(store, json: json, creates: true) { file in
        let user = try file.addUser(name, role: role, now: AccountCommand.now, random: AccountCommand.random)
        Console.print(json ? user.json.text : user.principal.id)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users.")

    @OptionGroup var store: StoreFlags
    @Flag(help: "Include removed users.") var all = false
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (all, json, flags) = (all, json, store)
      try await AccountCommand.run(store, json: json) { file in
        let users = try file.users(withRemoved: all).filter { !$0.isLink }
        let names = await ScopeNames(of: users.flatMap(\.grants), flags)
        if json { return Console.print(JSON.array(users.map { $0.json(names) }).text) }
        for user in users {
          let note = user.isRemoved ? "  removed" : ""
          Console.printLine(
            "\(user.principal.id)  \(AccountCommand.text(user.created))  \(user.roleText)  \(user.name)\(note)")
          for grant in user.grants where grant.scope != nil {
            Console.printLine("  \(grant.role.rawValue) on \(names.text(grant))")
          }
        }
      }
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rename", abstract: "Rename a user.",
      discussion: "From the user's next change on, history shows the new name, for earlier changes as well.")

    @OptionGroup var store: StoreFlags
    @Argument(help: "The present name.") var name: String
    @Argument(help: "The new name.") var newName: String
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      try await AccountCommand.run(store, json: json) { file in
        let user = try file.renameUser(name, to: newName, now: AccountCommand.now)
        if json { Console.print(user.json.text) }
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a user, and end the user's sessions and share links.",
      discussion: """
        The share links that the user made on the web board end, too, because the user may know them; --keep-links keeps \
        them. The user's changes and their author stay in history. The name may be used again, for another user. With \
        --erase-name the name is forgotten: history shows the user's id instead, from the daemon's next turn or start \
        on. Backups keep what they have.
        """)

    @OptionGroup var store: StoreFlags
    @Argument(help: "The name; with --erase-name also the id of a removed user.") var name: String
    @Flag(help: "Erase the name.") var eraseName = false
    @Flag(help: "Keep the share links that the user made.") var keepLinks = false
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      try await AccountCommand.run(store, json: json) { file in
        let now = AccountCommand.now
        let links =
          if eraseName {
            try file.eraseUser(name, keepsLinks: keepLinks, now: now)
          } else {
            try file.removeUser(name, keepsLinks: keepLinks, now: now)
          }
        if json {
          let names = JSON.array(links.map { .string($0.name) })
          return Console.print(JSON.object([.init("removed", .string(name)), .init("links", names)]).text)
        }
        for link in links { Console.printLine("ended \(link.name)") }
      }
    }
  }
}

extension AccessUser {
  var json: JSON { json(ScopeNames()) }

  func json(_ names: ScopeNames) -> JSON {
    .object([
      .init("id", .string(principal.id)), .init("name", .string(name)), .init("created", AccountCommand.json(created)),
      .init("role", role.map { .string($0.rawValue) } ?? .null),
      .init("grants", .array(grants.map { .object(names.members(of: $0)) })), .init("removed", .bool(isRemoved)),
    ])
  }

  /// The role on the complete store, for a line of text; a user may have roles on scopes only.
  var roleText: String {
    if let role { return role.rawValue }
    return grants.isEmpty ? "none" : "scopes"
  }
}
