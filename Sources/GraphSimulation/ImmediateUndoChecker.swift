import GraphModel

/// Checks undos that come right after their steps, of one commit or of a group.
///
/// Such an undo restores the order of every list and the value of every attribute: because no other commit came in
/// between, nothing may remain. Lists are sorted from history by the naive algorithm.
struct ImmediateUndoChecker {
  /// A step with no other commit after it.
  private struct Step {
    var newest: CommitRecord
    var commits = 1
    /// The lists that the step may have changed, with their previous orders.
    var lists: [(owner: ObjectID, property: Property, order: [ObjectID])]
    /// The previous states of the changed objects; inserted objects are missing.
    var objects: [ObjectID: ObjectImage]
    var touched = Set<ObjectID>()
  }

  /// The number of such undos that had a list to restore.
  private(set) var count = 0
  /// The number of such undos that reverted several commits.
  private(set) var groups = 0
  /// The description of the first violation.
  private(set) var failure: String?
  private let model: Model
  private var images = [ObjectID: ObjectImage]()
  private var last: Step?
  /// The newest commit of each author and scope, with its group, until an undo follows.
  private var runs = [StackKey: (newest: Revision, group: UInt64?)]()

  private struct StackKey: Hashable {
    let author: String
    let scope: UniqueID
  }

  /// Checks all undos.
  /// - Parameters:
  ///   - records: all commits from the first on, with all their changes.
  ///   - cut: the undos of steps of which some commits had been pruned; the changes of these remain.
  init(_ records: [CommitRecord], except cut: Set<TransactionID>, model: Model) {
    self.model = model
    for record in records where !record.changes.isEmpty || record.undoes != nil {
      let lists = ListOrderCheck.touchedLists(by: record, model: model).map { owner, property in
        (owner, property, ListOrderCheck.order(of: owner, property, in: images, model: model))
      }
      let run = StackKey(author: record.author, scope: record.undo?.scope ?? .zero)
      guard record.undoes == nil else {
        for change in record.changes { images[change.id] = change.after }
        if let last, record.redoes == nil, record.undoes == last.newest.revision, !cut.contains(record.transaction) {
          check(record, last)
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

  /// Extends or begins a step with a commit.
  /// - Parameter goesOn: whether the commit continues a step.
  /// - Returns: nil for a step that other commits have interrupted.
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

  private mutating func check(_ undo: CommitRecord, _ step: Step) {
    if !step.lists.isEmpty { count += 1 }
    if step.commits > 1 { groups += 1 }
    let what = "revision \(undo.revision) undid \(step.commits) commits up to \(step.newest.revision) and left "
    for (owner, property, before) in step.lists where failure == nil {
      let now = ListOrderCheck.order(of: owner, property, in: images, model: model)
      if now != before { failure = what + "\(property.name) of \(owner) as \(now), it was \(before)" }
    }
    for old in step.objects.values.sorted(by: { $0.id < $1.id }) where failure == nil {
      guard let now = images[old.id] else {
        failure = what + "\(old.id) deleted"
        return
      }
      for property in model.storedProperties(of: old.id.entity) where property.isPlainAttribute {
        if !isRestored(now[property], old[property], property, step) {
          failure = what + "\(property.name) of \(old.id) as \(now[property]), it was \(old[property])"
        }
      }
    }
  }

  private func isRestored(_ now: Value, _ old: Value, _ property: Property, _ step: Step) -> Bool {
    guard property.attribute?.kind == .text else { return now == old }
    // A text that one of several commits has set completely remains.
    return step.commits > 1 || now == old
  }
}
