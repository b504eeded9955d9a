import GraphModel
import GraphOffline
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// The window of the edits in conflict. It follows the list while it is open.
final class ConflictsWindow: ModalWindow {
  private let sync: SyncController
  /// The number of the focused edit; edits come and go.
  private var focused: Int64?
  private var focus = 0
  private var top = 0

  init(for sync: SyncController) {
    self.sync = sync
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: sync.application.screenSize), title: "Conflicts")
    move(to: 0)
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  private var edits: [OfflineReplica.ParkedEdit] { sync.summary.parked }

  private var edit: OfflineReplica.ParkedEdit? { edits.indices.contains(focus) ? edits[focus] : nil }

  // Keeps the focus on its edit, or on the next one.
  override func update() {
    let edits = edits
    let place = focused.flatMap { number in edits.firstIndex { $0.number >= number } }
    let next = place.map { $0 } ?? max(0, edits.count - 1)
    if next != focus || edit?.number != focused { move(to: next) }
  }

  private func move(to place: Int) {
    focus = min(max(place, 0), max(0, edits.count - 1))
    focused = edit?.number
    top = ListPane.top(top, showing: focus, count: edits.count, rows: view.rows(in: frame))
    setNeedsDisplay()
  }

  // MARK: - Events

  override func keyDown(_ key: KeyEvent) -> Bool {
    guard key.modifiers.isEmpty else { return true }
    switch key.key {
    case .up: move(to: focus - 1)
    case .down: move(to: focus + 1)
    case .pageUp: move(to: focus - view.rows(in: frame))
    case .pageDown: move(to: focus + view.rows(in: frame))
    case .home: move(to: 0)
    case .end: move(to: edits.count - 1)
    case .character("r"): if let edit { sync.retry(edit) }
    case .character("e"): if let edit { sync.edit(edit) }
    case .character("d"), .delete: if let edit { sync.discard(edit) }
    case .character("c"): if let edit { sync.copy(edit) }
    case .enter, .escape, .character("C"), .character("q"): application?.endModal(self)
    default: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    switch mouse.kind {
    case .wheel(.up): move(to: focus - 1)
    case .wheel(.down): move(to: focus + 1)
    case .press(.left):
      switch view.part(at: mouse.position, frame: frame) {
      case .edit(let place): move(to: place)
      case .panel: break
      case .close, nil: application?.endModal(self)
      }
    default: break
    }
    return true
  }

  // MARK: - Drawing

  private static let keys = "r retry   e edit   d discard   c copy   Esc close"

  private var view: ConflictsView {
    let context = sync.context
    func name(_ id: ObjectID) -> String? {
      switch context.object(id) {
      case let note as Note: String(note.text.firstLine.beginning(of: 30))
      case let board as Board: board.name
      default: nil
      }
    }
    return ConflictsView(
      edits.map { ConflictText($0, context.model, named: name).shown }, focus: focus, top: top, keys: Self.keys)
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    view.draw(into: &grid, frame: frame, clip: clip, theme: sync.theme)
    grid.cursor = nil
  }
}
