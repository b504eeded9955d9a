import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Commands on the focused note or on all selected notes.
extension BoardScreen {
  /// The loaded notes that a command acts on.
  var targets: [Note] {
    if mode.isEditing {
      return page.windows.ids.filter { isSelected($0) }.compactMap { page.note($0) }
    }
    return focused?.note.map { [$0] } ?? []
  }

  /// Changes the targets in one undo step.
  /// - Parameter inRow: whether this change joins the undo step of the same change to the same notes just before.
  func change(_ name: String, isForLocked: Bool = false, inRow: Bool = false, _ body: @escaping (Note) -> Void) {
    guard linkIsOpen else { return }
    withTargets { [weak self] notes in self?.change(notes, name, isForLocked, inRow: inRow, body) }
  }

  /// Changes notes in one undo step.
  func change(
    _ notes: [Note], _ name: String, _ isForLocked: Bool = false, inRow: Bool = false, _ body: (Note) -> Void
  ) {
    let free = isForLocked ? notes : notes.filter { !$0.locked }
    guard !free.isEmpty else {
      if !notes.isEmpty { say("the note is locked; l unlocks it") }
      return
    }
    save()
    let ids = Set(free.map(\.id))
    undoScope.beginGroup(named: name, continuing: inRow ? keyRow?.group(of: name, ids, at: now) : nil)
    for note in free {
      body(note)
      touch(note.id)
    }
    save()
    undoScope.endGroup()
    keyRow = inRow ? KeyRepeatGroup(name: name, notes: ids, group: undoScope.lastGroup, time: now) : nil
    if free.count < notes.count { say("\(notes.count - free.count) locked and unchanged") }
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
    guard let note = controller.note, !note.locked, linkIsOpen else { return }
    let top = page.windows.topHeight(for: controller.id, page)
    guard top != note.z else { return }
    note.z = top
    touch(controller.id)
  }

  func lower(_ note: Note) {
    let lowest = page.windows.ids.filter { $0 != note.id }.compactMap { page.shape(of: $0)?.z }.min() ?? note.z
    if note.z >= lowest { note.z = lowest - 1 }
  }

  /// Deletes the targets in one undo step.
  func deleteNotes() {
    guard linkIsOpen else { return }
    if let all {
      endEditing()
      let change = BulkChangeDescription(doing: "Deleting", done: "deleted", undone: "brings them back")
      return changeAll(all, change) { _ in .delete }
    }
    withTargets { [weak self] notes in
      let free = notes.filter { !$0.locked }
      self?.delete(free)
      guard free.count < notes.count else { return }
      let locked = notes.count - free.count
      self?.say(free.isEmpty && locked == 1 ? "the note is locked; l unlocks it" : "\(locked) locked and unchanged")
    }
  }

  private func delete(_ notes: [Note]) {
    guard !notes.isEmpty else { return }
    endEditing()
    save()
    undoScope.beginGroup(named: "Delete")
    for note in notes { remove(note) }
    save()
    undoScope.endGroup()
    page.reconcile()
    let (what, them) = notes.count == 1 ? ("deleted", "it") : ("deleted \(notes.count) notes", "them")
    say(
      "\(what); u brings \(them) back" + (linkState.isConnected ? "" : " when the server is back"),
      gone: Set(notes.map(\.id)))
  }

  // MARK: - Focus

  func focus(_ controller: NoteController) {
    page.windows.setFocus(controller.id)
    application.makeKey(controller.window)
    application.setNeedsDisplay()
  }

  /// Focuses the next note in reading order and scrolls to it.
  func focusNext(by step: Int) {
    let order = listIDs
    if page.part != nil {
      let here = page.windows.focus.flatMap { order.firstIndex(of: $0) }
      guard let here, order.indices.contains(here + step) else { return findNext(by: step) }
      return show(order[here + step])
    }
    guard !order.isEmpty else { return }
    let here = page.windows.focus.flatMap { order.firstIndex(of: $0) }
    let next = here.map { ($0 + step + order.count) % order.count } ?? (step > 0 ? 0 : order.count - 1)
    show(order[next])
  }

  /// Focuses the note that many places further in reading order, or the first or last if there are fewer.
  func focusFar(by step: Int) {
    let order = listIDs
    let here = page.windows.focus.flatMap { order.firstIndex(of: $0) }
    if page.part != nil {
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
    let shape = page.shape(of: id)
    return (shape?.y ?? 0, shape?.x ?? 0, id)
  }

  /// Focuses a note and scrolls to it.
  func show(_ id: ObjectID) {
    endEditing()
    guard let frame = boardFrame(of: id), page.windows[id] != nil || page.part != nil else { return }
    bringIntoSight(frame)
    if page.windows[id] == nil {
      // The list or a request has loaded the note; its window opens, and its surroundings are requested.
      page.windows.reopen(id)
      sought = id
      lookAround()
    }
    sought = nil
    if let controller = page.windows[id] { focus(controller) }
  }

  /// Scrolls as little as possible to show a rectangle of the board; its beginning if it does not fit.
  func bringIntoSight(_ frame: Rect) {
    let seen = seen
    func into(_ low: Int, _ high: Int, _ from: Int, _ room: Int) -> Int {
      if low < from { return low - 1 }
      return high > from + room ? max(low - 1, high - room + 2) : from
    }
    page.scroll = Point(
      x: into(frame.minX, frame.maxX, seen.minX, seen.size.width),
      y: into(frame.minY, frame.maxY, seen.minY, seen.size.height))
    if frame.size.width >= seen.size.width { page.scroll.x = frame.minX }
    if frame.size.height >= seen.size.height { page.scroll.y = frame.minY }
  }

  /// The cells of the board that a note takes.
  func boardFrame(of id: ObjectID) -> Rect? {
    page.values(of: id)?.cells
  }

  /// Notes that are not visible at all, in reading order.
  var hidden: [ObjectID] {
    let seen = seen
    return shownIDs.filter { id in boardFrame(of: id).map { $0.intersection(seen).isEmpty } ?? false }
      .sorted { place(of: $0) < place(of: $1) }
  }

  /// Shows the next note that is not visible; repeated calls cycle through all of them.
  func showNextHidden() {
    // Closed windows are reopened first.
    let shut = page.rows.filter { page.windows.isClosedByUser($0) }
    for id in shut { page.windows.reopen(id) }
    if let first = shut.first {
      page.reconcile()
      return show(first)
    }
    if page.part != nil {
      return findNext(
        by: 1, where: .not(BoardRegion.notes(meeting: seen)), orSay: "every note is in sight")
    }
    let hidden = hidden
    guard !hidden.isEmpty else { return say("every note is in sight") }
    let here = page.windows.focus.map { place(of: $0) }
    let next = here.flatMap { here in hidden.first { place(of: $0) > here } } ?? hidden[0]
    show(next)
  }
}
