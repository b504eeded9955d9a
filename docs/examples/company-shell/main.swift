import ArgumentParser
import GraphClient
import GraphShell

/// The name, the commands and the connection of this program.
struct CompanyShell: ShellProgram {
  var name: String { "company" }
  var command: any ParsableCommand.Type { CompanyCommand.self }
  var examples: [String: [String]] { ["graph fetch": ["graph fetch Person --where 'remote == TRUE'"]] }

  func connect(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool
  ) async throws -> GraphClient {
    var options = GraphClient.Options(author: "ann@example")
    options.security = security
    options.reconnects = reconnects
    return try await GraphClient.connect(to: address ?? .unix(path: "/run/company.sock"), options: options)
  }

  func sentence(forUnreachable address: ServerAddress) -> String { "no daemon of the company answers at \(address)" }

  func line(_ image: ObjectImage, of entity: Entity, isColored: Bool) -> String? {
    guard entity.name == "Person", let name = entity.property(named: "name") else { return nil }
    return image[name].stringValue.map { "employee \($0)" }
  }
}

struct CompanyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "company", abstract: "Read and change the company.",
    subcommands: [ShellCommands.graph] + ShellCommands.history + ShellCommands.completion)
}

await CompanyShell().run()
