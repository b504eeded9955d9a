// Tests: BatchHistoryTests.swift, BatchTests.swift
import GraphModel

extension HistoryChange {
  /// Merges the changes of a commit, oldest first, into one per object.
  ///
  /// A batch may have changed an object repeatedly. Rolled back, the result leads to the object before the commit.
  static func joined(_ changes: [HistoryChange]) -> [HistoryChange] {
    var joined = [HistoryChange]()
    joined.reserveCapacity(changes.count)
    var places = [ObjectID: Int](minimumCapacity: changes.count)
    for change in changes {
      if let place = places[change.id] {
        joined[place].join(change)
      } else {
        places[change.id] = joined.count
        joined.append(change)
      }
    }
    return joined
  }

  /// - Parameter later: an update: a commit neither deletes nor inserts an object twice.
  private mutating func join(_ later: HistoryChange) {
    sum = later.sum
    // An object inserted by this commit disappears completely when the commit is rolled back.
    if kind == .updated { joinEdits(of: later) }
  }

  private mutating func joinEdits(of later: HistoryChange) {
    // A position change counts as spacing only if all of its changes are spacing.
    let meant = Set(edits.map(\.property)).subtracting(spacing).union(
      Set(later.edits.map(\.property)).subtracting(later.spacing))
    spacing = Set(spacing + later.spacing).subtracting(meant).sorted()
    for edit in later.edits {
      guard let place = edits.lastIndex(where: { $0.property == edit.property }) else {
        edits.append(edit)
        continue
      }
      switch (edits[place].action, edit.action) {
      case (.set(let old, _), .set(_, let new)): edits[place].action = .set(old: old, new: new)
      case (.members(let added, let removed), .members(let moreAdded, let moreRemoved)):
        edits[place].action = .members(
          added: Set(added).subtracting(moreRemoved).union(Set(moreAdded).subtracting(removed)).sorted(),
          removed: Set(removed).subtracting(moreAdded).union(Set(moreRemoved).subtracting(added)).sorted())
      // Two edits of one property stay in order: the later one's offsets refer to the text after the earlier one.
      default: edits.append(edit)
      }
    }
  }
}
