import TerminalApplication
import TerminalCells

/// Opening and closing the history, and the list of a past state.
extension BoardScreen {
  func openHistory() {
    guard connection.state.isConnected else { return report("the history needs the server", isTrouble: true) }
    editing.end()
    let window = HistoryWindow(on: self)
    history = window
    application.menuBar = BoardMenu.past
    services.modals.begin(window)
    window.past.start()
  }

  func closeHistory() {
    guard let window = history else { return }
    history = nil
    application.menuBar = BoardMenu.bar
    window.past.close()
    application.endModal(window)
  }

  /// The state of a command for the menu, according to the history, the open editor or the board.
  func shownState(of command: Command) -> CommandState {
    if let history { return history.state(of: command) }
    if let controller = editing.current, controller.answers(command) { return controller.state(of: command) }
    return state(of: command)
  }

  // MARK: - The list

  /// The rows of the past list, with their notes; nil while the present is shown. Headings have no note.
  private var pastRows: [(row: ListRow, note: PastNote?)]? {
    guard let past = history?.past, past.shown != nil else { return nil }
    let notes = past.notes.sorted {
      ($0.values.shape.y, $0.values.shape.x, $0.id) < ($1.values.shape.y, $1.values.shape.x, $1.id)
    }
    func rows(_ notes: [PastNote]) -> [(row: ListRow, note: PastNote?)] { notes.map { (ListRow($0.values), $0) } }
    guard list.isGrouped, past.contents.region == nil else { return rows(notes) }
    return Dictionary(grouping: notes, by: \.values.color.rawValue).sorted { $0.key < $1.key }
      .flatMap { color, notes in [(.heading(color, count: notes.count), nil)] + rows(notes) }
  }

  /// The list as of the shown revision; nil while the present is shown.
  var pastListPane: ListPane? {
    guard let past = history?.past, let rows = pastRows else { return nil }
    let most = max(0, rows.count - (listFrame.size.height - 1))
    return ListPane(
      heading: past.contents.region == nil ? past.boardName ?? "" : "In Sight", count: rows.count,
      top: min(list.top, most), noteCount: rows.count { $0.note != nil }
    ) { rows[$0].row }
  }

  /// Handles the mouse over the past list or its edge. A click scrolls to a note; nothing can be selected.
  func pastListMouse(_ mouse: MouseEvent) -> Bool {
    if list.isResizing { return resizeList(mouse) }
    let frame = listFrame
    guard frame.contains(mouse.position), let rows = pastRows, let pane = pastListPane else { return false }
    switch mouse.kind {
    case .wheel(let direction):
      let step = direction == .up ? -3 : direction == .down ? 3 : 0
      list.top = max(0, min(pane.top + step, rows.count - pane.visibleRows(in: frame)))
    case .press(.left):
      switch pane.part(at: mouse.position, frame: frame) {
      case .edge: list.isResizing = true
      case .row(let row): rows[row].note.map { history?.show($0) }
      case .circle, .empty, nil: break
      }
    default: break
    }
    application.setNeedsDisplay()
    return true
  }
}
