import ArgumentParser
import Foundation
import GraphAccess
import GraphModel

/// `stickiesd grant`
struct GrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Give users roles, on the complete store or on one scope.",
    discussion: """
      A reader sees objects; a commenter also creates objects, and changes its own; an editor changes all objects; an \
      owner is an editor who answers for the store. Without --on the role holds for the complete store. A scope is an \
      object that the model names as a container: --on Board:Plans is the board called Plans. A running daemon gives the \
      user's sessions the new rights within a second.
      """,
    subcommands: [Add.self, List.self, Remove.self], defaultSubcommand: Add.self)

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Give a user a role; it replaces the user's role on the same scope.")

    @OptionGroup var store: StoreFlags
    @OptionGroup var place: ScopeOption
    @Argument(help: "The name of the user.") var user: String
    @Argument(help: ArgumentHelp("One of \(Role.names).")) var role: Role
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (user, role, place, flags) = (user, role, place, store)
      try await AccountCommand.run(store, json: json) { file in
        let scope = try await place.scope(flags)
        let changed = try file.grant(role, to: user, on: scope, now: AccountCommand.now)
        if json { Console.print(changed.json.text) }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the roles of all users, or of one.")

    @OptionGroup var store: StoreFlags
    @OptionGroup var place: ScopeOption
    @Argument(help: "Only the roles of this user.") var user: String?
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (name, place, flags) = (user, place, store)
      try await AccountCommand.run(store, json: json) { file in
        let scope = try await place.scope(flags)
        let users = try name.map { [try file.user(named: $0)] } ?? file.users()
        let lines = users.flatMap { user in user.grants.map { (user, $0) } }
          .filter { scope == nil || $0.1.scope == scope || $0.1.scope == nil }
        let names = await ScopeNames(of: lines.map(\.1), flags)
        if json { return Console.print(JSON.array(lines.map { $1.json(of: $0, names) }).text) }
        for (user, grant) in lines {
          Console.printLine(
            "\(names.text(grant))  \(grant.role.rawValue)  \(AccountCommand.text(grant.created))  \(user.name)")
        }
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a user's role.",
      discussion: "Without --on, the role on the complete store; roles on scopes stay.")

    @OptionGroup var store: StoreFlags
    @OptionGroup var place: ScopeOption
    @Argument(help: "The name of the user.") var user: String
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (user, place, flags) = (user, place, store)
      try await AccountCommand.run(store, json: json) { file in
        let scope = try await place.scope(flags)
        let changed = try file.removeGrant(of: user, on: scope, now: AccountCommand.now)
        if json { Console.print(changed.json.text) }
      }
    }
  }
}

extension Role: ExpressibleByArgument {}

extension AccessGrant {
  func json(of user: AccessUser, _ names: ScopeNames) -> JSON {
    .object(
      [.init("user", .string(user.principal.id)), .init("name", .string(user.name))] + names.members(of: self))
  }

  var members: [JSON.Member] {
    [
      .init("scope", scope.map { .string($0.description) } ?? .null), .init("role", .string(role.rawValue)),
      .init("granted", AccountCommand.json(created)),
    ]
  }
}
