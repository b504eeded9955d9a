import ArgumentParser
import GraphModel

struct GraphWatch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print each change of the objects of an entity as it happens.",
    discussion: """
      Runs until Ctrl-C. Changes of other objects count too, if the predicate's key paths or aggregates lead to them. \
      With --limit the command watches a window: the first rows of an order, with their places; --sort and --offset \
      require it.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "The entity; entities that inherit from it are watched too.")
  var entity: String
  @OptionGroup var selection: SelectionOptions
  @OptionGroup var since: SinceOption

  func validate() throws {
    if selection.limit.number == nil, selection.offset > 0 || !selection.sort.isEmpty {
      throw ValidationError("--offset and --sort require --limit: together they make a window")
    }
    if selection.limit.number != nil, since.revision != nil {
      throw ValidationError("--since can't be used with --limit: a window begins with its present rows")
    }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph(reconnects: true) { shell in
      let entity = try shell.known(entity)
      let predicate = try shell.predicate(selection.condition, on: entity)
      let printer = WatchPrinter(
        shell.client, output: shell.output, model: shell.model, since: since.revision,
        summary: { Output.count($0.count, entity.name + " object") }, line: shell.reference)
      guard let limit = selection.limit.number else { return try await printer.follow([(entity, predicate)]) }
      let window = WatchedWindow(
        entity: entity, predicate: predicate, sort: try shell.order(selection.sort, of: entity),
        offset: selection.offset, limit: limit)
      try await printer.follow(window)
    }
  }
}
