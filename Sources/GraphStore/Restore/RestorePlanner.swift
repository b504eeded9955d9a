// Tests: RestoreTests.swift, RandomHistoryTests.swift
import GraphModel

/// Plans the transaction that restores the state at a revision.
///
/// A deleted object is revived under its own id with all its values, including sequence numbers. An existing object
/// gets its old values. A restore of the complete graph also deletes the objects that were inserted since. A
/// relationship can't be restored if the object at its other end was deleted or is now related to another one: it then
/// stays as it is and is reported.
///
/// The rules engine processes the transaction like any other: unique keys, deny rules and the model's rules apply.
struct RestorePlanner {
  /// The maximum number of changes that are rolled back, and of objects that are restored.
  static let maximumChanges = TransactionPlanner.maximumObjects

  /// The planned restore.
  struct RestorePlan {
    var transaction: Transaction
    /// The values that can't be restored.
    var skipped: [Conflict]
  }

  let history: HistoryReader
  /// Decides what the principal may see; nil for everything.
  var judge: AccessJudge?

  func plan(_ request: RestoreRequest) throws -> RestorePlan {
    let past: RestoreSnapshot
    let wanted: [ObjectID]
    switch request.scope {
    case .everything:
      guard let revision = request.revision else {
        throw Refusal(.malformed, "a restore of the whole graph needs a revision")
      }
      try history.check(revision)
      past = try RestoreSnapshot(history, at: revision, maximumChanges: Self.maximumChanges)
      past.sight = sight(at: revision)
      wanted = past.touchedIDs
    case .object(let id):
      let (known, deletion) = try history.located(id)
      past = try self.past(of: known, deletion, request.revision, whole: false)
      past.sight = try sight(deletion, request.revision)
      wanted = [known]
    case .contents(let id):
      let (known, deletion) = try history.located(id)
      past = try self.past(of: known, deletion, request.revision, whole: true)
      past.sight = try sight(deletion, request.revision)
      wanted = try past.contents(of: known, maximum: Self.maximumChanges)
    }
    // A state that the principal can't see is like none.
    if request.scope != .everything, try past.visibleImage(of: wanted[0]) == nil {
      let name = history.objects.model.displayName(of: wanted[0].entity)
      let when = if let revision = request.revision { "at revision \(revision)" } else { "before its delete" }
      throw Refusal(.notFound, "the \(name) \(wanted[0]) did not exist \(when)")
    }
    var reversal = RestoreChangeBuilder(history: history, past: past, isEverything: request.scope == .everything)
    try reversal.restore(wanted)
    guard !reversal.changes.isEmpty else { throw Self.nothing(besides: reversal.skipped) }
    return RestorePlan(
      transaction: Transaction(id: request.id, policy: .overwrite, changes: reversal.changes),
      skipped: reversal.skipped)
  }

  private func sight(at revision: Revision) -> PastSight? {
    guard let judge, !judge.seesEverything else { return nil }
    return PastSight(judge, history, at: revision)
  }

  /// The sight of the state to which an object is restored: at a revision, or just before its delete.
  private func sight(_ deletion: Revision?, _ revision: Revision?) throws -> PastSight? {
    let restored = if let revision { revision } else { deletion.map { $0 - 1 } }
    return sight(at: try invariant(restored, "an object whose past was read has a revision to be restored to"))
  }

  /// The refusal of a restore without any change.
  /// - Parameter skipped: the values that can't be restored.
  static func nothing(besides skipped: [Conflict]) -> Refusal {
    Refusal(
      .conflict,
      skipped.isEmpty
        ? "there is nothing to restore: the objects already have that state"
        : "nothing can be restored: the related objects were deleted", conflicts: skipped)
  }

  /// The past that the restore of an object needs. The state just before its delete needs only the commit that deleted
  /// it. An older state of the object alone also needs its own history, and one with its contents needs all commits
  /// since then.
  /// - Parameter whole: whether the object's contents are restored too.
  private func past(
    of id: ObjectID, _ deletion: Revision?, _ revision: Revision?, whole: Bool
  ) throws -> RestoreSnapshot {
    guard let revision else {
      guard let deletion else {
        let name = history.objects.model.displayName(of: id.entity)
        throw Refusal(.malformed, "the \(name) \(id) is not deleted: name the revision to restore it to")
      }
      return try RestoreSnapshot(history, beforeDelete: deletion, maximumChanges: Self.maximumChanges)
    }
    try history.check(revision)
    if let deletion, deletion == revision + 1 {
      return try RestoreSnapshot(history, beforeDelete: deletion, maximumChanges: Self.maximumChanges)
    }
    guard !whole else { return try RestoreSnapshot(history, at: revision, maximumChanges: Self.maximumChanges) }
    let past =
      try deletion.flatMap { deletion in
        deletion > revision
          ? try RestoreSnapshot(history, beforeDelete: deletion, maximumChanges: Self.maximumChanges) : nil
      } ?? RestoreSnapshot(history)
    past.set(try ObjectTimeTravelReader(history: history).image(of: id, at: revision), of: id)
    return past
  }
}
