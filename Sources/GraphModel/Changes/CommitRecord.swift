/// One commit as it happened: everything that matching, forwarding and history need, nothing read again.
public struct CommitRecord: Hashable, Sendable {
  /// The state that the commit led to.
  public var revision: Revision
  /// When the server committed it; never before the commit before it.
  public var time: Timestamp
  /// Who committed, as the client's hello had it; nobody has proved it.
  public var author: String
  /// The idempotency key that it was committed under.
  public var transaction: TransactionID
  /// A hash chained through all commits; with the revision it tells whether two stores share their past.
  public var fingerprint: UInt64
  /// The undo group that the client named, if any.
  public var undo: UndoGroup?
  /// The revision that this commit takes back: for an undo the newest commit of its step, for a redo the undo.
  public var undoes: Revision?
  /// For a redo: the newest commit of the step that it does again.
  public var redoes: Revision?
  /// What happened to each object, deletes by cascade and inverses included; each object once.
  public var changes: [ObjectChange]
  /// Of a record of the past: so many changes besides these, which were not asked for.
  public var more = 0
  /// What a batch did, when that is too much to list; then `changes` is empty.
  public var summary: ChangeSummary?
  /// What it did to the live queries that follow paths; nil where none is followed, and for a record of the past.
  public var related: RelatedEffects?

  /// A commit, all of it.
  public init(
    revision: Revision, time: Timestamp, author: String, transaction: TransactionID, fingerprint: UInt64,
    undo: UndoGroup? = nil, undoes: Revision? = nil, redoes: Revision? = nil, changes: [ObjectChange],
    related: RelatedEffects? = nil, summary: ChangeSummary? = nil
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

  /// About how many bytes the record takes in memory; what a ring of records is bounded by.
  public var approximateSize: Int {
    var size = 200 + author.utf8.count + (related?.approximateSize ?? 0)
    for change in changes {
      size += 100
      if let before = change.before { for value in before.values { size += value.approximateSize } }
      if let after = change.after { for value in after.values { size += value.approximateSize } }
    }
    return size
  }
}

/// So many changes of objects of these entities.
public struct ChangeSummary: Hashable, Sendable {
  /// How many objects were inserted, updated and deleted.
  public var count: Int
  /// Their concrete entities, ascending.
  public var entities: [EntityNumber]

  /// What is known of a commit whose changes are not listed.
  public init(count: Int, entities: [EntityNumber]) {
    self.count = count
    self.entities = entities
  }
}

/// What one commit did to one object, with the object before and after.
public struct ObjectChange: Hashable, Sendable {
  /// What became of the object; an object revived by an undo counts as inserted.
  public enum Kind: UInt8, Sendable {
    /// It was made, or came back.
    case inserted
    /// Some of its properties have other values.
    case updated
    /// It is gone.
    case deleted
  }

  /// What the commit did to it.
  public var kind: Kind
  /// The permanent id.
  public var id: ObjectID
  /// Nil for an insert.
  public var before: ObjectImage?
  /// Nil for a delete.
  public var after: ObjectImage?
  /// For an update: what happened to each changed property, by slot.
  public var edits: [Edit]
  /// Of these, places in an ordered relationship that changed only to make room for others: the order among those that
  /// were there is as it was, so an undo leaves them alone.
  public var spacing: [PropertyNumber]

  /// What happened to one object.
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

/// A state of one store: where a reader stands, and the proof that the store still remembers it so.
public struct Token: Hashable, Sendable {
  /// The id that the store got when it was made.
  public var store: UniqueID
  /// The state that the reader has seen; 0 is the empty graph.
  public var revision: Revision
  /// That commit's, which covers all commits before it; 0 for the empty graph.
  public var fingerprint: UInt64

  /// The state of a store after the commit with that revision and fingerprint.
  public init(store: UniqueID, revision: Revision, fingerprint: UInt64) {
    self.store = store
    self.revision = revision
    self.fingerprint = fingerprint
  }
}

extension Value {
  /// About how many bytes it takes in memory.
  public var approximateSize: Int {
    switch self {
    case .string(let text): 24 + text.utf8.count
    case .data(let bytes): 56 + bytes.count
    case .objects(let ids): 56 + 24 * ids.count
    default: 24
    }
  }
}
