import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// Draws the board with its bars, from the state of the other parts.
final class BoardRenderer: BoardPart {
  let services: BoardServices
  private let connection: ConnectionMonitor
  private let filtering: FilterController
  private let pages: BoardPages
  private let viewport: BoardViewport
  private let presence: PresenceController
  private let busy: BusyController
  private let selection: SelectionController
  private let search: BoardSearch
  private let saving: SaveController
  private let editing: EditingController
  private let navigation: NavigationController
  private let links: LinkController
  private let history: HistoryController
  private let toolBar: SelectionToolBar
  private let quitting: QuitController

  init(_ screen: BoardScreen) {
    services = screen.services
    (connection, filtering, pages, viewport) = (screen.connection, screen.filtering, screen.pages, screen.viewport)
    (presence, busy, selection, search) = (screen.presence, screen.busy, screen.selection, screen.search)
    (saving, editing, navigation, links) = (screen.saving, screen.editing, screen.navigation, screen.links)
    (history, toolBar, quitting) = (screen.history, screen.toolBar, screen.quitting)
  }

  /// Draws the board with its bars.
  /// - Parameter unseenKeys: a sentence about the effect of keys, for a screen that is too small.
  func drawBackground(into grid: inout Grid, unseenKeys: @autoclosure () -> String) {
    guard !TooSmallMessage.isTooSmall(grid.size) else {
      return TooSmallMessage(keys: unseenKeys()).draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
    }
    if pages.pageScroll != nil, let pager = pages.pager {
      drawScroll(pager, into: &grid)
    } else {
      draw(pages.page, into: &grid, frame: viewport.canvas, clip: viewport.canvas)
      OffscreenCounts(counts: navigation.outlying).draw(into: &grid, frame: viewport.canvas, theme: theme)
    }
    drawBars(into: &grid)
  }

  /// Draws a board; an empty one gets a hint.
  func draw(_ page: BoardPage, into grid: inout Grid, frame: Rect, clip: Rect) {
    let board = page === pages.page ? canvasState : canvasState(of: page)
    board.draw(into: &grid, frame: frame, clip: clip, theme: theme, cache: layouts)
    guard board.notes.isEmpty, page === pages.page else { return }
    emptyBoard?.draw(into: &grid, frame: frame, clip: clip, theme: theme, color: board.color)
  }

  /// The number of notes that the filter hides; for a large board 0 until they are counted.
  private var hiddenCount: Int {
    guard let part = pages.page.part else { return pages.page.hiddenCount }
    guard let total = part.total, let matching = part.matchingCount else { return 0 }
    return max(0, total - matching)
  }

  /// The hint on an empty canvas; nil while the count is unknown, or if windows are merely closed.
  private var emptyBoard: EmptyBoardHint? {
    // In a large board matching notes may lie elsewhere; the edge marks show them.
    if let part = pages.page.part, part.matchingCount != 0 { return nil }
    if pages.boardIsGone {
      return EmptyBoardHint(lines: ["No board is left.", "", "stickies board add NAME  creates one; it appears here."])
    }
    if case .failed(let sentence)? = pages.pager?.current.pageContent(at: now) {
      return EmptyBoardHint(lines: [sentence])
    }
    if search.found != nil { return .nothingFound("Esc") }
    if hiddenCount > 0 { return .nothingFound("F") }
    guard pages.page.notes.state == .loaded, pages.page.notes.count == 0 else { return nil }
    return EmptyBoardHint(board: pages.page.board.name, newNoteKey: "n", helpKey: "?")
  }

  private func drawBars(into grid: inout Grid) {
    let size = grid.size
    guard size.height > 1 else { return }
    drawBar(into: &grid, Rect(x: 0, y: 0, width: size.width, height: 1))
    StatusLineView(statusState).draw(into: &grid, frame: viewport.statusFrame, clip: viewport.statusFrame, theme: theme)
    drawBusy(into: &grid)
    toolBar.draw(into: &grid)
  }

  // MARK: - The board

  var canvasState: Canvas {
    let (page, unfound) = (pages.page, unfound)
    let ids = navigation.shownIDs
    var notes = [NoteState]()
    notes.reserveCapacity(ids.count)
    for id in ids where id != unfound {
      if let controller = page.windows[id], let state = state(controller, on: page) { notes.append(state) }
    }
    if page.part != nil {
      // For notes outside, the edge marks show numbers that include notes that are not loaded.
      let seen = viewport.seen
      notes.removeAll { $0.frame.intersection(seen).isEmpty }
    }
    return Canvas(
      color: PaperColor(name: page.board.color.rawValue), origin: page.scroll, notes: notes, links: links.states,
      pointers: presence.pointers)
  }

  /// The note that closing the search returns to, if the search does not match it. It stays loaded but is not drawn.
  /// Only in large boards.
  private var unfound: ObjectID? {
    guard pages.page.part != nil, search.found != nil, let query = search.controller?.query,
      let id = search.listener?.focus,
      id != editing.current?.id,
      let note = pages.page.note(id), !query.matches(note.text)
    else { return nil }
    return id
  }

  /// The canvas of a neighbor board that is visible during a scroll.
  private func canvasState(of page: BoardPage) -> Canvas {
    Canvas(
      color: PaperColor(name: page.board.color.rawValue), origin: page.scroll,
      notes: page.windows.ids.compactMap { page.windows[$0].flatMap { state($0, on: page) } },
      links: links.lines(on: page, among: nil))
  }

  /// The display state of a note; nil if it is no longer on the board and not edited here.
  /// - Parameter other: the note's board; nil for the board that is shown.
  func state(_ controller: NoteController, on other: BoardPage? = nil) -> NoteState? {
    let page = other ?? pages.page
    let id = controller.id
    guard let note = page.values(of: id) else { return lostState(controller) }
    controller.lastFrame = note.cells
    // The editor raises the note on this screen only; for other clients it keeps its place.
    let z = controller.editor == nil ? note.shape.z : .infinity
    return NoteState(
      id: controller.number, frame: note.cells, z: z, text: note.text, color: note.color,
      matches: matches(in: note.text, at: note.cells), tags: note.tags, number: note.number,
      marks: saving.marks(of: id, note),
      isCollapsed: note.isCollapsed && controller.editor == nil, isFocused: page.windows.focus == id,
      circle: selection.isSelected(id) ? .checked : .empty, circleColumns: selection.circleColumns,
      editors: presence.editors(of: id),
      scroll: controller.scroll, editing: controller.editor)
  }

  /// The search matches in a text; empty for a note outside the canvas.
  private func matches(in text: String, at frame: Rect) -> [Range<Int>] {
    guard let query = search.controller?.query, !viewport.onScreen(frame).intersection(viewport.canvas).isEmpty else {
      return []
    }
    return query.offsets(in: text)
  }

  /// The state of a note that no longer exists. Its editor stays open until the user has decided about the text.
  private func lostState(_ controller: NoteController) -> NoteState? {
    guard let editor = controller.editor else { return nil }
    return NoteState(
      id: controller.number, frame: controller.lastFrame, z: .infinity, text: editor.text, color: .gray,
      marks: .conflict, isFocused: true, scroll: controller.scroll, editing: editor)
  }

  /// Draws the overlay over the canvas, which is dimmed.
  func drawBusy(into grid: inout Grid) {
    let view = busy.view.view(saying: busy.appearance, cancelKey: busy.canCancel ? "Esc" : "")
    view?.draw(into: &grid, frame: viewport.canvas, clip: viewport.canvas, theme: theme)
  }

  // MARK: - Bars

  /// The frame of the dots for the boards: in the menu bar, between the titles and the button.
  var dotsFrame: Rect {
    let end = application.screenSize.width - (toolBar.buttonFrame.isEmpty ? 0 : SelectionToolBar.buttonColumns)
    let titles = MenuBarView(application.menuBar).titlesWidth
    let x = max(titles, end - Self.dotColumns)
    return Rect(x: x, y: 0, width: end - x, height: 1)
  }

  /// Maximum width of the dots, in columns.
  static let dotColumns = 41

  var statusState: StatusState {
    let shown: StatusState.Connection =
      switch connection.state {
      case .connected where connection.sync.isOffline:
        connection.sync.isOn
          ? .offline(keptBoards: connection.sync.status?.scopes.map { _ in pages.countOfBoards }) : .paused
      case .connected: connection.isSilent ? .silent : connection.isUnprotected ? .unprotected : .connected
      case .reconnecting: .reconnecting
      case .closed(let reason): .disconnected(reason: reason)
      }
    let past = history.window?.past
    let name = past?.boardName ?? (pages.boardIsGone ? "" : pages.page.name)
    var state = StatusState(connection: shown, unsent: quitting.changesNotOnServer, board: name)
    if let status = connection.sync.status { state.waiting = .init(unsent: status.unsent, parked: status.parked) }
    state.isReadOnly = connection.readOnlyReason != nil
    state.revision = past?.shown.map { UInt64(clamping: $0) }
    // The history shows all notes, without the filter.
    if filtering.filter.isOn, past?.shown == nil { state.filter = .init(filtering.filter.words, hidden: hiddenCount) }
    let lasting = quitting.isWaiting ? QuitController.leavesLater : navigation.crowdMessage
    if let message = services.status.current?.text ?? lasting { state.message = message }
    state.people = presence.neighbors.all.map(presence.person)
    return state
  }

  private func drawBar(into grid: inout Grid, _ bar: Rect) {
    MenuBarView(application.menuBar).draw(into: &grid, frame: bar, clip: bar, theme: theme)
    let frame = dotsFrame
    if let dots = pages.dots(room: frame.size.width) {
      DotsView(dots).draw(into: &grid, frame: frame, clip: frame, theme: theme)
    }
    toolBar.drawButton(into: &grid)
  }

  // MARK: - Scrolling between boards

  /// Draws both boards that are visible during a scroll, side by side.
  func drawScroll(_ pager: Pager<BoardDirectory, BoardPageController>, into grid: inout Grid) {
    let width = viewport.canvas.size.width
    let lower = pager.offset.rounded(.down)
    let shift = Int(((pager.offset - lower) * Double(width)).rounded())
    for controller in pager.visible {
      let frame = viewport.canvas.moved(x: controller.page == Int(lower) ? -shift : width - shift, y: 0)
      let clip = frame.intersection(viewport.canvas)
      let color = pages.directory.board(at: controller.page).map { PaperColor(name: $0.color.rawValue) } ?? .gray
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
