import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// The application's delegate and the state of the whole screen. Events arrive through the responder chain, commits
/// through the context's observers, connection news through `hear`. It changes notes and marks what must be redrawn.
/// It never blocks and reads only the application's clock.
final class BoardScreen: ApplicationDelegate {
  let application: Application
  let context: ObjectContext
  var link: BoardConnection
  /// Requests for the board that is shown while the user waits for the answer.
  lazy var inquiries = makeInquiries()
  /// Requests for selected notes that are not loaded. The caller shows their progress.
  lazy var reading = RequestChannel(link, in: context)
  /// The overlay while an answer or the end of the program is awaited, with the tokens of its waits.
  var overlay = BusyOverlay()
  var waitTokens = Set<BusyToken>()
  var savingToken: BusyToken?
  var reconnectingToken: BusyToken?
  var busyView = BusyViewHolder { BusyView() }
  var busyTimer: TimerID?
  /// Commands that need a target note.
  var noteCommands = Set<Command>()
  /// The state of the connection.
  var linkState = ConnectionState.connected { didSet { if linkState != oldValue { linkDidChange() } } }
  /// Whether the server has not answered for a while.
  var isServerSilent = false { didSet { if isServerSilent != oldValue { application.setNeedsDisplay() } } }
  /// The board that is shown.
  var page: BoardPage
  /// Changes that the server does not have yet.
  var unsent = UnsentChanges()
  var pacer = SavePacer()
  /// Groups the changes of a gesture or an editor into one undo step.
  let undoScope: UndoScope
  /// The keys that last moved notes; nil after any other change.
  var keyRow: KeyRepeatGroup?
  var saveTimer: TimerID?
  /// The next retry after a transient failure.
  var retryTimer: TimerID?
  /// The number of refused saves since the last successful one.
  var refusedInARow = 0
  /// Repeats the message that changes are not saved, as long as that is the case.
  var notSaved: TimerID?
  /// The note that is edited here.
  var editing: NoteController?
  /// The message of the status line, and the notes that it reports as deleted.
  var message: (text: String, isTrouble: Bool, gone: Set<ObjectID>)?
  var messageTimer: TimerID?
  /// The position of the user: new notes are placed under the mouse, other clients see a cursor.
  var whereabouts = UserPosition()
  /// The note that is dragged with the mouse.
  var dragged: NoteController?
  /// The position of the drag, and the timer that scrolls the board while it is at an edge.
  var edgePlace: Point?
  var edgeTimer: TimerID?
  /// The first note of a link while its other end is chosen.
  var linkStart: NoteController?
  /// Whether the chosen link's text will be edited, instead of toggling the link.
  var writesOnLink = false
  /// The last position of a drag of the canvas.
  var panning: Point?
  var lastPress: (point: Point, time: Int64, count: Int)?
  var quitting = QuitStateMachine.idle
  /// How long quitting waits for answers before it asks, in milliseconds, and the timer for it.
  var maximumDelayMilliseconds: Int64 = 2_000
  var patienceTimer: TimerID?
  /// The minimum pause in typing before a question accepts answers, in milliseconds.
  var pauseMilliseconds: Int64 = 500
  var question: QuestionWindow?
  var waitingQuestions = [QuestionText]()
  /// The last cut or copied text, from any note.
  var clipboard = ""
  /// Edited texts that the server does not have yet, and the notes whose text was offered in a question.
  var written = [ObjectID: String]()
  var offered = Set<ObjectID>()
  var mode = EditMode<ObjectID>()
  var observation: ObservationToken?
  var theme = Theme()
  let layouts = LayoutCache(capacity: BoardPage.maximumNotes)
  /// The number of windows opened so far, which is the number of the last one.
  private(set) var lastNumber = 0
  let directory: BoardDirectory
  var pager: Pager<BoardDirectory, BoardPageController>?
  /// Whether the board that is shown was deleted and there is no other one.
  var boardIsGone = false
  /// The scroll to another board; nil if there is none.
  var pageScroll: PageScroll?
  /// The board at which the scroll ends, even if the numbers of the boards change meanwhile.
  var pageGoal: ObjectID?
  var pageTimer: TimerID?
  /// The open search and its result; nil while there is no search.
  var field: SearchWindow?
  var search: SearchController?
  var searchListener: SearchListener?
  var searchTimer: TimerID?
  /// Whether Return was pressed before the answer arrived; the first note found is then shown.
  var awaitsFound = false
  var found: [ObjectID]?
  /// The state of the search's answer.
  var answer = SearchField.Answer.none
  var history: HistoryWindow?
  /// This client's filter.
  var filter = BoardFilter() { didSet { if filter != oldValue { filterDidChange() } } }
  let tagNames: TagNames
  var list = ListPaneState()
  lazy var listWindow = ListWindow(on: self)
  var sections: ListSections?
  /// Connection news since the last turn.
  var heard = [ConnectionEvent]()
  /// Other clients' presence, and the presence last sent for this client.
  var neighbors = PeerSessions()
  lazy var ownColor = PresenceColor(of: link.user)
  var shown: BoardPresence?
  var lastPresence: Int64?
  var presenceTimer: TimerID?
  /// In a large board: the note that is being shown, and the timer for the next look.
  var sought: ObjectID?
  var lookTimer: TimerID?
  /// Whether the server is asked for the next note; keys pressed meanwhile are queued for that note.
  var isFinding = false
  /// The number of notes of a large board when its selection was last checked.
  var checkedTotal: Int?
  /// The selection of all notes of a large board except some, and whether these notes are being changed.
  var allNotes: SelectAllState?
  var isChangingAll = false
  /// The name of the change in progress, and the changes requested meanwhile under the same name.
  var eachUnderWay: (name: String, behind: [(Note) -> Void])?
  /// The progress of that change, and whether a quitting user has been warned about the rest.
  var eachSoFar: (done: Int, total: Int)?
  var leavesRest = false
  var isCheckingSelection = false
  /// Whether the connection was lost since the last check of the selection.
  var wasAway = false
  /// Whether the filter changed since the last check of the selection.
  var wasFiltered = false

  /// Creates a screen for one board; `open` begins to follow it.
  init(
    _ application: Application, in context: ObjectContext, board: Board, scope: UndoScope, link: BoardConnection
  ) {
    (self.application, self.context, self.link, undoScope) = (application, context, link, scope)
    page = BoardPage(board, in: context, link: link) {
      NoteController($0, application: application)
    }
    directory = BoardDirectory(in: context, perform: link.perform)
    tagNames = TagNames(in: context, link: link)
    super.init()
    context.undoScope = scope
    answerCommands()
  }

  /// Begins to follow the board.
  func open() {
    observation = context.observe { [weak self] change in self?.contextDidChange(change) }
    prepare(page)
    page.open()
    openDirectory()
    tagNames.didChange = { [weak self] in self?.tagsDidChange(by: $0) }
    tagNames.didFail = { [weak self] in self?.say($0.message, isTrouble: true) }
  }

  /// Sets the filter and the callbacks of a page.
  func prepare(_ page: BoardPage) {
    page.filter = filter
    page.windowsDidChange = { [weak self, weak page] changes in
      guard let self, let page else { return }
      follow(changes, on: page)
    }
    page.didLoad = { [weak self] refusal in
      if let refusal { self?.say(refusal.message, isTrouble: true) }
    }
    page.didFail = { [weak self] refusal in self?.say(refusal.message, isTrouble: true) }
    page.isWatched = { [weak self, weak page] in self?.page === page }
    page.didGrowStale = { [weak self, weak page] in
      guard let self, let page, let place = directory.number(of: page.board.id) else { return }
      pager?.sourceDidChange(pages: [place], at: now)
    }
  }

  // MARK: - Geometry

  var now: Int64 { application.now }

  /// The frame of the board: below the menu bar and the open search field, and above the status line.
  var canvas: Rect {
    let size = application.screenSize
    let list = listFrame.size.width
    let top = field == nil ? 1 : 2
    return Rect(x: list, y: top, width: size.width - list, height: max(0, size.height - 1 - top))
  }

  /// Converts a rectangle from board cells to screen cells.
  func onScreen(_ rect: Rect) -> Rect {
    rect.moved(x: canvas.minX - page.scroll.x, y: canvas.minY - page.scroll.y)
  }

  /// Converts a cell of the screen to points of the board.
  func onBoard(_ point: Point) -> (x: Double, y: Double) {
    (
      Double(point.x - canvas.minX + page.scroll.x) * BoardScale.pointsPerColumn,
      Double(point.y - canvas.minY + page.scroll.y) * BoardScale.pointsPerRow
    )
  }

  /// The focused note.
  var focused: NoteController? { page.windows.focus.flatMap { page.windows[$0] } }

  /// Positions the windows on their notes; once per turn.
  func layOut() {
    lookAround()
    // The loop visits all notes of the board, so values that are the same for all are read once.
    let (page, canvas, editing) = (page, canvas, editing)
    let shift = Point(x: canvas.minX - page.scroll.x, y: canvas.minY - page.scroll.y)
    // In a large board only search results are loaded anyway.
    let shown = page.part == nil ? found.map { Set($0) } : nil
    for id in page.windows.ids {
      guard let controller = page.windows[id], let values = page.values(of: id) else { continue }
      controller.lastFrame = values.cells
      var frame = values.cells.moved(x: shift.x, y: shift.y)
      controller.textFrame = NoteView.textFrame(in: frame)
      if values.isCollapsed, controller !== editing { frame.size.height = 1 }
      // Notes that the search does not match can't be clicked.
      if let shown, !shown.contains(id), controller !== editing { frame.size = Size(width: 0, height: 0) }
      // Bars and list lie above the board: notes beneath them can't be clicked.
      controller.window.frame = frame.intersection(canvas)
    }
    application.arrange(page.windows.stackingOrder(page).compactMap { page.windows[$0]?.window })
  }

  override func applicationWillUpdate(_ application: Application) {
    followReconnecting()
    layOut()
    followSections()
    followListFocus()
    present()
  }

  override func application(_ application: Application, didReceive answer: TerminalReply) {
    guard case .background(let red, let green, let blue) = answer else { return }
    let isDark = Theme.isDark(.rgb(red, green, blue))
    guard isDark != theme.isDark else { return }
    theme = Theme(isDark: isDark, depth: theme.depth)
    application.setNeedsDisplay()
  }

  override func application(_ application: Application, didResize size: Size) {
    if TooSmallMessage.isTooSmall(size) {
      endDrags()
    }
    if let editing { showCursor(of: editing) }
    application.setNeedsDisplay()
  }

  override func applicationConnectionDidChange(_ application: Application) { takeNews() }

  override func application(_ application: Application, didReceive signal: ApplicationSignal) {
    // The release of the button may have been missed while the program was suspended.
    if signal == .resume { endDrags() }
  }

  // MARK: - Changes

  private func contextDidChange(_ change: ObjectsDidChange) {
    // An undo has restored the notes that the message reports as deleted.
    if let message, !message.gone.isDisjoint(with: change.inserted) { self.message = nil }
    for page in directory.pages.values { page.lastChange = change }
    page.lastChange = change
    mode.selection.objectsWereDeleted(change.deleted)
    // The next commit may delete the note; of the commits of a turn only the final state is observed.
    editing?.rememberCommon()
    // A commit is an event like a key; all commits before a turn are coalesced and handled in it.
    let revision = max(change.revision, change.loadedRevision)
    application.post(ApplicationEvent(.deltas([UInt64(clamping: revision)]), at: now))
  }

  override func application(_ application: Application, didReceive deltas: Set<UInt64>) {
    editing?.followOthers()
    if let newest = deltas.max() { history?.past.follow(Revision(clamping: newest)) }
    application.setNeedsDisplay()
  }

  private func linkDidChange() {
    // Session numbers are only valid within one connection.
    neighbors.forget()
    shown = nil
    if linkState.isConnected {
      saveSoon()
    } else {
      wasAway = true
      // The time of the answer is unknown now, so keys go to the field again.
      if awaitsFound { stopAwaitingFound() }
    }
    history?.past.linkDidChange()
    application.setNeedsDisplay()
  }

  /// Handles opened and closed windows.
  func follow(_ changes: [WindowChange<NoteController>], on page: BoardPage) {
    for change in changes {
      switch change {
      case .opened(let controller, _):
        lastNumber += 1
        (controller.screen, controller.number) = (self, lastNumber)
        // A neighbor board's windows are not on the screen yet.
        if page === self.page { application.orderBack(controller.window) }
      case .closed(let controller, let id):
        if editing === controller { editing = nil }
        if linkStart === controller {
          linkStart = nil
          say("the note where the line begins is gone", isTrouble: true)
        }
        // Ends the undo step of the drag.
        if dragged === controller {
          endGesture()
          tellWhyItWent(id, from: page)
        }
        // Notes that the filter hides are deselected. In a large board windows also close by scrolling: the selection
        // stays then, and a selection of all is a predicate.
        if page.part == nil || all == nil && !page.isShown(id) { mode.selection.remove(id) }
        application.orderOut(controller.window)
      case .objectRemoved(let controller, let loss): tell(loss, of: controller)
      case .objectRestored(let controller, _):
        controller.comeBack()
        // The note exists again, so the question about its text is obsolete.
        withdrawQuestions(about: controller)
        say("the note is back")
      case .identified(_, let id, let old):
        mode.selection.identify(old, as: id)
        whereabouts.identify(old, as: id)
      }
    }
    // A field keeps the keys, also behind a question.
    let isNoteKey = application.settledKeyWindow.map { $0 is NoteWindow } ?? true
    if !changes.isEmpty, isNoteKey, let focused { application.makeKey(focused.window) }
    application.setNeedsDisplay()
  }

  /// Reports why a note disappeared while it was dragged.
  private func tellWhyItWent(_ id: ObjectID, from page: BoardPage) {
    let deletion = page.lastChange.flatMap { $0.deleted.contains(id) ? $0 : nil }
    let author = deletion.map { $0.author.isEmpty ? "someone" : $0.author }
    say(author.map { "\($0) has deleted the note" } ?? "the note is no longer on this board", isTrouble: true)
  }

  /// Shows a message in the status line for a while.
  /// - Parameter gone: the notes that it reports as deleted; the message disappears when one of them is restored.
  func say(_ text: String, isTrouble: Bool = false, gone: Set<ObjectID> = []) {
    message = (text, isTrouble, gone)
    if let messageTimer { application.cancel(messageTimer) }
    messageTimer = application.schedule(at: now + 6_000) { [weak self] in
      self?.message = nil
      self?.application.setNeedsDisplay()
    }
    application.setNeedsDisplay()
  }

  /// Removes the message on the next user action, because it would be taken for a reply to it. Trouble stays for its
  /// time, since it may be unrelated to the user's actions.
  func forgetMessage() {
    guard let message, !message.isTrouble else { return }
    self.message = nil
    application.setNeedsDisplay()
  }

  // MARK: - Unhandled events

  override func keyDown(_ key: KeyEvent) -> Bool {
    if key == KeyEvent(.character("c"), .control) {
      application.terminate()
      return true
    }
    return tellNoTarget(key)
  }

  override func mouse(_ mouse: MouseEvent) -> Bool { canvasMouse(mouse) }

  override func paste(_ paste: PasteEvent) -> Bool { newNote(pasting: paste) }

  // A signal does not ask the user: typed text is sent before the connection closes.
  override func applicationWillTerminate(_ application: Application) { finishChanges() }

  override func applicationShouldTerminate(_ application: Application) -> TerminateReply { shouldTerminate() }
}
