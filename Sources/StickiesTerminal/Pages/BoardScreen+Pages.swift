import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// Switching between boards: two page controllers serve all of them. A board whose notes are being loaded shows that,
/// never the previous board.
extension BoardScreen {
  func openDirectory() {
    directory.adopt(page)
    directory.makePage = { [weak self] board in self?.makePage(board) }
    directory.didLoad = { [weak self] request, page, refusal in
      guard let self else { return }
      if let refusal { pager?.fail(request, refusal.message) } else { pager?.deliver(page, for: request) }
      application.setNeedsDisplay()
    }
    directory.didChange = { [weak self] difference in self?.boardsDidChange(difference) }
    directory.didFail = { [weak self] in self?.say("the boards can't be listed: \($0.message)", isTrouble: true) }
    directory.ask()
  }

  private func makePage(_ board: Board) -> BoardPage {
    let page = BoardPage(board, in: context, link: link) { [application] in
      NoteController($0, application: application)
    }
    prepare(page)
    return page
  }

  private func boardsDidChange(_ difference: ResultsDifference) {
    application.setNeedsDisplay()
    if pager == nil {
      pager = Pager(source: directory, page: directory.number(of: page.board.id) ?? 0, at: now) {
        let controller = BoardPageController()
        controller.faceDidChange = { [weak self] in self?.application.setNeedsDisplay() }
        return controller
      }
      // The board may have been deleted before the list of boards arrived.
      guard directory.number(of: page.board.id) == nil else { return }
    }
    if let goal = pageGoal {
      // Boards before the destination were added or removed, so its number has changed.
      (pageScroll, pageGoal) = (nil, nil)
      let place = directory.number(of: goal) ?? directory.number(of: page.board.id) ?? pager?.current.page ?? 0
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
      say("\(who) deleted the board \(page.name)", isTrouble: true)
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
      say(step > 0 ? "this is the last board" : "this is the first board")
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
      if hasArrived { settlePages() } else { wakeForPages() }
      application.setNeedsDisplay()
    }
  }

  /// Ends a scroll at its destination at once, so that the next action applies to that board.
  func settlePages() {
    guard let scroll = pageScroll else { return }
    (pageScroll, pageGoal) = (nil, nil)
    // The server was lost during the scroll: a board that is not loaded can't be shown.
    let stays = !isHere(scroll.page) && !linkState.isConnected
    let end = stays ? directory.number(of: page.board.id) ?? scroll.page : scroll.page
    if stays { say("other boards need the server", isTrouble: true) }
    pager?.scroll(to: Double(end), at: now)
    pager?.endScroll(at: now)
    showCurrentPage()
  }

  /// Whether an event continues a scroll; any other key or click ends it first.
  func pages(_ event: ApplicationEvent) -> Bool {
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
      return say("there is no board \(number + 1)")
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
    guard !linkState.isConnected, !(place.map(isHere) ?? false) else { return true }
    say("other boards need the server", isTrouble: true)
    return false
  }

  /// Shows the board of the current page controller, loaded or not.
  private func showCurrentPage() {
    defer { closeOtherPages() }
    guard let pager, let board = directory.board(at: pager.current.page), board.id != page.board.id,
      let next = directory.page(board)
    else { return }
    // Gestures and windows that are in progress belong to the previous board.
    endGesture()
    panning = nil
    if linkStart != nil { cancelLink() }
    closeHistory()
    while let modal = application.modalWindow, !(modal is QuestionWindow) { application.endModal(modal) }
    let orphan = boardIsGone ? editing?.editedText : nil
    if boardIsGone, let editing { withdrawQuestions(about: editing) }
    let gone = self.page.name
    endEditing()
    closeSearch()
    // So do its requests.
    inquiries.close()
    inquiries = makeInquiries()
    releaseKeys()
    mode.cancel(at: now)
    (isCheckingSelection, checkedTotal, wasAway, wasFiltered) = (false, nil, false, false)
    save()
    for id in page.windows.ids { page.windows[id].map { application.orderOut($0.window) } }
    (page, boardIsGone) = (next, false)
    page.refresh()
    for id in page.windows.ids { page.windows[id].map { application.orderBack($0.window) } }
    if let focused { application.makeKey(focused.window) }
    (whereabouts, shown) = (UserPosition(), nil)
    if let orphan, !orphan.isEmpty { offer(orphan, "the board \(gone) is deleted") }
    wakeForBusy()
    application.setNeedsDisplay()
  }

  /// Closes all boards except those of the two controllers and the one that a scroll is leaving.
  private func closeOtherPages() {
    let shown = pager.map { [$0.current, $0.next].compactMap { directory.board(at: $0.page)?.id } } ?? []
    for (board, other) in directory.pages where other !== page && !shown.contains(board) {
      follow(other.close(), on: other)
      directory.forget(board)
    }
  }

  /// The dots for the position among the boards.
  func dots(room: Int) -> PageDots? { pager.map { $0.dots(room: room) } }
}

// MARK: - Drawing

extension BoardScreen {
  /// Draws both boards that are visible during a scroll, side by side.
  func drawScroll(_ pager: Pager<BoardDirectory, BoardPageController>, into grid: inout Grid) {
    let width = canvas.size.width
    let lower = pager.offset.rounded(.down)
    let shift = Int(((pager.offset - lower) * Double(width)).rounded())
    for controller in pager.visible {
      let frame = canvas.moved(x: controller.page == Int(lower) ? -shift : width - shift, y: 0)
      let clip = frame.intersection(canvas)
      let color = directory.board(at: controller.page).map { PaperColor(name: $0.color.rawValue) } ?? .gray
      switch controller.pageContent(at: now) {
      case .content(let page): draw(page, into: &grid, frame: frame, clip: clip)
      case .failed(let sentence):
        grid.fill(clip, theme.board(color))
        EmptyBoardHint(lines: [sentence]).draw(into: &grid, frame: frame, clip: clip, theme: theme, color: color)
      case .waiting(let picture):
        grid.fill(clip, theme.board(color))
        controller.busyView.view(saying: picture)?.draw(into: &grid, frame: frame, clip: clip, theme: theme)
      case .outOfBounds: grid.fill(clip, theme.board(.gray))
      }
    }
  }
}

extension DotsView {
  /// The dots of a pager's pages.
  init(_ dots: PageDots) { self.init(count: dots.count, current: dots.current) }
}
