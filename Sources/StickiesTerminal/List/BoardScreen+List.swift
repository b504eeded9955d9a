import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The list beside the canvas: the notes that are shown, in reading order, by their first lines.
extension BoardScreen {
  /// What is on the board now: all notes, or what a search found.
  var shownIDs: [ObjectID] {
    guard let found else { return page.windows.ids }
    let there = Set(found)
    return page.windows.ids.filter { there.contains($0) || page.windows[$0] === editing }
  }

  /// Left of the canvas; of no width while it is closed or there is no room.
  var listFrame: Rect {
    let size = application.screenSize
    let most = size.width - ListPlace.leastCanvas
    let width = list.isOpen && most >= ListPlace.leastWidth ? min(max(list.width, ListPlace.leastWidth), most) : 0
    return Rect(x: 0, y: 1, width: width, height: max(0, size.height - 2))
  }

  var listIDs: [ObjectID] { shownIDs.filter { page.shape(of: $0) != nil }.sorted { place(of: $0) < place(of: $1) } }

  private var listPane: ListPane {
    let ids = listIDs
    return ListPane(
      heading: found == nil ? page.board.name : "Found", count: ids.count, top: list.top,
      focus: page.windows.focus.flatMap { ids.firstIndex(of: $0) },
      isFocused: editing == nil && field?.isKey != true,
      circles: Int((mode.slideFraction(at: now) * Double(ListPane.circleColumns)).rounded())
    ) { [weak self] in self?.listRow(ids[$0]) ?? ListRow(.loading, "") }
  }

  private func listRow(_ id: ObjectID) -> ListRow {
    guard let note = page.note(id), !note.isFault else { return ListRow(.loading, "") }
    let title = note.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    let tag = note.tags.first { !$0.isFault }.map { "#\($0.name)" }
    return ListRow(
      .note(PaperColor(name: note.color.rawValue)), title, matches: search?.query?.offsets(in: title) ?? [],
      detail: tag ?? "", marks: marks(of: note), isChecked: mode.selection.contains(id))
  }

  /// Scrolls so that the note in focus is among the rows, when the focus is another one.
  func followListFocus() {
    guard !listFrame.isEmpty, list.focus != page.windows.focus else { return }
    list.focus = page.windows.focus
    let ids = listIDs
    guard let row = list.focus.flatMap({ ids.firstIndex(of: $0) }) else { return }
    list.top = ListPane.top(list.top, showing: row, count: ids.count, rows: listPane.visibleRows(in: listFrame))
  }

  func drawList(into grid: inout Grid) {
    let frame = listFrame
    guard !frame.isEmpty else { return }
    listPane.draw(into: &grid, frame: frame, clip: frame, theme: theme)
  }

  /// The mouse is over the list, or drags its edge.
  func listMouse(_ mouse: MouseEvent) -> Bool {
    if list.isResizing { return resizeList(mouse) }
    let frame = listFrame
    guard frame.contains(mouse.position) else { return false }
    application.setNeedsDisplay()
    if case .wheel(let direction) = mouse.kind {
      let rows = listPane.visibleRows(in: frame)
      let step = direction == .up ? -3 : direction == .down ? 3 : 0
      list.top = max(0, min(list.top + step, listIDs.count - rows))
      return true
    }
    guard case .press(.left) = mouse.kind else { return true }
    let isDouble = clickCount(mouse.position) == 2
    let ids = listIDs
    switch listPane.part(at: mouse.position, frame: frame) {
    case .edge: list.isResizing = true
    case .circle(let row): mode.toggle(ids[row])
    case .row(let row) where mode.isEditing: mode.toggle(ids[row])
    case .row(let row):
      show(ids[row])
      if isDouble, let focused { edit(focused) }
    case .empty, nil: break
    }
    return true
  }

  private func resizeList(_ mouse: MouseEvent) -> Bool {
    if case .release = mouse.kind { list.isResizing = false }
    if case .drag = mouse.kind { list.width = mouse.position.x + 1 }
    application.setNeedsDisplay()
    return true
  }
}
