/// Something that an application can do, named by a program: `extension Command { static let quit = Command("quit") }`.
public struct Command: Hashable, Sendable {
  /// Unique in the application; for logs and messages.
  public let name: String

  /// A command of that name.
  public init(_ name: String) { self.name = name }
}

/// Whether a command makes sense now, and how its menu item looks.
public struct CommandState: Hashable, Sendable {
  /// Whether it can be performed.
  public var isEnabled: Bool
  /// Whether a check stands beside it.
  public var isChecked: Bool
  /// What the item says instead of its own title, such as "Undo Move"; nil for its own.
  public var title: String?

  /// A state; as it comes, enabled.
  public init(isEnabled: Bool = true, isChecked: Bool = false, title: String? = nil) {
    self.isEnabled = isEnabled
    self.isChecked = isChecked
    self.title = title
  }

  /// Nobody can perform it now.
  public static let disabled = CommandState(isEnabled: false)
}
