import GraphModel

/// What the server says.
public struct ToClient: Hashable, Sendable {
  public enum Body: Hashable, Sendable {
    case welcome(Welcome)
    case refused(Refusal)
    case model(source: String, hash: ModelHash)
    case chunk(Chunk)
    /// `isComplete`: the objects are all that the commit changed and that are still there.
    case committed(Committed, objects: [ObjectImage], isComplete: Bool)
    case subscribed(query: UInt64, resumed: Bool)
    case unsubscribed(query: UInt64)
    case delta(Delta)
    case advance(revision: Revision, fingerprint: UInt64)
    case reset(query: UInt64, reason: String)
    case log([CommitEntry], last: Bool)
    case status(ServerStatus)
    case pong(Token)
    case close(code: String, message: String)
    case presence(session: UInt64, author: String, state: [UInt8], left: Bool)
  }

  /// 0 for what nobody asked for.
  public var request: UInt64
  public var body: Body

  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

public struct Welcome: Hashable, Sendable {
  public struct EntityEntry: Hashable, Sendable {
    public var number: EntityNumber
    public var name: String
    public var properties: [PropertyEntry]
  }

  public struct PropertyEntry: Hashable, Sendable {
    public var number: PropertyNumber
    public var name: String
    public var type: String
    public var isStored: Bool
  }

  public var protocolVersion: UInt32
  public var model: ModelHash
  public var head: Token
  public var session: UInt64
  public var server: String
  public var resumed: Bool
  /// From names to numbers: bodies hold numbers only.
  public var entities: [EntityEntry]
  public var maximumFrameSize: UInt64
  public var heartbeatMilliseconds: UInt64

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
        // Those with a slot first, in the order of their slots: that is the order of an object's values.
        properties: (entity.storedProperties + entity.properties.filter { $0.slot == nil }).map { property in
          PropertyEntry(
            number: property.number, name: property.name,
            type: property.attribute?.kind.rawValue ?? (property.relationship?.isToMany == true ? "toMany" : "toOne"),
            isStored: property.slot != nil)
        })
    }
  }
}

public struct Chunk: Hashable, Sendable {
  public var objects: [ObjectImage]
  /// On the last chunk: the state that all of it was read at, and how many objects there were.
  public var end: (at: Token, count: UInt64)?

  public init(objects: [ObjectImage], end: (at: Token, count: UInt64)? = nil) {
    self.objects = objects
    self.end = end
  }

  public static func == (left: Chunk, right: Chunk) -> Bool {
    left.objects == right.objects && left.end?.at == right.end?.at && left.end?.count == right.end?.count
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(objects) }
}

/// What one commit does to one live query: the same bytes for everyone who reads it.
public struct Delta: Hashable, Sendable {
  public struct Change: Hashable, Sendable {
    public enum Kind: UInt8, Sendable { case inserted, updated, removed }

    public var kind: Kind
    public var id: ObjectID
    /// For an insert, and with whole objects always.
    public var object: ObjectImage?
    public var previous: Revision
    public var edits: [Edit]
    public var deleted: Bool

    public init(
      kind: Kind, id: ObjectID, object: ObjectImage? = nil, previous: Revision = 0, edits: [Edit] = [],
      deleted: Bool = false
    ) {
      self.kind = kind
      self.id = id
      self.object = object
      self.previous = previous
      self.edits = edits
      self.deleted = deleted
    }

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

  public var query: UInt64
  public var revision: Revision
  public var time: Timestamp
  public var author: String
  public var fingerprint: UInt64
  public var changes: [Change]

  public init(query: UInt64, commit: CommitRecord, changes: [Change]) {
    self.query = query
    revision = commit.revision
    time = commit.time
    author = commit.author
    fingerprint = commit.fingerprint
    self.changes = changes
  }

  init() {
    (query, revision, time, author, fingerprint, changes) = (0, 0, 0, "", 0, [])
  }
}

public struct CommitEntry: Hashable, Sendable {
  public var revision: Revision
  public var time: Timestamp
  public var author: String
  public var transaction: TransactionID
  public var undoes: Revision?
  public var changes: [Delta.Change]
  public var fingerprint: UInt64

  public init(_ record: CommitRecord) {
    revision = record.revision
    time = record.time
    author = record.author
    transaction = record.transaction
    undoes = record.undoes
    changes = record.changes.compactMap { Delta.Change($0) }
    fingerprint = record.fingerprint
  }

  init() {
    (revision, time, author, undoes, changes, fingerprint) = (0, 0, "", nil, [], 0)
    transaction = TransactionID(replica: .zero, sequence: 0)
  }
}

public struct ServerStatus: Hashable, Sendable {
  public var server = ""
  public var location = ""
  public var size: UInt64 = 0
  public var head = Token(store: .zero, revision: 0, fingerprint: 0)
  /// Other than the one that asks.
  public var sessions: UInt64 = 0
  public var registrations: UInt64 = 0
  public var counters = [Counter]()
  public var process: UInt64 = 0

  public struct Counter: Hashable, Sendable {
    public var property: PropertyNumber
    public var next: Int64

    public init(property: PropertyNumber, next: Int64) {
      self.property = property
      self.next = next
    }
  }

  public init() {}
}
