import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Hears what a search finds, and shows it on the board: notes that were not found leave the screen, not the board.
///
/// Whoever only looks at what is found, by Tab or a scroll, is back at the end where they were before. Whoever goes to a note,
/// by Return, a click or an edit, stays there.
final class SearchListener: SearchControllerDelegate {
  private weak var screen: BoardScreen?
  /// The note that had the focus before the search: of a large board it stays here for it.
  private(set) var focus: ObjectID?
  /// What no other search has of a place: where the board is scrolled to, the list's top, and how many rows below it the
  /// first note stands.
  private var kept = (scroll: Point(x: 0, y: 0), top: 0, below: 0)

  init(_ screen: BoardScreen) { self.screen = screen }

  func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?) {
    // Other rows are seen from the first on.
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

  func placeToKeep(for controller: SearchController) -> SearchPlace {
    guard let screen else { return SearchPlace() }
    // Among all rows those that are found stand elsewhere: there the list goes by the focus.
    let first = screen.found == nil ? screen.firstListed : nil
    kept = (screen.page.scroll, screen.list.top, first?.below ?? 0)
    focus = screen.page.windows.focus
    return SearchPlace(selection: focus.map { [$0] } ?? [], first: first?.id)
  }

  func search(_ controller: SearchController, didReturnTo place: SearchPlace) {
    guard let screen else { return }
    screen.page.scroll = kept.scroll
    // Keys stay with the field for as long as it is open.
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
  /// Above the canvas, which makes room for it.
  var searchFrame: Rect { Rect(x: canvas.minX, y: 1, width: canvas.size.width, height: 1) }

  func openSearch() {
    if let field { return application.makeKey(field) }
    let board = page.board.id
    var request =
      page.part == nil
      ? BoardPage.notes(of: board, in: context.model) : BoardPart.listRequest(of: board, in: context.model)
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

  /// What a search finds, wherever it lies.
  func condition(of query: SearchQuery) -> GraphPredicate? {
    guard let text = context.model.entity(named: "Note")?.property(named: "text") else { return nil }
    return query.predicate(in: [.property(text.number)])
  }

  /// The field says something else.
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

  /// What is found stays; keys go to the first of it. What was typed a moment ago is asked at once, and its answer
  /// waited for: what is shown until then was found for less.
  func keepSearch() {
    guard let search, let field else { return }
    // What failed is asked again.
    if case .failed = answer { search.type(field.field.text, at: now) }
    if let due = search.deadline {
      search.tick(at: due)
      tickSearch()
    }
    guard answer == .searching else { return goToFound() }
    guard linkState.isConnected else { return say("the search waits for the server") }
    awaitsFound = true
  }

  /// The answer may be what Return waits for. In a turn of its own: here somebody is still telling what has changed.
  fileprivate func followFound() {
    guard awaitsFound, answer != .searching else { return }
    _ = application.schedule(at: now) { [weak self] in
      guard let self, awaitsFound, answer != .searching else { return }
      goToFound()
      stopAwaitingFound()
    }
  }

  /// Keys that came behind Return are what comes next.
  func stopAwaitingFound() {
    guard awaitsFound else { return }
    awaitsFound = false
    releaseKeys()
  }

  private func goToFound() {
    guard let found else { return closeSearch() }
    guard !found.isEmpty else { return say("nothing is found; Esc ends the search") }
    guard let first = found.first(where: { page.windows[$0] != nil || page.part != nil }) else { return closeSearch() }
    show(first)
    search?.keepPlace()
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
