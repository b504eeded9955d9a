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
    directory.boards.performFetch()
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
    guard pager != nil else {
      pager = Pager(source: directory, page: directory.number(of: page.board.id) ?? 0, at: now) {
        let controller = BoardPageController()
        controller.faceDidChange = { [weak self] in self?.application.setNeedsDisplay() }
        return controller
      }
      return
    }
    if let place = directory.number(of: page.board.id) {
      pager?.sourceDidChange(at: now)
      // Boards before this one came or went: it stays the one that is shown.
      if pager?.current.page != place { pager?.jump(to: place, at: now) }
      return
    }
    let who = difference.author.isEmpty ? "someone" : difference.author
    say("\(who) deleted the board \(page.board.name)", isTrouble: true)
    pager?.sourceDidChange(at: now)
    showCurrentPage()
  }

  /// Goes to the neighbor, by a scroll over both.
  func scrollPages(by step: Int) {
    guard let pager, pager.source.pageCount > 0 else { return }
    let goal = pager.current.page + step
    guard (0..<pager.source.pageCount).contains(goal) else {
      return say(step > 0 ? "this is the last board" : "this is the first board")
    }
    guard mayLeave() else { return }
    self.pager?.scroll(to: Double(goal), at: now)
    self.pager?.endScroll(at: now)
    showCurrentPage()
  }

  func jump(toPage number: Int) {
    guard let pager, (0..<pager.source.pageCount).contains(number) else {
      return say("there is no board \(number + 1)")
    }
    guard number == pager.current.page || mayLeave() else { return }
    self.pager?.jump(to: number, at: now)
    showCurrentPage()
  }

  /// Only the board that is shown is here; without the server there is none to go to, and none to come back to.
  private func mayLeave() -> Bool {
    guard !linkState.isConnected else { return true }
    say("other boards need the server", isTrouble: true)
    return false
  }

  /// The board of the current controller is on the screen, with its notes or on the way to them.
  private func showCurrentPage() {
    guard let pager, let board = directory.board(at: pager.current.page), board.id != page.board.id,
      let next = directory.page(board)
    else { return }
    endEditing()
    closeSearch()
    // What was asked for the board before is not for this one.
    inquiries.close()
    inquiries = makeInquiries()
    mode.cancel(at: now)
    save()
    let old = page
    follow(old.close(), on: old)
    directory.forget(old.board.id)
    page = next
    (whereabouts, shown) = (Whereabouts(), nil)
    wakeForBusy()
    application.setNeedsDisplay()
  }

  /// Where one is among the boards.
  func dots(room: Int) -> PageDots? { pager.map { $0.dots(room: room) } }
}

extension DotsView {
  /// Dots for the pages of a pager.
  init(_ dots: PageDots) { self.init(count: dots.count, current: dots.current) }
}
