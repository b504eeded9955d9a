/// A command of an application, named by the program: `extension Command { static let quit = Command("quit") }`.
public struct Command: Hashable, Sendable {
  /// The name, unique in the application, for logs and messages.
  public let name: String

  /// Creates a command with a name.
  public init(_ name: String) { self.name = name }
}

/// Whether a command is enabled, and the appearance of its menu item.
public struct CommandState: Hashable, Sendable {
  /// Whether the command can be performed.
  public var isEnabled: Bool
  /// Whether the item has a check mark.
  public var isChecked: Bool
  /// The item's title, such as "Undo Move"; nil for its own title.
  public var title: String?

  /// Creates a state; by default enabled.
  public init(isEnabled: Bool = true, isChecked: Bool = false, title: String? = nil) {
    self.isEnabled = isEnabled
    self.isChecked = isChecked
    self.title = title
  }

  /// A command that cannot be performed now.
  public static let disabled = CommandState(isEnabled: false)
}
