import GraphModel

/// When objects were made: at the time of their commit, and so it stays, whatever is edited, undone or restored; also for one
/// that comes back after it was deleted.
struct Beginnings {
  /// How many objects have come back so far, with the time of their beginning.
  private(set) var returns = 0
  /// The first object that says otherwise.
  private(set) var failure: String?

  /// - Parameter records: all commits from the first, with all their changes.
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
