import TerminalApplication
import TerminalCells

/// The open menu bar: a modal window over the whole screen, which draws only the menus.
final class MenuWindow: Window {
  private var tracking: MenuTracking
  private weak var screen: BoardScreen?

  init(_ bar: Menu, on screen: BoardScreen) {
    tracking = MenuTracking(bar)
    self.screen = screen
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: screen.application.screenSize))
  }

  override var canBecomeMain: Bool { false }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  override func keyDown(_ key: KeyEvent) -> Bool {
    let step = tracking.key(key) { [weak self] in self?.state(of: $0) ?? .disabled }
    setNeedsDisplay()
    switch step {
    case .closed: close()
    case .performed(let command):
      close()
      screen?.application.send(command)
    case .moved, .ignored: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    if case .press = mouse.kind { close() }
    return true
  }

  private func close() { application?.endModal(self) }

  /// While the menu is open it is in front of everybody who would answer.
  private func commandState(_ command: Command) -> CommandState { screen?.state(of: command) ?? .disabled }

  override func state(of command: Command) -> CommandState { commandState(command) }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    let style = screen?.theme.panel ?? .standard
    let chosen = screen?.theme.chosen ?? .standard
    var column = MenuBarLayout.column(of: tracking.path.first ?? 0, in: tracking.menuBar)
    for (index, shown) in tracking.menus.enumerated() {
      guard index > 0 || tracking.path.count > 0 else { continue }
      let rows = shown.menu.items.map(MenuBarLayout.row)
      let width = (rows.map { CellText.width(of: $0.title) + CellText.width(of: $0.key) + 4 }.max() ?? 0) + 2
      let box = Rect(x: column, y: 1, width: width, height: rows.count + 2)
      grid.shadow(of: box, clip: clip)
      grid.fill(box, style, clip: clip)
      grid.box(box, .light, screen?.theme.panelBorder ?? style, clip: clip)
      for (line, row) in rows.enumerated() {
        let look = shown.chosen == line ? chosen : style
        let place = Rect(x: box.minX + 1, y: box.minY + 1 + line, width: width - 2, height: 1)
        grid.fill(place, look, clip: clip)
        grid.draw(row.title, x: place.minX + 1, y: place.minY, look, clip: clip)
        grid.draw(row.key, x: place.maxX - 1 - CellText.width(of: row.key), y: place.minY, look, clip: clip)
      }
      column = box.maxX
    }
    grid.cursor = nil
  }
}

/// Where the titles of the menu bar stand.
enum MenuBarLayout {
  static func title(_ item: MenuItem) -> String {
    switch item {
    case .submenu(let menu): menu.title
    case .command(let command): command.title
    case .separator: ""
    }
  }

  static func column(of index: Int, in bar: Menu) -> Int {
    bar.items.prefix(index).reduce(0) { $0 + CellText.width(of: title($1)) + 2 }
  }

  static func row(_ item: MenuItem) -> (title: String, key: String) {
    switch item {
    case .submenu(let menu): (menu.title, ">")
    case .command(let command): (command.title, command.key?.description ?? "")
    case .separator: ("", "")
    }
  }
}
