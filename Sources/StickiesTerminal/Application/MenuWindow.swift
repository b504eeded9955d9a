import TerminalApplication
import TerminalCells

/// The open menu bar: a modal window over the whole screen, which draws only the menus.
final class MenuWindow: ModalWindow {
  private var tracking: MenuTracking
  private weak var screen: BoardScreen?

  init(_ bar: Menu, open index: Int, on screen: BoardScreen) {
    tracking = MenuTracking(bar, open: index)
    self.screen = screen
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: screen.application.screenSize))
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  override func keyDown(_ key: KeyEvent) -> Bool {
    let step = tracking.key(key) { [weak self] in self?.screen?.shownState(of: $0) ?? .disabled }
    setNeedsDisplay()
    switch step {
    case .closed: close()
    case .performed(let command):
      close()
      screen?.perform(chosen: command)
    case .moved, .ignored: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind else { return true }
    setNeedsDisplay()
    switch view.part(at: mouse.position, frame: frame) {
    case .title(let index): tracking = MenuTracking(tracking.menuBar, open: index)
    case .item(let path): choose(path)
    case .menu: break
    case nil: close()
    }
    return true
  }

  /// Handles a click on an item: performs a command.
  private func choose(_ path: [Int]) {
    guard let screen, case .command(let item)? = item(at: path), screen.shownState(of: item.command).isEnabled else {
      return
    }
    close()
    screen.perform(chosen: item.command)
  }

  private func item(at path: [Int]) -> MenuItem? {
    var menu = tracking.menuBar
    for (depth, index) in path.enumerated() {
      guard menu.items.indices.contains(index) else { return nil }
      if depth == path.count - 1 { return menu.items[index] }
      guard case .submenu(let next) = menu.items[index] else { return nil }
      menu = next
    }
    return nil
  }

  private var view: MenuBarView {
    MenuBarView(tracking.menuBar, tracking: tracking) { [weak self] in self?.screen?.shownState(of: $0) ?? .disabled }
  }

  private func close() { application?.endModal(self) }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let screen else { return }
    view.draw(into: &grid, frame: frame, clip: clip, theme: screen.theme)
    grid.cursor = nil
  }
}
