import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The state of the screen, as plain values that views draw.
extension BoardScreen {
  func drawBackground(into grid: inout Grid) {
    guard !TooSmallMessage.isTooSmall(grid.size) else {
      let keys = (application as? StickiesApplication)?.unseenKeys ?? ""
      return TooSmallMessage(keys: keys).draw(into: &grid, frame: grid.bounds, clip: grid.bounds, theme: theme)
    }
    if pageScroll != nil, let pager {
      drawScroll(pager, into: &grid)
    } else {
      draw(page, into: &grid, frame: canvas, clip: canvas)
      OffscreenCounts(counts: outlying).draw(into: &grid, frame: canvas, theme: theme)
    }
    drawBars(into: &grid)
  }

  /// Draws a board; an empty one gets a hint.
  func draw(_ page: BoardPage, into grid: inout Grid, frame: Rect, clip: Rect) {
    let board = page === self.page ? canvasState : canvasState(of: page)
    board.draw(into: &grid, frame: frame, clip: clip, theme: theme, cache: layouts)
    guard board.notes.isEmpty, page === self.page else { return }
    emptyBoard?.draw(into: &grid, frame: frame, clip: clip, theme: theme, color: board.color)
  }

  /// The number of notes that the filter hides; for a large board 0 until they are counted.
  private var hiddenCount: Int {
    guard let part = page.part else { return page.hiddenCount }
    guard let total = part.total, let matching = part.matchingCount else { return 0 }
    return max(0, total - matching)
  }

  /// The hint on an empty canvas; nil while the count is unknown, or if windows are merely closed.
  private var emptyBoard: EmptyBoardHint? {
    // In a large board matching notes may lie elsewhere; the edge marks show them.
    if let part = page.part, part.matchingCount != 0 { return nil }
    if boardIsGone {
      return EmptyBoardHint(lines: ["No board is left.", "", "stickies board add NAME  creates one; it appears here."])
    }
    if case .failed(let sentence)? = pager?.current.pageContent(at: now) { return EmptyBoardHint(lines: [sentence]) }
    if found != nil { return .nothingFound("Esc") }
    if hiddenCount > 0 { return .nothingFound("F") }
    guard page.notes.state == .loaded, page.notes.count == 0 else { return nil }
    return EmptyBoardHint(board: page.board.name, newNoteKey: "n", helpKey: "?")
  }

  private func drawBars(into grid: inout Grid) {
    let size = grid.size
    guard size.height > 1 else { return }
    drawBar(into: &grid, Rect(x: 0, y: 0, width: size.width, height: 1))
    StatusLineView(statusState).draw(into: &grid, frame: statusFrame, clip: statusFrame, theme: theme)
    drawBusy(into: &grid)
    drawTools(into: &grid)
  }

  // MARK: - The board

  var canvasState: Canvas {
    let (page, unfound) = (page, unfound)
    let ids = shownIDs
    var notes = [NoteState]()
    notes.reserveCapacity(ids.count)
    for id in ids where id != unfound {
      if let controller = page.windows[id], let state = state(controller, on: page) { notes.append(state) }
    }
    if page.part != nil {
      // For notes outside, the edge marks show numbers that include notes that are not loaded.
      let seen = seen
      notes.removeAll { $0.frame.intersection(seen).isEmpty }
    }
    return Canvas(
      color: PaperColor(name: page.board.color.rawValue), origin: page.scroll, notes: notes, links: linkStates,
      pointers: pointers)
  }

  /// The note that closing the search returns to, if the search does not match it. It stays loaded but is not drawn.
  /// Only in large boards.
  private var unfound: ObjectID? {
    guard page.part != nil, found != nil, let query = search?.query, let id = searchListener?.focus, id != editing?.id,
      let note = page.note(id), !query.matches(note.text)
    else { return nil }
    return id
  }

  /// The canvas of a neighbor board that is visible during a scroll.
  private func canvasState(of page: BoardPage) -> Canvas {
    Canvas(
      color: PaperColor(name: page.board.color.rawValue), origin: page.scroll,
      notes: page.windows.ids.compactMap { page.windows[$0].flatMap { state($0, on: page) } },
      links: lines(on: page, among: nil))
  }

  /// The display state of a note; nil if it is no longer on the board and not edited here.
  /// - Parameter other: the note's board; nil for the board that is shown.
  func state(_ controller: NoteController, on other: BoardPage? = nil) -> NoteState? {
    let page = other ?? page
    let id = controller.id
    guard let note = page.values(of: id) else { return lostState(controller) }
    controller.lastFrame = note.cells
    // The editor raises the note on this screen only; for other clients it keeps its place.
    let z = controller.editor == nil ? note.shape.z : .infinity
    return NoteState(
      id: controller.number, frame: note.cells, z: z, text: note.text, color: note.color,
      matches: matches(in: note.text, at: note.cells), tags: note.tags, marks: marks(of: id, note),
      isCollapsed: note.isCollapsed && controller.editor == nil, isFocused: page.windows.focus == id,
      circle: isSelected(id) ? .checked : .empty, circleColumns: circleColumns, editors: editors(of: id),
      scroll: controller.scroll, editing: controller.editor)
  }

  /// The number of columns of the selection circles that have slid in, on the canvas and in the list.
  var circleColumns: Int { Int((mode.slideFraction(at: now) * Double(NoteView.circleWidth)).rounded()) }

  func marks(of id: ObjectID, _ note: NoteValues) -> NoteBadges {
    unsent.contains(id) ? note.marks.union(.unsent) : note.marks
  }

  /// The search matches in a text; empty for a note outside the canvas.
  private func matches(in text: String, at frame: Rect) -> [Range<Int>] {
    guard let query = search?.query, !onScreen(frame).intersection(canvas).isEmpty else { return [] }
    return query.offsets(in: text)
  }

  /// The state of a note that no longer exists. Its editor stays open until the user has decided about the text.
  private func lostState(_ controller: NoteController) -> NoteState? {
    guard let editor = controller.editor else { return nil }
    return NoteState(
      id: controller.number, frame: controller.lastFrame, z: .infinity, text: editor.text, color: .gray,
      marks: .conflict, isFocused: true, scroll: controller.scroll, editing: editor)
  }

  // MARK: - Bars

  /// The frame of the dots for the boards: in the menu bar, between the titles and the button.
  var dotsFrame: Rect {
    let end = application.screenSize.width - (editFrame.isEmpty ? 0 : Self.editColumns)
    let titles = MenuBarView(application.menuBar).titlesWidth
    let x = max(titles, end - Self.dotColumns)
    return Rect(x: x, y: 0, width: end - x, height: 1)
  }

  /// Maximum width of the dots, in columns.
  static let dotColumns = 41

  var statusFrame: Rect {
    let size = application.screenSize
    return Rect(x: 0, y: size.height - 1, width: size.width, height: 1)
  }

  var statusState: StatusState {
    let connection: StatusState.Connection =
      switch linkState {
      case .connected: isServerSilent ? .silent : .connected
      case .reconnecting: .reconnecting
      case .closed(let reason): .disconnected(reason: reason)
      }
    let past = history?.past
    let name = past?.boardName ?? (boardIsGone ? "" : page.name)
    var state = StatusState(connection: connection, unsent: changesNotOnServer, board: name)
    state.isReadOnly = readOnlyReason != nil
    state.revision = past?.shown.map { UInt64(clamping: $0) }
    // The history shows all notes, without the filter.
    if filter.isOn, past?.shown == nil { state.filter = .init(filter.words, hidden: hiddenCount) }
    state.message = message?.text ?? (quitting == .waiting ? Self.leavesLater : crowdWords ?? "")
    state.people = neighbors.all.map(person)
    return state
  }

  private func drawBar(into grid: inout Grid, _ bar: Rect) {
    MenuBarView(application.menuBar).draw(into: &grid, frame: bar, clip: bar, theme: theme)
    let frame = dotsFrame
    if let dots = dots(room: frame.size.width) {
      DotsView(dots).draw(into: &grid, frame: frame, clip: frame, theme: theme)
    }
    drawEditButton(into: &grid)
  }
}
