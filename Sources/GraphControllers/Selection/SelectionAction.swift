/// A toolbar action on a selection. Its title contains the count: "Delete (3)".
public struct SelectionAction<Command: Hashable & Sendable>: Hashable, Sendable {
  /// The front end's command.
  public var command: Command
  /// A verb, shown to the user.
  public var name: String

  /// Creates an action with a name.
  public init(_ command: Command, named name: String) {
    self.command = command
    self.name = name
  }

  /// Returns the button's title.
  public func title<ID>(_ selection: Selection<ID>) -> String {
    selection.isEmpty ? name : "\(name) (\(selection.count))"
  }

  /// Returns whether the selection has an object to act on.
  public func isEnabled<ID>(_ selection: Selection<ID>) -> Bool { !selection.isEmpty }
}
