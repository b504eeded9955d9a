import StickiesKit
import TerminalApplication
import TerminalCells

/// What is drawn where.
extension BoardScreen {
  func drawBackground(into grid: inout Grid) {
    grid.fill(canvas, theme.board(PaperColor(name: page.board.color.rawValue)))
  }

  func drawForeground(into grid: inout Grid) {
    let size = grid.size
    guard size.height > 0 else { return }
    let bar = Rect(x: 0, y: 0, width: size.width, height: 1)
    grid.fill(bar, theme.bar)
    for (index, item) in application.menuBar.items.enumerated() {
      let column = MenuBarLayout.column(of: index, in: application.menuBar)
      grid.draw(" \(MenuBarLayout.title(item)) ", x: column, y: 0, theme.bar, clip: bar)
    }
    let name = page.board.name
    grid.draw(name, x: size.width - CellText.width(of: name) - 1, y: 0, theme.bar, clip: bar)
    let status = Rect(x: 0, y: size.height - 1, width: size.width, height: 1)
    grid.fill(status, theme.bar)
    let state = statusText
    grid.draw(state, x: size.width - CellText.width(of: state) - 1, y: status.minY, theme.bar, clip: status)
    if let message {
      grid.draw(message.text, x: 1, y: status.minY, message.isTrouble ? theme.wrong : theme.bar, clip: status)
    }
    if isHelpOpen { drawHelp(into: &grid) }
  }

  /// How things stand, in words; always true.
  var statusText: String {
    let count = unsent.count
    let waiting = count == 0 ? "" : " · \(count) \(count == 1 ? "change" : "changes") not yet on the server"
    return switch linkState {
    case .connected: "connected" + waiting
    case .reconnecting: "reconnecting" + waiting
    case .closed: "read-only" + waiting
    }
  }

  private func drawHelp(into grid: inout Grid) {
    let rows = application.menuBar.commands.map { ($0.key?.description ?? "", $0.title) }
    let frame = canvas.inset(1)
    grid.fill(frame, theme.panel)
    grid.box(frame, .light, theme.panelBorder)
    let height = max(1, frame.size.height - 2)
    for (index, row) in rows.enumerated() {
      let x = frame.minX + 2 + index / height * 34
      let y = frame.minY + 1 + index % height
      grid.draw(row.0, x: x, y: y, theme.panel, clip: frame.inset(1))
      grid.draw(row.1, x: x + 12, y: y, theme.panel, clip: frame.inset(1))
    }
    grid.cursor = nil
  }

  /// One note.
  func draw(_ controller: NoteController, into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let note = controller.note else { return }
    let look = theme.note(PaperColor(name: note.color.rawValue))
    let hasFocus = page.windows.focus == controller.id
    grid.shadow(of: frame, clip: clip)
    grid.fill(frame, look.text, clip: clip)
    grid.box(frame, hasFocus ? .heavy : .rounded, hasFocus ? look.focusedBorder : look.border, clip: clip)
    var title = note.number == 0 ? "new" : "\(note.number)"
    if unsent.contains(controller.id) { title += "*" }
    if mode.isEditing { title = (mode.selection.contains(controller.id) ? "● " : "○ ") + title }
    grid.draw(" \(title) ", x: frame.minX + 1, y: frame.minY, look.title, clip: clip.intersection(frame))
    let inside = frame.inset(1)
    let text = controller.editor?.text ?? note.text
    let layout = controller.editor?.layout ?? TextLayout(text, width: max(1, inside.size.width))
    let bytes = Array(text.utf8)
    let textClip = inside.intersection(clip)
    for row in 0..<max(0, inside.size.height) where layout.rows.indices.contains(row + controller.scroll) {
      let visible = layout.rows[row + controller.scroll].visible
      let line = String(decoding: bytes[visible], as: UTF8.self)
      grid.draw(line, x: inside.minX, y: inside.minY + row, look.text, clip: textClip)
      if let columns = controller.editor?.selectedColumns(row: row + controller.scroll) {
        let place = Rect(x: inside.minX + columns.lowerBound, y: inside.minY + row, width: columns.count, height: 1)
        grid.restyle(place, clip: textClip) { $0 = look.selected }
      }
    }
    if let grid_cursor = controller.editor?.cursorPosition {
      let point = Point(x: inside.minX + grid_cursor.x, y: inside.minY + grid_cursor.y - controller.scroll)
      if clip.contains(point), frame.contains(point) { grid.cursor = point }
    } else if let cursor = grid.cursor, frame.contains(cursor) {
      grid.cursor = nil
    }
  }
}
