/// The idempotency key of a transaction: the replica that made it and its place in that replica's sequence. Saving
/// twice under one id commits once and answers twice.
public struct TransactionID: Hashable, Sendable {
  /// The client that made it.
  public var replica: UniqueID
  /// Its place in that client's sequence; never used twice.
  public var sequence: UInt64

  /// The key of one replica's transaction.
  public init(replica: UniqueID, sequence: UInt64) {
    self.replica = replica
    self.sequence = sequence
  }
}

/// What happens when two clients changed the same property of one object. Edits of different properties always merge.
/// docs/guides/conflicts.md has all of it as a table.
public enum MergePolicy: UInt8, Sendable, CaseIterable {
  /// The transaction is refused, and says what stood in the way.
  case error
  /// What is stored stays, property by property.
  case storeTrump
  /// What the transaction says wins, property by property.
  case objectTrump
  /// An object with a conflict becomes what the transaction's author saw, with the transaction's edits; to-manys merge.
  case overwrite
  /// An object with a conflict keeps what is stored, whole.
  case rollback
}

/// All of a context's changes, committed whole or not at all.
public struct Transaction: Hashable, Sendable {
  /// The idempotency key.
  public var id: TransactionID
  /// What decides a conflict.
  public var policy: MergePolicy
  /// Kept with the commit: what undo goes by.
  public var undo: UndoGroup?
  /// References do not depend on their order; deletes are carried out last.
  public var changes: [Change]
  /// Properties that the author's version of the model does not have: what others do to them stands in no edit's way, for
  /// the author can't be told of it. Never travels; a lens sets it.
  public var unseen = Set<PropertyNumber>()

  /// A transaction that is ready to be sent.
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
      size += 64 + 4 * (change.onlyIf?.properties.count ?? 0)
      for edit in change.edits { size += edit.approximateSize }
    }
    return size
  }
}

/// What a transaction does to one object.
public struct Change: Hashable, Sendable {
  /// What is to happen to the object.
  public enum Kind: UInt8, Sendable {
    /// The object is made.
    case insert
    /// Its properties change, as the edits say.
    case update
    /// The object goes, with what the delete rules take along.
    case delete
    /// An object that was deleted comes back under its own id. Only the server makes these, from history.
    case revive
  }

  /// What is to happen to the object.
  public var kind: Kind
  /// Temporary for an insert; else permanent, or the temporary id of an insert in the same transaction.
  public var id: ObjectID
  /// The revision that the object was read at; 0 for an insert. An update without edits says only this.
  public var base: Revision
  /// None for a delete; for an insert what differs from the defaults.
  public var edits: [Edit]
  /// What must not have been changed by others, or the whole transaction is refused; nil for nothing. Of updates and
  /// deletes; an update without edits may say it of an object that the transaction only depends on.
  public var onlyIf: Precondition?

  /// A change of one object, as its author read it at revision `base`.
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

/// A condition of a change: others have not changed the object, or some properties of it, since the author read it. It
/// protects a value that was calculated from what was read: a counter, a ticket, a lease.
public struct Precondition: Hashable, Sendable {
  /// The revision at which it was read, from 1.
  public var revision: Revision
  /// The properties that were read, all of which the object stores itself; empty for the object as a whole.
  public var properties: [PropertyNumber]

  /// Nobody else has changed these since.
  public init(revision: Revision, properties: [PropertyNumber] = []) {
    self.revision = revision
    self.properties = properties
  }
}
