import GraphClient
import GraphJSON
import GraphModel
import GraphReplica
import GraphWire

/// Undoes and redoes steps of the author, and prints the result.
@MainActor
struct UndoPrinter {
  private let shell: CommandContext
  private var client: GraphClient { shell.client }
  private var output: Output { shell.output }
  private var model: Model { shell.model }

  init(_ shell: CommandContext) { self.shell = shell }

  /// Undoes the author's newest step, or the one with this revision.
  func undo(_ revision: Revision?) async throws {
    try await print(.undo) { [client] in
      guard let revision else { return try await client.undo() }
      return try await client.undo(revision: revision)
    }
  }

  /// Redoes what the author's newest undo reverted.
  func redo() async throws {
    try await print(.redo) { [client] in try await client.redo() }
  }

  /// Prints the result of an undo or redo, and on standard error the values that it skipped.
  /// - Throws: `ModelRefusal`, which names everything that a refused step skipped.
  private func print(_ operation: RefusedOperation, _ step: () async throws -> SaveResult) async throws {
    let saved: SaveResult
    do {
      saved = try await step()
    } catch let refusal as Refusal {
      throw await RefusalExplainer(shell).explained(refusal, of: operation)
    }
    let commit = try await shell.record(of: saved)
    let skipped = saved.committed.conflicts
    reportSkipped(skipped)
    var what = "revision \(commit.undoneStep ?? "\(commit.revision)")"
    // Revisions of a replica have no meaning for others.
    if let base = client.unsentAfter, let undoes = commit.undoes, undoes > base { what = "an unsent edit" }
    let isRedo = commit.redoes != nil
    if output.json { return output.print(ObjectJSON.commit(commit, skipped: skipped, model)) }
    let count = Output.count(commit.changes.count, "change")
    output.show(commit, else: isRedo ? "redone \(what): \(count) made again" : "undone \(what): \(count) taken back")
  }

  private func reportSkipped(_ skipped: [Conflict]) {
    if output.json { return }
    for conflict in skipped {
      output.message("left alone: \(TextTable.visible(sentence(for: conflict)))")
    }
  }

  private func sentence(for conflict: Conflict) -> String {
    let (what, id, who) = (conflict.subject(in: model), conflict.shortID, conflict.otherAuthor)
    switch conflict.kind {
    case .deleted where conflict.property == 0: return "\(who) has deleted \(id) since"
    case .deleted: return "\(who) has deleted the earlier \(what) of \(id) since"
    case .changed where conflict.property == 0: return "\(who) has changed \(id) since"
    case .changed, .unique: return "\(who) has changed \(what) of \(id) since"
    }
  }

  /// Maximum number of the author's newest commits that are searched for a name.
  static let namedCommits: UInt64 = 10_000

  /// Undoes the author's newest step with this name that is not undone.
  func undo(named name: String) async throws {
    let author = client.author
    let commits = try await client.log(
      LogRequest(limit: Self.namedCommits, filter: HistoryFilter(authors: [author]), changes: 0))
    guard let revision = commits.newestStep(named: name) else {
      throw Refusal(
        .notFound,
        "\(author) has no step \"\(name)\" that is not undone")
    }
    try await undo(revision)
  }
}
