import TerminalApplication
import TerminalCells

/// The help, over everything else until a key closes it.
final class HelpWindow: Window {
  private var page = 0
  private weak var screen: BoardScreen?

  init(on screen: BoardScreen) {
    self.screen = screen
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: screen.application.screenSize), title: "Help")
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  private var view: HelpView? {
    screen.map {
      HelpView($0.application.menuBar, others: Self.gestures, symbols: $0.theme.symbols, page: page)
    }
  }

  /// What the mouse does; it is in no menu.
  private static let gestures: [(key: String, title: String)] = [
    ("Click", "focuses a note"), ("2 clicks", "edits it, or makes a new one"), ("Drag", "moves it by its title"),
    ("Corner", "a drag there resizes it"), ("Board", "a drag there scrolls"), ("Line", "2 clicks delete the link"),
    ("Dots", "a click goes to that board"),
  ]

  private func turn(to page: Int) {
    self.page = max(0, min(page, (view?.pages(in: frame) ?? 1) - 1))
    setNeedsDisplay()
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    switch key.key {
    case .right, .down, .pageDown, .character(" "): turn(to: page + 1)
    case .left, .up, .pageUp: turn(to: page - 1)
    case .escape, .enter, .character: application?.endModal(self)
    default: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind, let view else { return true }
    switch view.part(at: mouse.position, frame: frame) {
    case .close, nil: application?.endModal(self)
    case .page, .text: turn(to: page + 1 < view.pages(in: frame) ? page + 1 : 0)
    }
    return true
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let view, let screen else { return }
    view.draw(into: &grid, frame: frame, clip: clip, theme: screen.theme)
    grid.cursor = nil
  }
}
