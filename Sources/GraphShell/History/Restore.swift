import ArgumentParser
import GraphModel
import GraphReplica
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

struct Restore: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "restore", abstract: "Restore a deleted object, or an earlier state, as a new commit.",
      usage: """
        \(GraphCommand.path("restore")) [<options>] <object> [--at <when>] [--only]
        \(GraphCommand.path("restore")) [<options>] --all --at <when> [--yes]
        """,
      discussion: """
        An object is restored with its id, its contents (the objects that are deleted with it) and its relationships \
        to objects that still exist; standard error lists the values that could not be restored. Objects created since \
        then stay; --all deletes them.
        """)
  }

  @OptionGroup var options: CommonOptions
  @Argument(help: ArgumentHelp("The object, by number or the beginning of its id.", valueName: "object"))
  var name: String?
  @Option(
    name: .customLong("at"), parsing: .unconditional,
    help: ArgumentHelp(
      "The revision or time of the state to restore; default: just before the object was deleted.", valueName: "when"))
  var when: String?
  @Flag(help: "Restore the object alone, without its contents.")
  var only = false
  @Flag(help: "Restore the whole graph.")
  var all = false
  @Flag(help: "With --all: do not ask first.")
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
          let id = try await ObjectFinder(shell).past(name)
          saved = try await restore(id, at: revision, shell)
        } else {
          guard let revision else { preconditionFailure("--all has a state to restore") }
          try confirm(revision, shell.output)
          saved = try await shell.client.restoreEverything(at: revision)
        }
      } catch let refusal as Refusal {
        throw await RefusalExplainer(shell).explained(refusal, of: .restore)
      }
      try await RestorePrinter(shell).show(saved, revision)
    }
  }

  @MainActor
  private func restore(_ id: ObjectID, at revision: Revision?, _ shell: CommandContext) async throws -> SaveResult {
    do {
      return try await shell.client.restore(id, at: revision, contents: !only)
    } catch var refusal as Refusal where refusal.code == .malformed && revision == nil {
      // The object is not deleted, so it has no state just before its delete.
      refusal.message += " (--at)"
      throw refusal
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
      throw ProgramRefusal("\(sentence); use --yes to do so, undo takes it back")
    }
    output.message("\(sentence). Go on? [y/N]")
    guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
      throw ProgramRefusal("nothing was restored")
    }
  }
}
