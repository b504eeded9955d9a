/// The undo stack and the undo step that a commit belongs to, with the step's name in a menu.
public struct UndoGroup: Hashable, Sendable {
  /// The stack, for example of a window or a document.
  public var scope: UniqueID
  /// The step: successive commits of a scope with equal groups are undone together.
  public var group: UInt64
  /// The name in a menu: "Undo NAME".
  public var name: String

  /// Creates a group of commits that are undone together.
  public init(scope: UniqueID, group: UInt64, name: String) {
    self.scope = scope
    self.group = group
    self.name = name
  }

  public static func == (left: UndoGroup, right: UndoGroup) -> Bool {
    left.scope == right.scope && left.group == right.group && UTF8Comparison.equal(left.name, right.name)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(scope)
    hasher.combine(group)
    UTF8Comparison.hash(name, into: &hasher)
  }
}

/// A request to undo or redo one step, as a transaction of its own.
public struct UndoRequest: Hashable, Sendable {
  /// The idempotency key of the new transaction.
  public var id: TransactionID
  /// A commit of the step, or an undo or redo of it; nil for the next step of the stack.
  public var revision: Revision?
  /// The stack; nil for all stacks of the author together. The zero id is the stack of commits without an undo group.
  public var scope: UniqueID?
  /// Whether to redo instead of undo.
  public var redo: Bool

  /// Creates a request, by default for the undo of the author's newest step.
  public init(_ id: TransactionID, revision: Revision? = nil, scope: UniqueID? = nil, redo: Bool = false) {
    self.id = id
    self.revision = revision
    self.scope = scope
    self.redo = redo
  }
}

/// Commits that are undone together.
public struct UndoStep: Hashable, Sendable {
  /// The commits' undo group; nil for a commit without a group, which is a step of its own.
  public var group: UndoGroup?
  /// The revision of the step's first commit.
  public var oldest: Revision
  /// The revision of its last commit, which identifies the step.
  public var newest: Revision
  /// The number of commits; other authors' commits may lie between them.
  public var count: Int

  /// Creates an undo step.
  public init(group: UndoGroup?, oldest: Revision, newest: Revision, count: Int) {
    self.group = group
    self.oldest = oldest
    self.newest = newest
    self.count = count
  }

  /// The name in a menu; empty if the commits have none.
  public var name: String { group?.name ?? "" }
}

/// The steps that undo and redo would apply to now.
public struct UndoState: Hashable, Sendable {
  /// The next step to undo; nil if there is none.
  public var undo: UndoStep?
  /// The next step to redo; nil if there is none.
  public var redo: UndoStep?

  /// Creates a state, by default with nothing to undo or redo.
  public init(undo: UndoStep? = nil, redo: UndoStep? = nil) {
    self.undo = undo
    self.redo = redo
  }
}
