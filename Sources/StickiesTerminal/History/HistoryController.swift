import GraphModel
import TerminalApplication
import TerminalCells

/// Connects the history to the screen beneath it.
protocol HistoryControllerDelegate: AnyObject {
  /// The state of a command that works in the past, too.
  func state(of command: Command) -> CommandState
  /// Opens the menu whose title is at a point.
  /// - Returns: false if there is none.
  func openMenu(at point: Point) -> Bool
  /// Cancels the wait that the overlay offers to cancel.
  func cancelWait()
  /// Draws the overlay of a wait.
  func drawBusy(into grid: inout Grid)
}

/// The history: its window while it is open, and the list of a past state.
final class HistoryController: BoardPart {
  let services: BoardServices
  let connection: ConnectionMonitor
  let pages: BoardPages
  let viewport: BoardViewport
  let busy: BusyController
  let navigation: NavigationController
  /// The open history; nil while the present is shown.
  private(set) var window: HistoryWindow?
  weak var delegate: (any HistoryControllerDelegate)?
  private let editing: EditingController
  private let list: ListPaneController

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ pages: BoardPages, _ viewport: BoardViewport,
    _ busy: BusyController, _ editing: EditingController, _ navigation: NavigationController,
    _ list: ListPaneController
  ) {
    (self.services, self.connection, self.pages, self.viewport) = (services, connection, pages, viewport)
    (self.busy, self.editing, self.navigation, self.list) = (busy, editing, navigation, list)
  }

  func open() {
    guard connection.state.isConnected, !connection.sync.isOffline else {
      return report("the history needs the server", isTrouble: true)
    }
    editing.end()
    let window = HistoryWindow(for: self)
    self.window = window
    application.menuBar = BoardMenu.past
    services.modals.begin(window)
    window.past.start()
  }

  func close() {
    guard let window else { return }
    self.window = nil
    application.menuBar = BoardMenu.bar
    window.past.close()
    application.endModal(window)
  }

  // MARK: - The list

  /// The rows of the past list, with their notes; nil while the present is shown. Headings have no note.
  private var pastRows: [(row: ListRow, note: PastNote?)]? {
    guard let past = window?.past, past.shown != nil else { return nil }
    let notes = past.notes.sorted {
      ($0.values.shape.y, $0.values.shape.x, $0.id) < ($1.values.shape.y, $1.values.shape.x, $1.id)
    }
    func rows(_ notes: [PastNote]) -> [(row: ListRow, note: PastNote?)] { notes.map { (ListRow($0.values), $0) } }
    guard list.state.isGrouped, past.contents.region == nil else { return rows(notes) }
    return Dictionary(grouping: notes, by: \.values.color.rawValue).sorted { $0.key < $1.key }
      .flatMap { color, notes in [(.heading(color, count: notes.count), nil)] + rows(notes) }
  }

  /// The list as of the shown revision; nil while the present is shown.
  var listPane: ListPane? {
    guard let past = window?.past, let rows = pastRows, let board = past.boardName else { return nil }
    let most = max(0, rows.count - (list.frame.size.height - 1))
    return ListPane(
      heading: past.contents.region == nil ? board : "In Sight", count: rows.count,
      top: min(list.state.top, most), noteCount: rows.count { $0.note != nil }
    ) { rows[$0].row }
  }

  /// Handles the mouse over the past list or its edge. A click scrolls to a note; nothing can be selected.
  func listMouse(_ mouse: MouseEvent) -> Bool {
    if list.state.isResizing { return list.resize(mouse) }
    let frame = list.frame
    guard frame.contains(mouse.position), let rows = pastRows, let pane = listPane else { return false }
    switch mouse.kind {
    case .wheel(let direction):
      let step = direction == .up ? -3 : direction == .down ? 3 : 0
      list.state.top = max(0, min(pane.top + step, rows.count - pane.visibleRows(in: frame)))
    case .press(.left):
      switch pane.part(at: mouse.position, frame: frame) {
      case .edge: list.state.isResizing = true
      case .row(let row): rows[row].note.map { window?.show($0) }
      case .circle, .empty, nil: break
      }
    default: break
    }
    application.setNeedsDisplay()
    return true
  }
}
