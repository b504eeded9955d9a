import GraphClient
import GraphJSON
import GraphModel
import GraphWire

extension CommitEntry {
  /// The revision that an undo or redo applies to, with the name of its step if it has one.
  var undoneStep: String? {
    guard let revision = redoes ?? undoes else { return nil }
    guard let name = undo?.shownName else { return "\(revision)" }
    return "\(revision) (\(TextTable.visible(name)))"
  }
}

/// Prints the log.
@MainActor
struct LogPrinter {
  private let client: GraphClient
  private let output: Output
  private let model: Model

  init(_ shell: CommandContext) { (client, output, model) = (shell.client, shell.output, shell.model) }

  /// Prints commits, each with the first of its objects.
  func show(_ request: LogRequest) async throws {
    let (commits, damage) = try await client.readableLog(request)
    if output.json {
      output.print(JSON.array(commits.map { ObjectJSON.commit($0, model) }))
    } else {
      try await show(commits, isWithoutDamage: damage.isEmpty)
    }
    try await reportPruned(request, commits)
    try IncompleteResult.check(damage, model)
  }

  private func show(_ commits: [CommitEntry], isWithoutDamage: Bool) async throws {
    if commits.isEmpty, isWithoutDamage {
      let newest = try await client.status().head.revision
      output.message(
        newest == 0 ? "the store has no commits yet" : "no commit matches; the newest is revision \(newest)")
    }
    for commit in commits {
      let what =
        if let step = commit.undoneStep { ", \(commit.redoes == nil ? "undo" : "redo") of \(step)" } else { "" }
      output.print("\(commit.revision)  \(Output.localTime(commit.time))  \(TextTable.visible(commit.author))\(what)")
      // The name is shown only for commits without changes, as of a migration.
      if commit.changes.isEmpty, commit.unlisted == 0, commit.more == 0, what.isEmpty,
        let name = commit.undo?.shownName
      {
        output.print("    \(TextTable.visible(name))")
      }
      if commit.unlisted > 0 { output.print("    \(Output.count(Int(commit.unlisted), "change")) by a batch") }
      for change in commit.changes { output.print("    \(ObjectJSON.sign(change.kind)) \(output.line(change))") }
      let more = Int(clamping: commit.more)
      if more > 0, commit.changes.isEmpty { output.print("    \(Output.count(more, "change"))") }
      if more > 0, !commit.changes.isEmpty { output.print("    … and \(more) more") }
    }
  }

  /// Reports that commits were pruned which the request might have matched.
  @MainActor
  private func reportPruned(_ request: LogRequest, _ commits: [CommitEntry]) async throws {
    let oldest = try await client.status().oldest
    guard oldest > 0, request.after < oldest else { return }
    // With the newest first and the limit reached, pruned commits would not be in the result anyway.
    let isFull = commits.count >= Int(clamping: request.limit) && commits.last.map { $0.revision > oldest + 1 } == true
    if isFull, !request.oldestFirst { return }
    if let since = request.filter.since,
      let first = try await client.readableLog(LogRequest(limit: 1, oldestFirst: true, changes: 0)).commits.first,
      first.time <= since
    {
      return
    }
    output.message(
      "older history was pruned: the oldest commit that is kept is revision \(oldest + 1)")
  }
}
