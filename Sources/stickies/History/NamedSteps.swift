import GraphModel
import GraphWire

extension Shell {
  /// So many of the author's newest commits are looked at for a name.
  static let namedCommits: UInt64 = 10_000

  /// Takes back the author's newest step of that name that is not undone.
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
  /// A commit of the newest step of that name that is not undone, in commits of one author, the newest first.
  func newestStep(named name: String) -> Revision? {
    var undone = Set<UndoGroup>()
    for commit in reversed() {
      guard let group = commit.undo, Bytes.equal(group.name, name) else { continue }
      // An undo and a redo have the group of their step.
      if commit.redoes == nil, commit.undoes != nil { undone.insert(group) } else { undone.remove(group) }
    }
    return first { commit in
      commit.undoes == nil && commit.redoes == nil
        && commit.undo.map { Bytes.equal($0.name, name) && !undone.contains($0) } == true
    }?.revision
  }
}
