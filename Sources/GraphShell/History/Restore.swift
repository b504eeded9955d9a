import ArgumentParser
import Glibc
import GraphModel
import GraphReplica
import GraphWire
import StickiesFiles
import StickiesKit

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bring back what was deleted or changed, as a new commit.",
    usage: """
      \(GraphCommand.path("restore")) [<options>] <object> [--at <when>] [--only]
      \(GraphCommand.path("restore")) [<options>] --all --at <when> [--yes]
      """,
    discussion: """
      An object comes back with its id, its contents and its relationships to objects that still exist; standard error \
      lists the values that could not be restored. Objects created since stay, except with --all, which deletes them.
      """)

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
      if let moment { revision = try await shell.revision(moment) }
      let saved: SaveResult
      do {
        if let name {
          saved = try await shell.client.restore(shell.past(name), at: revision, contents: !only)
        } else {
          try confirm(revision ?? 0)
          saved = try await shell.client.restoreEverything(at: revision ?? 0)
        }
      } catch let refusal as Refusal {
        throw await shell.explained(refusal, isRestore: true)
      }
      try await shell.showRestored(saved, revision)
    }
  }

  private func confirm(_ revision: Revision) throws {
    guard !yes else { return }
    let sentence =
      revision == 0
      ? "this deletes all objects: at revision 0 the graph was empty"
      : "this restores the whole graph to revision \(revision), and deletes objects created since"
    guard isatty(0) == 1, isatty(2) == 1 else {
      throw Refusal(.notAllowed, "\(sentence); use --yes to do so, undo takes it back")
    }
    StandardError.write("stickies: \(sentence). Go on? [y/N]")
    guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
      throw Refusal(.notAllowed, "nothing was restored")
    }
  }
}

extension CommandContext {
  /// Prints the result of a restore, and on standard error what it could not restore.
  func showRestored(_ saved: SaveResult, _ revision: Revision?) async throws {
    let skipped = saved.committed.conflicts
    let commit: CommitEntry
    do {
      commit = try await record(of: saved)
    } catch let refusal as Refusal where refusal.code == .limit {
      // The commit succeeded, but it is too large for the log.
      return output.print(
        output.json
          ? JSON.object([.init("revision", .integer(saved.committed.revision))]).text
          : "restored: revision \(saved.committed.revision)")
    }
    if output.json { return output.print(ObjectJSON.commit(commit, skipped: skipped, model)) }
    for conflict in skipped {
      StandardError.write("stickies: not restored: \(TextTable.visible(obstacle(conflict)))")
    }
    // Objects in which only derived values changed were not restored themselves.
    let changes = commit.changes.filter { !isDerivedAlone($0) }
    let counts = [("came back", Delta.Change.Kind.inserted), ("set back", .updated), ("deleted", .removed)]
      .map { words, kind in (words, changes.count { $0.kind == kind }) }.filter { $0.1 > 0 }
    let what = counts.map { "\(Output.count($0.1, "object")) \($0.0)" }.joined(separator: ", ")
    output.print("restored\(revision.map { " revision \($0)" } ?? ""): \(what)")
    for change in changes.prefix(10) {
      output.print("    \(Self.sign(change.kind)) \(output.line(change))")
    }
    if changes.count > 10 { output.print("    … and \(changes.count - 10) more") }
  }

  /// Whether the server computed all values that changed in the object.
  private func isDerivedAlone(_ change: Delta.Change) -> Bool {
    guard change.kind == .updated, !change.edits.isEmpty else { return false }
    return change.edits.allSatisfy { edit in
      guard let attribute = model.property(edit.property)?.attribute else { return false }
      return attribute.derivation != nil || [.created, .updated, .sequence].contains(attribute.assignment)
    }
  }

  static func sign(_ kind: Delta.Change.Kind) -> String {
    switch kind {
    case .inserted: "+"
    case .updated: "~"
    case .removed: "-"
    }
  }

  private func obstacle(_ conflict: Conflict) -> String {
    let name = model.property(conflict.property)?.name ?? "the object"
    let id = conflict.id.description.prefix(8)
    let who = conflict.author.isEmpty ? "someone" : conflict.author
    let other = conflict.mine.objectID.map { " \($0.description.prefix(8))" } ?? ""
    if conflict.kind == .changed, model.property(conflict.property)?.attribute?.kind == .enumeration {
      let (was, now) = (conflict.mine.stringValue ?? "null", conflict.theirs.stringValue ?? "null")
      return "\(name) of \(id): the model no longer has \(was), the value is \(now)"
    }
    if conflict.kind == .changed, conflict.mine.isNull, conflict.theirs.isNull {
      return "\(id): it had no \(name), which is now required"
    }
    switch conflict.kind {
    case .deleted: return "\(name) of \(id):\(other) was deleted by \(who)"
    case .changed, .unique: return "\(name) of \(id):\(other) belongs to another object now, set by \(who)"
    }
  }
}
