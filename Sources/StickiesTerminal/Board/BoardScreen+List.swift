import GraphModel
import TerminalApplication
import TerminalCells

/// The list beside the canvas: the notes that are shown, in reading order, by their first lines.
extension BoardScreen {
  static let listWidth = 30

  /// What is on the board now: all notes, or what a search found.
  var shownIDs: [ObjectID] {
    guard let found, page.part == nil else { return page.windows.ids }
    let there = Set(found)
    return page.windows.ids.filter { there.contains($0) || page.windows[$0] === editing }
  }

  var listFrame: Rect {
    let size = application.screenSize
    guard isListOpen, size.width >= 2 * Self.listWidth else { return Rect(x: size.width, y: 1, width: 0, height: 0) }
    return Rect(x: size.width - Self.listWidth, y: 1, width: Self.listWidth, height: max(0, size.height - 2))
  }

  /// The notes that the list is about; of a large board those around the one in focus.
  private var listedIDs: [ObjectID] {
    guard let part = page.part else { return shownIDs }
    return found ?? Array(part.list.snapshot)
  }

  var listIDs: [ObjectID] { listedIDs.filter { page.shape(of: $0) != nil }.sorted { place(of: $0) < place(of: $1) } }

  /// The first row that is shown, so that the note in focus is among them.
  private func firstRow(_ ids: [ObjectID], rows: Int) -> Int {
    guard let focus = page.windows.focus, let place = ids.firstIndex(of: focus), place >= rows else { return 0 }
    return place - rows + 1
  }

  func drawList(into grid: inout Grid) {
    let frame = listFrame
    guard !frame.isEmpty else { return }
    grid.fill(frame, theme.list)
    let ids = listIDs
    let first = firstRow(ids, rows: frame.size.height)
    for (row, id) in ids.dropFirst(first).prefix(frame.size.height).enumerated() {
      guard let note = page.note(id) else { continue }
      let line = note.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "(empty)"
      let style = page.windows.focus == id ? theme.chosen : theme.list
      let place = Rect(x: frame.minX, y: frame.minY + row, width: frame.size.width, height: 1)
      grid.fill(place, style)
      let circle = mode.isEditing ? (mode.selection.contains(id) ? "● " : "○ ") : ""
      let width = place.size.width - 2
      grid.draw(
        circle + line, x: place.minX + 1, y: place.minY, width: width, style, clip: place, cut: theme.symbols.cut)
    }
    if let cursor = grid.cursor, frame.contains(cursor) { grid.cursor = nil }
  }

  /// A row of the list was clicked.
  func listMouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind, listFrame.contains(mouse.position) else { return false }
    let ids = listIDs
    let row = firstRow(ids, rows: listFrame.size.height) + mouse.position.y - listFrame.minY
    guard ids.indices.contains(row) else { return true }
    if mode.isEditing { mode.toggle(ids[row]) } else { show(ids[row]) }
    application.setNeedsDisplay()
    return true
  }
}
