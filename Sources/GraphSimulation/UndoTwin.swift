import GraphModel

/// The steps of one author by the commits that were taken down, as a person would keep them: a stack of those that stand and
/// one of those that were taken back. Nothing of how the store looks for them.
struct UndoTwin {
  /// Commits that are undone together.
  struct Step {
    /// Oldest first.
    var commits: [Revision]
    let scope: UniqueID
    /// As its newest commit names it.
    var group: UndoGroup?

    var newest: Revision { commits[commits.count - 1] }
  }

  private(set) var standing = [Step]()
  private(set) var undone = [Step]()
  /// By scope, the step that the author's next commit of the same group goes on with.
  private var open = [UniqueID: Step]()
  /// Saves within a group that changed nothing, each with a commit of the step that it belongs to.
  private var idle = [Revision: Revision]()
  /// Of these, those of a step that has not begun yet.
  private var waiting = [UniqueID: [CommitRecord]]()

  /// - Parameters:
  ///   - records: from the first on.
  ///   - scope: nil for all of the author's as if they were one.
  ///   - floor: commits up to this one were pruned; whose step it takes nobody knows of.
  init(_ records: some Sequence<CommitRecord>, of author: String, scope: UniqueID?, after floor: Revision) {
    for record in records where record.author == author && record.revision > floor {
      let own = record.undo?.scope ?? .zero
      if scope ?? own == own { take(record, own) }
    }
  }

  private mutating func take(_ record: CommitRecord, _ scope: UniqueID) {
    if let undoes = record.undoes {
      open[scope] = nil
      waiting[scope] = nil
      if let step = record.redoes {
        guard let place = undone.lastIndex(where: { $0.newest == step }) else { return }
        standing.append(undone.remove(at: place))
      } else if let place = standing.lastIndex(where: { $0.newest == undoes }) {
        undone.append(standing.remove(at: place))
      }
    } else if !record.changes.isEmpty {
      undone = []
      var step = Step(commits: [], scope: scope)
      if let group = record.undo?.group, let known = open[scope], known.group?.group == group {
        standing.removeAll { $0.newest == known.newest }
        step = known
      }
      step.commits.append(record.revision)
      step.group = record.undo
      standing.append(step)
      open[scope] = step
      for earlier in waiting.removeValue(forKey: scope) ?? [] where earlier.undo?.group == record.undo?.group {
        idle[earlier.revision] = record.revision
      }
    } else if let group = record.undo?.group {
      if let known = open[scope], known.group?.group == group {
        idle[record.revision] = known.newest
      } else {
        waiting[scope, default: []].append(record)
      }
    }
  }

  /// Why an undo or a redo took another step than the user meant.
  /// - Parameter record: the commit that it became.
  func failure(of request: UndoRequest, _ record: CommitRecord) -> String? {
    let taken = record.redoes ?? record.undoes
    let wanted: Step?
    if let named = request.revision {
      let revision = idle[named] ?? named
      wanted = (request.redo ? undone : standing).last { $0.commits.contains(revision) }
    } else {
      wanted = request.redo ? undone.last : standing.last
    }
    if wanted?.newest == taken, wanted?.group == record.undo, (record.redoes != nil) == request.redo { return nil }
    return "revision \(record.revision) \(request.redo ? "redoes" : "undoes") revision \(taken ?? 0), asked for was "
      + "\(request.revision.map { "that of \($0)" } ?? "the next"), which is \(wanted?.commits ?? [])"
  }

  /// What a user is told that undo and redo would take.
  var state: UndoState {
    func told(_ step: Step?) -> UndoStep? {
      step.map { UndoStep(group: $0.group, oldest: $0.commits[0], newest: $0.newest, count: $0.commits.count) }
    }
    return UndoState(undo: told(standing.last), redo: told(undone.last))
  }
}
