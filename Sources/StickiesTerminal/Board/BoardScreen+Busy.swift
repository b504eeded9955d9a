import GraphControllers
import TerminalApplication
import TerminalCells

/// Waiting for the server: the overlay over the canvas, and the keys that cancel.
extension BoardScreen {
  /// Requests of this board's views; the overlay shows while one is unanswered.
  /// - Parameter message: the overlay's text.
  func makeInquiries(_ message: String = "Waiting for the server…") -> RequestChannel {
    var token: BusyToken?
    return RequestChannel(link, in: context) { [weak self] isBusy in
      guard let self else { return }
      if let token { endWait(token) }
      token = isBusy ? beginWait(message) : nil
    }
  }

  /// Begins a wait that the user can cancel.
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

  /// Shows that changes are being sent before the program ends.
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

  /// Whether a wait is in progress that the user can cancel.
  var canGiveUp: Bool { !waitTokens.isEmpty || savingToken != nil }

  /// Whether the overlay is visible and offers to cancel.
  var offersToGiveUp: Bool { canGiveUp && busyPicture != nil }

  /// Cancels the pending requests, or quitting if there are none.
  func giveUp() {
    // The queued keys were meant for the result of the cancelled request.
    if keepsKeysWaiting { application.discardEvents([.key, .paste]) }
    if waitTokens.isEmpty {
      perform(quitting.cancelSending())
    } else {
      inquiries.cancel()
      reading.cancel()
      history?.past.giveUp()
    }
    releaseKeys()
  }

  /// The overlay while notes, an answer or the end of the program are awaited, for the most recent reason.
  var busyPicture: BusyAppearance? {
    if let picture = overlay.appearance(at: now) { return picture }
    guard case .waiting(let picture)? = pager?.current.pageContent(at: now) else { return page.part?.picture(at: now) }
    return picture
  }

  /// Whether notes can be edited: not before the board has loaded, but while a request is unanswered.
  var allowsEditing: Bool { !boardIsGone && pager?.current.allowsEditing ?? true }

  /// Shows the reconnection in the overlay if the connection is lost during a wait.
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
    if case .waiting? = pager?.current.pageContent(at: now) { true } else { false }
  }

  /// Schedules the overlay's next appearance or movement, which depend on time alone.
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

  /// Draws the overlay over the canvas, which is dimmed.
  func drawBusy(into grid: inout Grid) {
    let view = busyView.view(saying: busyPicture, cancelKey: canGiveUp ? "Esc" : "")
    view?.draw(into: &grid, frame: canvas, clip: canvas, theme: theme)
  }
}

extension BusyViewHolder<BusyView> {
  /// The view with the message, phase and progress of a picture.
  mutating func view(saying picture: BusyAppearance?, cancelKey: String = "") -> BusyView? {
    guard let picture, let view = view(for: picture) else { return nil }
    (view.message, view.phase, view.progress) = (picture.message, picture.phase, picture.progress)
    view.cancelKey = cancelKey
    return view
  }
}
