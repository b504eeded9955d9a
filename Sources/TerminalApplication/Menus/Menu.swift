import TerminalCells

/// The key equivalent of a menu item.
public struct KeyEquivalent: Hashable, Sendable, CustomStringConvertible {
  /// The key.
  public let key: Key
  /// The modifiers held with the key.
  public let modifiers: Modifiers

  /// Creates a key equivalent. A character typed with shift is that character without `.shift`, as in `KeyEvent`.
  public init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }

  /// Whether a text editor inserts the key; an editor then takes precedence over the menu.
  public var isText: Bool {
    guard modifiers.isSubset(of: .shift) else { return false }
    switch key {
    case .function, .menu: return false
    default: return true
    }
  }

  /// The key's name in menus: "Ctrl-S", "Shift-F3", "n".
  public var description: String {
    var parts = [String]()
    if modifiers.contains(.control) { parts.append("Ctrl") }
    if modifiers.contains(.alt) { parts.append("Alt") }
    if modifiers.contains(.command) { parts.append("Cmd") }
    if modifiers.contains(.shift) { parts.append("Shift") }
    let isAlone = parts.isEmpty
    switch key {
    case .character(" "): parts.append("Space")
    case .character(let character): parts.append(isAlone ? String(character) : character.uppercased())
    case .enter: parts.append("Return")
    case .tab: parts.append("Tab")
    case .backspace: parts.append("Backspace")
    case .escape: parts.append("Esc")
    case .up: parts.append("Up")
    case .down: parts.append("Down")
    case .left: parts.append("Left")
    case .right: parts.append("Right")
    case .home: parts.append("Home")
    case .end: parts.append("End")
    case .pageUp: parts.append("PgUp")
    case .pageDown: parts.append("PgDn")
    case .insert: parts.append("Ins")
    case .delete: parts.append("Del")
    case .menu: parts.append("Menu")
    case .function(let number): parts.append("F\(number)")
    }
    return parts.joined(separator: "-")
  }
}

/// A menu item that performs a command.
public struct MenuCommand: Hashable, Sendable {
  /// The item's title.
  public var title: String
  /// The command.
  public var command: Command
  /// The key that performs it without the menu.
  public var key: KeyEquivalent?

  /// Creates an item.
  public init(_ title: String, _ command: Command, _ key: KeyEquivalent? = nil) {
    self.title = title
    self.command = command
    self.key = key
  }
}

/// An item of a menu.
public indirect enum MenuItem: Hashable, Sendable {
  /// Performs a command.
  case command(MenuCommand)
  /// Opens another menu.
  case submenu(Menu)
  /// A line between groups of items.
  case separator
}

/// A menu. A menu bar is a menu whose items are menus.
public struct Menu: Hashable, Sendable {
  /// The menu's title.
  public var title: String
  /// The items.
  public var items: [MenuItem]

  /// Creates a menu.
  public init(_ title: String, _ items: [MenuItem]) {
    self.title = title
    self.items = items
  }

  /// All commands in the menu and its submenus, in order.
  public var commands: [MenuCommand] {
    items.flatMap { item -> [MenuCommand] in
      switch item {
      case .command(let command): [command]
      case .submenu(let menu): menu.commands
      case .separator: []
      }
    }
  }

  /// Returns the command with a key; the first one if there are several.
  public func command(for key: KeyEvent) -> MenuCommand? {
    let equivalent = KeyEquivalent(key.key, key.modifiers)
    return commands.first { $0.key == equivalent }
  }

  // MARK: - Checking

  /// Checks a menu bar and returns its problems, in words for the programmer. It is empty if each of `all` has an
  /// item, each item has a key, and no two items share one.
  /// - Parameter all: every command of the application.
  public func problems(commands all: [Command]) -> [String] {
    var found = [String]()
    let there = commands
    for command in all where !there.contains(where: { $0.command == command }) {
      found.append("the command '\(command.name)' is in no menu; add an item for it")
    }
    for item in there where item.key == nil {
      found.append("'\(item.title)' has no key; give it one")
    }
    for (index, item) in there.enumerated() {
      guard let key = item.key else { continue }
      if let first = there[..<index].first(where: { $0.key.map { Self.isSame($0, key) } == true }) {
        let isEqual = first.key == key
        found.append(
          isEqual
            ? "\(key) is the key of '\(first.title)' and '\(item.title)'; change one of them"
            : "a terminal can't distinguish \(first.key?.description ?? "") of '\(first.title)' from \(key) of "
              + "'\(item.title)'; change one of them")
      }
    }
    return found
  }

  /// Whether most terminals send the same bytes for both: control with a letter is a control character, some of which
  /// have keys of their own.
  private static func isSame(_ one: KeyEquivalent, _ other: KeyEquivalent) -> Bool { plain(one) == plain(other) }

  private static func plain(_ key: KeyEquivalent) -> KeyEquivalent {
    guard key.modifiers.contains(.control), case .character(let character) = key.key else { return key }
    let rest = key.modifiers.subtracting([.control, .shift])
    switch character {
    case "i": return KeyEquivalent(.tab, rest)
    case "m", "j": return KeyEquivalent(.enter, rest)
    case "[": return KeyEquivalent(.escape, rest)
    case "h": return KeyEquivalent(.backspace, rest)
    default: return KeyEquivalent(key.key, key.modifiers.subtracting(.shift))
    }
  }
}
