import GraphControllers
import TerminalApplication
import TerminalCells

/// While somebody waits: the overlay over the canvas, and what keys are good for meanwhile.
extension BoardScreen {
  /// What this board's views ask while somebody waits for it: the overlay says so.
  /// - Parameter message: what it says.
  func makeInquiries(_ message: String = "Waiting for the server…") -> BoardInquiries {
    var token: BusyToken?
    return BoardInquiries(link, in: context) { [weak self] isBusy in
      guard let self else { return }
      if let token { endWait(token) }
      token = isBusy ? beginWait(message) : nil
    }
  }

  /// Somebody waits, and may give up.
  func beginWait(_ message: String) -> BusyToken {
    let token = overlay.show(.loading, message, at: now)
    waitTokens.insert(token)
    wakeForBusy()
    application.setNeedsDisplay()
    return token
  }

  func endWait(_ token: BusyToken) {
    overlay.hide(token)
    waitTokens.remove(token)
    wakeForBusy()
    application.setNeedsDisplay()
  }

  /// The changes are on their way, and the program ends behind them.
  func showSaving() {
    guard savingToken == nil else { return }
    savingToken = overlay.show(.saving, at: now)
    wakeForBusy()
  }

  func hideSaving() {
    if let token = savingToken { overlay.hide(token) }
    savingToken = nil
    if let patienceTimer { application.cancel(patienceTimer) }
    patienceTimer = nil
    application.setNeedsDisplay()
  }

  /// Whether somebody waits who could give up.
  var canGiveUp: Bool { !waitTokens.isEmpty || savingToken != nil }

  /// Whether the overlay is to be seen and says so.
  var offersToGiveUp: Bool { canGiveUp && busyPicture != nil }

  /// Nobody waits any more: for the answer, or else for the end.
  func giveUp() {
    // They came behind what is given up, and are for what it would have found.
    if keepsKeysWaiting { application.discardEvents([.key, .paste]) }
    if waitTokens.isEmpty {
      perform(quitting.giveUp())
    } else {
      inquiries.cancel()
      reading.cancel()
      history?.past.giveUp()
    }
    releaseKeys()
  }

  /// What covers the board while its notes, an answer or the end are on their way; the newest reason to wait.
  var busyPicture: BusyPicture? {
    if let picture = overlay.picture(at: now) { return picture }
    guard case .waiting(let picture)? = pager?.current.face(at: now) else { return page.part?.picture(at: now) }
    return picture
  }

  /// Whether editing makes sense: not while the board is on its way. While an answer is, it does: the board is here.
  var allowsEditing: Bool { !boardIsGone && pager?.current.allowsEditing ?? true }

  /// Whoever waits when the connection goes waits for that first.
  func followReconnecting() {
    var waits = false
    if linkState == .reconnecting { waits = canGiveUp || pageIsOnItsWay }
    guard waits != (reconnectingToken != nil) else { return }
    if let token = reconnectingToken { overlay.hide(token) }
    reconnectingToken = waits ? overlay.show(.reconnecting, at: now) : nil
    wakeForBusy()
    application.setNeedsDisplay()
  }

  private var pageIsOnItsWay: Bool {
    if case .waiting? = pager?.current.face(at: now) { true } else { false }
  }

  /// The overlay appears and moves by time alone.
  func wakeForBusy() {
    let changes = [overlay.nextChange(after: now), pager?.current.nextChange(after: now)].compactMap { $0 }
    guard busyTimer == nil, let change = changes.min() else { return }
    busyTimer = application.schedule(at: change) { [weak self] in
      guard let self else { return }
      busyTimer = nil
      application.setNeedsDisplay()
      wakeForBusy()
    }
  }

  /// Draws what somebody waits for over the canvas, which becomes faint.
  func drawBusy(into grid: inout Grid) {
    let view = busyView.view(saying: busyPicture, cancelKey: canGiveUp ? "Esc" : "")
    view?.draw(into: &grid, frame: canvas, clip: canvas, theme: theme)
  }
}

extension BusyViewHolder<BusyView> {
  /// The view, which says what a picture says.
  mutating func view(saying picture: BusyPicture?, cancelKey: String = "") -> BusyView? {
    guard let picture, let view = view(for: picture) else { return nil }
    (view.message, view.phase, view.progress) = (picture.message, picture.phase, picture.progress)
    view.cancelKey = cancelKey
    return view
  }
}
