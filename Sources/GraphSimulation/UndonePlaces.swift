import GraphModel

/// An undo that comes right behind its commit puts every list back in the order that it had: nobody has come between, so
/// nothing may stay. Lists are sorted anew by a naive twin, from what history tells.
struct UndonePlaces {
  /// How many such undos had a list to put back.
  private(set) var count = 0
  /// The first that left a list otherwise.
  private(set) var failure: String?

  /// - Parameter records: all commits from the first, with all their changes.
  init(_ records: [CommitRecord], model: Model) {
    var images = [ObjectID: ObjectImage]()
    /// The lists that the commit before may have changed, as they were before it.
    var last: (record: CommitRecord, lists: [(owner: ObjectID, property: Property, order: [ObjectID])])?
    for record in records {
      let lists = PlacedMembers.touchedLists(by: record, model: model).map { owner, property in
        (owner, property, PlacedMembers.order(of: owner, property, in: images, model: model))
      }
      for change in record.changes { images[change.id] = change.after }
      if let last, record.redoes == nil, record.undoes == last.record.revision, last.record.undo == nil,
        !last.lists.isEmpty
      {
        count += 1
        for (owner, property, before) in last.lists where failure == nil {
          let now = PlacedMembers.order(of: owner, property, in: images, model: model)
          guard now != before else { continue }
          failure =
            "revision \(record.revision) took back \(last.record.revision) and left \(property.name) of \(owner) as "
            + "\(now), it was \(before)"
        }
      }
      last = (record, lists)
    }
  }
}
