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
      object that the model names as a container, such as a board. A running daemon gives the user's sessions the new \
      rights within a second.
      """,
    subcommands: [Add.self, List.self, Remove.self], defaultSubcommand: Add.self)

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give a user a role, in place of the former one on the same scope.")

    @OptionGroup var store: StoreFlags
    @OptionGroup var place: ScopeOption
    @Argument(help: "The name of the user.") var user: String
    @Argument(help: ArgumentHelp("One of \(Role.names).")) var role: Role
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (user, role, scope) = (user, role, place.scope)
      try await AccountCommand.run(store, json: json) { file in
        let changed = try file.grant(role, to: user, on: scope, now: AccountCommand.now)
        if json { Console.print(changed.json.text) }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the roles of all users, or of one.")

    @OptionGroup var store: StoreFlags
    @OptionGroup var place: ScopeOption
    @Argument(help: "Only the roles of this user.") var user: String?
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (name, scope) = (user, place.scope)
      try await AccountCommand.run(store, json: json) { file in
        let users = try name.map { [try file.user(named: $0)] } ?? file.users()
        let lines = users.flatMap { user in user.grants.map { (user, $0) } }
          .filter { scope == nil || $0.1.scope == scope || $0.1.scope == nil }
        if json { return Console.print(JSON.array(lines.map { $1.json(of: $0) }).text) }
        for (user, grant) in lines {
          let scope = if let scope = grant.scope { scope.description } else { "store" }
          Console.print(
            "\(scope)  \(grant.role.rawValue)  \(AccountCommand.text(grant.created))  \(user.name)")
        }
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take a user's role away.",
      discussion: "Without --on, the role on the complete store; roles on scopes stay.")

    @OptionGroup var store: StoreFlags
    @OptionGroup var place: ScopeOption
    @Argument(help: "The name of the user.") var user: String
    @Flag(help: "Print the result as one line of JSON.") var json = false

    mutating func run() async throws {
      let (user, scope) = (user, place.scope)
      try await AccountCommand.run(store, json: json) { file in
        let changed = try file.removeGrant(of: user, on: scope, now: AccountCommand.now)
        if json { Console.print(changed.json.text) }
      }
    }
  }
}

/// `--on OBJECT`
struct ScopeOption: ParsableArguments {
  @Option(
    name: .customLong("on"),
    help: ArgumentHelp("The scope: the complete id of an object, 26 characters.", valueName: "object"))
  var object: String?

  /// The scope; nil for the complete store.
  var scope: UniqueID? { object.flatMap { UniqueID($0) } }

  func validate() throws {
    if let object { try Self.check(object) }
  }

  static func check(_ object: String) throws {
    guard UniqueID(object) != nil else {
      throw ValidationError(
        "\"\(object.excerpt)\" is not a complete id: an object's id has \(UniqueID.textLength) characters; stickies shows "
          + "it with --json")
    }
  }
}

extension Role: ExpressibleByArgument {}

extension AccessGrant {
  func json(of user: AccessUser) -> JSON {
    .object([.init("user", .string(user.principal.id)), .init("name", .string(user.name))] + members)
  }

  var members: [JSON.Member] {
    [
      .init("scope", scope.map { .string($0.description) } ?? .null), .init("role", .string(role.rawValue)),
      .init("granted", AccountCommand.json(created)),
    ]
  }
}
