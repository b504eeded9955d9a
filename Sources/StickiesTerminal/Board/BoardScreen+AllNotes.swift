import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// All notes of a large board: they are selected by a condition, and the server changes them in one commit, which is one step
/// of undo.
extension BoardScreen {
  /// An undo takes back so many changes; docs/guides/undo.md.
  private static let maximumUndone = 100_000

  /// What is selected, when it is all of a large board but some.
  var all: AllNotes? { mode.selection.isAll ? allNotes : nil }

  func isSelected(_ id: ObjectID) -> Bool {
    mode.selection.contains(id, isListed: all?.contains(id) ?? true)
  }

  /// Selects a note that is here, or does so no more.
  func toggleSelected(_ id: ObjectID) {
    guard let all else { return mode.toggle(id) }
    guard !id.isTemporary else { return say("the note is not on the server yet") }
    let isListed = all.contains(id)
    var selection = mode.selection
    selection.toggle(id, isListed: isListed)
    guard selection.namedCount <= AllNotes.maximumNamed else {
      return say("at most \(AllNotes.maximumNamed) notes can be taken out of all", isTrouble: true)
    }
    mode.toggle(id, isListed: isListed)
    all.follow(selection.target)
  }

  /// Selects all notes of the board, or all that are looked for. No list of them is made.
  func selectAllOfBoard() {
    guard let part = page.part else { return }
    let (filter, shown) = (part.filter, self.filter)
    let newest = NoteSearch(
      predicate: page.notes(where: .always), sort: [SortKey](Note.self, [\.number.descending]))
    inquiries.find(newest) { [weak self] result in
      guard let self, mode.isEditing, page.part === part else { return }
      switch result {
      case .success(let notes):
        guard let newest = notes.first?.number else { return mode.selection.clear() }
        let all = AllNotes(
          of: part, board: page.board, filter: filter, newest: newest, in: context, link: link, listener: allListener)
        inquiries.count(all.selected(.all(except: [], also: []))) { [weak self] in
          self?.select(all, of: part, under: shown, $0)
        }
      case .failure(let refusal): say(refusal.message, isTrouble: true)
      }
    }
  }

  /// - Parameter filter: by which they were looked for: of another one they are not what is shown.
  private func select(_ all: AllNotes, of part: BoardPart, under filter: BoardFilter, _ count: Result<Int, Refusal>) {
    guard mode.isEditing, page.part === part, filter == self.filter else { return all.stop() }
    switch count {
    case .success(let count):
      allNotes?.stop()
      allNotes = all
      mode.selection.selectAll(count: count)
      application.setNeedsDisplay()
    case .failure(let refusal):
      all.stop()
      say(refusal.message, isTrouble: true)
    }
  }

  private var allListener: RowsListener {
    let listener = RowsListener { [weak self] in self?.application.setNeedsDisplay() }
    listener.failed = { [weak self] in self?.say($0.message, isTrouble: true) }
    return listener
  }

  /// Others have added and deleted notes, or all is not what is selected any more; once in each turn.
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

  /// What is done to all that are selected, and how it is said.
  struct WholeChange {
    /// "Deleting".
    var doing: String
    /// Behind it, "to Home"; empty for nothing.
    var place = ""
    /// "deleted".
    var done: String
    /// What undo does: "brings them back".
    var undone = "takes it back"
    /// Whether locked notes are left as they are.
    var sparesLocked = true
  }

  /// Whether all of them can be changed now; says why not.
  var mayChangeAll: Bool {
    if isChangingAll {
      say(Self.isStillChanging)
    } else if !linkState.isConnected {
      say("what is done to all notes of a large board needs the server", isTrouble: true)
    }
    return !isChangingAll && linkState.isConnected
  }

  /// Has the server change all that are selected.
  /// - Parameter work: what becomes of them, by the first that is changed.
  func changeAll(_ all: AllNotes, _ change: WholeChange, _ work: @escaping (Note) -> NoteBatch.Work) {
    guard linkIsOpen, mayChangeAll, !mode.selection.isEmpty else { return }
    // The server makes a step of it that the scope does not know.
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
    // It is answered when the server has what was saved before.
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

  /// - Parameter result: nil where every note is locked.
  private func endChange(_ change: WholeChange, _ token: BusyToken, _ result: Result<NoteBatchResult?, Refusal>) {
    isChangingAll = false
    endWait(token)
    switch result {
    case .success(let result?) where result.count > 0: say(words(of: result, change))
    case .success(let result?) where result.locked == 0:
      say("nothing was changed: none of them is there any more, or all are so")
    case .success: say(Self.allAreLocked)
    case .failure(BoardInquiries.givenUp): say("given up; nothing is changed, unless all of it was done already")
    // Whether it was done may not be known.
    case .failure(let refusal) where refusal.code == .unavailable: say(refusal.message, isTrouble: true)
    case .failure(let refusal): say("nothing was changed: \(refusal.message)", isTrouble: true)
    }
  }

  static let isStillChanging = "all notes are being changed; Esc gives that up"
  static let allAreLocked = "all of them are locked, left as they are"

  func words(of result: NoteBatchResult, _ change: WholeChange) -> String {
    let what = result.count == 1 ? "1 note" : "\(result.count) notes"
    let done = [change.done, what, change.place].filter { !$0.isEmpty }.joined(separator: " ")
    let undo = result.changed > Self.maximumUndone ? "too many for u to take back" : "u \(change.undone)"
    return done + "; " + undo + (result.locked > 0 ? "; \(result.locked) locked, left as they are" : "")
  }
}
