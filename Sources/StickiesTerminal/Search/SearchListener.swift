import GraphControllers
import GraphModel
import GraphReplica
import TerminalCells

/// Shows the result of a search on the board.
///
/// If the user only browses the result, by Tab or scrolling, closing the search restores focus and scroll position.
/// After Return, a click or an edit, the board stays at that note.
final class SearchListener: SearchControllerDelegate {
  private weak var search: BoardSearch?
  /// The focused note before the search; in a large board it stays loaded for the return.
  private(set) var focus: ObjectID?
  /// The part of the position that `ListViewState` does not contain. It is the scroll position of the board, the top
  /// row of the list, and the distance of the first note from it.
  private var kept = (scroll: Point(x: 0, y: 0), top: 0, below: 0)

  init(_ search: BoardSearch) { self.search = search }

  func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?) {
    // A new result is shown from its first row.
    if query != nil, let list = search?.list { (list.top, list.focus) = (0, nil) }
    show(controller, rows, query)
  }

  func search(_ controller: SearchController, didChange rows: ResultsSnapshot, by difference: ResultsDifference) {
    show(controller, rows, controller.query)
  }

  private func show(_ controller: SearchController, _ rows: ResultsSnapshot, _ query: SearchQuery?) {
    guard let search else { return }
    search.found = query == nil ? nil : Array(rows)
    if search.answer != .searching { search.answer = query == nil ? .none : .found(controller.totalCount) }
    search.followFound()
    search.application.setNeedsDisplay()
  }

  func search(_ controller: SearchController, isBusy: Bool) {
    guard let search else { return }
    search.answer = isBusy ? .searching : search.found == nil ? .none : .found(controller.totalCount)
    search.application.setNeedsDisplay()
  }

  func search(_ controller: SearchController, didFail refusal: Refusal) {
    guard let search else { return }
    search.answer = .failed(refusal.message)
    search.report(refusal.message, isTrouble: true)
    search.stopAwaitingFound()
  }

  func stateToSave(for controller: SearchController) -> ListViewState {
    guard let search else { return ListViewState() }
    // While a result is shown, its rows have other positions; the list then returns by the focus.
    let first = search.found == nil ? search.list?.firstListed : nil
    kept = (search.pages.page.scroll, top: 0, below: 0)
    if let list = search.list { kept.top = list.top }
    if let first { kept.below = first.below }
    focus = search.pages.page.windows.focus
    return ListViewState(selection: Set([focus].compactMap(\.self)), first: first?.id)
  }

  func search(_ controller: SearchController, didReturnTo place: ListViewState) {
    guard let search else { return }
    search.pages.page.scroll = kept.scroll
    // Keys go to the field as long as it is open.
    if let id = place.selection.first {
      search.pages.page.windows.setFocus(id)
    } else if focus == nil {
      search.pages.page.windows.clearFocus()
    }
    guard let list = search.list else { return }
    list.top = place.first.flatMap { list.row(of: $0) }.map { $0 - kept.below } ?? kept.top
    list.focus = place.first == nil ? nil : search.pages.page.windows.focus
  }
}
