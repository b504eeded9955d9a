import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// Changes of all notes of a large board. A predicate selects them, and the server changes them in one commit, which
/// is one undo step.
extension BoardScreen {
  /// Maximum number of changes that one undo reverts; see docs/guides/undo.md.
  private static let maximumUndone = 100_000

  /// The selection, if it is all notes of a large board except some.
  var all: SelectAllState? { mode.selection.isAll ? allNotes : nil }

  func isSelected(_ id: ObjectID) -> Bool {
    mode.selection.contains(id, isListed: all?.contains(id) ?? true)
  }

  /// Toggles the selection of a loaded note.
  func toggleSelected(_ id: ObjectID) {
    guard let all else { return mode.toggle(id) }
    guard !id.isTemporary else { return report("the note is not on the server yet") }
    let isListed = all.contains(id)
    var selection = mode.selection
    selection.toggle(id, isListed: isListed)
    guard selection.namedCount <= SelectAllState.maximumNamed else {
      return report("at most \(SelectAllState.maximumNamed) notes can be taken out of all", isTrouble: true)
    }
    mode.toggle(id, isListed: isListed)
    all.follow(selection.target)
  }

  /// Selects all notes of the board that match the filter, without a list of their ids.
  func selectAllOfBoard() {
    guard let part = pages.page.part else { return }
    let (filter, shown) = (part.filter, self.filtering.filter)
    let newest = NoteSearch(
      predicate: pages.page.notes(where: .always), sort: [SortKey](Note.self, [\.number.descending]))
    inquiries.find(newest) { [weak self] result in
      guard let self, mode.isEditing, pages.page.part === part else { return }
      switch result {
      case .success(let notes):
        guard let newest = notes.first?.number else { return mode.selection.clear() }
        let all = SelectAllState(
          of: part, board: pages.page.board, filter: filter, newest: newest, in: context, link: link,
          listener: allListener)
        inquiries.count(all.selected(.all(except: [], also: []))) { [weak self] in
          self?.select(all, of: part, under: shown, $0)
        }
      case .failure(let refusal): report(refusal.message, isTrouble: true)
      }
    }
  }

  /// Selects all notes, unless the filter has changed since they were requested.
  /// - Parameter filter: the filter at the time of the request.
  private func select(
    _ all: SelectAllState, of part: BoardWindow, under filter: BoardFilter, _ count: Result<Int, Refusal>
  ) {
    guard mode.isEditing, pages.page.part === part, filter == self.filtering.filter else { return all.stop() }
    switch count {
    case .success(let count):
      allNotes?.stop()
      allNotes = all
      mode.selection.selectAll(count: count)
      application.setNeedsDisplay()
    case .failure(let refusal):
      all.stop()
      report(refusal.message, isTrouble: true)
    }
  }

  private var allListener: RowsListener {
    let listener = RowsListener { [weak self] in self?.application.setNeedsDisplay() }
    listener.failed = { [weak self] in self?.report($0.message, isTrouble: true) }
    return listener
  }

  /// Updates the count of selected notes after commits; once per turn. Drops `allNotes` if not all are selected.
  func recountAll() {
    guard let allNotes else { return }
    if mode.selection.isAll {
      if let count = allNotes.count { mode.selection.recount(count) }
    } else {
      allNotes.stop()
      self.allNotes = nil
    }
  }

  // MARK: - Changing all of them

  /// The wording and rules of a change of all selected notes.
  struct BulkChangeDescription {
    /// For example "Deleting".
    var doing: String
    /// Added to the message, as in "to Home"; empty for nothing.
    var place = ""
    /// For example "deleted".
    var done: String
    /// The effect of undo, as in "brings them back".
    var undone = "takes it back"
    /// Whether locked notes remain unchanged.
    var sparesLocked = true
  }

  /// Whether all selected notes can be changed now; shows the reason if not.
  var mayChangeAll: Bool {
    if isChangingAll {
      report(Self.isStillChanging)
    } else if !connection.state.isConnected {
      report("what is done to all notes of a large board needs the server", isTrouble: true)
    }
    return !isChangingAll && connection.state.isConnected
  }

  /// Requests a batch that changes all selected notes.
  /// - Parameter work: the change, derived from the first note that it applies to.
  func changeAll(
    _ all: SelectAllState, _ change: BulkChangeDescription, _ work: @escaping (Note) -> NoteBatch.Operation
  ) {
    guard connection.allowsChanges, mayChangeAll, !mode.selection.isEmpty else { return }
    // The server creates an undo step that the scope does not know.
    keyRow = nil
    save()
    isChangingAll = true
    let notes = all.selected(mode.selection.target)
    let place = change.place.isEmpty ? "" : " \(change.place)"
    let token = beginWait("\(change.doing) \(mode.selection.count) notes\(place)…")
    overlay.setProgress(0, of: token)
    link.followBatch { [weak self] step in
      guard let self, step.total > 0 else { return }
      overlay.setProgress(Double(step.done) / Double(step.total), of: token)
      application.setNeedsDisplay()
    }
    let free = change.sparesLocked ? GraphPredicate(Note.self) { $0.locked == false } : .always
    let first = NoteSearch(predicate: .all([notes, free]), sort: [SortKey](Note.self, [\.number.ascending]))
    // The reply arrives after the server has committed the previous save.
    reading.find(first) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found):
        guard let first = found.first else { return endChange(change, token, .success(nil)) }
        let batch = NoteBatch(notes: notes, work: work(first), sparesLocked: change.sparesLocked)
        reading.change(batch) { [weak self] in self?.endChange(change, token, $0.map { $0 }) }
      case .failure(let refusal): endChange(change, token, .failure(refusal))
      }
    }
  }

  /// Reports the outcome.
  /// - Parameter result: nil if every note is locked.
  private func endChange(
    _ change: BulkChangeDescription, _ token: BusyToken, _ result: Result<NoteBatchResult?, Refusal>
  ) {
    isChangingAll = false
    endWait(token)
    switch result {
    case .success(let result?) where result.count > 0: report(words(of: result, change))
    case .success(let result?) where result.locked == 0:
      report("nothing was changed: none of them is there any more, or all are so")
    case .success: report(Self.allAreLocked)
    case .failure(RequestChannel.givenUp): report("given up; nothing is changed, unless all of it was done already")
    // Whether the batch was committed may be unknown.
    case .failure(let refusal) where refusal.code == .unavailable: report(refusal.message, isTrouble: true)
    case .failure(let refusal): report("nothing was changed: \(refusal.message)", isTrouble: true)
    }
  }

  static let isStillChanging = "all notes are being changed; Esc gives that up"
  static let allAreLocked = "all of them are locked, left as they are"

  func words(of result: NoteBatchResult, _ change: BulkChangeDescription) -> String {
    let what = result.count == 1 ? "1 note" : "\(result.count) notes"
    let done = [change.done, what, change.place].filter { !$0.isEmpty }.joined(separator: " ")
    let undo = result.changed > Self.maximumUndone ? "too many for u to take back" : "u \(change.undone)"
    return done + "; " + undo + (result.locked > 0 ? "; \(result.locked) locked, left as they are" : "")
  }
}
