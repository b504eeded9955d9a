import TerminalApplication
import TerminalCells

/// The window of the list beside the canvas, on the screen while the list is open. It does not take keys; its focus
/// is that of the notes.
final class ListWindow: Window {
  private weak var list: ListPaneController?

  init(for list: ListPaneController) {
    self.list = list
    super.init(frame: Rect(x: 0, y: 0, width: 0, height: 0), title: "List")
  }

  override var canBecomeKey: Bool { false }

  // The frame depends on the list's width and the size of the screen.
  override func update() { if let list { frame = list.frame } }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) { list?.draw(into: &grid, clip: clip) }
}
