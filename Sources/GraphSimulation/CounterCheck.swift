import GraphModel

/// Checks counters: each committed increment adds one to the value that its user read, and only an undo removes it.
///
/// Two increments from the same value write the same value, which no merge policy takes for a conflict. Only their
/// preconditions keep both from being committed.
struct CounterCheck {
  static let entity = "Counter"
  static let property = "count"

  /// The effect of a commit on a counter.
  private struct Step {
    let before: Int64
    let after: Int64
    let author: String
    let isIncrement: Bool
    /// Whether a later commit has undone it.
    var isUndone = false
  }

  /// The number of undos and redos that changed a counter.
  private(set) var undos = 0
  /// The description of the first violation.
  private(set) var failure: String?
  /// The steps of each counter, by revision.
  private var steps = [ObjectID: [Revision: Step]]()
  private var counts = [ObjectID: Int64]()

  /// - Parameters:
  ///   - records: all commits from the first on, with all their changes.
  ///   - increments: the increments that the clients have saved.
  init(_ records: [CommitRecord], _ increments: [TransactionID: ClientCounters.Increment], model: Model) {
    guard let counter = model.entity(named: Self.entity), let count = counter.property(named: Self.property) else {
      return
    }
    for record in records {
      let increment = increments[record.transaction]
      for change in record.changes where change.id.entity == counter.number {
        guard case .integer(let after)? = change.after?[count] else { continue }
        let before = counts[change.id, default: 0]
        guard after != before else { continue }
        let step = Step(
          before: before, after: after, author: record.author, isIncrement: increment?.counter == change.id)
        if !step.isIncrement { failure = failure ?? failureOfUndo(record, of: change.id, step) }
        counts[change.id] = after
        steps[change.id, default: [:]][record.revision] = step
      }
      if let increment { failure = failure ?? failureOfIncrement(record, increment) }
    }
  }

  private func failureOfIncrement(_ record: CommitRecord, _ increment: ClientCounters.Increment) -> String? {
    // A client's values from before the restore say nothing about the restored store.
    if increment.isExempt { return nil }
    let step = steps[increment.counter, default: [:]][record.revision]
    if let step, step.before == increment.seen, step.after == increment.seen + 1 { return nil }
    let effect = step.map { "\($0.before) became \($0.after)" } ?? "nothing has changed"
    return "revision \(record.revision) incremented \(increment.counter), read as \(increment.seen): \(effect)"
  }

  /// Checks that an undo or a redo restores the count from before the step, and removes no increment of another author.
  private mutating func failureOfUndo(_ record: CommitRecord, of counter: ObjectID, _ step: Step) -> String? {
    let name = "revision \(record.revision) has changed \(counter) from \(step.before) to \(step.after)"
    guard let undoes = record.undoes, let undone = steps[counter, default: [:]][undoes] else {
      return "\(name) without an increment"
    }
    undos += 1
    if step.after != undone.before { return "\(name), it was \(undone.before) before revision \(undoes)" }
    let others = steps[counter, default: [:]].filter { revision, other in
      revision > undoes && other.isIncrement && !other.isUndone && other.author != record.author
    }
    steps.modifyIfPresent(counter) { $0.modifyIfPresent(undoes) { $0.isUndone = true } }
    // A redo makes the undone step valid again.
    if let redoes = record.redoes {
      steps.modifyIfPresent(counter) { $0.modifyIfPresent(redoes) { $0.isUndone = false } }
    }
    return others.keys.min().map { "\(name), although revision \($0) of another author has incremented it since" }
  }
}
