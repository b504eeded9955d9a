import GraphModel

/// What the server says.
public struct ToClient: Hashable, Sendable {
  /// The kinds of messages; docs/protocol.md says which answers what.
  public enum Body: Hashable, Sendable {
    /// The answer to hello.
    case welcome(Welcome)
    /// The request was not carried out; the connection goes on.
    case refused(Refusal)
    /// The model file's text, and its hash.
    case model(source: String, hash: ModelHash)
    /// A part of a fetch's or a live query's result.
    case chunk(Chunk)
    /// `isComplete`: the objects are all that the commit changed and that are still there.
    case committed(Committed, objects: [ObjectImage], isComplete: Bool)
    /// `query` is the server's number on this connection. `resumed`: deltas follow, no chunks.
    /// `known`: the store remembers the state that the client named; where it did not resume all the same, the query
    /// follows paths.
    case subscribed(query: UInt64, resumed: Bool, known: Bool = false)
    /// No delta of this query follows.
    case unsubscribed(query: UInt64)
    /// What a commit did to one query.
    case delta(Delta)
    /// All queries of this connection have been told everything up to this revision.
    case advance(revision: Revision, fingerprint: UInt64)
    /// What was held of the query is to be thrown away; chunks follow.
    case reset(query: UInt64, reason: String)
    /// Commits, newest first.
    case log([CommitEntry], last: Bool)
    /// What `stickies status` shows.
    case status(ServerStatus)
    /// Where the connection may resume from; revision 0 while it lags or loads.
    case pong(Token)
    /// The connection ends; nothing after this counts.
    case close(code: String, message: String)
    /// What another session shows of itself; `left`: it is gone.
    case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
    /// What undo and redo would take now.
    case undoState(UndoState)
    /// How far a batch has come; while its rows arrive, how many are kept.
    case progress(BatchProgress)
    /// The newest commit at or before a time.
    case revisionAt(DatedRevision)
    /// Where a property's value comes from.
    case why(ValueOrigin)
    /// Commits behind a token, the oldest first, up to where history was read, and the newest state.
    case followed([CommitEntry], at: Token, head: Token)
    /// What two states differ in.
    case differences([ObjectDifference], last: Bool)
    /// What chunks of the whole graph follow.
    case exportHead(ExportHead)
    /// A window stands somewhere else now: what it shows there.
    case windowMoved(WindowMoved)
  }

  /// 0 for what nobody asked for.
  public var request: UInt64
  /// What is said.
  public var body: Body

  /// An answer to that request; 0 for what nobody asked for.
  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

/// What a client must know before it asks anything.
public struct Welcome: Hashable, Sendable {
  /// An entity in the dictionary.
  public struct EntityEntry: Hashable, Sendable {
    /// What bodies call it.
    public var number: EntityNumber
    /// As the model file has it.
    public var name: String
    /// Inherited ones included; those with a slot first, in the order of their slots.
    public var properties: [PropertyEntry]
  }

  /// A property in the dictionary.
  public struct PropertyEntry: Hashable, Sendable {
    /// What bodies call it; the same wherever it is inherited.
    public var number: PropertyNumber
    /// As the model file has it.
    public var name: String
    /// An attribute's kind, `toOne` or `toMany`.
    public var type: String
    /// Whether it has a slot in an object's values.
    public var isStored: Bool
  }

  /// The one that the server speaks.
  public var protocolVersion: UInt32
  /// The server's; a client that named one finds the same here.
  public var model: ModelHash
  /// The newest commit that sessions have been told of.
  public var head: Token
  /// This connection's number, which presence names.
  public var session: UInt64
  /// Name and version, for people.
  public var server: String
  /// The hello's token is of this store and not ahead of it: a hint, `subscribed` decides.
  public var resumed: Bool
  /// From names to numbers: bodies hold numbers only.
  public var entities: [EntityEntry]
  /// Bytes of the largest message that the server takes.
  public var maximumFrameSize: UInt64
  /// A client that has heard nothing for so long asks.
  public var heartbeatMilliseconds: UInt64
  /// The server knows scopes of undo, redo and `undoState`.
  public var knowsUndoSteps = true
  /// The server takes `batch` and `batchRows`.
  public var knowsBatches = true
  /// The server follows windows.
  public var knowsWindows = true
  /// The server knows preconditions of changes.
  public var knowsPreconditions = true

  /// What a server with this model says to a hello: the dictionary is made from it.
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
    entities = model.entities.map { entity in
      EntityEntry(
        number: entity.number, name: entity.name,
        // Those with a slot first, in the order of their slots: that is the order of an object's values. Transient
        // attributes never travel.
        properties: (entity.storedProperties + entity.relationships.filter { $0.slot == nil }).map { property in
          PropertyEntry(
            number: property.number, name: property.name,
            type: property.attribute?.kind.rawValue ?? (property.relationship?.isToMany == true ? "toMany" : "toOne"),
            isStored: property.slot != nil)
        })
    }
  }
}

/// What one commit does to one live query: the same bytes for everyone who reads it.
public struct Delta: Hashable, Sendable {
  /// What happened to one object of the query.
  public struct Change: Hashable, Sendable {
    /// Inserted: it came, made or matching now. Removed: it went, deleted or no longer matching.
    public enum Kind: UInt8, Sendable { case inserted, updated, removed }

    /// What happened to it, as the query sees it.
    public var kind: Kind
    /// The object, with its concrete entity.
    public var id: ObjectID
    /// For an insert, and with whole objects always.
    public var object: ObjectImage?
    /// The revision of the object's change before this one; for an update.
    public var previous: Revision
    /// What changed, for an update.
    public var edits: [Edit]
    /// For a removal: the object is gone altogether.
    public var deleted: Bool
    /// Of a window: where the row stands afterwards, from 0; for an insert, and for an update that moved it.
    public var place: UInt64?

    /// What happened to one object; which fields belong to it depends on the kind.
    public init(
      kind: Kind, id: ObjectID, object: ObjectImage? = nil, previous: Revision = 0, edits: [Edit] = [],
      deleted: Bool = false, place: UInt64? = nil
    ) {
      self.kind = kind
      self.id = id
      self.object = object
      self.previous = previous
      self.edits = edits
      self.deleted = deleted
      self.place = place
    }

    /// As one query sees it.
    /// - Parameter wholeObjects: updates and removals carry the object, too.
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

    /// As history tells it: whole objects.
    public init?(_ change: ObjectChange) {
      guard let image = change.after ?? change.before else { return nil }
      switch change.kind {
      case .inserted: self.init(kind: .inserted, id: change.id, object: image)
      case .updated:
        self.init(
          kind: .updated, id: change.id, object: image, previous: change.before?.revision ?? 0, edits: change.edits)
      case .deleted: self.init(kind: .removed, id: change.id, object: image, deleted: true)
      }
    }
  }

  /// The server's number for the query.
  public var query: UInt64
  /// The commit.
  public var revision: Revision
  /// When it was committed.
  public var time: Timestamp
  /// Who committed it.
  public var author: String
  /// The commit's; with store and revision it makes a token to resume from.
  public var fingerprint: UInt64
  /// Empty only for a window of which nothing but the total changed.
  public var changes: [Change]
  /// Of a window: how many rows the query has now, before limit and offset; nil where there are as many as before.
  public var total: UInt64?

  /// What a commit does to one query.
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

/// A commit as the log tells it.
public struct CommitEntry: Hashable, Sendable {
  /// The state that it led to.
  public var revision: Revision
  /// When it was committed, by the server's clock.
  public var time: Timestamp
  /// Who committed it.
  public var author: String
  /// The idempotency key that it was committed under; its replica tells clients of one author apart.
  public var transaction: TransactionID
  /// The revision that this commit takes back: for an undo the newest of its step, for a redo the undo.
  public var undoes: Revision?
  /// For a redo: the newest commit of the step that it does again.
  public var redoes: Revision?
  /// The undo group that the client named, or that of the step which this commit undoes or redoes.
  public var undo: UndoGroup?
  /// All of them, with whole objects unless the commit is too large for a frame: then ids only.
  public var changes: [Delta.Change]
  /// With store and revision it makes a token.
  public var fingerprint: UInt64
  /// So many changes are not listed: a batch made them.
  public var unlisted: UInt64
  /// So many changes fit besides these; no more were asked for.
  public var more: UInt64

  /// All of a commit, as history has it.
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
    unlisted = UInt64(record.summary?.count ?? 0)
    more = UInt64(record.more)
  }

  init() {
    (revision, time, author, undoes, changes, fingerprint, unlisted, more) = (0, 0, "", nil, [], 0, 0, 0)
    transaction = TransactionID(replica: .zero, sequence: 0)
  }
}

/// What a server tells of itself.
public struct ServerStatus: Hashable, Sendable {
  /// Name and version, for people.
  public var server = ""
  /// The data directory.
  public var location = ""
  /// Bytes of the store and its log.
  public var size: UInt64 = 0
  /// The newest committed state.
  public var head = Token(store: .zero, revision: 0, fingerprint: 0)
  /// Other than the one that asks.
  public var sessions: UInt64 = 0
  /// Live queries of those sessions.
  public var registrations: UInt64 = 0
  /// The sequences.
  public var counters = [Counter]()
  /// The number of the server's process.
  public var process: UInt64 = 0
  /// The oldest state that history can tell; 0 unless it was pruned, and of a server that does not say.
  public var oldest: Revision = 0
  /// Why commits are refused, for people; empty while they are taken, and of a server that does not say.
  public var failure = ""

  /// A sequence attribute, and the number that it gives next.
  public struct Counter: Hashable, Sendable {
    /// The sequence.
    public var property: PropertyNumber
    /// What the next object of its entity gets.
    public var next: Int64

    /// A sequence and its next number.
    public init(property: PropertyNumber, next: Int64) {
      self.property = property
      self.next = next
    }
  }

  /// A status that says nothing yet.
  public init() {}
}
