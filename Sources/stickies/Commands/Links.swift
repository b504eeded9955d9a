import ArgumentParser
import GraphModel
import GraphShell
import StickiesKit

/// The ends of a link, as arguments.
struct LinkEndArguments: ParsableArguments {
  @OptionGroup var options: CommonOptions
  @Argument(help: "The note where the link begins, by number or id.")
  var from: String
  @Argument(help: "The note where the link ends, by number or id.")
  var to: String

  @MainActor
  func withNotes(_ body: (CommandContext, _ from: ObjectID, _ to: ObjectID) async throws -> Void) async throws {
    try await options.withShell { shell in
      try await body(shell, try await NoteFinder(shell).note(from).id, try await NoteFinder(shell).note(to).id)
    }
  }
}

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Link a note to another one; a board shows the link as an arrow.")

  @OptionGroup var notes: LinkEndArguments
  @Option(parsing: .unconditional, help: "The text beside the arrow, at most 200 bytes.")
  var label = ""

  @MainActor
  func run() async throws {
    try await notes.withNotes { shell, from, to in
      let link = ObjectID.temporary(1, entity: LinkProperties.entity.number)
      let edits: [Edit] = [
        .set(LinkProperties.label, .string(label)), .set(LinkProperties.from, .object(from)),
        .set(LinkProperties.to, .object(to)),
      ]
      shell.output.show(
        try await shell.commit([Change(.insert, link, edits: edits)], policy: .error, returning: link))
    }
  }
}

struct Unlink: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlink", abstract: "Remove all links from one note to another.")

  @OptionGroup var notes: LinkEndArguments

  @MainActor
  func run() async throws {
    try await notes.withNotes { shell, from, to in
      let ends = [
        GraphPredicate.equal(LinkProperties.from, .object(from)),
        .equal(LinkProperties.to, .object(to)),
      ]
      let links = try await shell.images(of: LinkProperties.entity, where: .all(ends))
      guard !links.isEmpty else {
        throw Refusal(.notFound, "no link leads from note \(notes.from) to note \(notes.to)")
      }
      let commit = try await shell.delete(links.map(\.id))
      shell.output.show(commit, else: "removed \(Output.count(links.count, "link"))")
    }
  }
}
