import GraphModel

extension HistoryChange {
  /// The changes of a commit, oldest first, each object once: a batch may have come back to one. Taken back, they lead to
  /// the object as it was before the commit.
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

  /// - Parameter later: an update: nothing is deleted or made twice in one commit.
  private mutating func join(_ later: HistoryChange) {
    sum = later.sum
    // What was made in this commit goes as a whole.
    guard kind == .updated else { return }
    // Making room is nobody's edit, as long as all of it was that.
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
      // Two edits of one property, in their order: the later one's places are in the text that the earlier one left.
      default: edits.append(edit)
      }
    }
  }
}
