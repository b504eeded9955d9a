import ArgumentParser
import Glibc
import GraphModel
import GraphReplica
import GraphWire

struct Restore: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      abstract: "Bring back what was deleted or changed, as a new commit.",
      usage: """
        \(GraphCommand.path("restore")) [<options>] <object> [--at <when>] [--only]
        \(GraphCommand.path("restore")) [<options>] --all --at <when> [--yes]
        """,
      discussion: """
        An object comes back with its id, its contents and its relationships to objects that still exist; standard error \
        lists the values that could not be restored. Objects created since stay, except with --all, which deletes them.
        """)
  }

  @OptionGroup var options: CommonOptions
  @Argument(help: ArgumentHelp("Its number, or the beginning of its id.", valueName: "object"))
  var name: String?
  @Option(
    name: .customLong("at"), parsing: .unconditional,
    help: "The revision or time to go back to; without it, just before the object was deleted.")
  var when: String?
  @Flag(help: "The object alone, without its contents.")
  var only = false
  @Flag(help: "The whole graph.")
  var all = false
  @Flag(help: "Do not ask before the whole graph is restored.")
  var yes = false

  func validate() throws {
    if all == (name != nil) { throw ValidationError("name an object, or use --all") }
    if all, when == nil { throw ValidationError("--all requires --at, the state to restore") }
    if all, only { throw ValidationError("--only requires an object") }
    if yes, !all { throw ValidationError("--yes requires --all") }
    if let when { _ = try RevisionSpecifier(when, option: "--at") }
  }

  @MainActor
  func run() async throws {
    let moment = try when.map { try RevisionSpecifier($0, option: "--at") }
    try await options.withHistory { shell in
      var revision: Revision?
      if let moment { revision = try await moment.revision(in: shell.client) }
      let saved: SaveResult
      do {
        if let name {
          saved = try await shell.client.restore(ObjectFinder(shell).past(name), at: revision, contents: !only)
        } else {
          guard let revision else { preconditionFailure("--all has a state to restore") }
          try confirm(revision, shell.output)
          saved = try await shell.client.restoreEverything(at: revision)
        }
      } catch let refusal as Refusal {
        throw await RefusalExplainer(shell).explained(refusal, isRestore: true)
      }
      try await RestorePrinter(shell).show(saved, revision)
    }
  }

  @MainActor
  private func confirm(_ revision: Revision, _ output: Output) throws {
    guard !yes else { return }
    let sentence =
      revision == 0
      ? "this deletes all objects: at revision 0 the graph was empty"
      : "this restores the whole graph to revision \(revision), and deletes objects created since"
    guard isatty(0) == 1, isatty(2) == 1 else {
      throw Refusal(.notAllowed, "\(sentence); use --yes to do so, undo takes it back")
    }
    output.message("\(sentence). Go on? [y/N]")
    guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
      throw Refusal(.notAllowed, "nothing was restored")
    }
  }
}
