/// An action of the tool bar on what is selected. Its title carries the count: "Delete (3)".
public struct SelectionAction<Command: Hashable & Sendable>: Hashable, Sendable {
  /// What it does, in the words of whoever does it.
  public var command: Command
  /// A verb, for a person.
  public var name: String

  /// An action and its name.
  public init(_ command: Command, named name: String) {
    self.command = command
    self.name = name
  }

  /// What the tool bar says.
  public func title<ID>(_ selection: Selection<ID>) -> String {
    selection.isEmpty ? name : "\(name) (\(selection.count))"
  }

  /// Whether there is anything to do it to.
  public func isEnabled<ID>(_ selection: Selection<ID>) -> Bool { !selection.isEmpty }

  /// What is to be done; nil while the action is disabled.
  public func order<ID: Comparable>(_ selection: Selection<ID>) -> SelectionOrder<Command, ID>? {
    guard isEnabled(selection) else { return nil }
    return SelectionOrder(command: command, count: selection.count, target: selection.target)
  }
}

/// An action, and what it is to be done to: one transaction, and so one undo.
public struct SelectionOrder<Command: Hashable & Sendable, ID: Comparable & Hashable & Sendable>: Hashable, Sendable {
  /// What to do.
  public var command: Command
  /// To how many objects.
  public var count: Int
  /// To which.
  public var target: SelectionTarget<ID>
}
