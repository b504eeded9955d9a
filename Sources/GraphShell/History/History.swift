import ArgumentParser
import GraphModel
import GraphReplica
import GraphWire
import StickiesFiles
import StickiesKit

/// The log of any graph. Like the other commands of this folder, it belongs to both `stickies` and `stickies graph`.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List commits, the newest first.",
    discussion: "With --entity or --object, a commit is listed with its matching changes.")

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: HistoryOptions
  @Option(parsing: .unconditional, help: "At most this many, 1 to 100000.")
  var limit = 20
  @Option(parsing: .unconditional, help: "Only commits after this revision.")
  var after: Revision = 0
  @Option(parsing: .unconditional, help: "Only commits at or after this time or revision.")
  var since: String?
  @Option(parsing: .unconditional, help: "Only commits before this time, or up to this revision.")
  var until: String?
  @Flag(help: "The oldest first, instead of the newest.")
  var oldestFirst = false
  @Option(
    parsing: .unconditional,
    help: "At most this many changes of each commit. (default: \(Self.shownChanges); with --json all)")
  var changes: UInt64?

  /// The default number of changes shown for each commit.
  private static let shownChanges: UInt64 = 10

  func validate() throws {
    if limit < 1 || limit > 100_000 { throw ValidationError("--limit must be from 1 to 100000") }
    if after < 0 { throw ValidationError("--after must be 0 or more") }
    if let since { _ = try RevisionSpecifier(since, option: "--since") }
    if let until { _ = try RevisionSpecifier(until, option: "--until") }
  }

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in try await shell.showLog(request(shell)) }
  }

  @MainActor
  private func request(_ shell: CommandContext) async throws -> LogRequest {
    var request = LogRequest(
      after: after, limit: UInt64(limit), filter: try await filter.filter(shell), oldestFirst: oldestFirst,
      changes: changes ?? (shell.output.json ? nil : Self.shownChanges))
    switch try since.map({ try RevisionSpecifier($0, option: "--since", toTheEnd: false) }) {
    case .revision(let revision)?: request.after = max(request.after, revision - 1)
    case .now?: request.filter.since = LocalClock.now
    case .time(let time)?: request.filter.since = time
    case nil: break
    }
    switch try until.map({ try RevisionSpecifier($0, option: "--until", toTheEnd: false) }) {
    case .revision(let revision)?:
      // In the protocol 0 means the head; there is no commit up to revision 0.
      guard revision > 0 else { throw Refusal(.notFound, "there is no commit up to revision 0") }
      request.through = revision
    case .time(let time)?: request.filter.until = time
    // All commits were made before now.
    case .now?, nil: break
    }
    return request
  }
}

struct Undo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take back your newest commit that is not undone, or a given one.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "One of your own commits, as log shows it.")
  var revision: Revision?
  @Option(parsing: .unconditional, help: "Your newest step with this name that is not undone.")
  var name: String?

  func validate() throws {
    if name != nil, revision != nil {
      throw ValidationError("name a step by its revision or by --name, not by both")
    }
    if name == "" { throw ValidationError("--name takes the name of a step") }
    if let revision, revision < 1 { throw ValidationError("a revision must be at least 1") }
  }

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in
      if let name { return try await shell.undo(named: name) }
      try await shell.undo(revision)
    }
  }
}

struct Redo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Redo your newest undo, unless you have changed something since.")

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in
      try await shell.take { try await shell.client.redo() }
    }
  }
}

extension CommitEntry {
  /// The revision that an undo or redo applies to, with the name of its step if it has one.
  fileprivate var taken: String? {
    guard let revision = redoes ?? undoes else { return nil }
    guard let name = undo?.name, !name.isEmpty else { return "\(revision)" }
    return "\(revision) (\(TextTable.visible(name)))"
  }
}

extension CommandContext {
  /// Prints commits, each with the first of its objects.
  @MainActor
  func showLog(_ request: LogRequest) async throws {
    let commits = try await client.log(request)
    if output.json {
      output.print(JSON.array(commits.map { ObjectJSON.commit($0, model) }))
      return try await reportPruned(request, commits)
    }
    if commits.isEmpty {
      let newest = try await client.log(limit: 1, changes: 0).first?.revision ?? 0
      StandardError.write("stickies: no commit matches; the newest is revision \(newest)")
    }
    for commit in commits {
      let what = commit.taken.map { ", \(commit.redoes == nil ? "undo" : "redo") of \($0)" } ?? ""
      output.print("\(commit.revision)  \(Output.localTime(commit.time))  \(TextTable.visible(commit.author))\(what)")
      // The name is shown only for commits without changes, as of a migration.
      if commit.changes.isEmpty, commit.unlisted == 0, commit.more == 0, what.isEmpty, let name = commit.undo?.name,
        !name.isEmpty
      {
        output.print("    \(TextTable.visible(name))")
      }
      if commit.unlisted > 0 { output.print("    \(Output.count(Int(commit.unlisted), "change")) by a batch") }
      // Daemons of earlier releases send all changes.
      let shown = commit.changes.prefix(request.changes.map { Int(clamping: $0) } ?? .max)
      for change in shown { output.print("    \(Self.sign(change.kind)) \(output.line(change))") }
      let more = commit.changes.count - shown.count + Int(clamping: commit.more)
      if more > 0, shown.isEmpty { output.print("    \(Output.count(more, "change"))") }
      if more > 0, !shown.isEmpty { output.print("    … and \(more) more") }
    }
    try await reportPruned(request, commits)
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
      let first = try await client.log(LogRequest(limit: 1, oldestFirst: true, changes: 0)).first, first.time <= since
    {
      return
    }
    StandardError.write(
      "stickies: older history was pruned: the oldest commit that is kept is revision \(oldest + 1)")
  }

  /// Undoes the author's newest step, or the one with this revision.
  @MainActor
  func undo(_ revision: Revision?) async throws {
    try await take { [client] in
      guard let revision else { return try await client.undo() }
      return try await client.undo(revision: revision)
    }
  }

  /// Prints the result of an undo or redo, and on standard error what it skipped. Skipped changes are also printed if
  /// the step is refused because it skipped everything.
  @MainActor
  func take(_ step: () async throws -> SaveResult) async throws {
    let saved: SaveResult
    do {
      saved = try await step()
    } catch let refusal as Refusal {
      reportSkipped(refusal.conflicts)
      throw refusal
    }
    let commit = try await record(of: saved)
    let skipped = saved.committed.conflicts
    reportSkipped(skipped)
    let what = "revision \(commit.taken ?? "\(commit.revision)")"
    let isRedo = commit.redoes != nil
    // Daemons of earlier releases commit an undo without changes.
    guard !commit.changes.isEmpty || skipped.isEmpty else {
      throw Refusal(
        .conflict, "nothing of \(what) could be \(isRedo ? "done again" : "taken back"): it has been changed since",
        conflicts: skipped)
    }
    if output.json { return output.print(ObjectJSON.commit(commit, skipped: skipped, model)) }
    let count = Output.count(commit.changes.count, "change")
    output.show(commit, else: isRedo ? "redone \(what): \(count) made again" : "undone \(what): \(count) taken back")
  }

  private func reportSkipped(_ skipped: [Conflict]) {
    if output.json { return }
    for conflict in skipped {
      StandardError.write("stickies: left alone: \(TextTable.visible(sentence(for: conflict)))")
    }
  }

  private func sentence(for conflict: Conflict) -> String {
    let who = conflict.author.isEmpty ? "someone else" : conflict.author
    let id = conflict.id.description.prefix(8)
    let property = model.property(conflict.property)?.name
    switch conflict.kind {
    case .deleted: return "\(who) has deleted \(property.map { "the earlier \($0) of \(id)" } ?? "\(id)") since"
    case .changed, .unique: return "\(who) has changed \(property ?? "the object") of \(id) since"
    }
  }
}
