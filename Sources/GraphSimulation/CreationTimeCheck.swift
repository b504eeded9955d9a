import GraphModel

/// Checks creation times.
///
/// An object keeps the time of its first commit through edits, undo and restore, even if it was deleted meanwhile.
struct CreationTimeCheck {
  /// The number of objects that were revived with their creation time.
  private(set) var returns = 0
  /// The description of the first violation.
  private(set) var failure: String?

  /// - Parameter records: all commits from the first on, with all their changes.
  init(_ records: [CommitRecord], model: Model) {
    var known = [ObjectID: Value]()
    for record in records {
      for change in record.changes {
        guard let after = change.after,
          let property = model.entity(change.id.entity)?.property(named: "created")
        else { continue }
        let wanted = known[change.id] ?? .date(record.time)
        if after[property] != wanted {
          failure =
            failure ?? "revision \(record.revision) has \(change.id) made at \(after[property]), it was at \(wanted)"
        }
        if change.before == nil, known[change.id] != nil { returns += 1 }
        known[change.id] = wanted
      }
    }
  }
}
