/// The idempotency key of a transaction: the replica that created it and a sequence number. Saving twice under one id
/// commits once and answers twice.
public struct TransactionID: Hashable, Sendable {
  /// The client that created the transaction.
  public var replica: UniqueID
  /// The number in that client's sequence; never used twice.
  public var sequence: UInt64

  /// Creates the key of one replica's transaction.
  public init(replica: UniqueID, sequence: UInt64) {
    self.replica = replica
    self.sequence = sequence
  }
}

/// The policy for conflicts, in which two clients changed the same property of an object. Edits of different
/// properties always merge. docs/guides/conflicts.md has the complete table.
public enum MergePolicy: UInt8, Sendable, CaseIterable {
  /// The transaction is refused; the refusal lists the conflicts.
  case error
  /// The stored value wins, property by property.
  case storeTrump
  /// The transaction's value wins, property by property.
  case objectTrump
  /// An object with a conflict gets the values that the transaction's author saw, plus the transaction's edits.
  /// To-manys merge.
  case overwrite
  /// An object with a conflict keeps all its stored values.
  case rollback
}

/// The changes of a context, which are committed all or none.
public struct Transaction: Hashable, Sendable {
  /// The idempotency key.
  public var id: TransactionID
  /// The policy that decides conflicts.
  public var policy: MergePolicy
  /// The undo group, stored with the commit.
  public var undo: UndoGroup?
  /// The changes. References may point to later ones; deletes are applied last.
  public var changes: [Change]
  /// Properties that the author's version of the model does not have. Concurrent changes of them cause no conflict,
  /// as the author could not be notified. Not part of the encoding; a lens sets it.
  public var unseen = Set<PropertyNumber>()

  /// Creates a transaction that is ready to be sent.
  public init(id: TransactionID, policy: MergePolicy = .error, undo: UndoGroup? = nil, changes: [Change]) {
    self.id = id
    self.policy = policy
    self.undo = undo
    self.changes = changes
  }

  /// The approximate size in memory, in bytes; it bounds the queue of commits that wait for the disk.
  public var approximateSize: Int {
    var size = 200
    for change in changes {
      size += 64
      if let condition = change.onlyIf { size += 4 * condition.properties.count }
      for edit in change.edits { size += edit.approximateSize }
    }
    return size
  }
}

/// A transaction's change of one object.
public struct Change: Hashable, Sendable {
  /// The kind of change.
  public enum Kind: UInt8, Sendable {
    /// Inserts the object.
    case insert
    /// Applies the edits to the object.
    case update
    /// Deletes the object; the delete rules apply.
    case delete
    /// Revives a deleted object under its own id. Only the server creates this kind, from history.
    case revive
  }

  /// The kind of change.
  public var kind: Kind
  /// A temporary id for an insert. Otherwise a permanent id, or the temporary id of an insert in the same
  /// transaction.
  public var id: ObjectID
  /// The revision at which the object was read; 0 for an insert. An update without edits only states this revision.
  public var base: Revision
  /// The edits: none for a delete, the differences from the defaults for an insert.
  public var edits: [Edit]
  /// The condition that others have not changed the object; if it fails, the transaction is refused. For updates and
  /// deletes; an update without edits can state it for an object that the transaction only depends on.
  public var onlyIf: Precondition?

  /// Creates a change of an object that its author read at revision `base`.
  public init(
    _ kind: Kind, _ id: ObjectID, base: Revision = 0, edits: [Edit] = [], onlyIf: Precondition? = nil
  ) {
    self.kind = kind
    self.id = id
    self.base = base
    self.edits = edits
    self.onlyIf = onlyIf
  }
}

/// A condition of a change: others have not changed the properties that its author read of the object. It protects
/// values that are calculated from values that were read: a counter, a ticket, a lease.
public struct Precondition: Hashable, Sendable {
  /// The revision at which the author read the object, from 1.
  public var revision: Revision
  /// The properties that were read; the object itself must store all of them. Empty for the object as a whole.
  public var properties: [PropertyNumber]

  /// Creates the condition that others have not changed the properties since `revision`.
  public init(revision: Revision, properties: [PropertyNumber] = []) {
    self.revision = revision
    self.properties = properties
  }
}
