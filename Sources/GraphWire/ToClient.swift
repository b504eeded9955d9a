import GraphModel

/// A message from the server.
public struct ToClient: Hashable, Sendable {
  /// The kinds of messages; docs/protocol.md says which requests they answer.
  public enum Body: Hashable, Sendable {
    /// Accepts the hello.
    case welcome(Welcome)
    /// The request was not carried out; the connection stays open.
    case refused(Refusal)
    /// The model file's text and hash.
    case model(source: String, hash: ModelHash)
    /// A part of the result of a fetch or a live query.
    case chunk(Chunk)
    /// The commit of a transaction. `isComplete`: `objects` are all objects that the commit changed and that still
    /// exist.
    case committed(CommitResult, objects: [ObjectImage], isComplete: Bool)
    /// A subscription was accepted. `query` is the server's number on this connection.
    ///
    /// If `resumed` is true, deltas follow instead of chunks. `known`: the store still has the state that the client
    /// named; if the query did not resume nevertheless, its predicate follows paths.
    case subscribed(query: UInt64, resumed: Bool, known: Bool = false)
    /// A subscription has ended: no delta of this query follows.
    case unsubscribed(query: UInt64)
    /// The changes of one commit to one query.
    case delta(Delta)
    /// All changes up to this revision have been sent for all queries of this connection.
    case advance(revision: Revision, fingerprint: UInt64)
    /// The client must discard the query's result; chunks follow.
    case reset(query: UInt64, reason: String)
    /// Commits of the log; newest first, unless the request reverses the order.
    case log([CommitEntry], last: Bool)
    /// The server's status.
    case status(ServerStatus)
    /// The token from which the connection may resume; revision 0 while it lags or loads.
    case pong(Token)
    /// The connection ends; later messages are ignored.
    case close(code: String, message: String)
    /// Another session's presence; `left` if the session has ended.
    case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
    /// The next undo and redo steps.
    case undoState(UndoState)
    /// The progress of a batch; while its rows are sent, the number of rows that are kept.
    case progress(BatchProgress)
    /// The newest commit at or before a time.
    case revisionAt(RevisionAtTime)
    /// The origin of a property's value.
    case why(ValueOrigin)
    /// Commits after a token, oldest first, the state up to which history was read, and the newest state.
    case followed([CommitEntry], at: Token, head: Token)
    /// The differences of two states.
    case differences([ObjectDifference], last: Bool)
    /// The head of an exported graph; its chunks follow.
    case exportHead(ExportHead)
    /// The answer to moving a window, with the rows of its new place.
    case windowMoved(WindowMoved)
  }

  /// The request that the message answers; 0 for an unsolicited message.
  public var request: UInt64
  /// The content of the message.
  public var body: Body

  /// An answer to a request; 0 for an unsolicited message.
  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

extension ToClient.Body {
  /// Whether the server sends the next part of the reply when the client requests it with `more`.
  public var awaitsMore: Bool {
    switch self {
    case .chunk(let chunk): chunk.end == nil
    case .log(_, let last), .differences(_, let last): !last
    case .exportHead: true
    default: false
    }
  }
}

/// The answer to a hello, with what a client needs before its first request.
public struct Welcome: Hashable, Sendable {
  /// An entity in the dictionary.
  public struct EntityEntry: Hashable, Sendable {
    /// The entity's number in messages.
    public var number: EntityNumber
    /// The entity's name in the model file.
    public var name: String
    /// The properties, including inherited ones: first those with a slot, in the order of their slots.
    public var properties: [PropertyEntry]
  }

  /// A property in the dictionary.
  public struct PropertyEntry: Hashable, Sendable {
    /// The property's number in messages; the same in all entities that inherit it.
    public var number: PropertyNumber
    /// The property's name in the model file.
    public var name: String
    /// An attribute's kind, `toOne` or `toMany`.
    public var type: String
    /// Whether it has a slot in an object's values.
    public var isStored: Bool
  }

  /// The server's protocol version.
  public var protocolVersion: UInt32
  /// The hash of the server's model; it equals the hash in the hello, if that has one.
  public var model: ModelHash
  /// The newest commit that sessions have been sent.
  public var head: Token
  /// The number of this connection's session, as in presence messages.
  public var session: UInt64
  /// The server's name and version, for people.
  public var server: String
  /// Whether the hello's token is of this store and not ahead of it. This is a hint; `subscribed` decides.
  public var resumed: Bool
  /// The dictionary from names to numbers: messages contain only numbers.
  public var entities: [EntityEntry]
  /// The size in bytes of the largest message that the server accepts.
  public var maximumFrameSize: UInt64
  /// The silence in milliseconds after which a client sends a ping.
  public var heartbeatMilliseconds: UInt64

  /// The welcome of a server with this model, whose dictionary it contains.
  public init(
    model: Model, head: Token, session: UInt64, server: String, resumed: Bool, maximumFrameSize: Int,
    heartbeatMilliseconds: Int
  ) {
    protocolVersion = ProtocolLimits.version
    self.model = model.hash
    self.head = head
    self.session = session
    self.server = server
    self.resumed = resumed
    self.maximumFrameSize = UInt64(maximumFrameSize)
    self.heartbeatMilliseconds = UInt64(heartbeatMilliseconds)
    assert(
      model.entities.allSatisfy { $0.storedProperties.count == $0.slotCount },
      "the dictionary has a property for each value of an object")
    entities = model.entities.map { entity in
      EntityEntry(
        number: entity.number, name: entity.name,
        // Properties with a slot come first, because their order is that of an object's values. Transient attributes
        // are never sent.
        properties: (entity.storedProperties + entity.relationships.filter { $0.slot == nil }).map { property in
          PropertyEntry(
            number: property.number, name: property.name,
            type: property.attribute?.kind.rawValue ?? (property.relationship?.isToMany == true ? "toMany" : "toOne"),
            isStored: property.slot != nil)
        })
    }
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

    /// A change of history, with complete objects.
    public init?(_ change: ObjectChange) {
      guard let image = change.after ?? change.before else { return nil }
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

/// A commit in the log.
public struct CommitEntry: Hashable, Sendable {
  /// The revision of the state after the commit.
  public var revision: Revision
  /// The commit's time, by the server's clock.
  public var time: Timestamp
  /// The commit's author.
  public var author: String
  /// The idempotency key of the commit; its replica distinguishes clients of one author.
  public var transaction: TransactionID
  /// The revision that this commit undoes: for an undo the newest of its step, for a redo the undo.
  public var undoes: Revision?
  /// For a redo: the newest commit of the step that it redoes.
  public var redoes: Revision?
  /// The undo group that the client named, or that of the step which this commit undoes or redoes.
  public var undo: UndoGroup?
  /// All changes, with complete objects unless the commit is too large for a frame: then ids only.
  public var changes: [Delta.Change]
  /// The commit's fingerprint; with store and revision it forms a token.
  public var fingerprint: UInt64
  /// The number of changes that are not listed, because a batch made them.
  public var unlisted: UInt64
  /// The number of further changes that match, beyond the number requested.
  public var more: UInt64

  /// A complete commit of history.
  public init(_ record: CommitRecord) {
    revision = record.revision
    time = record.time
    author = record.author
    transaction = record.transaction
    undoes = record.undoes
    redoes = record.redoes
    undo = record.undo
    changes = record.changes.compactMap { Delta.Change($0) }
    fingerprint = record.fingerprint
    unlisted = 0
    if let summary = record.summary { unlisted = UInt64(summary.count) }
    more = UInt64(record.more)
  }

  init() {
    (revision, time, author, undoes, changes, fingerprint, unlisted, more) = (0, 0, "", nil, [], 0, 0, 0)
    transaction = TransactionID(replica: .zero, sequence: 0)
  }
}

/// The status of a server.
public struct ServerStatus: Hashable, Sendable {
  /// The server's name and version, for people.
  public var server = ""
  /// The data directory.
  public var location = ""
  /// The size of the store and its log, in bytes.
  public var size: UInt64 = 0
  /// The newest committed state.
  public var head = Token(store: .zero, revision: 0, fingerprint: 0)
  /// The number of sessions, without the one that asks.
  public var sessions: UInt64 = 0
  /// The number of live queries of those sessions.
  public var registrations: UInt64 = 0
  /// The sequences and their next numbers.
  public var counters = [Counter]()
  /// The id of the server's process.
  public var process: UInt64 = 0
  /// The oldest state that history still has; 0 if it was not pruned, or the server does not report it.
  public var oldest: Revision = 0
  /// Why commits are refused, for people. Empty while they are accepted, or if the server does not report it.
  public var failure = ""

  /// A sequence attribute and its next number.
  public struct Counter: Hashable, Sendable {
    /// The sequence attribute.
    public var property: PropertyNumber
    /// The number that the next object of its entity gets.
    public var next: Int64

    /// A sequence and its next number.
    public init(property: PropertyNumber, next: Int64) {
      self.property = property
      self.next = next
    }
  }

  /// An empty status.
  public init() {}
}
