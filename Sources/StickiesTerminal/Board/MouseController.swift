import StickiesKit
import TerminalApplication
import TerminalCells

/// The mouse on the board, its notes and its bars: clicks, drags and the wheel.
final class MouseController: BoardPart {
  let services: BoardServices
  /// The note that is dragged with the mouse.
  private(set) var dragged: NoteController?
  /// Opens the filter, and the menu of a number.
  var openFilter: () -> Void = {}
  var showMenu: (_ index: Int) -> Void = { _ in }
  let pages: BoardPages
  let viewport: BoardViewport
  private let presence: PresenceController
  private let connection: ConnectionMonitor
  private let selection: SelectionController
  private let search: BoardSearch
  private let saving: SaveController
  private let editing: EditingController
  private let notes: NoteCommands
  private let links: LinkController
  private let list: ListPaneController
  private let toolBar: SelectionToolBar
  private let renderer: BoardRenderer
  private let clicks: ClickCounter
  /// The last position of a drag of the canvas.
  private var panning: Point?
  /// The position of the drag, and the timer that scrolls the board while it is at an edge.
  var edgePlace: Point?
  var edgeTimer: TimerID?

  init(_ screen: BoardScreen) {
    (services, pages, viewport, presence) = (screen.services, screen.pages, screen.viewport, screen.presence)
    (connection, selection, search, saving) = (screen.connection, screen.selection, screen.search, screen.saving)
    (editing, notes, links, list) = (screen.editing, screen.notes, screen.links, screen.list)
    (toolBar, renderer, clicks) = (screen.toolBar, screen.renderer, screen.list.clicks)
  }

  /// Ends a drag of the canvas before another board is shown.
  func boardWillChange() {
    endGesture()
    panning = nil
  }

  /// Records the position of the mouse.
  /// - Returns: whether the event is a mere move, which needs no further handling.
  private func trackMouse(_ mouse: MouseEvent) -> Bool {
    if viewport.canvas.contains(mouse.position) { presence.userPosition.mouse(at: mouse.position) }
    return mouse.kind == .move
  }

  // MARK: - On a note

  func noteMouse(_ mouse: MouseEvent, on controller: NoteController) -> Bool {
    if trackMouse(mouse) {
      // No button is down, so its release was missed.
      endGesture()
      return true
    }
    // A drag that began beside the notes continues over them.
    if panning != nil || list.state.isResizing { return canvasMouse(mouse) }
    if toolBar.mouse(mouse) { return true }
    guard viewport.canvas.contains(mouse.position) || controller.gesture != nil else { return false }
    switch mouse.kind {
    case .press(.left): press(mouse, controller)
    case .drag(.left): drag(mouse, controller)
    case .release: endGesture()
    case .wheel(let direction):
      guard controller === editing.current, let editor = controller.editor else { return false }
      let most = max(0, editor.layout.rows.count - controller.textFrame.size.height)
      let step = direction == .up ? -1 : direction == .down ? 1 : 0
      controller.scroll = max(0, min(controller.scroll + step, most))
      controller.window.setNeedsDisplay()
    default: return false
    }
    return true
  }

  private func press(_ mouse: MouseEvent, _ controller: NoteController) {
    endGesture()
    let clicks = clicks.count(mouse.position)
    if selection.mode.isEditing {
      selection.toggle(controller.id)
      return application.setNeedsDisplay()
    }
    if let edited = editing.current, edited !== controller { editing.end() }
    let hadFocus = pages.page.windows.focus == controller.id
    pages.focus(controller)
    search.controller?.saveState()
    if links.start != nil { return links.end(at: controller) }
    if controller === editing.current, controller.textFrame.contains(mouse.position) {
      select(mouse, controller, clicks: clicks)
      return begin(.select, mouse, controller)
    }
    if clicks == 2 { return editing.edit(controller, at: textCell(mouse.position, controller)) }
    let part = renderer.state(controller).flatMap {
      NoteView($0).part(at: viewport.boardCell(mouse.position), theme: theme, cache: layouts)
    }
    if part == .close, hadFocus { return notes.closeWindows([controller]) }
    guard controller.note != nil else { return }
    // Raising and moving are one undo step, also while the note is edited.
    saving.save()
    if editing.current != nil { undoScope.endGroup() }
    undoScope.beginGroup(named: part == .resize ? "Resize" : "Move")
    begin(part == .resize ? .resize : .move, mouse, controller)
    notes.raise(controller)
  }

  private func begin(_ kind: NoteGesture.Kind, _ mouse: MouseEvent, _ controller: NoteController) {
    guard let note = controller.note else { return }
    controller.gesture = NoteGesture(
      kind: kind, start: viewport.boardCell(mouse.position), scroll: pages.page.scroll, x: note.x, y: note.y,
      width: note.width,
      height: note.height)
    (dragged, edgePlace) = (controller, nil)
    application.beginTracking(controller.window)
  }

  private func textCell(_ point: Point, _ controller: NoteController) -> Point {
    Point(x: point.x - controller.textFrame.minX, y: point.y - controller.textFrame.minY + controller.scroll)
  }

  /// Places the cursor with one press, selects a word with two, a line with three.
  private func select(_ mouse: MouseEvent, _ controller: NoteController, clicks: Int) {
    let cell = textCell(mouse.position, controller)
    switch clicks {
    case 1: return place(mouse, controller, isSelecting: mouse.modifiers.contains(.shift))
    case 2: controller.editor?.perform(.selectWord(cell))
    default: controller.editor?.perform(.selectLine(cell))
    }
    controller.window.setNeedsDisplay()
  }

  private func place(_ mouse: MouseEvent, _ controller: NoteController, isSelecting: Bool) {
    controller.editor?.perform(.place(textCell(mouse.position, controller), isSelecting: isSelecting))
    controller.window.setNeedsDisplay()
  }

  private func drag(_ mouse: MouseEvent, _ controller: NoteController) {
    if controller.gesture?.kind == .select { return place(mouse, controller, isSelecting: true) }
    drag(controller, to: mouse.position)
    watchEdges(mouse.position)
  }

  func drag(_ controller: NoteController, to point: Point) {
    guard var gesture = controller.gesture, let note = controller.note else { return }
    let cell = viewport.boardCell(point)
    let (dx, dy) = (cell.x - gesture.start.x, cell.y - gesture.start.y)
    if !gesture.hasMoved {
      guard dx != 0 || dy != 0, editing.mayChange(note) else { return }
      gesture.hasMoved = true
    }
    controller.gesture = gesture
    let (x, y) = (Double(dx) * BoardScale.pointsPerColumn, Double(dy) * BoardScale.pointsPerRow)
    if gesture.kind == .move {
      (note.x, note.y) = (gesture.x + x, gesture.y + y)
    } else {
      notes.setSize(of: note, width: gesture.width + x, height: gesture.height + y)
    }
    saving.touch(controller.id)
  }

  /// Ends the drag, on release or when something else interrupts it.
  func endGesture() {
    guard let controller = dragged else { return }
    dragged = nil
    let gesture = controller.gesture
    controller.gesture = nil
    application.stopTracking()
    guard let gesture, gesture.kind != .select else { return }
    saving.save()
    undoScope.endGroup()
    if editing.current != nil { undoScope.beginGroup(named: "Typing") }
  }

  /// Cancels a drag: restores the note's position and size.
  func cancelDrag() {
    if let gesture = dragged?.gesture, gesture.hasMoved, let note = dragged?.note, let id = dragged?.id {
      switch gesture.kind {
      case .move: (note.x, note.y) = (gesture.x, gesture.y)
      case .resize: (note.width, note.height) = (gesture.width, gesture.height)
      case .select: break
      }
      pages.page.scroll = gesture.scroll
      saving.touch(id)
    }
    endGesture()
  }

  /// Ends all drags; the release of the button will not be reported.
  func endDrags() {
    endGesture()
    (panning, list.state.isResizing) = (nil, false)
  }

  // MARK: - On the canvas

  func canvasMouse(_ mouse: MouseEvent) -> Bool {
    if trackMouse(mouse) { return true }
    if list.state.isResizing { return list.mouse(mouse) }
    if toolBar.mouse(mouse) { return true }
    guard viewport.canvas.contains(mouse.position) || panning != nil else {
      return list.mouse(mouse) || barMouse(mouse)
    }
    switch mouse.kind {
    case .press(.left):
      let isDouble = clicks.count(mouse.position) == 2
      editing.end()
      pages.page.windows.clearFocus()
      panning = isDouble ? nil : mouse.position
      if isDouble, !askAboutLink(at: mouse.position) { editing.newNote() }
    case .drag(.left):
      guard let from = panning else { return false }
      pages.scroll(by: Point(x: from.x - mouse.position.x, y: from.y - mouse.position.y))
      panning = mouse.position
    case .release: panning = nil
    case .wheel(let direction): pages.scroll(by: direction.scroll)
    default: return false
    }
    application.setNeedsDisplay()
    return true
  }

  /// Asks about the link at a point.
  /// - Returns: false if there is none.
  private func askAboutLink(at point: Point) -> Bool {
    guard
      case .link(let number)? = renderer.canvasState.part(
        at: point, frame: viewport.canvas, theme: theme, cache: layouts)
    else { return false }
    return links.askAbout(number)
  }

  /// Handles the mouse in the menu bar or the status line.
  func barMouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind else { return false }
    if viewport.statusFrame.contains(mouse.position) {
      if StatusLineView(renderer.statusState).part(at: mouse.position, frame: viewport.statusFrame) == .filter {
        openFilter()
      }
      return true
    }
    guard mouse.position.y == 0 else { return false }
    if toolBar.buttonMouse(mouse) { return true }
    if let dots = pages.dots(room: renderer.dotsFrame.size.width), renderer.dotsFrame.contains(mouse.position) {
      switch DotsView(dots).part(at: mouse.position, frame: renderer.dotsFrame) {
      case .page(let page): pages.jump(toPage: page)
      case .previous: if let page = dots.previous { pages.jump(toPage: page) }
      case .next: if let page = dots.next { pages.jump(toPage: page) }
      case nil: break
      }
      return true
    }
    _ = openMenu(at: mouse.position)
    return true
  }

  /// Opens the menu whose title is at the point.
  /// - Returns: false if there is none.
  func openMenu(at point: Point) -> Bool {
    let bar = Rect(x: 0, y: 0, width: application.screenSize.width, height: 1)
    guard case .title(let index)? = MenuBarView(application.menuBar).part(at: point, frame: bar) else { return false }
    showMenu(index)
    return true
  }
}

extension WheelDirection {
  /// The distance by which one notch of the wheel scrolls the board.
  var scroll: Point {
    switch self {
    case .up: Point(x: 0, y: -3)
    case .down: Point(x: 0, y: 3)
    case .left: Point(x: -6, y: 0)
    case .right: Point(x: 6, y: 0)
    }
  }
}
