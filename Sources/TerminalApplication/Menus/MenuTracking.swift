import TerminalCells

/// What a key did to an open menu.
public enum MenuStep: Hashable, Sendable {
  /// Another line is chosen, or none.
  case moved
  /// The menu is closed, and nothing came of it.
  case closed
  /// The menu is closed, and this is to be performed.
  case performed(Command)
  /// The key means nothing to a menu.
  case ignored
}

/// Where one is in an open menu bar. A face draws `menus`, one beside the other, and hands keys on while `isOpen`.
///
/// `path` leads from the bar down: the first number is the menu whose title is chosen, each further one a line in the menu
/// before. Separators are never chosen; lines whose command makes no sense now are, so that one can read them, but nothing
/// comes of them.
public struct MenuTracking: Hashable, Sendable {
  /// The menu bar as it was when it was opened.
  public let menuBar: Menu
  /// The chosen lines, from the bar down; empty when nothing is open.
  public private(set) var path = [Int]()

  /// A menu bar with one menu open; a number that the bar does not have opens nothing.
  public init(_ menuBar: Menu, open index: Int = 0) {
    self.menuBar = menuBar
    if menu(at: [index]) != nil { path = [index] }
  }

  /// Whether it takes keys.
  public var isOpen: Bool { !path.isEmpty }

  /// The menus that are to be seen, from the bar's down, each with the line that is chosen in it. A menu that is chosen is to be
  /// seen, with no line chosen, before it is entered.
  public var menus: [(menu: Menu, chosen: Int?)] {
    (1...max(1, path.count)).compactMap { depth in
      guard depth <= path.count, let menu = menu(at: Array(path.prefix(depth))) else { return nil }
      return (menu, depth < path.count ? path[depth] : nil)
    }
  }

  /// The chosen command; nil on a title, a menu, or nothing.
  public var chosen: MenuCommand? {
    guard case .command(let command)? = item(at: path) else { return nil }
    return command
  }

  private func item(at path: [Int]) -> MenuItem? {
    guard let last = path.last else { return nil }
    let around = path.count == 1 ? menuBar : menu(at: Array(path.dropLast()))
    guard let around, around.items.indices.contains(last) else { return nil }
    return around.items[last]
  }

  private func menu(at path: [Int]) -> Menu? {
    guard case .submenu(let menu)? = item(at: path) else { return nil }
    return menu
  }

  // MARK: - Keys

  /// Takes a key.
  /// - Parameter state: how commands stand now, as `Application.state(ofCommand:)` says.
  public mutating func key(_ key: KeyEvent, state: (Command) -> CommandState) -> MenuStep {
    guard isOpen, key.modifiers.isSubset(of: .shift) else { return .ignored }
    switch key.key {
    case .escape, .menu:
      if key.key == .menu || path.count <= 2 { path = [] } else { path.removeLast() }
      return isOpen ? .moved : .closed
    case .up: moveLine(by: -1)
    case .down: moveLine(by: 1)
    case .left: if path.count > 2 { path.removeLast() } else { moveMenu(by: -1) }
    case .right: if path.count < 2 || !enter() { moveMenu(by: 1) }
    case .enter, .character(" "):
      if path.count < 2 || menu(at: path) != nil {
        enter()
      } else if let command = chosen?.command, state(command).isEnabled {
        path = []
        return .performed(command)
      }
    case .character(let letter): moveLine(to: letter)
    default: return .ignored
    }
    return .moved
  }

  /// Opens the chosen menu on its first line; false when what is chosen is no menu.
  @discardableResult
  private mutating func enter() -> Bool {
    guard let menu = menu(at: path) else { return false }
    if let first = menu.items.firstIndex(where: { $0 != .separator }) { path.append(first) }
    return true
  }

  private mutating func moveMenu(by step: Int) {
    let places = menuBar.items.indices.filter { menu(at: [$0]) != nil }
    guard let place = places.firstIndex(of: path[0]) else { return }
    path = [places[(place + step + places.count) % places.count]]
    enter()
  }

  private mutating func moveLine(by step: Int) {
    guard path.count > 1 else {
      enter()
      guard step < 0, path.count > 1 else { return }
      return moveLine(by: step)
    }
    choose { places, place in places[(place + step + places.count) % places.count] }
  }

  /// The next line that begins with a letter; where there is none, one stays.
  private mutating func moveLine(to letter: Character) {
    guard let around = menu(at: path.count > 1 ? Array(path.dropLast()) : path) else { return }
    let fits = around.items.indices.filter { index in
      title(around.items[index])?.first?.lowercased() == letter.lowercased()
    }
    guard let first = fits.first else { return }
    if path.count == 1 { return path.append(first) }
    let now = path[path.count - 1]
    path[path.count - 1] = fits.first { $0 > now } ?? first
  }

  private func title(_ item: MenuItem) -> String? {
    switch item {
    case .command(let command): command.title
    case .submenu(let menu): menu.title
    case .separator: nil
    }
  }

  private mutating func choose(_ next: ([Int], Int) -> Int) {
    guard let around = menu(at: Array(path.dropLast())), let now = path.last else { return }
    let places = around.items.indices.filter { around.items[$0] != .separator }
    guard let place = places.firstIndex(of: now) else { return }
    path[path.count - 1] = next(places, place)
  }
}
