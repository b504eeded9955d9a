/// The idempotency key of a transaction: the replica that made it and its place in that replica's sequence. Saving
/// twice under one id commits once and answers twice.
public struct TransactionID: Hashable, Sendable {
  public var replica: UniqueID
  public var sequence: UInt64

  public init(replica: UniqueID, sequence: UInt64) {
    self.replica = replica
    self.sequence = sequence
  }
}

/// What happens when two clients changed the same property of one object. Edits of different properties always merge.
public enum MergePolicy: UInt8, Sendable, CaseIterable {
  /// The transaction is refused, and says what stood in the way.
  case error
  /// What is stored stays, property by property.
  case storeTrump
  /// What the transaction says wins, property by property.
  case objectTrump
  /// The transaction's edits win.
  case overwrite
  /// An object with a conflict keeps what is stored, whole.
  case rollback
}

/// Which undo stack a commit belongs to, which edits are undone together, and what a menu calls them.
public struct UndoGroup: Hashable, Sendable {
  public var scope: UniqueID
  public var group: UInt64
  public var name: String

  public init(scope: UniqueID, group: UInt64, name: String) {
    self.scope = scope
    self.group = group
    self.name = name
  }
}

/// All of a context's changes, committed whole or not at all.
public struct Transaction: Hashable, Sendable {
  public var id: TransactionID
  public var policy: MergePolicy
  public var undo: UndoGroup?
  public var changes: [Change]

  public init(id: TransactionID, policy: MergePolicy = .error, undo: UndoGroup? = nil, changes: [Change]) {
    self.id = id
    self.policy = policy
    self.undo = undo
    self.changes = changes
  }

  /// About how many bytes the transaction takes in memory; what waits for the disk is bounded by it.
  public var approximateSize: Int {
    var size = 200
    for change in changes {
      size += 64
      for edit in change.edits { size += edit.approximateSize }
    }
    return size
  }
}

/// What a transaction does to one object.
public struct Change: Hashable, Sendable {
  public enum Kind: UInt8, Sendable {
    case insert, update, delete
    /// An object that was deleted comes back under its own id. Only the server makes these, from history.
    case revive
  }

  public var kind: Kind
  public var id: ObjectID
  /// The revision that the object was read at; 0 for an insert.
  public var base: Revision
  public var edits: [Edit]

  public init(_ kind: Kind, _ id: ObjectID, base: Revision = 0, edits: [Edit] = []) {
    self.kind = kind
    self.id = id
    self.base = base
    self.edits = edits
  }
}
