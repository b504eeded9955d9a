import GraphModel

/// What a client says.
public struct ToServer: Hashable, Sendable {
  /// The kinds of messages; docs/protocol.md says what each is answered by.
  public enum Body: Hashable, Sendable {
    /// The first message, once.
    case hello(Hello)
    /// Asks for the model file.
    case model
    /// Reads objects, in chunks.
    case fetch(Fetch)
    /// `acknowledged`: outcomes up to that sequence have arrived; 0 is always right.
    case commit(Transaction, acknowledged: UInt64)
    /// Takes back a step of the author's own commits, or does it again.
    case undo(UndoRequest)
    /// Follows a query until `unsubscribe` or the end of the connection.
    case subscribe(Subscribe)
    /// The number is the one that `subscribed` gave.
    case unsubscribe(query: UInt64)
    /// One more chunk of the answer to this earlier request may come.
    case more(of: UInt64)
    /// Commits of history, in chunks.
    case log(LogRequest)
    /// Asks what the server tells of itself.
    case status
    /// Asks for a sign of life.
    case ping
    /// Goodbye, with any code and sentence.
    case close(code: String, message: String)
    /// What others are to see of this client; only clients understand it.
    case presence([UInt8])
    /// Asks what undo and redo would take now; without a scope, of all of the author's.
    case undoState(scope: UniqueID?)
    /// Rows for a batch that follows; answered by progress when they are kept.
    case batchRows(BatchRows)
    /// Many objects in one commit; answered by progress, then as a commit is.
    case batch(BatchRequest)
    /// Asks which revision was the newest at a time.
    case revisionAt(Timestamp)
    /// Where a property's value comes from.
    case why(ObjectID, PropertyNumber)
    /// What was there at a revision is to be there again; answered as a commit is.
    case restore(RestoreRequest)
    /// What was committed behind a token, or what two states differ in.
    case changes(ChangesRequest)
    /// Asks for the whole graph; answered by its head, then in chunks.
    case exportGraph
    /// Makes a whole graph of rows that were sent, in a store without a commit; answered as a batch is.
    case importGraph(ImportRequest)
    /// A window of this connection is to stand somewhere else; answered by the difference, or as a subscription is.
    case moveWindow(query: UInt64, offset: UInt64, limit: UInt64)
  }

  /// Rises with every message of a connection.
  public var request: UInt64
  /// What is asked.
  public var body: Body

  /// A message under that number.
  public init(_ request: UInt64, _ body: Body) {
    self.request = request
    self.body = body
  }
}

/// Who a client is, and what it speaks.
public struct Hello: Hashable, Sendable {
  /// It must be the server's.
  public var protocolVersion: UInt32
  /// Nil for a client that takes the server's model.
  public var model: ModelHash?
  /// Names this client: half of the key of each of its transactions. Never zero.
  public var replica: UniqueID
  /// Who commits, as history will have it; 1 to 256 bytes.
  public var author: String
  /// Name and version, for people.
  public var program: String
  /// Where an earlier connection stopped.
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

/// A live query as it travels.
public struct Subscribe: Hashable, Sendable {
  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// Empty for all of them.
  public var predicate: String
  /// Deltas carry whole objects, for clients that hold no copy.
  public var wholeObjects: Bool
  /// A query that this one takes the place of; 0 for none.
  public var replaces: UInt64
  /// The state at which the client holds the result; nil when it holds none.
  public var since: Token?
  /// Only a part of the result, in an order; nil for all of it, in none.
  public var window: Window?

  /// The part of an ordered result that is followed.
  public struct Window: Hashable, Sendable {
    /// As that of a fetch, over the object's own properties; empty for the order of ids.
    public var sort: String
    /// So many rows are passed over.
    public var offset: UInt64
    /// At most so many rows; from 1.
    public var limit: UInt64

    /// The first rows, where no offset is said.
    public init(sort: String = "", offset: UInt64 = 0, limit: UInt64) {
      self.sort = sort
      self.offset = offset
      self.limit = limit
    }
  }

  /// All objects of the entity, where nothing else is said.
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

extension ToServer: BinaryForm {
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
  /// The number in field 1 of a message that has nothing else.
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

extension Hello: BinaryForm {
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
        guard let hash = ModelHash(bytes: bytes) else { throw MalformedMessage("a model's hash has not 16 bytes") }
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

extension Subscribe: BinaryForm {
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
