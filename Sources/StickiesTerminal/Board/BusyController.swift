import GraphControllers
import TerminalApplication
import TerminalCells

/// Waiting for the server: the requests of the screen, and the overlay over the canvas while an answer or the end of
/// the program is awaited.
final class BusyController: BoardPart {
  let services: BoardServices
  /// The waits in progress.
  var overlay = BusyOverlay()
  var view = BusyViewHolder { BusyView() }
  /// Requests for the board that is shown while the user waits for the answer.
  private(set) lazy var requests = makeChannel()
  /// Requests for selected notes that are not loaded. The caller shows their progress.
  private(set) lazy var reads = RequestChannel(link, in: context)
  private let connection: ConnectionMonitor
  private let pages: BoardPages
  /// The waits that the user can cancel.
  private var tokens = Set<BusyToken>()
  private var savingToken: BusyToken?
  private var reconnectingToken: BusyToken?
  private var timer: TimerID?

  init(_ services: BoardServices, _ connection: ConnectionMonitor, _ pages: BoardPages) {
    (self.services, self.connection, self.pages) = (services, connection, pages)
  }

  /// Cancels the requests for the shown board without an answer, before another board is shown.
  func boardWillChange() {
    requests.close()
    requests = makeChannel()
  }

  /// Requests of this board's views; the overlay shows while one is unanswered.
  /// - Parameter message: the overlay's text.
  func makeChannel(_ message: String = "Waiting for the server…") -> RequestChannel {
    var token: BusyToken?
    return RequestChannel(link, in: context) { [weak self] isBusy in
      guard let self else { return }
      if let token { end(token) }
      token = isBusy ? begin(message) : nil
    }
  }

  /// Begins a wait that the user can cancel.
  func begin(_ message: String) -> BusyToken {
    let token = overlay.show(.loading, message, at: now)
    tokens.insert(token)
    wake()
    application.setNeedsDisplay()
    return token
  }

  func end(_ token: BusyToken) {
    overlay.hide(token)
    tokens.remove(token)
    wake()
    application.setNeedsDisplay()
  }

  /// Shows that changes are being sent before the program ends.
  func showSaving() {
    guard savingToken == nil else { return }
    savingToken = overlay.show(.saving, at: now)
    wake()
  }

  func hideSaving() {
    if let token = savingToken { overlay.hide(token) }
    savingToken = nil
    application.setNeedsDisplay()
  }

  /// Cancels the pending requests.
  func cancelRequests() {
    requests.cancel()
    reads.cancel()
  }

  /// Whether requests are pending that the user can cancel.
  var isWaiting: Bool { !tokens.isEmpty }

  /// Whether a wait is in progress that the user can cancel.
  var canCancel: Bool { !tokens.isEmpty || savingToken != nil }

  /// Whether the overlay is visible and offers to cancel.
  var offersToCancel: Bool { canCancel && appearance != nil }

  /// The overlay while notes, an answer or the end of the program are awaited, for the most recent reason.
  var appearance: BusyAppearance? {
    if let picture = overlay.appearance(at: now) { return picture }
    guard case .waiting(let picture)? = pages.pager?.current.pageContent(at: now) else {
      return pages.page.part?.picture(at: now)
    }
    return picture
  }

  /// Shows the reconnection in the overlay if the connection is lost during a wait.
  func updateReconnecting() {
    var waits = false
    if connection.state == .reconnecting { waits = canCancel || pageIsOnItsWay }
    guard waits != (reconnectingToken != nil) else { return }
    if let token = reconnectingToken { overlay.hide(token) }
    reconnectingToken = waits ? overlay.show(.reconnecting, at: now) : nil
    wake()
    application.setNeedsDisplay()
  }

  private var pageIsOnItsWay: Bool {
    if case .waiting? = pages.pager?.current.pageContent(at: now) { true } else { false }
  }

  /// Schedules the overlay's next appearance or movement, which depend on time alone.
  func wake() {
    let changes = [overlay.nextChange(after: now), pages.pager?.current.nextChange(after: now)].compactMap { $0 }
    guard timer == nil, let change = changes.min() else { return }
    timer = application.schedule(at: change) { [weak self] in
      guard let self else { return }
      timer = nil
      application.setNeedsDisplay()
      wake()
    }
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
