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
    /// Commits a transaction. `acknowledged`: outcomes up to that sequence have arrived; 0 is always valid.
    case commit(Transaction, acknowledged: UInt64)
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

// MARK: - Binary form

extension ToServer: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, request)
    switch body {
    case .hello(let hello): writer.field(2, hello)
    case .model: writer.message(3) { _ in }
    case .fetch(let fetch): writer.field(4, fetch)
    case .commit(let transaction, let acknowledged):
      writer.message(5) {
        $0.field(1, transaction)
        $0.field(2, acknowledged)
      }
    case .undo(let undo): writer.field(6, undo)
    case .subscribe(let subscribe): writer.field(7, subscribe)
    case .unsubscribe(let query): writer.message(8) { $0.field(1, query) }
    case .more(let of): writer.message(9) { $0.field(1, of) }
    case .log(let log): writer.field(10, log)
    case .status: writer.message(11) { _ in }
    case .ping: writer.message(12) { _ in }
    case .close(let code, let message):
      writer.message(13) {
        $0.field(1, code)
        $0.field(2, message)
      }
    case .presence(let state): writer.message(14) { $0.field(1, state) }
    case .undoState(let scope): writer.message(15) { $0.field(1, scope?.bytes ?? []) }
    case .batchRows(let rows): writer.field(16, rows)
    case .batch(let batch): writer.field(17, batch)
    case .revisionAt(let time): writer.message(18) { $0.field(1, time) }
    case .why(let id, let property):
      writer.message(19) {
        $0.field(1, id)
        $0.field(2, UInt64(property))
      }
    case .restore(let restore): writer.field(20, restore)
    case .changes(let changes): writer.field(21, changes)
    case .exportGraph: writer.message(24) { _ in }
    case .importGraph(let request): writer.field(25, request)
    case .moveWindow(let query, let offset, let limit):
      writer.message(26) {
        $0.field(1, query)
        $0.field(2, offset)
        $0.field(3, limit)
      }
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var request: UInt64 = 0
    var body: Body?
    while let (number, field) = try reader.next() {
      switch number {
      case 1: request = try field.unsigned()
      case 2: body = .hello(try field.form())
      case 3:
        try field.skipMessage()
        body = .model
      case 4: body = .fetch(try field.form())
      case 5:
        var (transaction, acknowledged): (Transaction?, UInt64) = (nil, 0)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { transaction = try field.form() }
          if number == 2 { acknowledged = try field.unsigned() }
        }
        guard let transaction else { throw MalformedMessage("a commit has no transaction") }
        body = .commit(transaction, acknowledged: acknowledged)
      case 6: body = .undo(try field.form())
      case 7: body = .subscribe(try field.form())
      case 8: body = .unsubscribe(query: try field.first())
      case 9: body = .more(of: try field.first())
      case 10: body = .log(try field.form())
      case 11:
        try field.skipMessage()
        body = .status
      case 12:
        try field.skipMessage()
        body = .ping
      case 13:
        let (code, message) = try field.closing()
        body = .close(code: code, message: message)
      case 14:
        var state = [UInt8]()
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { state = try field.array() }
        }
        body = .presence(state)
      case 15:
        var scope: UniqueID?
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { scope = try field.uniqueIDOrNone() }
        }
        body = .undoState(scope: scope)
      case 16: body = .batchRows(try field.form())
      case 17: body = .batch(try field.form())
      case 18:
        var time: Timestamp = 0
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { time = try field.integer() }
        }
        body = .revisionAt(time)
      case 19: body = try Self.why(field)
      case 20: body = .restore(try field.form())
      case 21: body = .changes(try field.form())
      case 24:
        try field.skipMessage()
        body = .exportGraph
      case 25: body = .importGraph(try field.form())
      case 26: body = try Self.moveWindow(field)
      default: break
      }
    }
    guard let body else { throw MalformedMessage("the message has no body that this version knows") }
    self.init(request, body)
  }
}

extension BinaryReader.Field {
  /// The number in field 1 of a message that has no other field.
  func first() throws(MalformedMessage) -> UInt64 {
    var value: UInt64 = 0
    var inner = try reader()
    while let (number, field) = try inner.next() {
      if number == 1 { value = try field.unsigned() }
    }
    return value
  }

  func closing() throws(MalformedMessage) -> (code: String, message: String) {
    var (code, message) = ("", "")
    var inner = try reader()
    while let (number, field) = try inner.next() {
      if number == 1 { code = try field.string() }
      if number == 2 { message = try field.string() }
    }
    return (code, message)
  }
}

extension Hello: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(protocolVersion))
    writer.field(2, model?.bytes ?? [])
    writer.field(3, replica.bytes)
    writer.field(4, author)
    writer.field(5, program)
    if let token { writer.field(6, token) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(protocolVersion: 0, model: nil, replica: .zero, author: "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1: protocolVersion = try field.uint32()
      case 2:
        let bytes = try field.array()
        if bytes.isEmpty { continue }
        guard let hash = ModelHash(bytes: bytes) else { throw MalformedMessage("a model's hash needs 16 bytes") }
        model = hash
      case 3: replica = try field.uniqueIDOrZero()
      case 4: author = try field.string()
      case 5: program = try field.string()
      case 6: token = try field.form()
      default: break
      }
    }
  }
}

extension Subscribe: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, replaces)
    writer.field(2, UInt64(entity))
    writer.field(3, predicate)
    writer.field(4, wholeObjects)
    writer.field(5, since != nil)
    if let since { writer.field(6, since) }
    if let window { writer.field(30, window) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(entity: 0)
    var resume = false
    while let (number, field) = try reader.next() {
      switch number {
      case 1: replaces = try field.unsigned()
      case 2: entity = try field.uint32()
      case 3: predicate = try field.string()
      case 4: wholeObjects = try field.bool()
      case 5: resume = try field.bool()
      case 6: since = try field.form()
      case 30: window = try field.form()
      default: break
      }
    }
    if !resume { since = nil }
  }
}
