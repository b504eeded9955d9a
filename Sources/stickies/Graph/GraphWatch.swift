import ArgumentParser
import GraphModel
import StickiesKit

extension GraphCommand {
  struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Follow the objects of an entity as they change, one line for each change.")

    @OptionGroup var options: Options
    @Argument(help: "The entity; those that inherit from it are followed, too.")
    var entity: String
    @Option(name: .customLong("where"), help: "Only those that match; the object's own attributes can be asked for.")
    var condition: String?
    @OptionGroup var since: Since

    @MainActor
    func run() async throws {
      try await options.withGraph(reconnects: true) { shell in
        let entity = try shell.known(entity)
        let predicate = try shell.predicate(condition, on: entity)
        let printer = WatchPrinter(
          output: shell.output, model: shell.model, count: 1, since: since.revision,
          summary: { Output.count($0.count, entity.name + " object") }, line: shell.reference)
        try await printer.follow([(entity, predicate)], of: shell.client)
      }
    }
  }
}
