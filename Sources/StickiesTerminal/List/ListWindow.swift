import TerminalApplication
import TerminalCells

/// The list beside the canvas: on the screen while the list is open. Keys stay with the notes, whose focus is the list's, too.
final class ListWindow: Window {
  private weak var screen: BoardScreen?

  init(on screen: BoardScreen) {
    self.screen = screen
    super.init(frame: Rect(x: 0, y: 0, width: 0, height: 0), title: "List")
  }

  override var canBecomeKey: Bool { false }

  // Its edge is dragged, and the screen has another size, under it.
  override func update() { if let screen { frame = screen.listFrame } }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) { screen?.drawList(into: &grid, clip: clip) }
}
