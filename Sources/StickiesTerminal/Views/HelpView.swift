import TerminalApplication
import TerminalCells

/// Draws the help: all commands with their keys, menu by menu, and the meaning of the marks. It has as many columns
/// as fit and as many pages as needed.
public struct HelpView: Hashable, Sendable {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// A page, by the dots at the bottom.
    case page(DotsView.Part)
    /// The close mark.
    case close
    /// The rest of the panel.
    case text
  }

  /// Related keys and clicks that are in no menu.
  public struct Section: Sendable {
    /// The heading.
    public let title: String
    /// The keys with their effects.
    public let entries: [(key: String, title: String)]

    /// Creates a section.
    public init(_ title: String, _ entries: [(key: String, title: String)]) {
      self.title = title
      self.entries = entries
    }
  }

  private enum Line: Hashable {
    case heading(String)
    case entry(key: String, title: String)
    case blank
  }

  /// The current page, from 0.
  public let page: Int
  private let lines: [Line]

  private static let columnWidth = 37
  private static let keyWidth = 11

  /// Creates the help of a menu bar.
  /// - Parameters:
  ///   - others: sections that are in no menu.
  ///   - symbols: the marks to explain; nil for none.
  public init(_ menuBar: Menu, others: [Section] = [], symbols: Symbols? = nil, page: Int = 0) {
    var lines = [Line]()
    func add(_ heading: String, _ entries: [(key: String, title: String)]) {
      guard !entries.isEmpty else { return }
      if !lines.isEmpty { lines.append(.blank) }
      lines.append(.heading(heading))
      lines += entries.map { .entry(key: $0.key, title: $0.title) }
    }
    for case .submenu(let menu) in menuBar.items {
      add(menu.title, menu.commands.map { ($0.keyName, $0.title) })
    }
    for section in others { add(section.title, section.entries) }
    if let symbols {
      let marks: [(Character, String)] = [
        (symbols.badges.pinned, "pinned"), (symbols.badges.locked, "locked"),
        (symbols.badges.collapsed, "collapsed"),
        (symbols.badges.unsent, "not yet on the server"), (symbols.badges.conflict, "a conflict: choose"),
        (symbols.arrows.left, "more notes this way"),
      ]
      add("Marks", marks.map { (String($0.0), $0.1) })
    }
    self.lines = lines
    self.page = max(0, page)
  }

  private struct Layout {
    let panel: Rect
    let inside: Rect
    let columns: Int
    let pages: Int
  }

  /// Splits the lines into columns of a number of rows. No column ends with a heading or begins with a blank line.
  private func folded(_ rows: Int) -> [ArraySlice<Line>] {
    var columns = [ArraySlice<Line>]()
    var rest = lines[...]
    while let first = rest.first {
      if case .blank = first {
        rest.removeFirst()
        continue
      }
      var column = rest.prefix(rows)
      if column.count > 1, column.count < rest.count, case .heading? = column.last { column.removeLast() }
      columns.append(column)
      rest = rest[column.endIndex...]
    }
    return columns
  }

  private func place(_ screen: Rect) -> Layout {
    let columns = max(1, min((screen.size.width - 4) / Self.columnWidth, 4, (lines.count + 11) / 12))
    let rows = max(1, screen.size.height - 5)
    let pages = max(1, (folded(rows).count + columns - 1) / columns)
    // Finds the smallest height with this number of pages, so that no page has just a line or two. Blank lines at
    // column starts are dropped, so the minimum can be below the average.
    let least = max(1, min(lines.count / (pages * columns) - 1, rows))
    let height = (least...rows).first { folded($0).count <= pages * columns } ?? rows
    let panel = screen.centered(Size(width: columns * Self.columnWidth + 4, height: height + 4))
    return Layout(panel: panel, inside: panel.inset(2), columns: columns, pages: pages)
  }

  /// The number of pages on a screen.
  public func pages(in screen: Rect) -> Int { place(screen.clamped).pages }

  /// Draws the help in the middle of a screen.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let place = place(frame)
    let clip = clip.intersection(frame)
    grid.panel(place.panel, theme: theme, clip: clip)
    let panelClip = clip.intersection(place.panel)
    grid.draw(
      " Help ", x: place.panel.minX + 2, y: place.panel.minY, width: place.panel.size.width - 6, theme.panel.bold,
      clip: panelClip, cut: theme.symbols.cut)
    grid.draw(
      String(theme.symbols.close), x: place.panel.maxX - 3, y: place.panel.minY, theme.panel, clip: panelClip)
    let page = min(page, place.pages - 1)
    DotsView(count: place.pages, current: page).draw(
      into: &grid, frame: dots(place), clip: panelClip, theme: theme, style: theme.panel)
    let rows = place.inside.size.height
    guard rows > 0 else { return }
    let inside = panelClip.intersection(place.inside)
    for (index, column) in folded(rows).dropFirst(page * place.columns).prefix(place.columns).enumerated() {
      draw(column, into: &grid, x: place.inside.minX + index * Self.columnWidth, y: place.inside.minY, inside, theme)
    }
  }

  private func draw(
    _ column: ArraySlice<Line>, into grid: inout Grid, x: Int, y top: Int, _ inside: Rect, _ theme: Theme
  ) {
    for (y, line) in zip(top..., column) {
      switch line {
      case .blank: break
      case .heading(let text):
        grid.draw(text, x: x, y: y, width: Self.columnWidth - 2, theme.panel.bold, clip: inside, cut: theme.symbols.cut)
      case .entry(let key, let title):
        let width = CellText.width(of: key)
        grid.draw(
          key, x: x + max(0, Self.keyWidth - width), y: y, width: Self.keyWidth, theme.panelKey, clip: inside,
          cut: theme.symbols.cut)
        grid.draw(
          title, x: x + Self.keyWidth + 2, y: y, width: Self.columnWidth - Self.keyWidth - 4, theme.panel, clip: inside,
          cut: theme.symbols.cut)
      }
    }
  }

  private func dots(_ place: Layout) -> Rect {
    Rect(x: place.panel.minX + 1, y: place.panel.maxY - 2, width: place.panel.size.width - 2, height: 1)
  }

  /// The part at a point; nil outside the help.
  public func part(at point: Point, frame: Rect) -> Part? {
    let place = place(frame.clamped)
    guard place.panel.contains(point) else { return nil }
    if point.y == place.panel.minY, point.x == place.panel.maxX - 3 { return .close }
    let dots = DotsView(count: place.pages, current: min(page, place.pages - 1))
    return dots.part(at: point, frame: self.dots(place)).map { .page($0) } ?? .text
  }
}
