// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GraphModel

/// Builds the entries of a log: commits found in history, with complete images of the changed objects.
struct LogEntryBuilder {
  private let history: HistoryReader
  private let past: ObjectTimeTravelReader
  /// Set for a class that does not see everything.
  private let visible: VisibleHistory?

  /// - Parameters:
  ///   - omitsDamage: whether the changes of an object whose row or whose past is damaged are listed without values.
  ///     Otherwise they are refused.
  ///   - visibility: the class that receives the entries; commits without visible changes have no entry.
  init(_ history: HistoryReader, omitsDamage: Bool = false, seenBy visibility: Visibility? = nil) {
    self.history = history
    visible = visibility.map { VisibleHistory($0, history) }
    past = ObjectTimeTravelReader(history: history, omitsDamage: omitsDamage)
  }

  /// The number of changes per run of commits. The objects of a run are rolled back together.
  static let gatheredChanges = ObjectTimeTravelReader.preparedAtOnce

  /// - Parameter commits: newest first, and older than the commits of earlier calls.
  func build(_ commits: [HistoryReader.Commit], _ body: (CommitRecord) throws -> Void) throws {
    var rest = commits[...]
    while let first = rest.first {
      var (run, revisions) = ([first], [ObjectID: Revision]())
      var count = first.changes.count
      rest.removeFirst()
      while let next = rest.first, count + next.changes.count <= Self.gatheredChanges {
        run.append(next)
        count += next.changes.count
        rest.removeFirst()
      }
      // A single larger commit is prepared in slices.
      if count <= Self.gatheredChanges {
        for commit in run { for change in commit.changes { revisions[change.id] = commit.revision } }
        try past.prepare(revisions)
      }
      for commit in run {
        let record = try record(of: commit)
        if let visible {
          if let reduced = try visible.reduced(record) { try body(reduced) }
        } else {
          try body(record)
        }
      }
    }
  }

  private func record(of commit: HistoryReader.Commit) throws -> CommitRecord {
    let objects = history.objects
    var changes = [ObjectChange]()
    changes.reserveCapacity(commit.changes.count)
    for start in stride(from: 0, to: commit.changes.count, by: Self.gatheredChanges) {
      let slice = commit.changes[start..<min(start + Self.gatheredChanges, commit.changes.count)]
      if slice.count < commit.changes.count {
        try past.prepare(Dictionary(slice.map { ($0.id, commit.revision) }) { first, _ in first })
      }
      for change in slice {
        guard let after = try past.readableImage(of: change.id, at: commit.revision) else {
          changes.append(ObjectChange(kind: change.kind, id: change.id, before: nil, after: nil))
          continue
        }
        changes.append(change.objectChange(from: change.before(after, model: objects.model), to: after))
      }
    }
    return commit.record(of: changes, objects.layout.numbers)
  }
}
