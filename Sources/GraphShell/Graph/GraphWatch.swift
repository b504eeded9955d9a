import ArgumentParser
import GraphModel

struct GraphWatch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print each change of the objects of an entity as it happens.",
    discussion: """
      Runs until Ctrl-C. With --limit it watches a window: the first rows of an order, with their places.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "The entity; entities that inherit from it are watched too.")
  var entity: String
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp(
      "Only objects that match this predicate, which can follow key paths: department.code == \"ENG\".",
      valueName: "predicate"))
  var condition: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --limit: attributes to sort by, separated by commas; a minus means descending: -age,name.",
      valueName: "keys"))
  var sort = ""
  @OptionGroup var limit: LimitOption
  @Option(parsing: .unconditional, help: ArgumentHelp("With --limit: skip this many first.", valueName: "count"))
  var offset = 0
  @OptionGroup var since: SinceOption

  func validate() throws {
    if offset < 0 { throw ValidationError("--offset must be at least 0") }
    if limit.number == nil, offset > 0 || !sort.isEmpty {
      throw ValidationError("--offset and --sort require --limit: together they make a window")
    }
    if limit.number != nil, since.revision != nil {
      throw ValidationError("--since can't be used with --limit: a window begins with its present rows")
    }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph(reconnects: true) { shell in
      let entity = try shell.known(entity)
      let predicate = try shell.predicate(condition, on: entity)
      let printer = WatchPrinter(
        shell.client, output: shell.output, model: shell.model, since: since.revision,
        summary: { Output.count($0.count, entity.name + " object") }, line: shell.reference)
      guard let limit = limit.number else { return try await printer.follow([(entity, predicate)]) }
      let window = WatchedWindow(
        entity: entity, predicate: predicate, sort: try shell.order(sort, of: entity), offset: offset, limit: limit)
      try await printer.follow(window)
    }
  }
}
