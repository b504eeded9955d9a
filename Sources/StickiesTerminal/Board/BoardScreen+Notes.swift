import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Commands on the focused note or on all selected notes.
extension BoardScreen {
  /// The loaded notes that a command acts on.
  var targets: [Note] {
    if selection.mode.isEditing {
      return pages.page.windows.ids.filter { selection.isSelected($0) }.compactMap { pages.page.note($0) }
    }
    return pages.focused?.note.map { [$0] } ?? []
  }

  /// Changes the targets in one undo step.
  /// - Parameter inRow: whether this change joins the undo step of the same change to the same notes just before.
  func change(_ name: String, isForLocked: Bool = false, inRow: Bool = false, _ body: @escaping (Note) -> Void) {
    guard connection.allowsChanges else { return }
    withTargets { [weak self] notes in self?.change(notes, name, isForLocked, inRow: inRow, body) }
  }

  /// Changes notes in one undo step.
  func change(
    _ notes: [Note], _ name: String, _ isForLocked: Bool = false, inRow: Bool = false, _ body: (Note) -> Void
  ) {
    let free = isForLocked ? notes : notes.filter { !$0.locked }
    guard !free.isEmpty else {
      if !notes.isEmpty { report("the note is locked; l unlocks it") }
      return
    }
    saving.save()
    let ids = Set(free.map(\.id))
    undoScope.beginGroup(named: name, continuing: inRow ? saving.keyRepeat?.group(of: name, ids, at: now) : nil)
    for note in free {
      body(note)
      saving.touch(note.id)
    }
    saving.save()
    undoScope.endGroup()
    saving.keyRepeat = inRow ? KeyRepeatGroup(name: name, notes: ids, group: undoScope.lastGroup, time: now) : nil
    if free.count < notes.count { report("\(notes.count - free.count) locked, left as they are") }
  }

  func setSize(of note: Note, width: Double, height: Double) {
    let least = (
      width: Double(NoteView.minimumSize.width) * BoardScale.pointsPerColumn,
      height: Double(NoteView.minimumSize.height) * BoardScale.pointsPerRow
    )
    note.width = min(max(width, least.width), 100_000)
    note.height = min(max(height, least.height), 100_000)
  }

  func raise(_ controller: NoteController) {
    guard let note = controller.note, !note.locked, connection.allowsChanges else { return }
    let top = pages.page.windows.topHeight(for: controller.id, pages.page)
    guard top != note.z else { return }
    note.z = top
    saving.touch(controller.id)
  }

  func lower(_ note: Note) {
    let lowest =
      pages.page.windows.ids.filter { $0 != note.id }.compactMap { pages.page.shape(of: $0)?.z }.min() ?? note.z
    if note.z >= lowest { note.z = lowest - 1 }
  }

  /// Deletes the targets in one undo step.
  func deleteNotes() {
    guard connection.allowsChanges else { return }
    if let all = selection.all {
      endEditing()
      let change = BulkChangeDescription(doing: "Deleting", done: "deleted", undone: "brings them back")
      return changeAll(all, change) { _ in .delete }
    }
    withTargets { [weak self] notes in
      let free = notes.filter { !$0.locked }
      self?.delete(free)
      guard free.count < notes.count else { return }
      let locked = notes.count - free.count
      self?.report(
        free.isEmpty && locked == 1 ? "the note is locked; l unlocks it" : "\(locked) locked, left as they are")
    }
  }

  private func delete(_ notes: [Note]) {
    guard !notes.isEmpty else { return }
    endEditing()
    saving.save()
    undoScope.beginGroup(named: "Delete")
    for note in notes { remove(note) }
    saving.save()
    undoScope.endGroup()
    pages.page.reconcile()
    let (what, them) = notes.count == 1 ? ("deleted", "it") : ("deleted \(notes.count) notes", "them")
    report(
      "\(what); u brings \(them) back" + (connection.state.isConnected ? "" : " once the server is there"),
      gone: Set(notes.map(\.id)))
  }

  /// Undoes or redoes the last step.
  func undo(isRedo: Bool) {
    // Undo runs on the server; queued while disconnected, it would surprise the user after the reconnect.
    guard connection.state.isConnected else {
      return report("\(isRedo ? "redo" : "undo") needs the server", isTrouble: true)
    }
    guard connection.allowsChanges else { return }
    guard !isChangingAll else { return report(Self.isStillChanging) }
    saving.keyRepeat = nil
    saving.save()
    busy.requests.step(isRedo: isRedo) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let isWhole):
        let stays = isWhole ? "" : "; what others changed since stays"
        report((isRedo ? "Done again" : "Undone") + stays)
      case .failure(RequestChannel.cancelled): report("given up; the server may still do it")
      case .failure(let refusal): report(refusal.message, isTrouble: refusal.code != .notFound)
      }
    }
  }

  // MARK: - Focus

  /// Focuses the next note in reading order and scrolls to it.
  func focusNext(by step: Int) {
    let order = listIDs
    if pages.page.part != nil {
      let here = pages.page.windows.focus.flatMap { order.firstIndex(of: $0) }
      guard let here, order.indices.contains(here + step) else { return findNext(by: step) }
      return show(order[here + step])
    }
    guard !order.isEmpty else { return }
    let here = pages.page.windows.focus.flatMap { order.firstIndex(of: $0) }
    let next = here.map { ($0 + step + order.count) % order.count } ?? (step > 0 ? 0 : order.count - 1)
    show(order[next])
  }

  /// Focuses the note that many places further in reading order, or the first or last if there are fewer.
  func focusFar(by step: Int) {
    let order = listIDs
    let here = pages.page.windows.focus.flatMap { order.firstIndex(of: $0) }
    if pages.page.part != nil {
      guard let here, abs(step) < order.count, order.indices.contains(here + step) else { return findFar(by: step) }
      return show(order[here + step])
    }
    guard !order.isEmpty else { return }
    let most = max(-order.count, min(step, order.count))
    show(order[max(0, min((here ?? (step > 0 ? -1 : order.count)) + most, order.count - 1))])
  }

  /// The number of rows of the list, whether it is open or not.
  var notesPerPage: Int { max(1, application.screenSize.height - 4) }

  func place(of id: ObjectID) -> (Double, Double, ObjectID) {
    let shape = pages.page.shape(of: id)
    return (shape?.y ?? 0, shape?.x ?? 0, id)
  }

  /// Focuses a note and scrolls to it.
  func show(_ id: ObjectID) {
    endEditing()
    guard let frame = boardFrame(of: id), pages.page.windows[id] != nil || pages.page.part != nil else { return }
    bringIntoSight(frame)
    if pages.page.windows[id] == nil {
      // The list or a request has loaded the note; its window opens, and its surroundings are requested.
      pages.page.windows.reopen(id)
      sought = id
      lookAround()
    }
    sought = nil
    if let controller = pages.page.windows[id] { pages.focus(controller) }
  }

  /// Scrolls as little as possible to show a rectangle of the board; its beginning if it does not fit.
  func bringIntoSight(_ frame: Rect) {
    let seen = viewport.seen
    func into(_ low: Int, _ high: Int, _ from: Int, _ room: Int) -> Int {
      if low < from { return low - 1 }
      return high > from + room ? max(low - 1, high - room + 2) : from
    }
    pages.page.scroll = Point(
      x: into(frame.minX, frame.maxX, seen.minX, seen.size.width),
      y: into(frame.minY, frame.maxY, seen.minY, seen.size.height))
    if frame.size.width >= seen.size.width { pages.page.scroll.x = frame.minX }
    if frame.size.height >= seen.size.height { pages.page.scroll.y = frame.minY }
  }

  /// The cells of the board that a note takes.
  func boardFrame(of id: ObjectID) -> Rect? {
    pages.page.values(of: id)?.cells
  }

  /// Notes that are not visible at all, in reading order.
  var hidden: [ObjectID] {
    let seen = viewport.seen
    return shownIDs.filter { id in boardFrame(of: id).map { $0.intersection(seen).isEmpty } ?? false }
      .sorted { place(of: $0) < place(of: $1) }
  }

  /// Shows the next note that is not visible; repeated calls cycle through all of them.
  func showNextHidden() {
    // Closed windows are reopened first.
    let shut = pages.page.rows.filter { pages.page.windows.isShut($0) }
    for id in shut { pages.page.windows.reopen(id) }
    if let first = shut.first {
      pages.page.reconcile()
      return show(first)
    }
    if pages.page.part != nil {
      return findNext(
        by: 1, where: .not(BoardRegion.notes(meeting: viewport.seen)), orReport: "every note is in sight")
    }
    let hidden = hidden
    guard !hidden.isEmpty else { return report("every note is in sight") }
    let here = pages.page.windows.focus.map { place(of: $0) }
    let next = here.flatMap { here in hidden.first { place(of: $0) > here } } ?? hidden[0]
    show(next)
  }
}
