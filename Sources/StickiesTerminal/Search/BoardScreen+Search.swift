import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Shows the result of a search on the board. Notes that it does not match are hidden from the screen only.
///
/// If the user only browses the result, by Tab or scrolling, closing the search restores focus and scroll position.
/// After Return, a click or an edit, the board stays at that note.
final class SearchListener: SearchControllerDelegate {
  private weak var screen: BoardScreen?
  /// The focused note before the search; in a large board it stays loaded for the return.
  private(set) var focus: ObjectID?
  /// The part of the position that `ListViewState` does not contain. It is the scroll position of the board, the top
  /// row of the list, and the distance of the first note from it.
  private var kept = (scroll: Point(x: 0, y: 0), top: 0, below: 0)

  init(_ screen: BoardScreen) { self.screen = screen }

  func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?) {
    // A new result is shown from its first row.
    if query != nil, let screen { (screen.list.top, screen.list.focus) = (0, nil) }
    show(controller, rows, query)
  }

  func search(_ controller: SearchController, didChange rows: ResultsSnapshot, by difference: ResultsDifference) {
    show(controller, rows, controller.query)
  }

  private func show(_ controller: SearchController, _ rows: ResultsSnapshot, _ query: SearchQuery?) {
    guard let screen else { return }
    screen.found = query == nil ? nil : Array(rows)
    if screen.answer != .searching { screen.answer = query == nil ? .none : .found(controller.totalCount) }
    screen.followFound()
    screen.application.setNeedsDisplay()
  }

  func search(_ controller: SearchController, isBusy: Bool) {
    guard let screen else { return }
    screen.answer = isBusy ? .searching : screen.found == nil ? .none : .found(controller.totalCount)
    screen.application.setNeedsDisplay()
  }

  func search(_ controller: SearchController, didFail refusal: Refusal) {
    screen?.answer = .failed(refusal.message)
    screen?.say(refusal.message, isTrouble: true)
    screen?.stopAwaitingFound()
  }

  func stateToSave(for controller: SearchController) -> ListViewState {
    guard let screen else { return ListViewState() }
    // While a result is shown, its rows have other positions; the list then returns by the focus.
    let first = screen.found == nil ? screen.firstListed : nil
    kept = (screen.page.scroll, screen.list.top, first?.below ?? 0)
    focus = screen.page.windows.focus
    return ListViewState(selection: focus.map { [$0] } ?? [], first: first?.id)
  }

  func search(_ controller: SearchController, didReturnTo place: ListViewState) {
    guard let screen else { return }
    screen.page.scroll = kept.scroll
    // Keys go to the field as long as it is open.
    if let id = place.selection.first {
      screen.page.windows.setFocus(id)
    } else if focus == nil {
      screen.page.windows.clearFocus()
    }
    screen.list.top = place.first.flatMap { screen.row(of: $0) }.map { $0 - kept.below } ?? kept.top
    screen.list.focus = place.first == nil ? nil : screen.page.windows.focus
  }
}

extension BoardScreen {
  /// The frame of the search field, above the canvas.
  var searchFrame: Rect { Rect(x: canvas.minX, y: 1, width: canvas.size.width, height: 1) }

  func openSearch() {
    if let field { return application.makeKey(field) }
    let board = page.board.id
    var request =
      page.part == nil
      ? BoardPage.notes(of: board, in: context.model) : BoardWindow.listRequest(of: board, in: context.model)
    request.predicate = .all([request.predicate, filter.predicate])
    let search = SearchController(all: page.list) { [weak self, context, link, request] query in
      var found = request
      found.predicate = .all([request.predicate, self?.condition(of: query) ?? .never])
      return ResultsController(found, in: context, perform: link.perform)
    }
    let listener = SearchListener(self)
    search.delegate = listener
    (self.search, searchListener) = (search, listener)
    search.start()
    let window = SearchWindow(on: self)
    field = window
    application.orderFront(window)
  }

  /// The predicate of a search over all notes.
  func condition(of query: SearchQuery) -> GraphPredicate? {
    guard let text = context.model.entity(named: "Note")?.property(named: "text") else { return nil }
    return query.predicate(in: [.property(text.number)])
  }

  /// Handles a change of the field's text.
  func type(_ text: String) {
    search?.type(text, at: now)
    tickSearch()
  }

  private func tickSearch() {
    if let searchTimer { application.cancel(searchTimer) }
    searchTimer = search?.deadline.map { due in
      application.schedule(at: due) { [weak self] in
        guard let self else { return }
        searchTimer = nil
        search?.tick(at: now)
        tickSearch()
        application.setNeedsDisplay()
      }
    }
    application.setNeedsDisplay()
  }

  /// Goes to the first note found and keeps the result. Text typed just before is searched at once and its answer
  /// awaited, because the shown result is of a shorter text.
  func keepSearch() {
    guard let search, let field else { return }
    // A failed search is repeated.
    if case .failed = answer { search.type(field.field.text, at: now) }
    if let due = search.deadline {
      search.tick(at: due)
      tickSearch()
    }
    guard answer == .searching else { return goToFound() }
    guard linkState.isConnected else { return say("the search waits for the server") }
    awaitsFound = true
  }

  /// Goes to the first note when the awaited answer has arrived. Deferred to a turn of its own, because the caller is
  /// still delivering changes.
  fileprivate func followFound() {
    guard awaitsFound, answer != .searching else { return }
    _ = application.schedule(at: now) { [weak self] in
      guard let self, awaitsFound, answer != .searching else { return }
      goToFound()
      stopAwaitingFound()
    }
  }

  /// Delivers the keys that were queued after Return.
  func stopAwaitingFound() {
    guard awaitsFound else { return }
    awaitsFound = false
    releaseKeys()
  }

  private func goToFound() {
    guard let found else { return closeSearch() }
    guard !found.isEmpty else { return say("nothing found; Esc ends the search") }
    guard let first = found.first(where: { page.windows[$0] != nil || page.part != nil }) else { return closeSearch() }
    show(first)
    search?.saveState()
  }

  func closeSearch() {
    guard let window = field else { return }
    search?.clear()
    (field, search, searchListener, found) = (nil, nil, nil, nil)
    answer = .none
    if let searchTimer { application.cancel(searchTimer) }
    searchTimer = nil
    application.orderOut(window)
    if let focused { application.makeKey(focused.window) }
    stopAwaitingFound()
  }
}
