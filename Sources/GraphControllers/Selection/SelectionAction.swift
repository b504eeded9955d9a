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
}
