import GraphModel
import GraphWire

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
