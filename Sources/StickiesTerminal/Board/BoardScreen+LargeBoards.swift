import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Boards of which only a part is here: what is seen is followed, everything else is asked for when somebody wants to go
/// there, or to do something to it.
extension BoardScreen {
  /// So many of the notes that are not here are read by one question.
  private static let awayAtOnce = 1_000

  /// What of the board is seen, in cells.
  var seen: Rect { Rect(origin: page.scroll, size: canvas.size) }

  /// Asks for what is seen and not here; once in each turn, and before a note is shown that has no window yet.
  func lookAround() {
    recountAll()
    guard let part = page.part else { return }
    part.filter = .all([
      filter.predicate, found == nil ? .always : search?.query.flatMap { condition(of: $0) } ?? .always,
    ])
    let kept = [page.windows.focus, editing?.id, dragged?.id, linkStart?.id, sought, searchListener?.focus]
      .compactMap { $0 }
    if part.look(at: seen, keeping: Set(kept), isConnected: linkState.isConnected, at: now) { page.reconcile() }
    if isListOpen, let focus = page.windows.focus, let shape = page.shape(of: focus) {
      part.showInList(focus, x: shape.x, y: shape.y)
    }
    checkSelection(part)
    if let lookTimer { application.cancel(lookTimer) }
    lookTimer = part.nextLook.map { due in
      application.schedule(at: due) { [weak self] in
        self?.lookTimer = nil
        self?.application.setNeedsDisplay()
      }
    }
  }

  /// How many notes lie beyond each edge of the canvas; empty while nobody knows, and where the canvas marks them itself.
  var outlying: [BoardSide: Int] {
    guard let part = page.part, let piece = part.shown, part.covers(seen), var counts = part.beyond else { return [:] }
    for id in piece.notes.snapshot {
      guard let note = page.values(of: id), let side = BoardSide.side(of: note.cells, beyond: seen),
        !piece.wish.region.isBeyond(
          x: note.shape.x, y: note.shape.y, width: note.shape.width, height: note.shape.height)
      else { continue }
      counts[side, default: 0] += 1
    }
    return counts.filter { $0.value > 0 }
  }

  /// That not every note of this place is drawn; nil when every one is.
  var crowdWords: String? {
    guard let part = page.part, part.leftOut > 0, let piece = part.shown else { return nil }
    return "\(piece.notes.totalCount) notes lie here; the uppermost \(piece.notes.count) are shown"
  }

  // MARK: - Going there

  /// Shows the next note in reading order that fits, wherever it lies; behind the last one comes the first.
  func findNext(by step: Int, where condition: GraphPredicate = .always, orSay nothing: String? = nil) {
    guard let part = page.part else { return }
    let sort = [SortKey](
      Note.self, step > 0 ? [\.y.ascending, \.x.ascending] : [\.y.descending, \.x.descending])
    var search = NoteSearch(predicate: page.notes(where: .all([part.filter, condition])), sort: sort)
    if let focus = page.windows.focus, let image = context.storedObjects.image(of: focus) {
      search.after = try? FetchCursor(
        behind: image, of: focus.entity, sort: sort, model: context.model, in: context.storedObjects)
    }
    isFinding = true
    inquiries.find(search) { [weak self] result in
      guard let self else { return }
      if case .success(let notes) = result, notes.isEmpty, search.after != nil {
        search.after = nil
        return inquiries.find(search) { [weak self] in self?.found($0, orSay: nothing) }
      }
      found(result, orSay: nothing)
    }
  }

  /// Shows the note so many further in reading order, or the first or the last of all.
  func findFar(by step: Int) {
    guard let part = page.part else { return }
    func sort(_ isForward: Bool) -> [SortKey] {
      [SortKey](Note.self, isForward ? [\.y.ascending, \.x.ascending] : [\.y.descending, \.x.descending])
    }
    let notes = page.notes(where: part.filter)
    // The end is the beginning of the other direction.
    let end = NoteSearch(predicate: notes, sort: sort(step < 0))
    var search = end
    if abs(step) <= BoardPart.maximumNotes {
      search = NoteSearch(predicate: notes, sort: sort(step > 0), limit: abs(step))
      if let focus = page.windows.focus, let image = context.storedObjects.image(of: focus) {
        search.after = try? FetchCursor(
          behind: image, of: focus.entity, sort: search.sort, model: context.model, in: context.storedObjects)
      }
    }
    isFinding = true
    inquiries.find(search) { [weak self] result in
      guard let self else { return }
      if case .success(let notes) = result {
        guard notes.count < search.limit, search != end else { return found(result.map { $0.suffix(1) }, orSay: nil) }
        return inquiries.find(end) { [weak self] in self?.found($0, orSay: nil) }
      }
      found(result, orSay: nil)
    }
  }

  private func found(_ result: Result<[Note], Refusal>, orSay nothing: String?) {
    switch result {
    case .success(let notes):
      if let note = notes.first { show(note.id) } else if let nothing { say(nothing) }
    case .failure(let refusal): say(refusal.message, isTrouble: true)
    }
    releaseKeys()
  }

  /// Whether keys and pastes wait in the queue: they came behind a key that the server is asked for, and are for what it
  /// finds. Escape gives that up, Ctrl-C leaves.
  var keepsKeysWaiting: Bool { (isFinding || awaitsFound) && application.modalWindow == nil }

  /// They are what comes next.
  func releaseKeys() {
    isFinding = false
    application.setNeedsDisplay()
  }

  // MARK: - Selecting what is not here

  /// Notes went, or are hidden by the filter, that may be selected one by one, and of which nothing else tells: those that are
  /// still there stay selected.
  private func checkSelection(_ part: BoardPart) {
    guard mode.isEditing, !mode.selection.isAll, !mode.selection.isEmpty, linkState.isConnected,
      let total = part.total, !isCheckingSelection
    else { return }
    defer { checkedTotal = total }
    // Without the server as many may have come as went.
    guard wasAway || wasFiltered || checkedTotal.map({ total < $0 }) == true else { return }
    (wasAway, wasFiltered) = (false, false)
    guard case .some(let all) = mode.selection.target else { return }
    let selected = all.filter { !$0.isTemporary }
    isCheckingSelection = true
    part.inquiries.identify(page.notes(where: .all([.identifiers(selected), filter.predicate]))) { [weak self] result in
      // Of a board that is not shown any more, the answer says nothing of what is selected by now.
      guard let self, page.part === part else { return }
      isCheckingSelection = false
      guard case .success(let ids) = result else { return wasFiltered = true }
      let there = Set(ids)
      mode.selection.objectsWereDeleted(selected.filter { !there.contains($0) && page.windows[$0] == nil })
      application.setNeedsDisplay()
    }
  }

  /// Selected notes that are not here.
  private var away: [ObjectID] {
    guard page.part != nil, mode.isEditing, case .some(let ids) = mode.selection.target else { return [] }
    return ids.filter { page.windows[$0] == nil }
  }

  /// Whether there is something to act on.
  var hasTargets: Bool { mode.isEditing && !mode.selection.isEmpty || !targets.isEmpty }

  /// Hands over the notes that an action is for, at once when they are here; not for all of a large board but some.
  func withTargets(_ body: @escaping ([Note]) -> Void) {
    let away = away
    guard !away.isEmpty else { return body(targets) }
    let token = beginWait("Reading \(away.count) notes that are out of sight…")
    read(away[...], after: [], of: away.count, token, body)
  }

  /// A few at a time; the overlay says how far it is.
  private func read(
    _ ids: ArraySlice<ObjectID>, after notes: [Note], of count: Int, _ token: BusyToken,
    _ body: @escaping ([Note]) -> Void
  ) {
    guard !ids.isEmpty else {
      endWait(token)
      let here = Set(notes.map(\.id))
      return body(notes.filter { !$0.isDeleted } + targets.filter { !here.contains($0.id) })
    }
    overlay.setProgress(Double(count - ids.count) / Double(count), of: token)
    // What others have made of them since may be hidden.
    let predicate = page.notes(
      where: .all([.identifiers(Array(ids.prefix(Self.awayAtOnce))), filter.predicate]))
    reading.find(NoteSearch(predicate: predicate, limit: Self.awayAtOnce)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found): read(ids.dropFirst(Self.awayAtOnce), after: notes + found, of: count, token, body)
      case .failure(let refusal):
        endWait(token)
        say("nothing was changed: \(refusal.message)", isTrouble: true)
      }
    }
  }
}
