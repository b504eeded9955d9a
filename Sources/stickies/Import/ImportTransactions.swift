import GraphModel

/// An import's changes, split into transactions of limited size. Their order is kept, so that references follow the
/// objects that they refer to.
struct ImportTransactions: Sequence {
  private var parts = [[Change]]()

  var count: Int { parts.count }

  /// Splits changes.
  /// - Parameters:
  ///   - largest: the approximate maximum size of a part, in bytes; a larger change is a part of its own.
  ///   - bound: changes of this entity stay in the part of the change before them.
  init(_ changes: [Change], largest: Int, keeping bound: EntityNumber) {
    var (part, size) = ([Change](), 0)
    for change in changes {
      let more = change.edits.reduce(64) { $0 + $1.approximateSize }
      if size + more > largest, !part.isEmpty, change.id.entity != bound {
        parts.append(part)
        (part, size) = ([], 0)
      }
      part.append(change)
      size += more
    }
    if !part.isEmpty { parts.append(part) }
  }

  func makeIterator() -> IndexingIterator<[[Change]]> { parts.makeIterator() }

  /// The change with temporary ids replaced by those that earlier parts were assigned.
  static func naming(_ change: Change, _ permanent: [ObjectID: ObjectID]) -> Change {
    var change = change
    for (index, edit) in change.edits.enumerated() {
      switch edit.action {
      case .set(.object(let id)): change.edits[index] = Edit(edit.property, .set(.object(permanent[id] ?? id)))
      case .set(.objects(let ids)):
        change.edits[index] = Edit(edit.property, .set(.objects(ids.map { permanent[$0] ?? $0 })))
      default: break
      }
    }
    return change
  }
}
