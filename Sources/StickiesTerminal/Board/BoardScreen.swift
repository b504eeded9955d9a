import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// The application's delegate: it creates the parts of the screen, connects them, and passes events on to them. Events
/// arrive through the responder chain, commits through the context's observers, events of the connection through
/// `ConnectionMonitor`. Each part owns its state, changes notes and marks what must be redrawn. No part blocks or reads
/// any clock but the application's.
final class BoardScreen: ApplicationDelegate, BoardPart {
  let services: BoardServices
  let connection: ConnectionMonitor
  let questions: QuestionController
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
  let links: LinkController
  let list: ListPaneController
  let history: HistoryController
  let toolBar: SelectionToolBar
  let sync: SyncController
  var tags: TagController { filtering.tags }
  private(set) lazy var renderer = BoardRenderer(self)
  private(set) lazy var mouseInput = MouseController(self)
  /// Commands that need a target note, with the operation for which they need a right; nil for none.
  var commandsNeedingTarget = [Command: AccessRules.Operation?]()
  var observation: ObservationToken?

  /// Creates a screen for one board; `open` begins to follow it.
  init(
    _ application: Application, in context: ObjectContext, board: Board, scope: UndoScope, link: BoardConnection
  ) {
    services = BoardServices(application, in: context, scope: scope, link: link)
    connection = ConnectionMonitor(services)
    questions = QuestionController(services)
    let tags = TagController(services)
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
    links = LinkController(services, connection, pages, questions, busy, search, saving, navigation)
    list = ListPaneController(
      services, filtering, pages, selection, search, saving, editing, navigation, ClickCounter(application))
    history = HistoryController(services, connection, pages, viewport, busy, editing, navigation, list)
    toolBar = SelectionToolBar(services, viewport, selection, editing)
    sync = SyncController(services, connection, questions)
    super.init()
    search.navigator = navigation
    search.list = list
    list.pastPane = { [weak self] in self?.history.listPane }
    history.delegate = self
    saving.delegate = self
    context.undoScope = scope
    connection.stateDidChange = { [weak self] in self?.connectionDidChange() }
    connection.syncDidChange = { [weak self] in self?.sync.syncDidChange(from: $0) }
    connection.rightsDidChange = { [weak self] in self?.rightsDidChange() }
    connection.didReceivePresence = { [weak self] in self?.presence.receive($0, of: $1, $2) }
    presence.editedNote = { [weak self] in self?.editing.current?.id }
    editing.layOut = { [weak self] in self?.layOut() }
    navigation.isListOpen = { [weak self] in self?.list.isOpen == true }
    navigation.notesInUse = { [weak self] in [self?.mouseInput.dragged?.id, self?.links.start?.id].compactMap(\.self) }
    quitting.willFinishChanges = { [weak self] in self?.mouseInput.endGesture() }
    filtering.didChange = { [weak self] in self?.filterDidChange() }
    services.modals.willBegin = { [weak self] in self?.mouseInput.endDrags() }
    mouseInput.openFilter = { [weak self] in self?.openFilter() }
    mouseInput.showMenu = { [weak self] in self?.openMenu($0) }
    pages.delegate = self
    viewport.listWidth = { [weak list] in if let list { list.frame.size.width } else { 0 } }
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
    application.arrange(page.windows.stackingOrder(page).compactMap { page.windows[$0]?.window })
  }

  override func applicationWillUpdate(_ application: Application) {
    busy.updateReconnecting()
    layOut()
    list.updateSections()
    list.followFocus()
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
      mouseInput.endDrags()
    }
    if let controller = editing.current { editing.showCursor(of: controller) }
    application.setNeedsDisplay()
  }

  override func applicationConnectionDidChange(_ application: Application) { connection.handleEvents() }

  override func application(_ application: Application, didReceive signal: ApplicationSignal) {
    // The release of the button may have been missed while the program was suspended.
    if signal == .resume { mouseInput.endDrags() }
  }

  // MARK: - Changes

  private func contextDidChange(_ change: ObjectsDidChange) {
    services.status.objectsWereInserted(change.inserted)
    if !change.identified.isEmpty { objectsWereIdentified(change.identified) }
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
    if let newest = deltas.max() { history.window?.past.follow(Revision(clamping: newest)) }
    application.setNeedsDisplay()
  }

  private func connectionDidChange() {
    presence.connectionDidChange()
    if connection.state.isConnected {
      saving.saveSoon()
    } else {
      selection.connectionWasLost()
      // The time of the answer is unknown now, so keys go to the field again.
      if search.awaitsFound { search.stopAwaitingFound() }
    }
    history.window?.past.connectionDidChange()
    application.setNeedsDisplay()
  }

  /// Reports the role on the board, and redraws the menus. A board without a role is closed by its directory.
  private func rightsDidChange() {
    if let role = rights.role(on: pages.page.board.id) { report("your role on this board is \(role.rawValue) now") }
    application.setNeedsDisplay()
  }

  // MARK: - Unhandled events

  override func keyDown(_ key: KeyEvent) -> Bool {
    if key == KeyEvent(.character("c"), .control) {
      application.terminate()
      return true
    }
    return reportMissingTarget(key) || reportMissingRight(key)
  }

  override func mouse(_ mouse: MouseEvent) -> Bool { mouseInput.canvasMouse(mouse) }

  override func paste(_ paste: PasteEvent) -> Bool { editing.newNote(pasting: paste) }

  // A signal does not ask the user: typed text is sent before the connection closes.
  override func applicationWillTerminate(_ application: Application) { quitting.finishChanges() }

  override func applicationShouldTerminate(_ application: Application) -> TerminateReply { quitting.shouldTerminate() }
}
