import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Moves the focus among the notes that a search has found.
protocol SearchNavigator: AnyObject {
  func show(_ id: ObjectID)
  func focusNext(by step: Int)
  /// Focuses the note that many pages of the list further.
  func focusPage(by pages: Int)
  /// Delivers the queued keys.
  func releaseKeys()
}

/// The list that shows the result of a search.
protocol SearchedList: AnyObject {
  /// The first visible row.
  var top: Int { get set }
  /// The note that the list last scrolled to.
  var focus: ObjectID? { get set }
  /// The first visible note, and its distance from the top in rows.
  var firstListed: (id: ObjectID, below: Int)? { get }
  /// The row of a note; nil if it is not in the list or not loaded.
  func row(of id: ObjectID) -> Int?
}

/// The search on the board. Notes that it does not match are hidden from the screen only.
final class BoardSearch: BoardPart {
  let services: BoardServices
  let connection: ConnectionMonitor
  /// The window of the open search; nil while there is no search.
  private(set) var window: SearchWindow?
  private(set) var controller: SearchController?
  private(set) var listener: SearchListener?
  /// Whether Return was pressed before the answer arrived; the first note found is then shown.
  private(set) var awaitsFound = false
  /// The notes found; nil while there is no result.
  var found: [ObjectID]?
  /// The state of the search's answer.
  var answer = SearchField.Answer.none
  weak var navigator: (any SearchNavigator)?
  weak var list: (any SearchedList)?
  let pages: BoardPages
  private let filtering: FilterController
  private let viewport: BoardViewport
  private var timer: TimerID?

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ filtering: FilterController, _ pages: BoardPages,
    _ viewport: BoardViewport
  ) {
    (self.services, self.connection, self.filtering) = (services, connection, filtering)
    (self.pages, self.viewport) = (pages, viewport)
  }

  /// The frame of the search field.
  var frame: Rect { viewport.searchFrame }

  func open() {
    if let window { return application.makeKey(window) }
    let board = pages.page.board.id
    var request =
      pages.page.part == nil
      ? BoardPage.notes(of: board, in: context.model) : BoardWindow.listRequest(of: board, in: context.model)
    request.predicate = .all([request.predicate, filtering.filter.predicate])
    let controller = SearchController(all: pages.page.list) { [weak self, context, request] query in
      var found = request
      found.predicate = .all([request.predicate, self?.condition(of: query) ?? .never])
      return ResultsController(found, in: context)
    }
    let listener = SearchListener(self)
    controller.delegate = listener
    (self.controller, self.listener) = (controller, listener)
    controller.start()
    let window = SearchWindow(for: self)
    self.window = window
    application.orderFront(window)
  }

  /// The predicate of a search over all notes.
  func condition(of query: SearchQuery) -> GraphPredicate? {
    query.predicate(in: [.property(context.model.property(Note.self, \.text).number)])
  }

  /// Handles a change of the field's text.
  func type(_ text: String) {
    controller?.type(text, at: now)
    tick()
  }

  private func tick() {
    if let timer { application.cancel(timer) }
    timer = controller?.deadline.map { due in
      application.schedule(at: due) { [weak self] in
        guard let self else { return }
        timer = nil
        controller?.tick(at: now)
        tick()
        application.setNeedsDisplay()
      }
    }
    application.setNeedsDisplay()
  }

  /// Goes to the first note found and keeps the result. Text typed just before is searched at once and its answer
  /// awaited, because the shown result is of a shorter text.
  func goToFirst() {
    guard let controller, let window else { return }
    // A failed search is repeated.
    if case .failed = answer { controller.type(window.field.text, at: now) }
    if let due = controller.deadline {
      controller.tick(at: due)
      tick()
    }
    guard answer == .searching else { return goToFound() }
    guard connection.state.isConnected else { return report("the search waits for the server") }
    awaitsFound = true
  }

  /// Goes to the first note when the awaited answer has arrived. Deferred to a turn of its own, because the caller is
  /// still delivering changes.
  func followFound() {
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
    navigator?.releaseKeys()
  }

  private func goToFound() {
    guard let found else { return close() }
    guard !found.isEmpty else { return report("nothing found; Esc ends the search") }
    guard let first = found.first(where: { pages.page.windows[$0] != nil || pages.page.part != nil }) else {
      return close()
    }
    navigator?.show(first)
    controller?.saveState()
  }

  func close() {
    guard let window else { return }
    controller?.clear()
    (self.window, controller, listener, found) = (nil, nil, nil, nil)
    answer = .none
    if let timer { application.cancel(timer) }
    timer = nil
    application.orderOut(window)
    if let focused = pages.focused { application.makeKey(focused.window) }
    stopAwaitingFound()
  }
}
