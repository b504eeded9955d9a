import GraphModel

/// A live query in its wire form.
public struct Subscribe: Hashable, Sendable {
  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// The predicate in its text form; empty for all objects.
  public var predicate: String
  /// Whether deltas contain complete objects, for clients that keep no copy.
  public var wholeObjects: Bool
  /// A query that this one replaces; 0 for none.
  public var replaces: UInt64
  /// The state at which the client holds the result; nil when it holds none.
  public var since: Token?
  /// The part of the ordered result to follow; nil for the complete result, without an order.
  public var window: Window?

  /// The part of an ordered result that a query follows.
  public struct Window: Hashable, Sendable {
    /// The sort order, like that of a fetch, over the object's own properties; empty for the order of ids.
    public var sort: String
    /// The number of rows to skip.
    public var offset: UInt64
    /// The maximum number of rows, from 1.
    public var limit: UInt64

    /// A window, by default at the first rows.
    public init(sort: String = "", offset: UInt64 = 0, limit: UInt64) {
      self.sort = sort
      self.offset = offset
      self.limit = limit
    }
  }

  /// A live query, by default of all objects of the entity.
  public init(
    entity: EntityNumber, predicate: String = "", wholeObjects: Bool = false, replaces: UInt64 = 0,
    since: Token? = nil, window: Window? = nil
  ) {
    self.entity = entity
    self.predicate = predicate
    self.wholeObjects = wholeObjects
    self.replaces = replaces
    self.since = since
    self.window = window
  }
}

/// The changes of one commit to one live query: the same bytes for all recipients.
public struct Delta: Hashable, Sendable {
  /// The change of one object of the query.
  public struct Change: Hashable, Sendable {
    /// Inserted: the object was made or matches now. Removed: it was deleted or no longer matches.
    public enum Kind: UInt8, Sendable { case inserted, updated, removed }

    /// The kind of change, from the query's point of view.
    public var kind: Kind
    /// The object's id, with its concrete entity.
    public var id: ObjectID
    /// The object; for an insert, and for every kind if the query has whole objects.
    public var object: ObjectImage?
    /// For an update: the revision of the object's previous change.
    public var previous: Revision
    /// For an update: the changed properties.
    public var edits: [Edit]
    /// For a removal: whether the object was deleted.
    public var deleted: Bool
    /// For a window: the index of the row after the commit, from 0. For an insert, and for an update that moved it.
    public var place: UInt64?

    /// The change of one object; the kind determines which fields are used.
    public init(
      kind: Kind, id: ObjectID, object: ObjectImage? = nil, previous: Revision = 0, edits: [Edit] = [],
      deleted: Bool = false, place: UInt64? = nil
    ) {
      assert(object == nil || object?.id == id, "the object is the one that changed: its id is not sent twice")
      self.kind = kind
      self.id = id
      self.object = object
      self.previous = previous
      self.edits = edits
      self.deleted = deleted
      self.place = place
    }

    /// A change as one query sees it.
    /// - Parameter wholeObjects: include the object in updates and removals, too.
    public init(_ change: LiveQueryChange, wholeObjects: Bool) {
      switch change {
      case .inserted(let image): self.init(kind: .inserted, id: image.id, object: image)
      case .updated(let image, let edits, let previous):
        self.init(
          kind: .updated, id: image.id, object: wholeObjects ? image : nil, previous: previous, edits: edits)
      case .removed(let image, let deleted):
        self.init(kind: .removed, id: image.id, object: wholeObjects ? image : nil, deleted: deleted)
      }
    }

    /// A change of history, with complete objects. It has no object if the values can't be read because of damage.
    public init(_ change: ObjectChange) {
      let image = if let after = change.after { Optional(after) } else { change.before }
      switch change.kind {
      case .inserted: self.init(kind: .inserted, id: change.id, object: image)
      case .updated:
        self.init(kind: .updated, id: change.id, object: image, edits: change.edits)
        if let before = change.before { previous = before.revision }
      case .deleted: self.init(kind: .removed, id: change.id, object: image, deleted: true)
      }
    }
  }

  /// The server's number for the query.
  public var query: UInt64
  /// The commit's revision.
  public var revision: Revision
  /// The commit's time.
  public var time: Timestamp
  /// The commit's author.
  public var author: String
  /// The commit's fingerprint; with store and revision it forms a token to resume from.
  public var fingerprint: UInt64
  /// The changes; empty only for a window of which only the total changed.
  public var changes: [Change]
  /// For a window: the query's number of rows before limit and offset; nil if it did not change.
  public var total: UInt64?

  /// The changes of a commit to one query.
  public init(query: UInt64, commit: CommitRecord, changes: [Change], total: UInt64? = nil) {
    self.query = query
    revision = commit.revision
    time = commit.time
    author = commit.author
    fingerprint = commit.fingerprint
    self.changes = changes
    self.total = total
  }

  init() {
    (query, revision, time, author, fingerprint, changes) = (0, 0, 0, "", 0, [])
  }
}
