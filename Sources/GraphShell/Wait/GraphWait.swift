import ArgumentParser
import GraphModel

struct GraphWait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until matching objects exist, or until a revision exists.",
    discussion: """
      Ends with exit code 0 as soon as the condition holds, at once if it already does, and with 124 after \
      --timeout. If the connection is lost, the command connects again and misses nothing.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "The entity; entities that inherit from it count too.")
  var entity: String?
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("Only objects that match this predicate.", valueName: "predicate"))
  var condition: String?
  @OptionGroup var goal: WaitOptions

  func validate() throws {
    if entity == nil, condition != nil { throw ValidationError("--where goes with an entity") }
    try goal.check(asksForObjects: entity != nil, "an entity")
  }

  @MainActor
  func run() async throws {
    try await goal.run {
      try await options.withGraph(reconnects: true, $0)
    } forObjects: { wait in
      guard let entity else { preconditionFailure("a wait without a revision names an entity") }
      let known = try wait.shell.known(entity)
      try await wait.until(
        goal.count(otherwise: 1), of: known, where: try wait.shell.predicate(condition, on: known),
        called: known.name + " object")
    }
  }
}
