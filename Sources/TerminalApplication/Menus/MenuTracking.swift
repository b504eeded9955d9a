import TerminalCells

/// The effect of a key on an open menu.
public enum MenuTrackingResult: Hashable, Sendable {
  /// The chosen item has changed, or there is none to choose.
  case moved
  /// The menu was closed without a command.
  case closed
  /// The menu was closed; perform this command.
  case performed(Command)
  /// The menu does not handle the key.
  case ignored
}

/// The state of an open menu bar. A front end draws `menus` side by side and passes keys on while `isOpen`.
///
/// `path` leads down from the bar: the first number is the index of the open menu in the bar, each further one the
/// index of an item in the previous menu. Separators are never chosen. Items with disabled commands can be chosen, so
/// that the user can read them, but do nothing.
public struct MenuTracking: Hashable, Sendable {
  /// The menu bar at the time it was opened.
  public let menuBar: Menu
  /// The indices of the chosen items, from the bar down; empty if no menu is open.
  public private(set) var path = [Int]()

  /// Creates a menu bar with one menu open; an invalid index opens none.
  public init(_ menuBar: Menu, open index: Int = 0) {
    self.menuBar = menuBar
    if menu(at: [index]) != nil { path = [index] }
  }

  /// Whether a menu is open and receives keys.
  public var isOpen: Bool { !path.isEmpty }

  /// The visible menus, from the bar down, each with the index of its chosen item. A chosen submenu is visible before
  /// it is entered, without a chosen item.
  public var menus: [(menu: Menu, chosen: Int?)] {
    (1...max(1, path.count)).compactMap { depth in
      guard depth <= path.count, let menu = menu(at: Array(path.prefix(depth))) else { return nil }
      return (menu, depth < path.count ? path[depth] : nil)
    }
  }

  /// The chosen command; nil on a title, a submenu, or nothing.
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

  /// Handles a key.
  /// - Parameter state: returns the current state of a command, like `Application.state(ofCommand:)`.
  public mutating func key(_ key: KeyEvent, state: (Command) -> CommandState) -> MenuTrackingResult {
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

  /// Enters the chosen submenu at its first item; false if the chosen item is not a submenu.
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

  /// Chooses the next item that begins with a letter; does nothing without one.
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
