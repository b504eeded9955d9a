import StickiesKit
import TerminalApplication
import TerminalCells

extension BoardScreen {
  /// Maximum time between the presses of a double click, in milliseconds.
  static let doubleClickMilliseconds: Int64 = 400

  /// The number of successive presses on one cell, including this one.
  func clickCount(_ point: Point) -> Int {
    let isNext = lastPress.map { $0.point == point && now - $0.time <= Self.doubleClickMilliseconds } ?? false
    let count = isNext ? (lastPress?.count ?? 0) + 1 : 1
    lastPress = (point, now, count)
    return count
  }

  /// Records the position of the mouse.
  /// - Returns: whether the event is a mere move, which needs no further handling.
  private func trackMouse(_ mouse: MouseEvent) -> Bool {
    if canvas.contains(mouse.position) { whereabouts.mouse(at: mouse.position) }
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
    if panning != nil || list.isResizing { return canvasMouse(mouse) }
    if toolMouse(mouse) { return true }
    guard canvas.contains(mouse.position) || controller.gesture != nil else { return false }
    switch mouse.kind {
    case .press(.left): press(mouse, controller)
    case .drag(.left): drag(mouse, controller)
    case .release: endGesture()
    case .wheel(let direction):
      guard controller === editing, let editor = controller.editor else { return false }
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
    let clicks = clickCount(mouse.position)
    if mode.isEditing {
      toggleSelected(controller.id)
      return application.setNeedsDisplay()
    }
    if let editing, editing !== controller { endEditing() }
    let hadFocus = page.windows.focus == controller.id
    focus(controller)
    search?.saveState()
    if linkStart != nil { return endLink(at: controller) }
    if controller === editing, controller.textFrame.contains(mouse.position) {
      select(mouse, controller, clicks: clicks)
      return begin(.select, mouse, controller)
    }
    if clicks == 2 { return edit(controller, at: textCell(mouse.position, controller)) }
    let part = state(controller).flatMap {
      NoteView($0).part(at: boardCell(mouse.position), theme: theme, cache: layouts)
    }
    if part == .close, hadFocus { return closeWindows([controller]) }
    guard controller.note != nil else { return }
    // Raising and moving are one undo step, also while the note is edited.
    save()
    if editing != nil { undoScope.endGroup() }
    undoScope.beginGroup(named: part == .resize ? "Resize" : "Move")
    begin(part == .resize ? .resize : .move, mouse, controller)
    raise(controller)
  }

  private func begin(_ kind: NoteGesture.Kind, _ mouse: MouseEvent, _ controller: NoteController) {
    guard let note = controller.note else { return }
    controller.gesture = NoteGesture(
      kind: kind, start: boardCell(mouse.position), scroll: page.scroll, x: note.x, y: note.y, width: note.width,
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
    let cell = boardCell(point)
    let (dx, dy) = (cell.x - gesture.start.x, cell.y - gesture.start.y)
    if !gesture.hasMoved {
      guard dx != 0 || dy != 0, mayChange(note) else { return }
      gesture.hasMoved = true
    }
    controller.gesture = gesture
    let (x, y) = (Double(dx) * BoardScale.pointsPerColumn, Double(dy) * BoardScale.pointsPerRow)
    if gesture.kind == .move {
      (note.x, note.y) = (gesture.x + x, gesture.y + y)
    } else {
      setSize(of: note, width: gesture.width + x, height: gesture.height + y)
    }
    touch(controller.id)
  }

  /// Ends the drag, on release or when something else interrupts it.
  func endGesture() {
    guard let controller = dragged else { return }
    dragged = nil
    let gesture = controller.gesture
    controller.gesture = nil
    application.stopTracking()
    guard let gesture, gesture.kind != .select else { return }
    save()
    undoScope.endGroup()
    if editing != nil { undoScope.beginGroup(named: "Typing") }
  }

  /// Cancels a drag: restores the note's position and size.
  func takeDragBack() {
    if let gesture = dragged?.gesture, gesture.hasMoved, let note = dragged?.note, let id = dragged?.id {
      switch gesture.kind {
      case .move: (note.x, note.y) = (gesture.x, gesture.y)
      case .resize: (note.width, note.height) = (gesture.width, gesture.height)
      case .select: break
      }
      page.scroll = gesture.scroll
      touch(id)
    }
    endGesture()
  }

  /// Ends all drags; the release of the button will not be reported.
  func endDrags() {
    endGesture()
    (panning, list.isResizing) = (nil, false)
  }

  /// Begins a modal window, which gets keys and mouse first.
  func beginModal(_ window: Window) {
    endDrags()
    application.beginModal(window)
  }

  // MARK: - On the canvas

  func canvasMouse(_ mouse: MouseEvent) -> Bool {
    if trackMouse(mouse) { return true }
    if list.isResizing { return listMouse(mouse) }
    if toolMouse(mouse) { return true }
    guard canvas.contains(mouse.position) || panning != nil else { return listMouse(mouse) || barMouse(mouse) }
    switch mouse.kind {
    case .press(.left):
      let isDouble = clickCount(mouse.position) == 2
      endEditing()
      page.windows.clearFocus()
      panning = isDouble ? nil : mouse.position
      if isDouble, !askAboutLink(at: mouse.position) { newNote() }
    case .drag(.left):
      guard let from = panning else { return false }
      scroll(by: Point(x: from.x - mouse.position.x, y: from.y - mouse.position.y))
      panning = mouse.position
    case .release: panning = nil
    case .wheel(let direction): scroll(by: direction.scroll)
    default: return false
    }
    application.setNeedsDisplay()
    return true
  }

  func scroll(by step: Point) {
    let far = Rect.farthest
    page.scroll = Point(
      x: min(max(page.scroll.x + step.x, -far), far), y: min(max(page.scroll.y + step.y, -far), far))
    application.setNeedsDisplay()
  }

  /// Handles the mouse in the menu bar or the status line.
  func barMouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind else { return false }
    if statusFrame.contains(mouse.position) {
      if StatusLineView(statusState).part(at: mouse.position, frame: statusFrame) == .filter { openFilter() }
      return true
    }
    guard mouse.position.y == 0 else { return false }
    if editMouse(mouse) { return true }
    if let dots = dots(room: dotsFrame.size.width), dotsFrame.contains(mouse.position) {
      switch DotsView(dots).part(at: mouse.position, frame: dotsFrame) {
      case .page(let page): jump(toPage: page)
      case .previous: if let page = dots.previous { jump(toPage: page) }
      case .next: if let page = dots.next { jump(toPage: page) }
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
    openMenu(index)
    return true
  }
}

extension WheelDirection {
  /// How far one notch of the wheel scrolls the board.
  var scroll: Point {
    switch self {
    case .up: Point(x: 0, y: -3)
    case .down: Point(x: 0, y: 3)
    case .left: Point(x: -6, y: 0)
    case .right: Point(x: 6, y: 0)
    }
  }
}

extension BoardScreen {
  /// Converts a cell of the screen to a cell of the board.
  func boardCell(_ point: Point) -> Point {
    Point(x: point.x - canvas.minX + page.scroll.x, y: point.y - canvas.minY + page.scroll.y)
  }

  /// Closes windows; their notes do not change.
  func closeWindows(_ controllers: [NoteController]) {
    endEditing()
    let open = controllers.filter { page.windows[$0.id] != nil }
    guard !open.isEmpty else { return }
    for controller in open { follow(page.windows.close(controller.id), on: page) }
    say(
      open.count == 1
        ? "the window is closed, the note is not deleted; o brings it back"
        : "\(open.count) windows are closed, no note is deleted; o brings them back")
  }
}
