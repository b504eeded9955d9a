import TerminalApplication
import TerminalCells

/// Draws a menu bar and its open menus, side by side.
public struct MenuBarView {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The title of a menu, by its index in the bar.
    case title(Int)
    /// An item of an open menu: its path, as in `MenuTracking`.
    case item([Int])
    /// An open menu without an item at that point: its frame or a separator.
    case menu
  }

  /// The menus, if none is open.
  public let menuBar: Menu
  /// The open menus.
  public let tracking: MenuTracking?
  /// Text at the right end of the bar, such as the program's name.
  public let title: String
  private let state: (Command) -> CommandState

  /// Creates a menu bar.
  /// - Parameter state: returns the current state of a command; called only for items of open menus.
  public init(
    _ menuBar: Menu, tracking: MenuTracking? = nil, title: String = "",
    state: @escaping (Command) -> CommandState = { _ in CommandState() }
  ) {
    self.state = state
    self.menuBar = menuBar
    self.tracking = tracking
    self.title = title
  }

  /// The number of columns that the titles take in the first row.
  var titlesWidth: Int {
    guard let last = titles.last else { return 0 }
    return last.x + last.width
  }

  private var shown: Menu { tracking.map(\.menuBar) ?? menuBar }

  /// The titles with their columns in the first row.
  private var titles: [(place: Int, x: Int, width: Int, text: String)] {
    var x = 1
    return shown.items.enumerated().compactMap { place, item in
      guard case .submenu(let menu) = item else { return nil }
      let width = CellText.width(of: menu.title) + 2
      defer { x += width }
      return (place, x, width, menu.title)
    }
  }

  /// The layout of an open menu: its frame and its first visible item.
  private struct Panel {
    let frame: Rect
    let menu: Menu
    let path: [Int]
    let chosen: Int?
    let first: Int
  }

  /// The open menus within a screen, the bar's own first.
  private func panels(in screen: Rect) -> [Panel] {
    guard let tracking, tracking.isOpen, let bar = tracking.path.first,
      let title = titles.first(where: { $0.place == bar })
    else { return [] }
    var panels = [Panel]()
    var corner = Point(x: screen.minX + title.x - 1, y: screen.minY + 1)
    for (depth, (menu, chosen)) in tracking.menus.enumerated() {
      let size = size(of: menu)
      let width = min(size.width, screen.size.width)
      let height = min(size.height, max(0, screen.size.height - 1))
      let x = max(screen.minX, min(corner.x, screen.maxX - width))
      let y = max(screen.minY + 1, min(corner.y, screen.maxY - height))
      let rows = max(1, height - 2)
      // The row that is kept in view.
      let row = if let chosen { chosen } else { 0 }
      let first = max(0, min(row - rows / 2, menu.items.count - rows))
      let frame = Rect(x: x, y: y, width: width, height: height)
      panels.append(
        Panel(frame: frame, menu: menu, path: Array(tracking.path.prefix(depth + 1)), chosen: chosen, first: first))
      corner = Point(x: frame.maxX - 1, y: y + row - first)
    }
    return panels
  }

  private static func key(_ item: MenuItem) -> String {
    switch item {
    case .command(let command): command.keyName
    default: ""
    }
  }

  private func title(_ item: MenuItem) -> String {
    switch item {
    case .command(let command): state(command.command).title ?? command.title
    case .submenu(let menu): menu.title
    case .separator: ""
    }
  }

  /// The size for the current titles and the keys.
  private func size(of menu: Menu) -> Size {
    let titles = menu.items.map { CellText.width(of: title($0)) }.reduce(0, max)
    let keys = menu.items.map { CellText.width(of: Self.key($0)) }.reduce(0, max)
    return Size(width: max(16, titles + keys + 9), height: menu.items.count + 2)
  }

  /// Draws the bar in the first row of `frame`, and the open menus below it. `frame` should be the whole screen.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    let bar = clip.intersection(Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: 1))
    grid.hideCursor(in: bar)
    grid.fill(bar, theme.bar)
    var end = frame.minX
    for title in titles {
      let isOpen = tracking?.path.first == title.place
      end = grid.draw(
        " \(title.text) ", x: frame.minX + title.x, y: frame.minY, isOpen ? theme.chosen : theme.bar, clip: bar)
    }
    let line = TruncatedLine(title, width: max(0, frame.maxX - end - 3), cut: theme.symbols.cut)
    grid.draw(line.text, x: frame.maxX - line.width - 1, y: frame.minY, theme.hint, clip: bar)
    for panel in panels(in: frame) { draw(panel, into: &grid, clip, theme) }
  }

  private func draw(_ panel: Panel, into grid: inout Grid, _ clip: Rect, _ theme: Theme) {
    let frame = panel.frame
    grid.panel(frame, theme: theme, clip: clip)
    let inside = frame.inset(1)
    let whole = clip.intersection(frame)
    let clip = clip.intersection(inside)
    for y in inside.minY..<max(inside.minY, inside.maxY) {
      let place = panel.first + y - inside.minY
      guard place < panel.menu.items.count else { break }
      let item = panel.menu.items[place]
      var look = CommandState()
      if case .command(let command) = item { look = state(command.command) }
      if item == .separator {
        let row = Rect(x: inside.minX, y: y, width: inside.size.width, height: 1)
        grid.fill(row, with: theme.symbols.line, theme.panelBorder, clip: clip)
        grid.draw(String(theme.symbols.joints[11]), x: frame.minX, y: y, theme.panelBorder, clip: whole)
        grid.draw(String(theme.symbols.joints[7]), x: frame.maxX - 1, y: y, theme.panelBorder, clip: whole)
        continue
      }
      let isChosen = place == panel.chosen
      let base = isChosen ? theme.chosen : theme.panel
      let style = look.isEnabled ? base : theme.faint(base)
      grid.fill(Rect(x: inside.minX, y: y, width: inside.size.width, height: 1), base, clip: clip)
      if look.isChecked { grid.draw(String(theme.symbols.check), x: inside.minX + 1, y: y, style, clip: clip) }
      var key = Self.key(item)
      if case .submenu = item { key = String(theme.symbols.submenu) }
      let keyWidth = CellText.width(of: key)
      grid.draw(
        title(item), x: inside.minX + 3, y: y, width: inside.size.width - keyWidth - 5, style,
        clip: clip, cut: theme.symbols.cut)
      grid.draw(key, x: inside.maxX - keyWidth - 1, y: y, style, clip: clip)
    }
    if panel.first > 0 {
      grid.draw(String(theme.symbols.arrows.up), x: inside.maxX - 1, y: inside.minY, theme.panel, clip: clip)
    }
    if panel.first + inside.size.height < panel.menu.items.count {
      grid.draw(String(theme.symbols.arrows.down), x: inside.maxX - 1, y: inside.maxY - 1, theme.panel, clip: clip)
    }
  }

  /// The part at a point if the bar is drawn in `frame`; nil on the empty bar and outside.
  public func part(at point: Point, frame: Rect) -> Part? {
    let frame = frame.clamped
    guard frame.contains(point) else { return nil }
    for panel in panels(in: frame).reversed() where panel.frame.contains(point) {
      let inside = panel.frame.inset(1)
      let place = panel.first + point.y - inside.minY
      guard inside.contains(point), panel.menu.items.indices.contains(place), panel.menu.items[place] != .separator
      else { return .menu }
      return .item(panel.path + [place])
    }
    guard point.y == frame.minY else { return nil }
    let x = point.x - frame.minX
    return titles.first { x >= $0.x && x < $0.x + $0.width }.map { .title($0.place) }
  }
}

extension MenuCommand {
  /// The name of the item's key; empty if it has none.
  var keyName: String { if let key { key.description } else { "" } }
}
