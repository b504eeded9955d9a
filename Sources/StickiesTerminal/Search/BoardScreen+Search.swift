import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// The field of a search: one line, keys go to it while it is open.
final class SearchWindow: Window {
  var editor = TextEditor("", width: 200)
  private weak var screen: BoardScreen?

  init(on screen: BoardScreen) {
    self.screen = screen
    super.init(frame: Rect(x: 0, y: 1, width: screen.application.screenSize.width, height: 1))
  }

  override func screenDidResize(_ size: Size) { frame = Rect(x: 0, y: 1, width: size.width, height: 1) }

  override func keyDown(_ key: KeyEvent) -> Bool {
    switch key.key {
    case .escape: screen?.closeSearch()
    case .enter: screen?.keepSearch()
    case .tab, .up, .down: screen?.focusNext(by: key.key == .up || key.modifiers.contains(.shift) ? -1 : 1)
    default:
      guard editor.handle(.key(key)).isHandled else { return false }
      screen?.type(editor.text)
    }
    setNeedsDisplay()
    return true
  }

  override func paste(_ paste: PasteEvent) -> Bool {
    _ = editor.perform(.insert(paste.text.split(whereSeparator: \.isNewline).joined(separator: " ")))
    screen?.type(editor.text)
    return true
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let screen else { return }
    let style = screen.theme.list
    grid.fill(frame, style, clip: clip)
    let end = grid.draw("/ \(editor.text)", x: frame.minX + 1, y: frame.minY, style, clip: clip)
    let found = screen.foundWords
    grid.draw(found, x: max(end + 1, frame.maxX - found.count - 1), y: frame.minY, screen.theme.listFaint, clip: clip)
    if isKey { grid.cursor = Point(x: frame.minX + 3 + editor.cursorPosition.x, y: frame.minY) }
  }
}

/// Hears what a search finds, and shows it on the board: notes that were not found leave the screen, not the board.
final class SearchListener: SearchControllerDelegate {
  private weak var screen: BoardScreen?

  init(_ screen: BoardScreen) { self.screen = screen }

  func search(_ controller: SearchController, didShow rows: ResultsSnapshot, for query: SearchQuery?) {
    show(rows, query)
  }

  func search(_ controller: SearchController, didChange rows: ResultsSnapshot, by difference: ResultsDifference) {
    show(rows, controller.query)
  }

  private func show(_ rows: ResultsSnapshot, _ query: SearchQuery?) {
    screen?.found = query == nil ? nil : Array(rows)
    screen?.application.setNeedsDisplay()
  }

  func search(_ controller: SearchController, didFail refusal: Refusal) {
    screen?.say(refusal.message, isTrouble: true)
  }

  func placeToKeep(for controller: SearchController) -> SearchPlace {
    SearchPlace(selection: screen?.page.windows.focus.map { [$0] } ?? [])
  }

  func search(_ controller: SearchController, didReturnTo place: SearchPlace) {
    guard let screen, let id = place.selection.first, let controller = screen.page.windows[id] else { return }
    screen.focus(controller)
  }
}

extension BoardScreen {
  func openSearch() {
    if let field { return application.makeKey(field) }
    let board = page.board.id
    let request =
      page.part == nil
      ? BoardPage.notes(of: board, in: context.model) : BoardPart.listRequest(of: board, in: context.model)
    let search = SearchController(all: page.list) { [weak self, context, link] query in
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

  /// How many were found, of how many; empty while nothing is searched for.
  var foundWords: String {
    guard found != nil, let search else { return "" }
    return " \(search.totalCount)" + (page.count.map { " of \($0)" } ?? "")
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

  /// What is found stays; keys go to the first of it.
  func keepSearch() {
    guard let first = found?.first(where: { page.windows[$0] != nil || page.part != nil }) else { return closeSearch() }
    show(first)
  }

  func closeSearch() {
    guard let window = field else { return }
    search?.clear()
    (field, search, searchListener, found) = (nil, nil, nil, nil)
    if let searchTimer { application.cancel(searchTimer) }
    searchTimer = nil
    application.orderOut(window)
    if let focused { application.makeKey(focused.window) }
  }
}
