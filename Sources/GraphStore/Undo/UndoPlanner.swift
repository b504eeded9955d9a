// Tests: UndoTests.swift, RandomUndoTests.swift
import GraphModel

/// Plans the transaction that undoes a step, all its commits together.
///
/// Each property that still has the step's value gets its value from before the step; the others are reported. A redo
/// is the undo of the undo. The plan reads only history, so undo survives everything that history survives.
struct UndoPlanner {
  let history: HistoryReader
  let names: ShownNames
  var limits = UndoLimits()
  /// Decides what the principal may see; nil for everything.
  var judge: AccessJudge?

  /// The planned undo.
  struct UndoPlan {
    var transaction: Transaction
    /// The step for an undo; for a redo, the undo.
    var undoes: Revision
    /// For a redo, the step.
    var redoes: Revision?
    /// The properties that others have changed since, and that stay.
    var skipped: [Conflict]
  }

  private var objects: ObjectReader { history.objects }
  private var stacks: UndoStacks { UndoStacks(history: history) }

  func plan(_ request: UndoRequest, author principal: Principal) throws -> UndoPlan {
    let author = principal.id
    let step = try request.revision.map { try wanted($0, redo: request.redo, author) } ?? next(request, principal)
    let isWhole = !step.isUndone && step.latest == step.revision
    let commits = try self.commits(isWhole ? try stacks.revisions(of: step) : [step.latest])
    let reversal = try StepReversal(commits, author: author, history: history, limits: limits)
    // A step that has no remaining effect and no conflict is undone without a change, so that the stack advances.
    guard !reversal.changes.isEmpty || request.revision == nil && reversal.skipped.isEmpty else {
      throw Self.nothing(of: step.revision, isRedo: step.isUndone, reversal.skipped)
    }
    return UndoPlan(
      transaction: Transaction(id: request.id, policy: .overwrite, undo: step.group, changes: reversal.changes),
      undoes: step.isUndone ? step.latest : step.revision, redoes: step.isUndone ? step.revision : nil,
      skipped: reversal.skipped)
  }

  /// The refusal of an undo without any change. Nothing is committed, so the next undo applies to the same step.
  /// - Parameter revision: the step.
  static func nothing(of revision: Revision, isRedo: Bool, _ skipped: [Conflict]) -> Refusal {
    let what = isRedo ? "redone" : "undone"
    return Refusal(
      .conflict,
      "nothing of revision \(revision) could be \(what): its values have changed since; other steps can be \(what) "
        + "by their revision",
      conflicts: skipped)
  }

  private func next(_ request: UndoRequest, _ author: Principal) throws -> UndoStacks.Step {
    let found = try stacks.next(of: author.id, scope: request.scope, undo: !request.redo, redo: request.redo)
    if let step = request.redo ? found.redo : found.undo { return step }
    let (head, oldest) = (try history.head().revision, try history.oldest())
    let reach =
      head - oldest > UndoStacks.reach
      ? " in the newest \(UndoStacks.reach) commits"
      : oldest > 0 ? " in what is kept: history up to revision \(oldest) was pruned" : ""
    throw Refusal(.notFound, "\(author.name) has nothing to \(request.redo ? "redo" : "undo")\(reach)")
  }

  /// Returns the step of a revision. The undo of an undo is a redo.
  private func wanted(_ revision: Revision, redo: Bool, _ author: String) throws -> UndoStacks.Step {
    guard let committer = try history.author(of: revision), let (step, isUndo) = try stacks.step(of: revision) else {
      try history.refusePrunedCommit(revision)
      throw Refusal(.notFound, "there is no revision \(revision)")
    }
    guard UTF8Comparison.equal(committer, author) else {
      // A principal who sees a part of the graph learns nothing of other commits.
      let seesAuthors = judge.map(\.seesEverything) != false
      let maker = seesAuthors ? names.name(of: committer) : "someone else"
      throw Refusal(
        .notAllowed, "revision \(revision) was made by \(maker); you can only undo your own commits")
    }
    if redo {
      guard step.isUndone else { throw Refusal(.conflict, "revision \(revision) is not undone") }
    } else {
      guard isUndo ? step.latest == revision : !step.isUndone else {
        throw Refusal(.conflict, "revision \(revision) is undone already")
      }
    }
    return step
  }

  private func commits(_ revisions: [Revision]) throws -> [HistoryReader.Commit] {
    let since = history.objects.layout.since
    for revision in revisions where revision < since {
      throw Refusal(
        .limit, "revision \(revision) was made before the model changed with revision \(since); it can't be undone")
    }
    // Checked before any change is decoded, because there may be a million.
    var extent = HistoryReader.CommitSize()
    for revision in revisions {
      guard let part = try history.extent(of: revision) else {
        throw try history.prunedCommit(revision)
      }
      extent.changes += part.changes
      extent.bytes += part.bytes
      try limits.check(changes: extent.changes, bytes: extent.bytes)
    }
    var count = 0
    return try revisions.map { revision in
      let commit = try invariant(history.commit(revision), "a commit whose size was read is in history")
      count += commit.changes.count
      try limits.check(changes: count, bytes: 0)
      return commit
    }
  }
}
