import GraphModel
import GraphWire

extension CommandContext {
  /// Maximum number of the author's newest commits that are searched for a name.
  static let namedCommits: UInt64 = 10_000

  /// Undoes the author's newest step with this name that is not undone.
  @MainActor
  func undo(named name: String) async throws {
    let author = client.context.replica.author
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

extension [CommitEntry] {
  /// A commit of the newest step with this name that is not undone. The commits are those of one author, the newest
  /// first.
  func newestStep(named name: String) -> Revision? {
    var undone = Set<UndoGroup>()
    for commit in reversed() {
      guard let group = commit.undo, UTF8Comparison.equal(group.name, name) else { continue }
      // Undo and redo commits have the group of their step.
      if commit.redoes == nil, commit.undoes != nil { undone.insert(group) } else { undone.remove(group) }
    }
    return first { commit in
      commit.undoes == nil && commit.redoes == nil
        && commit.undo.map { UTF8Comparison.equal($0.name, name) && !undone.contains($0) } == true
    }?.revision
  }
}
