import ArgumentParser
import GraphAccess
import GraphModel

/// `stickiesd grant`
struct GrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Give a user another role.",
    discussion: """
      A reader sees everything, and changes nothing; an editor changes everything; an owner is an editor who answers \
      for the store. A new user is an editor. A running daemon ends the user's sessions within a second, and their \
      programs connect again with the new rights.
      """)

  @OptionGroup var store: StoreFlags
  @Argument(help: "The name of the user.") var user: String
  @Argument(help: ArgumentHelp("One of \(Role.names).")) var role: Role
  @Flag(help: "Print the result as one line of JSON.") var json = false

  mutating func run() async throws {
    let (user, role) = (user, role)
    try await AccountCommand.run(store, json: json) { file in
      let changed = try file.grant(role, to: user, now: AccountCommand.now)
      if json { Console.print(changed.json.text) }
    }
  }
}

extension Role: ExpressibleByArgument {}
