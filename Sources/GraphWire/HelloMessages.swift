import GraphModel

/// The first message of a connection: the client's identity, its protocol version and its model.
public struct Hello: Hashable, Sendable {
  /// The client's protocol version, which must be the server's.
  public var protocolVersion: UInt32
  /// The hash of the client's model; nil for a client that accepts the server's.
  public var model: ModelHash?
  /// The id of the client's replica, which is a part of each transaction's id. Never zero.
  public var replica: UniqueID
  /// The author of the client's commits in history; 1 to 256 bytes.
  public var author: String
  /// The program's name and version, for people.
  public var program: String
  /// The state at which an earlier connection stopped.
  public var token: Token?
  /// A token of a user, which is a secret; empty for none.
  public var credential: String

  /// The first message of a connection.
  public init(
    protocolVersion: UInt32 = ProtocolLimits.version, model: ModelHash?, replica: UniqueID, author: String,
    program: String = "", token: Token? = nil, credential: String = ""
  ) {
    self.protocolVersion = protocolVersion
    self.model = model
    self.replica = replica
    self.author = author
    self.program = program
    self.token = token
    self.credential = credential
  }
}

/// The answer to a hello, with the data that a client needs before its first request.
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
    /// The kind of an attribute; `toOne` or `toMany` for a relationship.
    public var type: String
    /// Whether it has a slot in an object's values.
    public var isStored: Bool
  }

  /// A role on the complete store, or on one scope.
  public struct GrantEntry: Hashable, Sendable {
    /// The name of the role; a server of a later version may have others.
    public var role: String
    /// The key of the scope's container; nil for the complete store.
    public var scope: UniqueID?
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
  /// The highest sequence number among the transactions that the store has of the hello's replica; 0 for none. A client
  /// that has not sent so high a number is a copy of the replica, or was restored to an earlier state of it.
  public var lastSequence: UInt64
  /// The name of the principal for whom the session acts.
  public var author: String
  /// The id of that principal.
  public var principal: String
  /// The strongest role of that principal; a server of a later version may have others.
  public var role: String
  /// The roles of that principal; empty if it may do everything.
  public var grants: [GrantEntry]
  /// A fingerprint of the server's rules about what the principal sees; 0 if it may do everything. With other rules,
  /// the same roles show other objects.
  public var rules: UInt64

  /// The welcome of a server with this model, whose dictionary it contains.
  public init(
    model: Model, head: Token, session: UInt64, server: String, resumed: Bool, maximumFrameSize: Int,
    heartbeatMilliseconds: Int, lastSequence: UInt64 = 0, principal: Principal, role: Role, rights: Rights? = nil
  ) {
    protocolVersion = ProtocolLimits.version
    self.model = model.hash
    self.head = head
    self.session = session
    self.server = server
    self.resumed = resumed
    self.maximumFrameSize = UInt64(maximumFrameSize)
    self.heartbeatMilliseconds = UInt64(heartbeatMilliseconds)
    self.lastSequence = lastSequence
    author = principal.name
    self.principal = principal.id
    self.role = role.rawValue
    grants = if let rights { GrantEntry.all(of: rights) } else { [] }
    rules = 0
    assert(
      model.entities.allSatisfy { $0.storedProperties.count == $0.slotCount },
      "the dictionary has a property for each value of an object")
    entities = model.entities.map { entity in
      EntityEntry(
        number: entity.number, name: entity.name,
        // Properties with a slot come first, in the order of an object's values. Transient attributes are never sent.
        properties: (entity.storedProperties + entity.relationships.filter { $0.slot == nil }).map { property in
          PropertyEntry(
            number: property.number, name: property.name,
            type: property.attribute?.kind.rawValue ?? (property.relationship?.isToMany == true ? "toMany" : "toOne"),
            isStored: property.slot != nil)
        })
    }
  }
}

extension Welcome.GrantEntry {
  /// The grants of a principal: first the one on the complete store, then those on scopes, by their keys.
  public static func all(of rights: Rights) -> [Self] {
    let store = rights.role.map { [Self(role: $0.rawValue, scope: nil)] } ?? []
    let scopes = rights.scopes.sorted { $0.key < $1.key }.map { Self(role: $0.value.rawValue, scope: $0.key) }
    return store + scopes
  }
}

extension Rights {
  /// The rights of the grants in a message; nil for all rights. Roles of a later version are omitted.
  public init?(user: String, _ entries: [Welcome.GrantEntry]) {
    if entries.isEmpty { return nil }
    let grants = entries.compactMap { entry in Role(rawValue: entry.role).map { Grant($0, on: entry.scope) } }
    self.init(user: user, grants: grants)
  }
}
