import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// The application's delegate: what the whole screen knows. Events come to it through the responder chain, commits through
/// the context's observers, the connection through `hear`; it changes notes and says what is to be drawn anew. It
/// waits for nothing and reads no clock but the application's.
final class BoardScreen: ApplicationDelegate {
  let application: Application
  let context: ObjectContext
  var link: BoardLink
  /// What is asked in the background for the board that is shown, while somebody waits for it.
  lazy var inquiries = makeInquiries()
  /// Selected notes that are out of sight. What is shown of it is said by who reads them.
  lazy var reading = BoardInquiries(link, in: context)
  /// What covers the canvas while an answer or the end is on its way, and by which of its shows.
  var overlay = BusyOverlay()
  var waitTokens = Set<BusyToken>()
  var savingToken: BusyToken?
  var reconnectingToken: BusyToken?
  var busyView = BusyViewHolder { BusyView() }
  var busyTimer: TimerID?
  /// What is done to notes, and makes no sense without one.
  var noteCommands = Set<Command>()
  /// How the connection stands.
  var linkState = ConnectionState.connected { didSet { if linkState != oldValue { linkDidChange() } } }
  /// The server owes an answer for a while.
  var isServerSilent = false { didSet { if isServerSilent != oldValue { application.setNeedsDisplay() } } }
  /// The board that is shown.
  var page: BoardPage
  /// What is not on the server yet.
  var unsent = UnsentChanges()
  var pacer = SavePacer()
  /// Groups what a gesture or an editor does into one step of undo.
  let undoScope: UndoScope
  /// The keys that notes were moved by last; nil once something else was done.
  var keyRow: KeyRow?
  var saveTimer: TimerID?
  /// The next try after a passing trouble.
  var retryTimer: TimerID?
  /// Saves that were refused since the last one that was not.
  var refusedInARow = 0
  /// The message that something is not saved, while that is so.
  var notSaved: TimerID?
  /// Whose note somebody edits here.
  var editing: NoteController?
  /// What the status line says beside the connection, and of which notes it says that they are gone.
  var message: (text: String, isTrouble: Bool, gone: Set<ObjectID>)?
  var messageTimer: TimerID?
  /// Where one is: a new note comes under the mouse, others see a cursor.
  var whereabouts = Whereabouts()
  /// The note that the mouse drags.
  var dragged: NoteController?
  /// Where the mouse drags it, and what moves the board while that is at an edge.
  var edgePlace: Point?
  var edgeTimer: TimerID?
  /// The note where a link begins, while its other end is chosen.
  var linkStart: NoteController?
  /// Whether that is to write on the link, and not to make it or take it away.
  var writesOnLink = false
  /// A gesture of the mouse on the canvas.
  var panning: Point?
  var lastPress: (point: Point, time: Int64, count: Int)?
  var quitting = Quitting.stays
  /// How long leaving waits for answers before it asks, in milliseconds, and the end of that.
  var patienceMilliseconds: Int64 = 2_000
  var patienceTimer: TimerID?
  /// So long a pause is none of typing, in milliseconds: then a question takes answers.
  var pauseMilliseconds: Int64 = 500
  var question: QuestionWindow?
  var waitingQuestions = [QuestionText]()
  /// What was cut or copied last, in whichever note.
  var clipboard = ""
  /// What was written in notes whose texts the server does not have yet, and of which of them it was offered.
  var written = [ObjectID: String]()
  var offered = Set<ObjectID>()
  var mode = EditMode<ObjectID>()
  var observation: ObservationToken?
  var theme = Theme()
  let layouts = LayoutCache(capacity: BoardPage.maximumNotes)
  /// How many windows have opened here, and so the number of the last.
  private(set) var lastNumber = 0
  let directory: BoardDirectory
  var pager: Pager<BoardDirectory, BoardPageController>?
  /// The board that is shown has been deleted, and there is no other one.
  var boardIsGone = false
  /// The way to another board, while one is on it.
  var pageScroll: PageScroll?
  /// The board that it ends on, whatever becomes of the numbers meanwhile.
  var pageGoal: ObjectID?
  var pageTimer: TimerID?
  /// The search that is open, and what it found; nil while nothing is searched for.
  var field: SearchWindow?
  var search: SearchController?
  var searchListener: SearchListener?
  var searchTimer: TimerID?
  /// Return was pressed before the answer was there: it leads to the first note that is found.
  var awaitsFound = false
  var found: [ObjectID]?
  /// What is known of the search's answer.
  var answer = SearchField.Answer.none
  var history: HistoryWindow?
  /// What of the board is shown; this client's own.
  var filter = BoardFilter() { didSet { if filter != oldValue { filterDidChange() } } }
  let tagNames: TagNames
  var list = ListPlace()
  lazy var listWindow = ListWindow(on: self)
  var sections: ListSections?
  /// What the connection has told since the last turn.
  var heard = [ConnectionNews]()
  /// Who else is here, and what they were told of us.
  var neighbors = Neighbors()
  lazy var ownColor = OwnColor(of: link.user)
  var shown: BoardPresence?
  var lastPresence: Int64?
  var presenceTimer: TimerID?
  /// Of a large board: a note on the way into sight, and what waits for a later look.
  var sought: ObjectID?
  var lookTimer: TimerID?
  /// The server is asked where the next note is: keys that come meanwhile are for that one.
  var isFinding = false
  /// How many notes a large board had when its selection was last looked through, and whether that is under way.
  var checkedTotal: Int?
  /// What was selected last of a large board, when it was all of it but some, and whether that is being changed.
  var allNotes: AllNotes?
  var isChangingAll = false
  /// The way through each of them, by its name, and what was asked for meanwhile under the same.
  var eachUnderWay: (name: String, behind: [(Note) -> Void])?
  /// How many of how many have been changed, and whether who leaves has been told of the rest.
  var eachSoFar: (done: Int, total: Int)?
  var leavesRest = false
  var isCheckingSelection = false
  /// The connection has been lost since then.
  var wasAway = false
  /// The filter is another one since then.
  var wasFiltered = false

  /// A screen for one board; `open` begins to follow it.
  init(
    _ application: Application, in context: ObjectContext, board: Board, scope: UndoScope, link: BoardLink
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

  /// What a page tells is heard from now on.
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

  // MARK: - What is where

  var now: Int64 { application.now }

  /// Where the board is: below the menu bar, and the search field if one is open, and above the status line.
  var canvas: Rect {
    let size = application.screenSize
    let list = listFrame.size.width
    let top = field == nil ? 1 : 2
    return Rect(x: list, y: top, width: size.width - list, height: max(0, size.height - 1 - top))
  }

  /// A cell of the board, on the screen.
  func onScreen(_ rect: Rect) -> Rect {
    rect.moved(x: canvas.minX - page.scroll.x, y: canvas.minY - page.scroll.y)
  }

  /// A point of the screen, in points of the board.
  func onBoard(_ point: Point) -> (x: Double, y: Double) {
    (
      Double(point.x - canvas.minX + page.scroll.x) * BoardScale.pointsPerColumn,
      Double(point.y - canvas.minY + page.scroll.y) * BoardScale.pointsPerRow
    )
  }

  /// The note that has the focus.
  var focused: NoteController? { page.windows.focus.flatMap { page.windows[$0] } }

  /// Lays the windows where their notes are; once in each turn.
  func layOut() {
    lookAround()
    // All notes of the board are gone through: what is the same for all of them is looked up once.
    let (page, canvas, editing) = (page, canvas, editing)
    let shift = Point(x: canvas.minX - page.scroll.x, y: canvas.minY - page.scroll.y)
    // Of a large board only what a search finds is here.
    let shown = page.part == nil ? found.map { Set($0) } : nil
    for id in page.windows.ids {
      guard let controller = page.windows[id], let values = page.values(of: id) else { continue }
      controller.lastFrame = values.cells
      var frame = values.cells.moved(x: shift.x, y: shift.y)
      controller.textFrame = NoteView.textFrame(in: frame)
      if values.isCollapsed, controller !== editing { frame.size.height = 1 }
      // What a search has not found can't be clicked.
      if let shown, !shown.contains(id), controller !== editing { frame.size = Size(width: 0, height: 0) }
      // Bars and list lie above the board: no note is clicked under them.
      controller.window.frame = frame.intersection(canvas)
    }
    application.arrange(page.windows.pile(page).compactMap { page.windows[$0]?.window })
  }

  override func applicationWillUpdate(_ application: Application) {
    followReconnecting()
    layOut()
    followSections()
    followListFocus()
    present()
  }

  override func application(_ application: Application, didReceive answer: TerminalAnswer) {
    guard case .background(let red, let green, let blue) = answer else { return }
    let isDark = Theme.isDark(.rgb(red, green, blue))
    guard isDark != theme.isDark else { return }
    theme = Theme(isDark: isDark, depth: theme.depth)
    application.setNeedsDisplay()
  }

  override func application(_ application: Application, didResize size: Size) {
    if TooSmall.isTooSmall(size) {
      endDrags()
    }
    if let editing { showCursor(of: editing) }
    application.setNeedsDisplay()
  }

  override func applicationConnectionDidChange(_ application: Application) { takeNews() }

  override func application(_ application: Application, didReceive signal: ApplicationSignal) {
    // While the program stood still the button may have come up unseen.
    if signal == .resume { endDrags() }
  }

  // MARK: - What happens

  private func contextDidChange(_ change: ObjectsDidChange) {
    // Somebody has taken back what is said.
    if let message, !message.gone.isDisjoint(with: change.inserted) { self.message = nil }
    for page in directory.pages.values { page.lastChange = change }
    page.lastChange = change
    mode.selection.objectsWereDeleted(change.deleted)
    // Before the next one, which may delete it: of what is answered in a turn only the end is seen.
    editing?.rememberCommon()
    // A commit is an event like a key: all that have come before a turn are one, and answered in it.
    let revision = max(change.revision, change.loadedRevision)
    application.post(ApplicationEvent(.deltas([UInt64(clamping: revision)]), at: now))
  }

  override func application(_ application: Application, didReceive deltas: Set<UInt64>) {
    editing?.followOthers()
    if let newest = deltas.max() { history?.past.follow(Revision(clamping: newest)) }
    application.setNeedsDisplay()
  }

  private func linkDidChange() {
    // Numbers of sessions are another connection's.
    neighbors.forget()
    shown = nil
    if linkState.isConnected {
      saveSoon()
    } else {
      wasAway = true
      // Nobody knows when the answer comes: keys are the field's again.
      if awaitsFound { stopAwaitingFound() }
    }
    history?.past.linkDidChange()
    application.setNeedsDisplay()
  }

  /// Windows came and went.
  func follow(_ changes: [WindowChange<NoteController>], on page: BoardPage) {
    for change in changes {
      switch change {
      case .opened(let controller, _):
        lastNumber += 1
        (controller.screen, controller.number) = (self, lastNumber)
        // The board that shows next to this one has no windows on the screen yet.
        if page === self.page { application.orderBack(controller.window) }
      case .closed(let controller, let id):
        if editing === controller { editing = nil }
        if linkStart === controller {
          linkStart = nil
          say("the note where the line begins is gone from here", isTrouble: true)
        }
        // Its step of undo ends with it.
        if dragged === controller {
          endGesture()
          tellWhyItWent(id, from: page)
        }
        // Nothing is done to what the filter hides. Of a large board windows go with the scroll as well: the selection stays
        // then, and what all of it is goes by a condition.
        if page.part == nil || all == nil && !page.isShown(id) { mode.selection.remove(id) }
        application.orderOut(controller.window)
      case .lost(let controller, let loss): tell(loss, of: controller)
      case .returned(let controller, _):
        controller.comeBack()
        // The text has a place again: nobody needs to say what becomes of it.
        withdrawQuestions(about: controller)
        say("the note is back")
      case .identified(_, let id, let old):
        mode.selection.identify(old, as: id)
        whereabouts.identify(old, as: id)
      }
    }
    // A field that is typed into keeps its keys, also behind a question.
    let isNoteKey = application.settledKeyWindow.map { $0 is NoteWindow } ?? true
    if !changes.isEmpty, isNoteKey, let focused { application.makeKey(focused.window) }
    application.setNeedsDisplay()
  }

  /// A note has gone from under the mouse.
  private func tellWhyItWent(_ id: ObjectID, from page: BoardPage) {
    let deletion = page.lastChange.flatMap { $0.deleted.contains(id) ? $0 : nil }
    let author = deletion.map { $0.author.isEmpty ? "someone" : $0.author }
    say(author.map { "\($0) has deleted the note" } ?? "the note is not on this board any more", isTrouble: true)
  }

  /// Says something in the status line for a while.
  /// - Parameter gone: the notes that it calls gone; it is said no more when one of them is back.
  func say(_ text: String, isTrouble: Bool = false, gone: Set<ObjectID> = []) {
    message = (text, isTrouble, gone)
    if let messageTimer { application.cancel(messageTimer) }
    messageTimer = application.schedule(at: now + 6_000) { [weak self] in
      self?.message = nil
      self?.application.setNeedsDisplay()
    }
    application.setNeedsDisplay()
  }

  /// Somebody goes on: what was said of what they did before would be taken for an answer to this. Trouble stays for a
  /// while, for it may have come by itself.
  func forgetMessage() {
    guard let message, !message.isTrouble else { return }
    self.message = nil
    application.setNeedsDisplay()
  }

  // MARK: - Events that nobody else wants

  override func keyDown(_ key: KeyEvent) -> Bool {
    if key == KeyEvent(.character("c"), .control) {
      application.terminate()
      return true
    }
    return tellNoTarget(key)
  }

  override func mouse(_ mouse: MouseEvent) -> Bool { canvasMouse(mouse) }

  override func paste(_ paste: PasteEvent) -> Bool { newNote(pasting: paste) }

  // Asked by a signal, nobody is asked: what was typed is on its way before the connection closes.
  override func applicationWillTerminate(_ application: Application) { finishChanges() }

  override func applicationShouldTerminate(_ application: Application) -> TerminateReply { shouldTerminate() }
}
