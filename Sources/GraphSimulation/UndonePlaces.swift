import GraphModel

/// An undo that comes right behind its step, of one commit or of a group of them, puts every list back in the order that it
/// had and every attribute back to what it was: nobody has come between, so nothing may stay. Lists are sorted anew by a naive
/// twin, from what history tells.
struct UndonePlaces {
  /// A step that nobody has come behind.
  private struct Step {
    var newest: CommitRecord
    var commits = 1
    /// The lists that it may have changed, as they were before it.
    var lists: [(owner: ObjectID, property: Property, order: [ObjectID])]
    /// The objects that it changed, as they were before it; those that it made are not there.
    var objects: [ObjectID: ObjectImage]
    var touched = Set<ObjectID>()
  }

  /// How many such undos had a list to put back.
  private(set) var count = 0
  /// How many took back several commits.
  private(set) var groups = 0
  /// The first that left something otherwise.
  private(set) var failure: String?
  private let model: Model
  private var images = [ObjectID: ObjectImage]()
  private var last: Step?
  /// Of each author and scope the newest commit, and its group, while no undo has come behind it.
  private var runs = [Run: (newest: Revision, group: UInt64?)]()

  private struct Run: Hashable {
    let author: String
    let scope: UniqueID
  }

  /// - Parameters:
  ///   - records: all commits from the first, with all their changes.
  ///   - cut: undos of steps of which some commits had been pruned: those stay.
  init(_ records: [CommitRecord], except cut: Set<TransactionID>, model: Model) {
    self.model = model
    for record in records where !record.changes.isEmpty || record.undoes != nil {
      let lists = PlacedMembers.touchedLists(by: record, model: model).map { owner, property in
        (owner, property, PlacedMembers.order(of: owner, property, in: images, model: model))
      }
      let run = Run(author: record.author, scope: record.undo?.scope ?? .zero)
      guard record.undoes == nil else {
        for change in record.changes { images[change.id] = change.after }
        if let last, record.redoes == nil, record.undoes == last.newest.revision, !cut.contains(record.transaction) {
          judge(record, last)
        }
        runs[run] = nil
        last = nil
        continue
      }
      last = step(with: record, lists, goesOn: record.undo != nil && runs[run]?.group == record.undo?.group)
      runs[run] = (record.revision, record.undo?.group)
      for change in record.changes { images[change.id] = change.after }
    }
  }

  /// - Parameter goesOn: it belongs to a step that began before it.
  /// - Returns: nil for a commit of a step that others have come into.
  private func step(
    with record: CommitRecord, _ lists: [(owner: ObjectID, property: Property, order: [ObjectID])], goesOn: Bool
  ) -> Step? {
    var step = Step(newest: record, lists: [], objects: [:])
    if goesOn {
      guard let last, last.newest.author == record.author, last.newest.undo?.scope == record.undo?.scope,
        last.newest.undo?.group == record.undo?.group
      else { return nil }
      step = last
      step.newest = record
      step.commits += 1
    }
    let known = step.lists
    step.lists += lists.filter { list in
      !known.contains { $0.owner == list.owner && $0.property === list.property }
    }
    for change in record.changes where step.touched.insert(change.id).inserted {
      step.objects[change.id] = images[change.id]
    }
    return step
  }

  private mutating func judge(_ undo: CommitRecord, _ step: Step) {
    if !step.lists.isEmpty { count += 1 }
    if step.commits > 1 { groups += 1 }
    let what = "revision \(undo.revision) took back \(step.commits) commits up to \(step.newest.revision) and left "
    for (owner, property, before) in step.lists where failure == nil {
      let now = PlacedMembers.order(of: owner, property, in: images, model: model)
      if now != before { failure = what + "\(property.name) of \(owner) as \(now), it was \(before)" }
    }
    for old in step.objects.values.sorted(by: { $0.id < $1.id }) where failure == nil {
      guard let now = images[old.id] else {
        failure = what + "\(old.id) deleted"
        return
      }
      for property in model.entity(old.id.entity)?.storedProperties ?? [] where property.isPlainAttribute {
        if !isBack(now[property], old[property], property, step) {
          failure = what + "\(property.name) of \(old.id) as \(now[property]), it was \(old[property])"
        }
      }
    }
  }

  private func isBack(_ now: Value, _ old: Value, _ property: Property, _ step: Step) -> Bool {
    guard property.attribute?.kind == .text else { return now == old }
    // A text that one of several commits has set as a whole stays.
    return step.commits > 1 || now == old
  }
}
