/// A commit with all data that matching, forwarding and history need, so that they read no objects.
public struct CommitRecord: Hashable, Sendable {
  /// The revision that the commit created.
  public var revision: Revision
  /// The time at which the server committed it; never earlier than the previous commit.
  public var time: Timestamp
  /// The shown name of the principal that made it.
  public var author: String
  /// The idempotency key of the committed transaction.
  public var transaction: TransactionID
  /// A hash chained through all commits. Equal revisions with equal fingerprints mean that two stores share their
  /// history.
  public var fingerprint: UInt64
  /// The undo group that the client named, if any.
  public var undo: UndoGroup?
  /// For an undo, the newest commit of the step that it reverts; for a redo, the undo commit.
  public var undoes: Revision?
  /// For a redo, the newest commit of the step that it reapplies.
  public var redoes: Revision?
  /// The changes, one per object, including cascaded deletes and inverses.
  public var changes: [ObjectChange]
  /// For a record from history, the number of further changes, which the request left out.
  public var more = 0
  /// The summary of a batch with too many changes to list; `changes` is then empty.
  public var summary: ChangeSummary?
  /// Unchanged objects to which the changed ones refer, before or after the commit, if more than their ids decides who
  /// sees them. Nil if they were not recorded, as for a record from history.
  public var referenced: [ObjectImage]?
  /// The commit's effects on live queries over key paths. Nil if there are none, and for a record from history.
  public var related: PathQueryEffects?

  /// Creates a record with all changes of the commit.
  public init(
    revision: Revision, time: Timestamp, author: String, transaction: TransactionID, fingerprint: UInt64,
    undo: UndoGroup? = nil, undoes: Revision? = nil, redoes: Revision? = nil, changes: [ObjectChange],
    related: PathQueryEffects? = nil, summary: ChangeSummary? = nil
  ) {
    self.revision = revision
    self.time = time
    self.author = author
    self.transaction = transaction
    self.fingerprint = fingerprint
    self.undo = undo
    self.undoes = undoes
    self.redoes = redoes
    self.changes = changes
    self.summary = summary
    self.related = related
  }

  /// The approximate size in memory, in bytes; it bounds the ring of recent commits.
  public var approximateSize: Int {
    var size = 200 + author.utf8.count
    if let related { size += related.approximateSize }
    if let referenced {
      for image in referenced { size += image.values.reduce(100) { $0 + $1.approximateSize } }
    }
    for change in changes {
      size += 100
      if let before = change.before { for value in before.values { size += value.approximateSize } }
      if let after = change.after { for value in after.values { size += value.approximateSize } }
    }
    return size
  }
}

/// The number of changes of a commit and the entities of the changed objects.
public struct ChangeSummary: Hashable, Sendable {
  /// The numbers of inserted, updated and deleted objects.
  public var count: Int
  /// Their concrete entities, ascending.
  public var entities: [EntityNumber]

  /// Creates the summary of a commit whose changes are not listed.
  public init(count: Int, entities: [EntityNumber]) {
    self.count = count
    self.entities = entities
  }
}

/// A commit's change of one object, with the images before and after.
public struct ObjectChange: Hashable, Sendable {
  /// The kind of change; the revival of an object by an undo counts as an insert.
  public enum Kind: UInt8, Sendable {
    /// The object was inserted or revived.
    case inserted
    /// Some properties changed.
    case updated
    /// The object was deleted.
    case deleted
  }

  /// The kind of change.
  public var kind: Kind
  /// The permanent id.
  public var id: ObjectID
  /// Nil for an insert.
  public var before: ObjectImage?
  /// Nil for a delete.
  public var after: ObjectImage?
  /// For an update, the edit of each changed property, by slot.
  public var edits: [Edit]
  /// The edited positions in ordered relationships that changed only to make space for other members. The relative
  /// order of the existing members is unchanged, so an undo ignores these edits.
  public var spacing: [PropertyNumber]

  /// Creates a change of one object.
  public init(
    kind: Kind, id: ObjectID, before: ObjectImage?, after: ObjectImage?, edits: [Edit] = [],
    spacing: [PropertyNumber] = []
  ) {
    self.kind = kind
    self.id = id
    self.before = before
    self.after = after
    self.edits = edits
    self.spacing = spacing
  }
}

/// A reader's position in a store's history, with a fingerprint that proves that the store still has this history.
public struct Token: Hashable, Sendable {
  /// The id that the store received at its creation.
  public var store: UniqueID
  /// The revision that the reader has seen; 0 is the empty graph.
  public var revision: Revision
  /// The fingerprint of that revision's commit, which covers all earlier commits; 0 for the empty graph.
  public var fingerprint: UInt64

  /// Creates the token of the state after the commit with this revision and fingerprint.
  public init(store: UniqueID, revision: Revision, fingerprint: UInt64) {
    self.store = store
    self.revision = revision
    self.fingerprint = fingerprint
  }
}

extension Value {
  /// The approximate size in memory, in bytes.
  public var approximateSize: Int {
    switch self {
    case .string(let text): 24 + text.utf8.count
    case .data(let bytes): 56 + bytes.count
    case .objects(let ids): 56 + 24 * ids.count
    default: 24
    }
  }
}
