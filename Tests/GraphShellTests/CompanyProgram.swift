import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import GraphTesting
import GraphWire
import Testing

/// A program over the company's model; no test connects it to a daemon.
struct CompanyProgram: ShellProgram {
  var completedValues: Set<String> = []

  var name: String { "company" }
  var command: any ParsableCommand.Type { CompanyCommand.self }
  var examples: [String: [String]] { ["graph": ["graph fetch Person"]] }

  func connect(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool
  ) async throws -> GraphClient {
    throw Refusal(.unavailable, "the tests have no daemon")
  }

  func sentence(forUnreachable address: ServerAddress) -> String { "no daemon answers at \(address)" }

  func line(_ image: ObjectImage, of entity: Entity, isColored: Bool) -> String? {
    entity.name == "Robot" ? "robot of \(isColored ? "colored" : "plain") metal" : nil
  }

  /// Runs `body` as this program.
  static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try RunningProgram.$value.withValue(CompanyProgram(), operation: body)
  }
}

struct CompanyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "company", subcommands: [ShellCommands.graph] + ShellCommands.history + ShellCommands.completion)
}

/// The company's model, with images of its objects.
struct Company {
  let model: Model

  init() throws { model = try Fixtures.company() }

  func entity(_ name: String) throws -> Entity { try #require(model.entity(named: name)) }

  func property(_ entity: String, _ name: String) throws -> Property {
    try #require(try self.entity(entity).property(named: name))
  }

  /// An object with these values; the number distinguishes it from the others.
  func image(_ entity: String, _ number: UInt64, _ values: [String: Value]) throws -> ObjectImage {
    let entity = try self.entity(entity)
    let id = ObjectID(key: UniqueID(high: number << 32, low: number), entity: entity.number)
    var image = ObjectImage(id: id, revision: 1, values: [Value](repeating: .null, count: entity.slotCount))
    for (name, value) in values { image[try #require(entity.property(named: name))] = value }
    return image
  }
}

extension ObjectImage {
  /// The part of the id that messages show.
  var shortID: String { String(id.description.prefix(8)) }
}
