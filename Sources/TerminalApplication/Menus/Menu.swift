import TerminalCells

/// The key of a menu item.
public struct KeyEquivalent: Hashable, Sendable, CustomStringConvertible {
  /// The key.
  public let key: Key
  /// What is held with it.
  public let modifiers: Modifiers

  /// A key. A character that shift makes is that character without `.shift`, as in `KeyEvent`.
  public init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }

  /// Whether an editor would take it for text: then an editor comes first, and the menu behind it.
  public var isText: Bool {
    guard modifiers.isSubset(of: .shift) else { return false }
    switch key {
    case .function, .menu: return false
    default: return true
    }
  }

  /// As menus write it: "Ctrl-S", "Shift-F3", "n".
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

/// An item that performs a command.
public struct MenuCommand: Hashable, Sendable {
  /// What it says.
  public var title: String
  /// What it performs.
  public var command: Command
  /// The key that performs it without the menu.
  public var key: KeyEquivalent?

  /// An item.
  public init(_ title: String, _ command: Command, _ key: KeyEquivalent? = nil) {
    self.title = title
    self.command = command
    self.key = key
  }
}

/// A line of a menu.
public indirect enum MenuItem: Hashable, Sendable {
  /// Performs a command.
  case command(MenuCommand)
  /// Opens another menu.
  case submenu(Menu)
  /// Parts what does not belong together.
  case separator
}

/// A menu. A menu bar is a menu of menus.
public struct Menu: Hashable, Sendable {
  /// What the menu is called.
  public var title: String
  /// Its lines.
  public var items: [MenuItem]

  /// A menu.
  public init(_ title: String, _ items: [MenuItem]) {
    self.title = title
    self.items = items
  }

  /// All commands in it and below it, in the order of the lines.
  public var commands: [MenuCommand] {
    items.flatMap { item -> [MenuCommand] in
      switch item {
      case .command(let command): [command]
      case .submenu(let menu): menu.commands
      case .separator: []
      }
    }
  }

  /// The item that a key stands for; the first one, should there be several.
  public func command(for key: KeyEvent) -> MenuCommand? {
    let equivalent = KeyEquivalent(key.key, key.modifiers)
    return commands.first { $0.key == equivalent }
  }

  // MARK: - Checking

  /// What is wrong with a menu bar, in words for whoever wrote it; empty when each of `all` is there with a key, and no key
  /// stands for two.
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
      if let first = there[..<index].first(where: { $0.key.map { Self.isSame($0, key) } ?? false }) {
        let isEqual = first.key == key
        found.append(
          isEqual
            ? "\(key) stands for '\(first.title)' and '\(item.title)'; change one of them"
            : "a terminal can't tell \(first.key?.description ?? "") of '\(first.title)' from \(key) of "
              + "'\(item.title)'; change one of them")
      }
    }
    return found
  }

  /// Whether the two reach a program as the same bytes in most terminals: control and a letter are a control character,
  /// some of which have keys of their own.
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
