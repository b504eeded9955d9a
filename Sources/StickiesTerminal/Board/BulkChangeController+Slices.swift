import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// Changes of all notes of a large board that no batch can make: each note gets a different value. The notes are
/// read, changed and saved a thousand at a time, in several commits that are one undo step, unless another change
/// intervenes, which gets a step of its own. After a cancel, the notes changed so far stay changed.
extension BulkChangeController {
  private static let changedAtOnce = 1_000

  /// The state of one such change.
  private struct SlicedUpdate {
    var change: BulkChangeDescription
    /// The name of the undo step.
    let name: String
    /// The undo group of the notes changed so far; nil until the first ones are changed.
    var group: UInt64?
    /// The notes to change.
    let notes: GraphPredicate
    let total: Int
    let locked: Int
    let token: BusyToken
    let body: (Note) -> Void
    /// Starts again with the changes that were requested meanwhile.
    var again: ([(Note) -> Void]) -> Void = { _ in }
    var done = 0
    /// The number of the last note that was processed. Notes that could not be changed are not visited again.
    var last = 0
  }

  /// Changes each selected note.
  /// - Parameter name: the name of the undo step.
  func changeEach(
    _ all: SelectAllState, _ name: String, _ change: BulkChangeDescription, _ body: @escaping (Note) -> Void
  ) {
    // A held key repeats the command: the repetitions are applied together afterwards.
    if let current = slicedUpdate, UTF8Comparison.equal(current.name, name) {
      slicedUpdate?.queued.append(body)
      return
    }
    guard let token = beginEach(change.doing) else { return }
    slicedUpdate = (name, [])
    countFree(all, token) { [weak self] free, count, locked in
      var update = SlicedUpdate(
        change: change, name: name, notes: free, total: count, locked: locked, token: token, body: body)
      update.again = { [weak self] bodies in
        // The selection may have changed by now.
        guard let self, self.selection.all === all else { return }
        changeEach(all, name, change) { note in for body in bodies { body(note) } }
      }
      self?.changeNextSlice(update)
    }
  }

  /// Adds a tag to all selected notes, or removes it if all of them have it.
  func tag(_ all: SelectAllState, _ name: String) {
    guard let token = beginEach("Tagging") else { return }
    countFree(all, token) { [weak self] free, freeCount, locked in
      let without = GraphPredicate.all([free, .not(GraphPredicate(Note.self) { $0.tags.any.name == name })])
      self?.busy.reads.count(without) { [weak self] result in
        guard let self else { return }
        guard case .success(let count) = result else { return endEach(token, result) }
        var tag: Tag?
        let update =
          count == 0
          ? SlicedUpdate(
            change: BulkChangeDescription(doing: "Tagging", done: "untagged"), name: "Untag", notes: free,
            total: freeCount,
            locked: locked, token: token, body: { [weak self] in self?.tags.detach(name, from: $0) })
          : SlicedUpdate(
            change: BulkChangeDescription(doing: "Tagging", done: "tagged"), name: "Tag", notes: without, total: count,
            locked: locked, token: token,
            body: { [weak self] note in
              guard let self else { return }
              let added = tag ?? tags.tag(named: name)
              tag = added
              tags.attach(added, to: note)
            })
        changeNextSlice(update)
      }
    }
  }

  /// Begins a change of all notes.
  /// - Returns: the token of the wait; nil if the change is not possible, which a message explains.
  private func beginEach(_ doing: String) -> BusyToken? {
    guard connection.allowsChanges, allowsChange, !selection.mode.selection.isEmpty else { return nil }
    saving.save()
    saving.keyRepeat = nil
    isChanging = true
    let token = busy.begin("\(doing) \(selection.mode.selection.count) notes…")
    busy.overlay.setProgress(0, of: token)
    return token
  }

  private func countFree(
    _ all: SelectAllState, _ token: BusyToken,
    _ counted: @escaping (_ free: GraphPredicate, _ count: Int, _ locked: Int) -> Void
  ) {
    let count = selection.mode.selection.count
    let free = GraphPredicate.all([
      all.selected(selection.mode.selection.target), GraphPredicate(Note.self) { $0.locked == false },
    ])
    busy.reads.count(free) { [weak self] result in
      guard let self else { return }
      guard case .success(let freeCount) = result else { return endEach(token, result) }
      counted(free, freeCount, max(0, count - freeCount))
    }
  }

  private func changeNextSlice(_ update: SlicedUpdate) {
    let last = update.last
    let rest = GraphPredicate.all([update.notes, GraphPredicate(Note.self) { $0.number > last }])
    let search = NoteSearch(
      predicate: rest, sort: [SortKey](Note.self, [\.number.ascending]), limit: Self.changedAtOnce)
    // The reply arrives after the server has committed the previous slice, unless its save waits here for the answer to
    // another one.
    busy.reads.find(search) { [weak self] result in
      guard let self else { return }
      guard case .success(let notes) = result, let last = notes.last, connection.allowsChanges,
        saving.refusedInARow == 0
      else {
        return end(update, result)
      }
      var update = update
      change(notes, by: &update)
      update.done += notes.count
      update.last = last.number
      progress = (update.done, update.total)
      busy.overlay.setProgress(Double(update.done) / Double(max(update.total, update.done)), of: update.token)
      changeNextSlice(update)
    }
  }

  private func change(_ notes: [Note], by update: inout SlicedUpdate) {
    // Edits and drags since then get an undo step of their own.
    saving.save()
    undoScope.apart(named: update.name, continuing: update.group) {
      let changed = notes.filter { !$0.isDeleted }
      for note in changed { update.body(note) }
      saving.save(changed: changed.map(\.id))
    }
    if let group = update.group, group != undoScope.lastGroup { update.change.undone = "undoes the last part" }
    update.group = undoScope.lastGroup
  }

  private func end(_ update: SlicedUpdate, _ result: Result<[Note], Refusal>) {
    // Changes are queued after a change of `changeEach`, but not after tagging.
    let queued = if let slicedUpdate { slicedUpdate.queued } else { [(Note) -> Void]() }
    endEach(update.token)
    // A refused save has already shown its message.
    guard saving.refusedInARow == 0 else { return }
    switch result {
    case .success where update.done == 0: report(Self.allAreLocked)
    case .success where !queued.isEmpty: update.again(queued)
    case .success:
      let counted = NoteBatchResult(count: update.done, locked: update.locked, changed: update.done)
      report(words(of: counted, update.change))
    case .failure(let refusal):
      report(
        "\(refusal.message) after \(update.done) of \(update.total) notes; u \(update.change.undone)",
        isTrouble: refusal != RequestChannel.cancelled)
    }
  }

  /// Ends a change of all notes.
  /// - Parameter result: the outcome of a request before the first note was changed.
  private func endEach(_ token: BusyToken, _ result: Result<Int, Refusal>? = nil) {
    assert(isChanging, "the change that ends has begun")
    (isChanging, slicedUpdate, progress, isRestAbandoned) = (false, nil, nil, false)
    busy.end(token)
    if case .failure(let refusal)? = result { report("nothing was changed: \(refusal.message)", isTrouble: true) }
  }
}
