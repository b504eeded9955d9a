import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// The application's delegate and the state of the whole screen. Events arrive through the responder chain, commits
/// through the context's observers, events of the connection through `ConnectionMonitor`. It changes notes and marks what must be redrawn.
/// It never blocks and reads only the application's clock.
final class BoardScreen: ApplicationDelegate, BoardPart, BoardPagesDelegate {
  let services: BoardServices
  let connection: ConnectionMonitor
  let questions: QuestionController
  let tags: TagController
  let filtering: FilterController
  let pages: BoardPages
  let viewport: BoardViewport
  let presence: PresenceController
  let busy: BusyController
  let selection: SelectionController
  let search: BoardSearch
  let saving: SaveController
  let editing: EditingController
  let navigation: NavigationController
  let bulk: BulkChangeController
  let notes: NoteCommands
  let quitting: QuitController
  /// Commands that need a target note.
  var noteCommands = Set<Command>()
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
  var observation: ObservationToken?
  var history: HistoryWindow?
  var list = ListPaneState()
  lazy var listWindow = ListWindow(on: self)
  var sections: ListSections?
  /// Creates a screen for one board; `open` begins to follow it.
  init(
    _ application: Application, in context: ObjectContext, board: Board, scope: UndoScope, link: BoardConnection
  ) {
    services = BoardServices(application, in: context, scope: scope, link: link)
    connection = ConnectionMonitor(services)
    questions = QuestionController(services)
    tags = TagController(services)
    filtering = FilterController(tags: tags)
    pages = BoardPages(services, connection, filtering, showing: board)
    viewport = BoardViewport(services, pages)
    presence = PresenceController(services, connection, pages, viewport)
    busy = BusyController(services, connection, pages)
    selection = SelectionController(services, connection, filtering, pages, busy)
    search = BoardSearch(services, connection, filtering, pages, viewport)
    saving = SaveController(services, pages, questions, tags)
    editing = EditingController(
      services, connection, filtering, pages, viewport, presence, questions, selection, search, saving)
    navigation = NavigationController(
      services, connection, filtering, pages, viewport, busy, selection, search, editing)
    bulk = BulkChangeController(services, connection, busy, tags, selection, saving)
    notes = NoteCommands(
      services, connection, tags, filtering, pages, busy, selection, saving, bulk, editing)
    quitting = QuitController(services, connection, questions, busy, saving, bulk, editing)
    super.init()
    search.navigator = navigation
    search.list = self
    saving.delegate = self
    context.undoScope = scope
    connection.stateDidChange = { [weak self] in self?.connectionDidChange() }
    connection.didReceivePresence = { [weak self] in self?.presence.receive($0, of: $1, $2) }
    presence.editedNote = { [weak self] in self?.editing.current?.id }
    editing.layOut = { [weak self] in self?.layOut() }
    navigation.isListOpen = { [weak self] in self?.isListOpen == true }
    navigation.notesInUse = { [weak self] in [self?.dragged?.id, self?.linkStart?.id].compactMap(\.self) }
    quitting.willFinishChanges = { [weak self] in self?.endGesture() }
    filtering.didChange = { [weak self] in self?.filterDidChange() }
    services.modals.willBegin = { [weak self] in self?.endDrags() }
    pages.delegate = self
    viewport.listWidth = { [weak self] in self?.listFrame.size.width ?? 0 }
    viewport.isSearchOpen = { [weak self] in self?.search.window != nil }
    answerCommands()
  }

  /// Begins to follow the board.
  func open() {
    observation = context.observe { [weak self] change in self?.contextDidChange(change) }
    pages.open()
    tags.names.didChange = { [weak self] in self?.tagsDidChange(by: $0) }
    tags.names.didFail = { [weak self] in self?.report($0.message, isTrouble: true) }
  }

  // MARK: - Geometry

  /// Positions the windows on their notes; once per turn.
  func layOut() {
    navigation.lookAround()
    // The loop visits all notes of the board, so values that are the same for all are read once.
    let (page, canvas, editing) = (pages.page, viewport.canvas, editing.current)
    let shift = Point(x: canvas.minX - page.scroll.x, y: canvas.minY - page.scroll.y)
    // In a large board only search results are loaded anyway.
    let shown = page.part == nil ? search.found.map { Set($0) } : nil
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
    application.arrange(page.windows.pile(page).compactMap { page.windows[$0]?.window })
  }

  override func applicationWillUpdate(_ application: Application) {
    busy.updateReconnecting()
    layOut()
    followSections()
    followListFocus()
    presence.update()
  }

  override func application(_ application: Application, didReceive answer: TerminalReply) {
    guard case .background(let red, let green, let blue) = answer else { return }
    let isDark = Theme.isDark(.rgb(red, green, blue))
    guard isDark != theme.isDark else { return }
    services.appearance.theme = Theme(isDark: isDark, depth: theme.depth)
    application.setNeedsDisplay()
  }

  override func application(_ application: Application, didResize size: Size) {
    if TooSmallMessage.isTooSmall(size) {
      endDrags()
    }
    if let controller = editing.current { editing.showCursor(of: controller) }
    application.setNeedsDisplay()
  }

  override func applicationConnectionDidChange(_ application: Application) { connection.handleEvents() }

  override func application(_ application: Application, didReceive signal: ApplicationSignal) {
    // The release of the button may have been missed while the program was suspended.
    if signal == .resume { endDrags() }
  }

  // MARK: - Changes

  private func contextDidChange(_ change: ObjectsDidChange) {
    services.status.objectsWereInserted(change.inserted)
    pages.contextDidChange(change)
    selection.mode.selection.objectsWereDeleted(change.deleted)
    // The next commit may delete the note; of the commits of a turn only the final state is observed.
    editing.current?.rememberCommon()
    // A commit is an event like a key; all commits before a turn are coalesced and handled in it.
    let revision = max(change.revision, change.loadedRevision)
    application.post(ApplicationEvent(.deltas([UInt64(clamping: revision)]), at: now))
  }

  override func application(_ application: Application, didReceive deltas: Set<UInt64>) {
    editing.current?.followOthers()
    if let newest = deltas.max() { history?.past.follow(Revision(clamping: newest)) }
    application.setNeedsDisplay()
  }

  private func connectionDidChange() {
    presence.connectionDidChange()
    if connection.state.isConnected {
      saving.saveSoon()
    } else {
      selection.wasDisconnected = true
      // The time of the answer is unknown now, so keys go to the field again.
      if search.awaitsFound { search.stopAwaitingFound() }
    }
    history?.past.linkDidChange()
    application.setNeedsDisplay()
  }

  func pages(_ pages: BoardPages, windowsDidChange changes: [WindowChange<NoteController>], on page: BoardPage) {
    for change in changes {
      switch change {
      case .opened(let controller, _):
        (controller.screen, controller.number) = (self, pages.nextNumber())
        // A neighbor board's windows are not on the screen yet.
        if page === pages.page { application.orderBack(controller.window) }
      case .closed(let controller, let id):
        editing.windowDidClose(controller)
        if linkStart === controller {
          linkStart = nil
          report("the note where the line begins is gone from here", isTrouble: true)
        }
        // Ends the undo step of the drag.
        if dragged === controller {
          endGesture()
          reportDisappearance(id, from: page)
        }
        // Notes that the filter hides are deselected. In a large board windows also close by scrolling: the selection
        // stays then, and a selection of all is a predicate.
        if page.part == nil || selection.all == nil && !page.isShown(id) { selection.mode.selection.remove(id) }
        application.orderOut(controller.window)
      case .lost(let controller, let loss): editing.noteDidLeave(loss, of: controller)
      case .returned(let controller, _):
        controller.comeBack()
        // The note exists again, so the question about its text is obsolete.
        questions.withdraw(about: controller)
        report("the note is back")
      case .identified(_, let id, let old):
        selection.mode.selection.identify(old, as: id)
        presence.userPosition.identify(old, as: id)
      }
    }
    // A field keeps the keys, also behind a question.
    let isNoteKey = application.settledKeyWindow.map { $0 is NoteWindow } ?? true
    if !changes.isEmpty, isNoteKey, let focused = pages.focused { application.makeKey(focused.window) }
    application.setNeedsDisplay()
  }

  func pagesWillLeaveBoard(_ pages: BoardPages) -> () -> Void {
    // Gestures and windows that are in progress belong to the previous board.
    endGesture()
    panning = nil
    if linkStart != nil { cancelLink() }
    closeHistory()
    while let modal = application.modalWindow, !(modal is QuestionWindow) { application.endModal(modal) }
    let orphan = pages.boardIsGone ? editing.current?.editedText : nil
    if pages.boardIsGone, let controller = editing.current { questions.withdraw(about: controller) }
    let gone = pages.page.name
    editing.end()
    search.close()
    // So do its requests.
    busy.boardWillChange()
    navigation.releaseKeys()
    selection.boardWillChange()
    saving.save()
    return { [weak self] in
      guard let self else { return }
      presence.boardDidChange()
      if let orphan, !orphan.isEmpty { editing.offer(orphan, "the board \(gone) is deleted") }
      busy.wake()
    }
  }

  /// Reports why a note disappeared while it was dragged.
  private func reportDisappearance(_ id: ObjectID, from page: BoardPage) {
    let deletion = page.lastChange.flatMap { $0.deleted.contains(id) ? $0 : nil }
    let author = deletion.map { $0.author.isEmpty ? "someone" : $0.author }
    report(author.map { "\($0) has deleted the note" } ?? "the note is not on this board any more", isTrouble: true)
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

  override func paste(_ paste: PasteEvent) -> Bool { editing.newNote(pasting: paste) }

  // A signal does not ask the user: typed text is sent before the connection closes.
  override func applicationWillTerminate(_ application: Application) { quitting.finishChanges() }

  override func applicationShouldTerminate(_ application: Application) -> TerminateReply { quitting.shouldTerminate() }
}
