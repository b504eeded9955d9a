import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// What is shown, as the plain values that views draw.
extension BoardScreen {
  func drawBackground(into grid: inout Grid) {
    canvasState.draw(into: &grid, frame: canvas, clip: canvas, theme: theme, cache: layouts)
  }

  func drawForeground(into grid: inout Grid) {
    let size = grid.size
    guard size.height > 1 else { return }
    drawBar(into: &grid, Rect(x: 0, y: 0, width: size.width, height: 1))
    let status = Rect(x: 0, y: size.height - 1, width: size.width, height: 1)
    StatusLineView(statusState).draw(into: &grid, frame: status, clip: status, theme: theme)
    drawList(into: &grid)
    if let picture = busyPicture { draw(picture, into: &grid) }
    if isHelpOpen { drawHelp(into: &grid) }
  }

  // MARK: - The board

  var canvasState: Canvas {
    Canvas(
      color: PaperColor(name: page.board.color.rawValue), origin: page.scroll,
      notes: shownIDs.compactMap { page.windows[$0].flatMap(state) }, links: linkStates, pointers: pointers)
  }

  /// A note as it is drawn; nil for one that has no place any more and is not edited here.
  func state(_ controller: NoteController) -> NoteState? {
    let id = controller.id
    guard let note = page.note(id), let frame = boardFrame(of: id) else { return lostState(controller) }
    var marks = NoteMarks()
    if note.pinned { marks.insert(.pinned) }
    if note.locked { marks.insert(.locked) }
    if unsent.contains(id) { marks.insert(.unsent) }
    controller.lastFrame = frame
    return NoteState(
      id: controller.number, frame: frame, z: note.z, text: note.text, color: PaperColor(name: note.color.rawValue),
      tags: note.tags.filter { !$0.isFault }.map(\.name), marks: marks,
      isCollapsed: note.collapsed && controller.editor == nil, isFocused: page.windows.focus == id,
      circle: mode.isEditing ? (mode.selection.contains(id) ? .checked : .empty) : nil, editor: editor(of: id),
      scroll: controller.scroll, editing: controller.editor)
  }

  /// The note is gone, its editor stays until somebody has decided about the text.
  private func lostState(_ controller: NoteController) -> NoteState? {
    guard let editor = controller.editor else { return nil }
    return NoteState(
      id: controller.number, frame: controller.lastFrame, z: .infinity, text: editor.text, color: .gray,
      marks: .conflict, isFocused: true, scroll: controller.scroll, editing: editor)
  }

  private var linkStates: [LinkState] {
    page.links.snapshot.enumerated().compactMap { index, id in
      guard let link = context.fault(id) as? Link, let from = link.from?.id, let to = link.to?.id,
        let start = outline(of: from), let end = outline(of: to)
      else { return nil }
      return LinkState(id: index, from: start, to: end, label: link.label)
    }
  }

  private func outline(of id: ObjectID) -> Rect? {
    guard page.windows[id] != nil, let frame = boardFrame(of: id), let note = page.note(id) else { return nil }
    return note.collapsed ? Rect(origin: frame.origin, size: Size(width: frame.size.width, height: 1)) : frame
  }

  // MARK: - Bars

  /// The column of the first of the dots that say which board is shown.
  func dotsStart(_ dots: PageDots) -> Int { application.screenSize.width - 2 * dots.dots.count - 1 }

  var statusState: StatusState {
    let connection: StatusState.Connection =
      switch linkState {
      case .connected: .connected
      case .reconnecting: .reconnecting(seconds: nil)
      case .closed(let reason): .disconnected(reason: reason)
      }
    var state = StatusState(connection: connection, unsent: unsent.count, board: page.board.name)
    if case .closed = linkState { state.isReadOnly = true }
    state.message = message?.text ?? ""
    state.people = neighbors.all.map(person)
    return state
  }

  private func drawBar(into grid: inout Grid, _ bar: Rect) {
    grid.fill(bar, theme.bar)
    for (index, item) in application.menuBar.items.enumerated() {
      let column = MenuBarLayout.column(of: index, in: application.menuBar)
      grid.draw(" \(MenuBarLayout.title(item)) ", x: column, y: bar.minY, theme.bar, clip: bar)
    }
    guard let dots = dots(room: 20), dots.count > 1 else { return }
    for (index, dot) in dots.dots.enumerated() {
      let mark = dot == .current ? theme.symbols.currentDot : theme.symbols.dot
      grid.draw(String(mark), x: dotsStart(dots) + 2 * index, y: bar.minY, theme.bar, clip: bar)
    }
  }

  /// Until its notes are here, a board says that it waits for them.
  private func draw(_ picture: BusyPicture, into grid: inout Grid) {
    grid.shade(canvas)
    let spinner = theme.symbols.spinner[picture.phase % theme.symbols.spinner.count]
    let text = " \(spinner) \(picture.message) "
    grid.draw(text, x: canvas.middle.x - text.count / 2, y: canvas.middle.y, theme.panel, clip: canvas)
  }

  private func drawHelp(into grid: inout Grid) {
    let rows = application.menuBar.commands.map { ($0.key?.description ?? "", $0.title) }
    let frame = canvas.inset(1)
    grid.fill(frame, theme.panel)
    grid.box(frame, .light, theme.panelBorder)
    let height = max(1, frame.size.height - 2)
    for (index, row) in rows.enumerated() {
      let x = frame.minX + 2 + index / height * 36
      let y = frame.minY + 1 + index % height
      grid.draw(row.0, x: x, y: y, theme.panel, clip: frame.inset(1))
      grid.draw(row.1, x: x + 13, y: y, theme.panel, clip: frame.inset(1))
    }
    grid.cursor = nil
  }
}
