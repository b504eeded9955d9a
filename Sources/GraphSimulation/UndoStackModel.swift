import GraphModel

/// The undo and redo stacks of one author, computed from the recorded commits without the store's code.
struct UndoStackModel {
  /// The commits that are undone together.
  struct Step {
    /// In ascending order.
    var commits: [Revision]
    let scope: UniqueID
    /// The group, as in its newest commit.
    var group: UndoGroup?

    var newest: Revision { commits[commits.count - 1] }
  }

  private(set) var undoable = [Step]()
  private(set) var undone = [Step]()
  /// The step that the author's next commit of the same group continues, by scope.
  private var open = [UniqueID: Step]()
  /// Saves within a group that changed nothing, each with a commit of its step.
  private var unchangedSaves = [Revision: Revision]()
  /// The saves of this kind whose step has not begun yet.
  private var pendingSaves = [UniqueID: [CommitRecord]]()

  /// Computes the stacks.
  /// - Parameters:
  ///   - records: all commits from the first on.
  ///   - scope: the scope; nil for all of the author's scopes, as one stack.
  ///   - floor: the revision up to which commits were pruned; the steps of these are unknown.
  init(_ records: some Sequence<CommitRecord>, of author: String, scope: UniqueID?, after floor: Revision) {
    for record in records where record.author == author && record.revision > floor {
      let own = record.undo?.scope ?? .zero
      if scope ?? own == own { apply(record, own) }
    }
  }

  private mutating func apply(_ record: CommitRecord, _ scope: UniqueID) {
    if let undoes = record.undoes {
      open[scope] = nil
      pendingSaves[scope] = nil
      if let step = record.redoes {
        if let index = undone.lastIndex(where: { $0.newest == step }) { undoable.append(undone.remove(at: index)) }
      } else if let index = undoable.lastIndex(where: { $0.newest == undoes }) {
        undone.append(undoable.remove(at: index))
      }
    } else if !record.changes.isEmpty {
      undone = []
      var step = Step(commits: [], scope: scope)
      if let group = record.undo?.group, let known = open[scope], known.group?.group == group {
        undoable.removeAll { $0.newest == known.newest }
        step = known
      }
      step.commits.append(record.revision)
      step.group = record.undo
      undoable.append(step)
      open[scope] = step
      for earlier in pendingSaves[scope, default: []] where earlier.undo?.group == record.undo?.group {
        unchangedSaves[earlier.revision] = record.revision
      }
      pendingSaves[scope] = nil
    } else if let group = record.undo?.group {
      if let known = open[scope], known.group?.group == group {
        unchangedSaves[record.revision] = known.newest
      } else {
        pendingSaves[scope, default: []].append(record)
      }
    }
  }

  /// Describes how an undo or redo took another step than its user meant; nil if it did not.
  /// - Parameter record: the commit of the undo or redo.
  func failure(of request: UndoRequest, _ record: CommitRecord) -> String? {
    guard let taken = record.redoes ?? record.undoes else {
      preconditionFailure("the commit of an undo or redo names its step")
    }
    let wanted: Step?
    if let named = request.revision {
      let revision = unchangedSaves[named] ?? named
      wanted = (request.redo ? undone : undoable).last { $0.commits.contains(revision) }
    } else {
      wanted = request.redo ? undone.last : undoable.last
    }
    if wanted?.newest == taken, wanted?.group == record.undo, (record.redoes != nil) == request.redo { return nil }
    return "revision \(record.revision) \(request.redo ? "redoes" : "undoes") revision \(taken), requested was "
      + "\(request.revision.map { "that of \($0)" } ?? "the next"), which is \(wanted.map { "\($0.commits)" } ?? "none")"
  }

  /// The expected undo state.
  var state: UndoState {
    func reported(_ step: Step?) -> UndoStep? {
      step.map { UndoStep(group: $0.group, oldest: $0.commits[0], newest: $0.newest, count: $0.commits.count) }
    }
    return UndoState(undo: reported(undoable.last), redo: reported(undone.last))
  }
}
