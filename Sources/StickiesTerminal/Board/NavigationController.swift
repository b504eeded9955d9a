import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Moves the focus and the visible area over the notes. Only the visible area of a large board is loaded; other notes
/// are requested when the user navigates to them.
final class NavigationController: BoardPart, SearchNavigator {
  let services: BoardServices
  /// Whether the server is asked for the next note; keys pressed meanwhile are queued for that note.
  private(set) var isFinding = false
  /// Whether the list beside the canvas is open.
  var isListOpen: () -> Bool = { false }
  /// Notes that stay loaded because a drag or a link is in progress.
  var notesInUse: () -> [ObjectID] = { [] }
  private let connection: ConnectionMonitor
  private let filtering: FilterController
  private let pages: BoardPages
  private let viewport: BoardViewport
  private let busy: BusyController
  private let selection: SelectionController
  private let search: BoardSearch
  private let editing: EditingController
  /// In a large board: the note that is being shown.
  private var sought: ObjectID?
  /// The next look at a large board.
  private var timer: TimerID?

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ filtering: FilterController, _ pages: BoardPages,
    _ viewport: BoardViewport, _ busy: BusyController, _ selection: SelectionController, _ search: BoardSearch,
    _ editing: EditingController
  ) {
    (self.services, self.connection, self.filtering, self.pages) = (services, connection, filtering, pages)
    (self.viewport, self.busy, self.selection) = (viewport, busy, selection)
    (self.search, self.editing) = (search, editing)
  }

  // MARK: - Visible notes

  /// The notes on the canvas: all, or the search result.
  var shownIDs: [ObjectID] {
    // In a large board only search results are loaded anyway.
    guard let found = search.found, pages.page.part == nil else { return pages.page.windows.ids }
    let there = Set(found)
    return pages.page.windows.ids.filter { there.contains($0) || pages.page.windows[$0] === editing.current }
  }

  /// The notes of the list; in a large board those of its window, or the first ones of the search result.
  private var listedIDs: [ObjectID] {
    guard let part = pages.page.part else { return shownIDs }
    return search.found ?? part.list.snapshot.filter(pages.page.isShown)
  }

  var listIDs: [ObjectID] {
    listedIDs.filter { pages.page.shape(of: $0) != nil }.sorted { readingPosition(of: $0) < readingPosition(of: $1) }
  }

  /// Requests the visible notes that are not loaded. Called once per turn, and before showing a note without a
  /// window.
  func lookAround() {
    selection.recount()
    guard let part = pages.page.part else { return }
    part.filter = .all([
      filtering.filter.predicate,
      search.found == nil ? .always : search.controller?.query.flatMap { search.condition(of: $0) } ?? .always,
    ])
    let kept =
      [pages.page.windows.focus, editing.current?.id, sought, search.listener?.focus].compactMap { $0 } + notesInUse()
    if part.look(at: viewport.seen, keeping: Set(kept), isConnected: connection.state.isConnected, at: now) {
      pages.page.reconcile()
    }
    if isListOpen(), let focus = pages.page.windows.focus, let shape = pages.page.shape(of: focus) {
      part.showInList(focus, x: shape.x, y: shape.y)
    }
    selection.check(part)
    if let timer { application.cancel(timer) }
    timer = part.nextLook.map { due in
      application.schedule(at: due) { [weak self] in
        guard let self else { return }
        timer = nil
        application.setNeedsDisplay()
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
        !piece.parameters.region.isBeyond(
          x: note.shape.x, y: note.shape.y, width: note.shape.width, height: note.shape.height)
      else { continue }
      counts[side, default: 0] += 1
    }
    return counts.filter { $0.value > 0 }
  }

  /// The message that not all notes of this area are drawn; nil if all are.
  var crowdMessage: String? {
    guard let part = pages.page.part, part.leftOut > 0, let piece = part.shown else { return nil }
    return "\(piece.notes.totalCount) notes are here; the top \(piece.notes.count) are shown"
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

  /// Queues keys until `releaseKeys`, while something is looked up for them.
  func keepKeys() { isFinding = true }

  /// Delivers the queued keys.
  func releaseKeys() {
    isFinding = false
    application.setNeedsDisplay()
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

  /// Focuses the note that many pages of the list further.
  func focusPage(by pages: Int) { focusFar(by: pages * notesPerPage) }

  /// The number of rows of the list, whether it is open or not.
  var notesPerPage: Int { max(1, application.screenSize.height - 4) }

  /// The sort key of a note: from top to bottom, then from left to right. A note that is not loaded counts as one at
  /// the origin.
  func readingPosition(of id: ObjectID) -> (Double, Double, ObjectID) {
    guard let shape = pages.page.shape(of: id) else { return (0, 0, id) }
    return (shape.y, shape.x, id)
  }

  /// Focuses a note and scrolls to it.
  func show(_ id: ObjectID) {
    editing.end()
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
    return shownIDs.filter { id in boardFrame(of: id).map { $0.intersection(seen).isEmpty } == true }
      .sorted { readingPosition(of: $0) < readingPosition(of: $1) }
  }

  /// Shows the next note that is not visible; repeated calls cycle through all of them.
  func showNextHidden() {
    // Closed windows are reopened first.
    let shut = pages.page.rows.filter { pages.page.windows.isClosedByUser($0) }
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
    let here = pages.page.windows.focus.map { readingPosition(of: $0) }
    let next = here.flatMap { here in hidden.first { readingPosition(of: $0) > here } } ?? hidden[0]
    show(next)
  }
}
