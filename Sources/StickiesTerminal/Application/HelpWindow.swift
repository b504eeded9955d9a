import TerminalApplication
import TerminalCells

/// The help window. It covers the screen until a key closes it.
final class HelpWindow: ModalWindow {
  private var page = 0
  private weak var screen: BoardScreen?

  init(on screen: BoardScreen) {
    self.screen = screen
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: screen.application.screenSize), title: "Help")
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  private var view: HelpView? {
    screen.map {
      HelpView(
        $0.application.menuBar, others: $0.history.window == nil ? Self.others : Self.othersOfPast,
        symbols: $0.theme.symbols, page: page)
    }
  }

  /// Keys and mouse actions that are in no menu.
  private static let others: [HelpView.Section] = [
    .init(
      "While Writing",
      [
        ("Esc", "end"), ("Alt-Left", "previous word"), ("Alt-Right", "next word"),
        ("Shift-Left", "select (any move)"), ("Ctrl-Z", "undo typing"),
      ]),
    .init(
      "In the History",
      [
        ("Left", "previous revision"), ("Right", "next revision"), ("Page Up", "10 revisions back"),
        ("Page Down", "10 revisions forward"), ("Home", "oldest revision"), ("End", "newest revision"),
        ("Esc, h, q", "back to the present"),
      ]),
    .init(
      "With the Mouse",
      [
        ("Click", "select a note"), ("2 clicks", "edit or make a note"), ("Title", "drag to move the note"),
        ("Corner", "drag to resize"), ("Board", "drag to scroll"), ("Line", "2 clicks to change it"),
        ("Dots", "click for that board"),
      ]),
    .init("Anywhere", [("Ctrl-C", "leave, or copy"), ("Tab", "next field or entry")]),
  ]

  /// The counterpart for the history, where all keys are in the menu.
  private static let othersOfPast: [HelpView.Section] = [
    .init(
      "With the Mouse",
      [("Timeline", "drag to a revision"), ("Board", "wheel to scroll"), ("List", "click to show a note")])
  ]

  private func turn(to page: Int) {
    guard let view else { return }
    self.page = max(0, min(page, view.pages(in: frame) - 1))
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
