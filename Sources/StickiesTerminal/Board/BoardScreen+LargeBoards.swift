import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Boards of which only a part is loaded. The visible area is followed; other notes are requested when the user
/// navigates to them or changes them.
extension BoardScreen {
  /// Maximum number of notes read by one request.
  private static let awayAtOnce = 1_000

  /// Requests the visible notes that are not loaded. Called once per turn, and before showing a note without a
  /// window.
  func lookAround() {
    selection.recount()
    guard let part = pages.page.part else { return }
    part.filter = .all([
      filtering.filter.predicate,
      search.found == nil ? .always : search.controller?.query.flatMap { search.condition(of: $0) } ?? .always,
    ])
    let kept = [pages.page.windows.focus, editing?.id, dragged?.id, linkStart?.id, sought, search.listener?.focus]
      .compactMap { $0 }
    if part.look(at: viewport.seen, keeping: Set(kept), isConnected: connection.state.isConnected, at: now) {
      pages.page.reconcile()
    }
    if isListOpen, let focus = pages.page.windows.focus, let shape = pages.page.shape(of: focus) {
      part.showInList(focus, x: shape.x, y: shape.y)
    }
    selection.check(part)
    if let lookTimer { application.cancel(lookTimer) }
    lookTimer = part.nextLook.map { due in
      application.schedule(at: due) { [weak self] in
        self?.lookTimer = nil
        self?.application.setNeedsDisplay()
      }
    }
  }

  /// The number of notes beyond each edge of the canvas. Empty while unknown, and for boards whose canvas marks them
  /// itself.
  var outlying: [BoardSide: Int] {
    guard let part = pages.page.part, let piece = part.shown, part.covers(viewport.seen), var counts = part.beyond
    else { return [:] }
    for id in piece.notes.snapshot {
      guard let note = pages.page.values(of: id), let side = BoardSide.side(of: note.cells, beyond: viewport.seen),
        !piece.wish.region.isBeyond(
          x: note.shape.x, y: note.shape.y, width: note.shape.width, height: note.shape.height)
      else { continue }
      counts[side, default: 0] += 1
    }
    return counts.filter { $0.value > 0 }
  }

  /// The message that not all notes of this area are drawn; nil if all are.
  var crowdWords: String? {
    guard let part = pages.page.part, part.leftOut > 0, let piece = part.shown else { return nil }
    return "\(piece.notes.totalCount) notes lie here; the uppermost \(piece.notes.count) are shown"
  }

  // MARK: - Navigation

  /// Shows the next matching note in reading order, wherever it lies, wrapping around at the end.
  func findNext(by step: Int, where condition: GraphPredicate = .always, orReport nothing: String? = nil) {
    guard let part = pages.page.part else { return }
    let sort = [SortKey](
      Note.self, step > 0 ? [\.y.ascending, \.x.ascending] : [\.y.descending, \.x.descending])
    var search = NoteSearch(predicate: pages.page.notes(where: .all([part.filter, condition])), sort: sort)
    if let focus = pages.page.windows.focus, let image = context.storedObjects.image(of: focus) {
      search.after = try? FetchCursor(
        behind: image, of: focus.entity, sort: sort, model: context.model, in: context.storedObjects)
    }
    isFinding = true
    busy.requests.find(search) { [weak self] result in
      guard let self else { return }
      if case .success(let notes) = result, notes.isEmpty, search.after != nil {
        search.after = nil
        return busy.requests.find(search) { [weak self] in self?.showFirst($0, orReport: nothing) }
      }
      showFirst(result, orReport: nothing)
    }
  }

  /// Shows the note that many places further in reading order, or the first or last one.
  func findFar(by step: Int) {
    guard let part = pages.page.part else { return }
    func sort(_ isForward: Bool) -> [SortKey] {
      [SortKey](Note.self, isForward ? [\.y.ascending, \.x.ascending] : [\.y.descending, \.x.descending])
    }
    let notes = pages.page.notes(where: part.filter)
    // The end is the beginning of the opposite order.
    let end = NoteSearch(predicate: notes, sort: sort(step < 0))
    var search = end
    if abs(step) <= BoardWindow.maximumNotes {
      search = NoteSearch(predicate: notes, sort: sort(step > 0), limit: abs(step))
      if let focus = pages.page.windows.focus, let image = context.storedObjects.image(of: focus) {
        search.after = try? FetchCursor(
          behind: image, of: focus.entity, sort: search.sort, model: context.model, in: context.storedObjects)
      }
    }
    isFinding = true
    busy.requests.find(search) { [weak self] result in
      guard let self else { return }
      if case .success(let notes) = result {
        guard notes.count < search.limit, search != end else {
          return showFirst(result.map { $0.suffix(1) }, orReport: nil)
        }
        return busy.requests.find(end) { [weak self] in self?.showFirst($0, orReport: nil) }
      }
      showFirst(result, orReport: nil)
    }
  }

  private func showFirst(_ result: Result<[Note], Refusal>, orReport nothing: String?) {
    switch result {
    case .success(let notes):
      if let note = notes.first { show(note.id) } else if let nothing { report(nothing) }
    case .failure(let refusal): report(refusal.message, isTrouble: true)
    }
    releaseKeys()
  }

  /// Whether keys and pastes stay queued. They follow a key whose effect depends on the server's answer, and are
  /// meant for the note that it finds. Escape cancels the request, Ctrl-C quits.
  var keepsKeysWaiting: Bool { (isFinding || search.awaitsFound) && application.modalWindow == nil }

  /// Delivers the queued keys.
  func releaseKeys() {
    isFinding = false
    application.setNeedsDisplay()
  }

  // MARK: - Notes that are not loaded

  /// Selected notes that are not loaded.
  private var away: [ObjectID] {
    guard pages.page.part != nil, selection.mode.isEditing, case .some(let ids) = selection.mode.selection.target else {
      return []
    }
    return ids.filter { pages.page.windows[$0] == nil }
  }

  /// Whether a command has notes to act on.
  var hasTargets: Bool { selection.mode.isEditing && !selection.mode.selection.isEmpty || !targets.isEmpty }

  /// Calls the closure with the target notes, at once if they are loaded; not for a selection of all.
  func withTargets(_ body: @escaping ([Note]) -> Void) {
    let away = away
    guard !away.isEmpty else { return body(targets) }
    let token = busy.begin("Reading \(away.count) notes that are out of sight…")
    read(away[...], after: [], of: away.count, token, body)
  }

  /// Reads the notes in slices and updates the overlay's progress.
  private func read(
    _ ids: ArraySlice<ObjectID>, after notes: [Note], of count: Int, _ token: BusyToken,
    _ body: @escaping ([Note]) -> Void
  ) {
    guard !ids.isEmpty else {
      busy.end(token)
      let here = Set(notes.map(\.id))
      return body(notes.filter { !$0.isDeleted } + targets.filter { !here.contains($0.id) })
    }
    busy.overlay.setProgress(Double(count - ids.count) / Double(count), of: token)
    // The filter may hide them since another client changed them.
    let predicate = pages.page.notes(
      where: .all([.identifiers(Array(ids.prefix(Self.awayAtOnce))), filtering.filter.predicate]))
    busy.reads.find(NoteSearch(predicate: predicate, limit: Self.awayAtOnce)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found): read(ids.dropFirst(Self.awayAtOnce), after: notes + found, of: count, token, body)
      case .failure(let refusal):
        busy.end(token)
        report("nothing was changed: \(refusal.message)", isTrouble: true)
      }
    }
  }
}
