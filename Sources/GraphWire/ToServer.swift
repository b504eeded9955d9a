import GraphModel

/// A message from a client.
public struct ToServer: Hashable, Sendable {
  /// The kinds of messages; docs/protocol.md says how each is answered.
  public enum Body: Hashable, Sendable {
    /// The first message of a connection, sent once.
    case hello(Hello)
    /// Requests the model file.
    case model
    /// Reads objects, in chunks.
    case fetch(Fetch)
    /// Commits a transaction.
    case commit(Transaction)
    /// Undoes or redoes a step of the author's own commits.
    case undo(UndoRequest)
    /// Follows a query until `unsubscribe` or the end of the connection.
    case subscribe(Subscribe)
    /// Stops following the query with the number that `subscribed` gave.
    case unsubscribe(query: UInt64)
    /// Requests the next chunk of the answer to an earlier request.
    case more(of: UInt64)
    /// Requests commits of history, in chunks.
    case log(LogRequest)
    /// Requests the server's status.
    case status
    /// Requests a pong.
    case ping
    /// Ends the connection, with any code and message.
    case close(code: String, message: String)
    /// Sets the client's presence, in a format that only clients interpret.
    case presence([UInt8])
    /// Requests the next undo and redo steps; without a scope, of all of the author's.
    case undoState(scope: UniqueID?)
    /// Sends rows for a batch that follows; answered by progress when they are kept.
    case batchRows(BatchRows)
    /// Changes many objects in one commit; answered by progress, then like a commit.
    case batch(BatchRequest)
    /// Requests the newest revision at a time.
    case revisionAt(Timestamp)
    /// Requests the origin of a property's value.
    case why(ObjectID, PropertyNumber)
    /// Restores the state of a revision; answered like a commit.
    case restore(RestoreRequest)
    /// Requests the commits after a token, or the differences of two states.
    case changes(ChangesRequest)
    /// Requests the complete graph; answered by its head, then in chunks.
    case exportGraph
    /// Imports a complete graph from sent rows into a store without commits; answered like a batch.
    case importGraph(ImportRequest)
    /// Moves a window of this connection; answered by `windowMoved`, or like a subscription.
    case moveWindow(query: UInt64, offset: UInt64, limit: UInt64)
  }

  /// The request number, which rises with every message of a connection.
  public var request: UInt64
  /// The content of the message.
  public var body: Body

  /// A message with a request number.
  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

/// The first message of a connection: the client's identity, and what it speaks.
public struct Hello: Hashable, Sendable {
  /// The client's protocol version, which must be the server's.
  public var protocolVersion: UInt32
  /// The hash of the client's model; nil for a client that accepts the server's.
  public var model: ModelHash?
  /// Names this client: half of the key of each of its transactions. Never zero.
  public var replica: UniqueID
  /// The author of the client's commits in history; 1 to 256 bytes.
  public var author: String
  /// The program's name and version, for people.
  public var program: String
  /// The state at which an earlier connection stopped.
  public var token: Token?

  /// The first message of a connection.
  public init(
    protocolVersion: UInt32 = ProtocolLimits.version, model: ModelHash?, replica: UniqueID, author: String,
    program: String = "", token: Token? = nil
  ) {
    self.protocolVersion = protocolVersion
    self.model = model
    self.replica = replica
    self.author = author
    self.program = program
    self.token = token
  }
}

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
