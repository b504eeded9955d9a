import ArgumentParser
import GraphClient
import GraphModel
import GraphReplica
import GraphShell
import GraphWire
import StickiesKit

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print each change as it happens, of everything or of matching notes.",
    discussion: "Runs until Ctrl-C. With --json each line is a commit.")

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: NoteFilterArguments
  @OptionGroup var since: SinceOption

  @MainActor
  func run() async throws {
    try await options.withShell(reconnects: true) { shell in
      let predicate = try await filter.predicate(shell)
      let entities =
        filter.condition == nil && filter.board == nil
        ? shell.model.entities.filter { !$0.isAbstract && $0.parent == nil } : [NoteProperties.entity]
      let printer = WatchPrinter(
        shell.client, output: shell.output, model: shell.model, since: since.revision,
        summary: { images in
          Output.count(images.count { $0.id.entity == NoteProperties.entity.number }, "note")
        }, line: { shell.output.line($0) }, vocabulary: NoteVocabulary())
      // The boards and tags of matching notes are followed for their names.
      let names = [BoardProperties.entity, TagProperties.entity].filter { name in
        !entities.contains { $0.number == name.number }
      }
      try await printer.follow(entities.map { ($0, predicate) }, names: names)
    }
  }
}
