import ArgumentParser
import GraphModel
import GraphReplica
import GraphWire
import StickiesKit

/// The history of whatever graph the daemon serves: these three are commands of `stickies` and of `stickies graph`.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "log", abstract: "List commits, the newest first.")

  @OptionGroup var options: Options
  @Option(parsing: .unconditional, help: "At most this many, 1 to 100000.")
  var limit = 20

  func validate() throws {
    if limit < 1 || limit > 100_000 { throw ValidationError("--limit takes a number from 1 to 100000") }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in try await shell.showLog(limit: limit) }
  }
}

struct Undo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take back your newest commit that is not undone, or a given one.")

  @OptionGroup var options: Options
  @Argument(help: "One of your own commits, as log shows it.")
  var revision: Revision?

  func validate() throws {
    if let revision, revision < 1 { throw ValidationError("a revision is a number from 1") }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in try await shell.undo(revision) }
  }
}

struct Redo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Do again what your newest undo took back, unless you have changed something since.")

  @OptionGroup var options: Options

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in try await shell.showTaken(shell.client.redo()) }
  }
}

extension CommitEntry {
  /// What an undo took back or a redo did again, with its name if it has one.
  fileprivate var taken: String? {
    guard let revision = redoes ?? undoes else { return nil }
    guard let name = undo?.name, !name.isEmpty else { return "\(revision)" }
    return "\(revision) (\(TextTable.visible(name)))"
  }
}

extension Shell {
  /// Prints the newest commits, each with the first of its objects.
  @MainActor
  func showLog(limit: Int) async throws {
    let commits = try await client.log(limit: limit)
    if output.json { return output.print(JSON.array(commits.map { ObjectJSON.commit($0, model) })) }
    for commit in commits {
      let what = commit.taken.map { ", \(commit.redoes == nil ? "undo" : "redo") of \($0)" } ?? ""
      output.print("\(commit.revision)  \(Output.localTime(commit.time))  \(TextTable.visible(commit.author))\(what)")
      if commit.unlisted > 0 { output.print("    \(Output.count(Int(commit.unlisted), "change")) by a batch") }
      for change in commit.changes.prefix(10) {
        let sign = change.kind == .inserted ? "+" : change.kind == .updated ? "~" : "-"
        output.print("    \(sign) \(change.object.map { output.line($0) } ?? "")")
      }
      if commit.changes.count > 10 { output.print("    … and \(commit.changes.count - 10) more") }
    }
  }

  /// Takes back the author's newest step, or the one with this revision.
  @MainActor
  func undo(_ revision: Revision?) async throws {
    try await showTaken(revision == nil ? client.undo() : client.undo(revision: revision ?? 0))
  }

  /// Prints what an undo or a redo did, and on standard error what it left alone.
  /// - Throws: a conflict when that was everything.
  @MainActor
  func showTaken(_ saved: Saved) async throws {
    let commit = try await record(of: saved)
    let skipped = saved.committed.conflicts
    if !output.json {
      for conflict in skipped {
        StandardError.write("stickies: left alone: \(TextTable.visible(sentence(for: conflict)))")
      }
    }
    let what = "revision \(commit.taken ?? "\(commit.revision)")"
    let isRedo = commit.redoes != nil
    guard !commit.changes.isEmpty || skipped.isEmpty else {
      throw Refusal(
        .conflict, "nothing of \(what) could be \(isRedo ? "done again" : "taken back"): it has been changed since",
        conflicts: skipped)
    }
    if output.json { return output.print(ObjectJSON.commit(commit, skipped: skipped, model)) }
    let count = Output.count(commit.changes.count, "change")
    output.show(commit, else: isRedo ? "redone \(what): \(count) made again" : "undone \(what): \(count) taken back")
  }

  private func sentence(for conflict: Conflict) -> String {
    let who = conflict.author.isEmpty ? "someone else" : conflict.author
    let id = conflict.id.description.prefix(8)
    let property = model.property(conflict.property)?.name
    switch conflict.kind {
    case .deleted: return "\(who) has deleted \(property.map { "what \($0) of \(id) was" } ?? "\(id)") since"
    case .changed, .unique: return "\(who) has changed \(property ?? "the object") of \(id) since"
    }
  }
}
