// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GraphModel

/// A cache of decoded commits for reads of single objects.
///
/// A commit of many objects is decoded once, not once for each object.
final class RecentCommits {
  struct Entry {
    let author: String
    let replica: UniqueID
    let isInParts: Bool
    let changes: [ObjectID: HistoryChange]
  }

  /// The key of an entry; part 0 is the commit's row itself.
  private struct Key: Hashable {
    let revision: Revision
    let part: Int
  }

  private var entries = [Key: Entry]()
  private var size = 0

  subscript(revision: Revision, part: Int) -> Entry? { entries[Key(revision: revision, part: part)] }

  func keep(_ commit: HistoryReader.Commit) -> Entry {
    // Entries never become invalid, because commits don't change. The cache holds some tens of thousands of
    // changes.
    if size > 50_000 { forget() }
    let entry = Entry(
      author: commit.author, replica: commit.transaction.replica, isInParts: commit.parts != nil,
      changes: Dictionary(commit.changes.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
    entries[Key(revision: commit.revision, part: commit.part)] = entry
    size += commit.changes.count
    return entry
  }

  func forget() { (entries, size) = ([:], 0) }
}
