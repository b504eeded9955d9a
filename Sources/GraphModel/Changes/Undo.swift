/// Which undo stack a commit belongs to, which edits are undone together, and what a menu calls them.
public struct UndoGroup: Hashable, Sendable {
  /// The stack: a window's, or a document's.
  public var scope: UniqueID
  /// Commits of one group that follow each other in their scope are undone together.
  public var group: UInt64
  /// For a menu: "Undo NAME".
  public var name: String

  /// A group of commits that are taken back together.
  public init(scope: UniqueID, group: UInt64, name: String) {
    self.scope = scope
    self.group = group
    self.name = name
  }

  public static func == (left: UndoGroup, right: UndoGroup) -> Bool {
    left.scope == right.scope && left.group == right.group && Bytes.equal(left.name, right.name)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(scope)
    hasher.combine(group)
    Bytes.hash(name, into: &hasher)
  }
}

/// Asks for one step to be taken back, or for what was taken back to be done again, as a transaction of its own.
public struct UndoRequest: Hashable, Sendable {
  /// The idempotency key of the transaction.
  public var id: TransactionID
  /// A commit of the step, an undo or a redo of it; nil takes the next step of the stack.
  public var revision: Revision?
  /// The stack; nil takes all of the author's as if they were one. The zero id is the stack of the commits that name none.
  public var scope: UniqueID?
  /// Redo instead of undo.
  public var redo: Bool

  /// The author's newest step, unless more is said.
  public init(_ id: TransactionID, revision: Revision? = nil, scope: UniqueID? = nil, redo: Bool = false) {
    self.id = id
    self.revision = revision
    self.scope = scope
    self.redo = redo
  }
}

/// Commits that are undone together.
public struct UndoStep: Hashable, Sendable {
  /// What the commits name; nil for a commit that names no group, which is a step of its own.
  public var group: UndoGroup?
  /// The first of the step's own commits.
  public var oldest: Revision
  /// The last of them: it names the step.
  public var newest: Revision
  /// How many there are; others' commits may stand between them.
  public var count: Int

  /// A step, as undo or redo would take it.
  public init(group: UndoGroup?, oldest: Revision, newest: Revision, count: Int) {
    self.group = group
    self.oldest = oldest
    self.newest = newest
    self.count = count
  }

  /// For a menu; empty when the commits have no name.
  public var name: String { group?.name ?? "" }
}

/// What undo and redo would take now.
public struct UndoState: Hashable, Sendable {
  /// Nil when there is nothing to undo.
  public var undo: UndoStep?
  /// Nil when there is nothing to redo.
  public var redo: UndoStep?

  /// Nothing, unless a step is given.
  public init(undo: UndoStep? = nil, redo: UndoStep? = nil) {
    self.undo = undo
    self.redo = redo
  }
}
