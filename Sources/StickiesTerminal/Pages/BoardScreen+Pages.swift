import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// From board to board: two page controllers stand for all of them, and a board whose notes are on their way shows that,
/// never the board before.
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
      // It may have gone before anybody knew which boards there are.
      guard directory.number(of: page.board.id) == nil else { return }
    }
    if let goal = pageGoal {
      // Boards before the goal came or went: its number is another one by now.
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
      // Boards before this one came or went: it stays the one that is shown.
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

  /// Goes to the neighbor, by a scroll over both; on the way to it, one further, or back.
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

  /// A scroll ends at once where it was to end: whatever is done next is done on that board.
  func settlePages() {
    guard let scroll = pageScroll else { return }
    (pageScroll, pageGoal) = (nil, nil)
    // The server went away on the way: a board that is not here is not gone to.
    let stays = !isHere(scroll.page) && !linkState.isConnected
    let end = stays ? directory.number(of: page.board.id) ?? scroll.page : scroll.page
    if stays { say("other boards need the server", isTrouble: true) }
    pager?.scroll(to: Double(end), at: now)
    pager?.endScroll(at: now)
    showCurrentPage()
  }

  /// Whether an event goes on with a scroll; every other key and click ends it first.
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

  /// Whether a board's notes are here: that of the board that is shown, and mostly of the one beside it.
  private func isHere(_ place: Int) -> Bool {
    directory.board(at: place).flatMap { directory.pages[$0.id] }?.isLoaded == true
  }

  /// Without the server there is only what is here to go to.
  /// - Parameter place: the board's; nil for one that is yet to be named.
  func mayLeave(for place: Int? = nil) -> Bool {
    guard !linkState.isConnected, !(place.map(isHere) ?? false) else { return true }
    say("other boards need the server", isTrouble: true)
    return false
  }

  /// The board of the current controller is on the screen, with its notes or on the way to them.
  private func showCurrentPage() {
    defer { closeOtherPages() }
    guard let pager, let board = directory.board(at: pager.current.page), board.id != page.board.id,
      let next = directory.page(board)
    else { return }
    // What somebody is in the middle of was about the board before.
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
    // What was asked for the board before is not for this one.
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
    (whereabouts, shown) = (Whereabouts(), nil)
    if let orphan, !orphan.isEmpty { offer(orphan, "the board \(gone) is deleted") }
    wakeForBusy()
    application.setNeedsDisplay()
  }

  /// Only the boards of the two controllers are followed, and until a scroll ends the one that it leaves.
  private func closeOtherPages() {
    let shown = pager.map { [$0.current, $0.next].compactMap { directory.board(at: $0.page)?.id } } ?? []
    for (board, other) in directory.pages where other !== page && !shown.contains(board) {
      follow(other.close(), on: other)
      directory.forget(board)
    }
  }

  /// Where one is among the boards.
  func dots(room: Int) -> PageDots? { pager.map { $0.dots(room: room) } }
}

// MARK: - Drawing

extension BoardScreen {
  /// Both boards that show during a scroll, side by side.
  func drawScroll(_ pager: Pager<BoardDirectory, BoardPageController>, into grid: inout Grid) {
    let width = canvas.size.width
    let lower = pager.offset.rounded(.down)
    let shift = Int(((pager.offset - lower) * Double(width)).rounded())
    for controller in pager.visible {
      let frame = canvas.moved(x: controller.page == Int(lower) ? -shift : width - shift, y: 0)
      let clip = frame.intersection(canvas)
      let color = directory.board(at: controller.page).map { PaperColor(name: $0.color.rawValue) } ?? .gray
      switch controller.face(at: now) {
      case .content(let page): draw(page, into: &grid, frame: frame, clip: clip)
      case .failed(let sentence):
        grid.fill(clip, theme.board(color))
        EmptyBoard(lines: [sentence]).draw(into: &grid, frame: frame, clip: clip, theme: theme, color: color)
      case .waiting(let picture):
        grid.fill(clip, theme.board(color))
        controller.busyView.view(saying: picture)?.draw(into: &grid, frame: frame, clip: clip, theme: theme)
      case .outOfBounds: grid.fill(clip, theme.board(.gray))
      }
    }
  }
}

extension DotsView {
  /// Dots for the pages of a pager.
  init(_ dots: PageDots) { self.init(count: dots.count, current: dots.current) }
}
