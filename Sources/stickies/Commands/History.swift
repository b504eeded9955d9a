import ArgumentParser
import GraphModel
import GraphWire
import StickiesKit

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
    try await options.withShell { shell in
      let commits = try await shell.client.log(limit: limit)
      if shell.output.json {
        return shell.output.print(JSON.array(commits.map { ObjectJSON.commit($0, shell.model) }))
      }
      for commit in commits {
        let undoes = commit.undoes.map { ", undoes \($0)" } ?? ""
        shell.output.print(
          "\(commit.revision)  \(Output.localTime(commit.time))  \(TextTable.visible(commit.author))\(undoes)")
        if commit.unlisted > 0 { shell.output.print("    \(Output.count(Int(commit.unlisted), "change")) by a batch") }
        for change in commit.changes.prefix(10) {
          let sign = change.kind == .inserted ? "+" : change.kind == .updated ? "~" : "-"
          shell.output.print("    \(sign) \(change.object.map { shell.output.line($0) } ?? "")")
        }
        if commit.changes.count > 10 { shell.output.print("    … and \(commit.changes.count - 10) more") }
      }
    }
  }
}

struct Undo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take back your newest commit that is not undone.")

  @OptionGroup var options: Options

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let saved = try await shell.client.undo()
      let commit = try await shell.record(of: saved)
      for conflict in saved.committed.conflicts {
        let who = conflict.author.isEmpty ? "someone else" : conflict.author
        let what = shell.model.property(conflict.property)?.name ?? "the object"
        StandardError.write(
          "stickies: left alone: \(who) has changed \(what) of \(conflict.id.description.prefix(8)) since")
      }
      shell.output.show(
        commit,
        else: "undone revision \(commit.undoes ?? 0): \(Output.count(commit.changes.count, "change")) taken back")
    }
  }
}
