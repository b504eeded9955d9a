import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Receives the changes of the boards' windows.
protocol BoardPagesDelegate: AnyObject {
  /// Called when windows of a board opened or closed.
  func pages(_ pages: BoardPages, windowsDidChange changes: [WindowChange<NoteController>], on page: BoardPage)
  /// Called before another board is shown, while this one still is.
  /// - Returns: the work to do when the other board is shown.
  func pagesWillLeaveBoard(_ pages: BoardPages) -> () -> Void
}

/// The board that is shown and the switch to other ones: two page controllers serve all of them. A board whose notes
/// are being loaded shows that, never the previous board.
final class BoardPages: BoardPart {
  let services: BoardServices
  /// The board that is shown.
  private(set) var page: BoardPage
  let directory: BoardDirectory
  /// The number of boards that the user sees here.
  var countOfBoards: Int { directory.pageCount }
  private(set) var pager: Pager<BoardDirectory, BoardPageController>?
  /// Whether the board that is shown was deleted and there is no other one.
  private(set) var boardIsGone = false
  /// The scroll to another board; nil if there is none.
  private(set) var pageScroll: PageScroll?
  /// The number of windows opened so far, which is the number of the last one.
  private(set) var lastNumber = 0
  weak var delegate: (any BoardPagesDelegate)?
  private let connection: ConnectionMonitor
  private let filtering: FilterController
  /// The board at which the scroll ends, even if the numbers of the boards change meanwhile.
  private var pageGoal: ObjectID?
  private var pageTimer: TimerID?

  /// Shows a board; `open` begins to follow it.
  init(_ services: BoardServices, _ connection: ConnectionMonitor, _ filtering: FilterController, showing board: Board)
  {
    (self.services, self.connection, self.filtering) = (services, connection, filtering)
    page = Self.makePage(board, services)
    directory = BoardDirectory(in: services.context)
  }

  /// Begins to follow the board and the list of boards.
  func open() {
    prepare(page)
    page.open()
    directory.adopt(page)
    directory.makePage = { [weak self] board in self?.makePage(board) }
    directory.didLoad = { [weak self] request, page, refusal in
      guard let self else { return }
      if let refusal { pager?.fail(request, refusal.message) } else { pager?.deliver(page, for: request) }
      application.setNeedsDisplay()
    }
    directory.didChange = { [weak self] difference in self?.boardsDidChange(difference) }
    directory.didFail = { [weak self] in self?.report("the boards can't be listed: \($0.message)", isTrouble: true) }
    directory.ask()
  }

  private func makePage(_ board: Board) -> BoardPage {
    let page = Self.makePage(board, services)
    prepare(page)
    return page
  }

  private static func makePage(_ board: Board, _ services: BoardServices) -> BoardPage {
    BoardPage(board, in: services.context, link: services.link) { [application = services.application] in
      NoteController($0, application: application)
    }
  }

  /// Sets the filter and the callbacks of a page.
  private func prepare(_ page: BoardPage) {
    page.filter = filtering.filter
    page.windowsDidChange = { [weak self, weak page] changes in
      guard let self, let page else { return }
      delegate?.pages(self, windowsDidChange: changes, on: page)
    }
    page.didLoad = { [weak self] refusal in
      if let refusal { self?.report(refusal.message, isTrouble: true) }
    }
    page.didFail = { [weak self] refusal in self?.report(refusal.message, isTrouble: true) }
    page.isWatched = { [weak self, weak page] in self?.page === page }
    page.didGrowStale = { [weak self, weak page] in
      guard let self, let page, let place = directory.number(of: page.board.id) else { return }
      pager?.sourceDidChange(pages: [place], at: now)
    }
  }

  /// Passes the context's notification to all pages.
  func contextDidChange(_ change: ObjectsDidChange) {
    for page in directory.pages.values { page.lastChange = change }
    page.lastChange = change
  }

  /// Gives the windows of notes their new ids.
  func identify(_ ids: [ObjectID: ObjectID]) {
    page.assign(ids)
    for other in directory.pages.values where other !== page { other.assign(ids) }
    directory.identify(ids)
  }

  /// Notifies of windows of this board that opened or closed.
  func windowsDidChange(_ changes: [WindowChange<NoteController>]) {
    delegate?.pages(self, windowsDidChange: changes, on: page)
  }

  /// Whether notes can be edited: not before the board has loaded, but while a request is unanswered.
  var allowsEditing: Bool { !boardIsGone && pager?.current.allowsEditing != false }

  /// Counts a new window.
  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  // MARK: - Focus and scroll

  /// The focused note.
  var focused: NoteController? { page.windows.focus.flatMap { page.windows[$0] } }

  func focus(_ controller: NoteController) {
    page.windows.setFocus(controller.id)
    page.part?.keep(controller.id)
    application.makeKey(controller.window)
    application.setNeedsDisplay()
  }

  /// Scrolls the board by a number of cells.
  func scroll(by step: Point) {
    let far = Rect.farthest
    page.scroll = Point(
      x: min(max(page.scroll.x + step.x, -far), far), y: min(max(page.scroll.y + step.y, -far), far))
    application.setNeedsDisplay()
  }

  // MARK: - Other boards

  private func boardsDidChange(_ difference: ResultsDifference) {
    application.setNeedsDisplay()
    if pager == nil {
      pager = Pager(source: directory, page: directory.numberOrFirst(of: page.board.id), at: now) {
        let controller = BoardPageController()
        controller.displayDidChange = { [weak self] in self?.application.setNeedsDisplay() }
        return controller
      }
      // The board may have been deleted before the list of boards arrived.
      guard directory.number(of: page.board.id) == nil else { return }
    }
    if let goal = pageGoal, let current = pager?.current.page {
      // Boards before the destination were added or removed, so its number has changed.
      (pageScroll, pageGoal) = (nil, nil)
      let place = directory.number(of: goal) ?? directory.number(of: page.board.id) ?? current
      pager?.jump(to: place, at: now)
      if directory.number(of: page.board.id) != nil {
        pager?.sourceDidChange(at: now)
        return showCurrentPage()
      }
    }
    if let place = directory.number(of: page.board.id) {
      boardIsGone = false
      pager?.sourceDidChange(at: now)
      // Boards before this one were added or removed; the same board stays on the screen.
      if pager?.current.page != place { pager?.jump(to: place, at: now) }
      return
    }
    if !boardIsGone {
      boardIsGone = true
      let who = difference.author.isEmpty ? "someone" : difference.author
      let isVisible = rights.role(on: page.board.id) != nil
      let sentence =
        isVisible
        ? "\(who) deleted the board \(page.name)" : "the board \(page.name) is closed: you have no role on it now"
      report(sentence, isTrouble: true)
    }
    pager?.sourceDidChange(at: now)
    showCurrentPage()
  }

  /// Scrolls to the neighbor board; during a scroll, one board further or back.
  func scrollPages(by step: Int) {
    directory.ask()
    guard let pager, pager.source.pageCount > 0 else { return }
    let goal = (pageScroll?.page ?? pager.current.page) + step
    if (0..<pager.source.pageCount).contains(goal) {
      guard mayLeave(for: goal) else { return }
    } else {
      report(step > 0 ? "this is the last board" : "this is the first board")
    }
    var scroll = pageScroll ?? PageScroll(from: pager.current.page, at: now)
    scroll.turn(to: goal, count: pager.source.pageCount)
    (pageScroll, pageGoal) = (scroll, directory.board(at: scroll.page)?.id)
    if pageTimer == nil { wakeForPages() }
  }

  private func wakeForPages() {
    pageTimer = application.schedule(at: now + PageScroll.frameMilliseconds) { [weak self] in
      guard let self else { return }
      pageTimer = nil
      guard var scroll = pageScroll else { return }
      let hasArrived = scroll.advance(at: now)
      pageScroll = scroll
      pager?.scroll(to: scroll.offset, at: now)
      closeOtherPages()
      if hasArrived { endScroll() } else { wakeForPages() }
      application.setNeedsDisplay()
    }
  }

  /// Ends a scroll at its destination at once, so that the next action applies to that board.
  func endScroll() {
    guard let scroll = pageScroll else { return }
    (pageScroll, pageGoal) = (nil, nil)
    // The server was lost during the scroll: a board that is not loaded can't be shown.
    let stays = !isHere(scroll.page) && !connection.state.isConnected
    let end = stays ? directory.number(of: page.board.id) ?? scroll.page : scroll.page
    if stays { report("other boards need the server", isTrouble: true) }
    pager?.scroll(to: Double(end), at: now)
    pager?.endScroll(at: now)
    showCurrentPage()
  }

  /// Whether an event continues a scroll; any other key or click ends it first.
  func continuesScroll(_ event: ApplicationEvent) -> Bool {
    switch event.kind {
    case .key(let key):
      guard let command = application.menuBar.command(for: key)?.command else { return false }
      return command == .nextBoard || command == .previousBoard
    case .mouse(let mouse): return mouse.kind == .move
    case .paste: return false
    default: return true
    }
  }

  func jump(toPage number: Int) {
    directory.ask()
    guard let pager, (0..<pager.source.pageCount).contains(number) else {
      return report("there is no board \(number + 1)")
    }
    guard number == pager.current.page || mayLeave(for: number) else { return }
    self.pager?.jump(to: number, at: now)
    showCurrentPage()
  }

  /// Whether a board's notes are loaded, as those of the shown board and usually of its neighbor are.
  private func isHere(_ place: Int) -> Bool {
    directory.board(at: place).flatMap { directory.pages[$0.id] }?.isLoaded == true
  }

  /// Whether a board can be left; while disconnected, only loaded boards can be shown.
  /// - Parameter place: the number of the destination; nil if it is yet to be chosen.
  func mayLeave(for place: Int? = nil) -> Bool {
    guard !connection.state.isConnected, place.map(isHere) != true else { return true }
    report("other boards need the server", isTrouble: true)
    return false
  }

  /// Shows the board of the current page controller, loaded or not.
  private func showCurrentPage() {
    defer { closeOtherPages() }
    guard let pager, let board = directory.board(at: pager.current.page), board.id != page.board.id,
      let next = directory.page(board)
    else { return }
    let didArrive = delegate?.pagesWillLeaveBoard(self)
    for id in page.windows.ids { page.windows[id].map { application.orderOut($0.window) } }
    (page, boardIsGone) = (next, false)
    page.refresh()
    for id in page.windows.ids { page.windows[id].map { application.orderBack($0.window) } }
    if let focused { application.makeKey(focused.window) }
    didArrive?()
    application.setNeedsDisplay()
  }

  /// Closes all boards except the boards of the two controllers and a board that is being scrolled away.
  private func closeOtherPages() {
    let places = [pager?.current.page, pager?.next.page].compactMap(\.self)
    let shown = places.compactMap { directory.board(at: $0)?.id }
    for (board, other) in directory.pages where other !== page && !shown.contains(board) {
      delegate?.pages(self, windowsDidChange: other.close(), on: other)
      directory.forget(board)
    }
  }

  /// The dots for the position among the boards.
  func dots(room: Int) -> PageDots? { pager.map { $0.dots(room: room) } }
}
