import GraphModel
import GraphTesting

@testable import GraphWire

/// Messages that a seed decides: every kind in turn, with every kind of value, edit, change and outcome among them.
struct RandomMessages {
  var random: SeededGenerator
  /// A welcome can only be made of a model; everything in it is replaced.
  let model: Model

  init(seed: UInt64, model: Model) {
    random = SeededGenerator(seed: seed)
    self.model = model
  }

  // MARK: - Scalars

  /// The numbers at which encodings change their length or sign, and any others.
  mutating func unsigned() -> UInt64 {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: 0
    case 1: UInt64.random(in: 0...300, using: &random)
    case 2: UInt64(1) << UInt64.random(in: 0...63, using: &random) &- UInt64.random(in: 0...1, using: &random)
    default: random.next()
    }
  }

  mutating func integer() -> Int64 { Int64(bitPattern: unsigned()) }
  mutating func count() -> Int { Int(unsigned() >> 1) }
  mutating func number() -> UInt32 { UInt32(truncatingIfNeeded: unsigned()) }
  mutating func bool() -> Bool { random.chance(50) }

  mutating func string() -> String {
    let pieces = [
      "", "a", "\u{0}", "é", "e\u{301}", "日本語", "👩‍👩‍👧", "\u{202E}right", "\n", "\"", String(repeating: "long ", count: 60),
    ]
    return (0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick(pieces) ?? "" }.joined()
  }

  mutating func bytes() -> [UInt8] {
    let count = random.pick([0, 1, 2, 127, 128, 300]) ?? 0
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  mutating func list<Element>(_ element: (inout RandomMessages) -> Element) -> [Element] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in element(&self) }
  }

  mutating func maybe<Element>(_ element: (inout RandomMessages) -> Element) -> Element? {
    bool() ? element(&self) : nil
  }

  // MARK: - Values

  mutating func key() -> UniqueID { UniqueID(high: unsigned(), low: unsigned()) }
  mutating func id() -> ObjectID { ObjectID(key: key(), entity: number()) }

  /// Exponents stay clear of the limits, so that leading zeros leave the number legal.
  private mutating func decimal() -> DecimalValue? {
    let digits = (0..<Int.random(in: 0...38, using: &random)).map { _ in UInt8.random(in: 0...9, using: &random) }
    return DecimalValue(isNegative: bool(), digits: digits, exponent: Int.random(in: -5_900...5_900, using: &random))
  }

  mutating func value() -> Value {
    switch Int.random(in: 0...10, using: &random) {
    case 0: .null
    case 1: .bool(bool())
    case 2: .integer(integer())
    case 3: .double(random.pick([0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, Double(integer())]) ?? 0)
    case 4: decimal().map { .decimal($0) } ?? .null
    case 5: .string(string())
    case 6: .date(integer())
    case 7: .uuid(key())
    case 8: .data(bytes())
    case 9: .object(id())
    default: .objects(ListReorderer.unique(list { $0.id() }))
    }
  }

  mutating func object() -> ObjectImage {
    ObjectImage(id: id(), revision: integer(), values: list { $0.value() })
  }

  mutating func edit() -> Edit {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: Edit(number(), .set(value()))
    case 1: Edit(number(), .splice(list { $0.splice() }))
    case 2: Edit(number(), .place(list { $0.id() }, after: maybe { $0.id() }))
    default: Edit(number(), .members(added: list { $0.id() }, removed: list { $0.id() }))
    }
  }

  private mutating func splice() -> TextSplice {
    TextSplice(
      offset: Int.random(in: 0...TextSplice.maximumOffset, using: &random), length: Int(unsigned() % 1_000),
      insertion: string(), hasLeftAffinity: bool())
  }

  // MARK: - Transactions and outcomes

  mutating func transactionID() -> TransactionID { TransactionID(replica: key(), sequence: unsigned()) }

  mutating func transaction() -> Transaction {
    Transaction(
      id: transactionID(), policy: random.pick(MergePolicy.allCases) ?? .error,
      undo: maybe { $0.undoGroup() },
      changes: list {
        Change(
          $0.random.pick([.insert, .update, .delete, .revive]) ?? .insert, $0.id(), base: $0.integer(),
          edits: $0.list { $0.edit() }, onlyIf: $0.maybe { $0.precondition() })
      })
  }

  mutating func precondition() -> Precondition {
    Precondition(revision: integer(), properties: list { $0.number() })
  }

  mutating func conflict() -> Conflict {
    Conflict(
      kind: random.pick([.changed, .deleted, .unique]) ?? .changed, id: id(), property: number(), mine: value(),
      theirs: value(), author: string(), revision: integer(), mineWon: bool(), isCollateral: bool())
  }

  mutating func violation() -> Violation {
    Violation(
      id: id(), property: number(), rule: string(), value: value(),
      others: list { Violation.KeyPart($0.number(), $0.value()) }, message: string())
  }

  mutating func token() -> Token { Token(store: key(), revision: integer(), fingerprint: unsigned()) }

  // MARK: - From the client

  /// One of each kind.
  mutating func toServer() -> [ToServer] {
    let hash = ModelHash(bytes: key().bytes)
    let bodies: [ToServer.Body] =
      [
        .hello(
          Hello(
            protocolVersion: number(), model: bool() ? hash : nil, replica: key(), author: string(), program: string(),
            token: maybe { $0.token() }, credential: string())),
        .model,
        .fetch(
          Fetch(
            entity: number(), predicate: string(), sort: string(), limit: unsigned(), offset: unsigned(),
            result: random.pick(Fetch.Result.allCases) ?? .objects, properties: string(), distinct: bool(),
            groupBy: string(), after: bytes(), explain: bool(), at: maybe { $0.integer() })),
        .commit(transaction()), .undo(undo()),
        .subscribe(
          Subscribe(
            entity: number(), predicate: string(), wholeObjects: bool(), replaces: unsigned(),
            since: maybe { $0.token() }, window: maybe { $0.window() })),
        .moveWindow(query: unsigned(), offset: unsigned(), limit: unsigned()),
        .unsubscribe(query: unsigned()), .more(of: unsigned()), .cancel(of: unsigned()),
        .log(log()), .status, .ping,
        .close(code: string(), message: string()), .presence(bytes()),
        .undoState(scope: maybe { $0.key() }),
        .batchRows(BatchRows(id: transactionID(), rows: list { $0.list { $0.value() } })), .batch(batch()),
        .revisionAt(integer()), .exportGraph, .importGraph(ImportRequest(id: transactionID(), rows: unsigned())),
        .browserLogin(user: string()),
      ] + aboutHistory()
    return bodies.map { ToServer(unsigned(), $0) }
  }

  private mutating func window() -> Subscribe.Window {
    Subscribe.Window(sort: string(), offset: unsigned(), limit: unsigned())
  }

  private mutating func undo() -> UndoRequest {
    UndoRequest(
      transactionID(), revision: maybe { $0.integer() }.flatMap { $0 == 0 ? nil : $0 }, scope: maybe { $0.key() },
      redo: bool())
  }

  mutating func undoGroup() -> UndoGroup { UndoGroup(scope: key(), group: unsigned(), name: string()) }

  private mutating func undoStep() -> UndoStep {
    UndoStep(
      group: maybe { $0.undoGroup() }, oldest: integer(), newest: integer(), count: Int(unsigned() % 1_000))
  }

  private mutating func batch() -> BatchRequest {
    let operation: BatchRequest.Operation =
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        .update(
          predicate: string(),
          list { BatchRequest.Assignment($0.number(), $0.bool() ? .value($0.value()) : .expression($0.string())) })
      case 1: .delete(predicate: string())
      default: .insert(properties: list { $0.number() }, rows: unsigned())
      }
    return BatchRequest(
      id: transactionID(), policy: random.pick(MergePolicy.allCases) ?? .error, entity: number(),
      operation: operation)
  }

  // MARK: - From the server

  /// One of each kind.
  mutating func toClient() -> [ToClient] {
    let bodies: [ToClient.Body] =
      [
        .welcome(welcome()),
        .refused(
          Refusal(
            random.pick(Refusal.Code.allCases) ?? .limit, string(), conflicts: list { $0.conflict() },
            violations: list { $0.violation() }, isOutcomeUnknown: bool())),
        .model(source: string(), hash: ModelHash(bytes: key().bytes) ?? model.hash),
        .chunk(
          Chunk(
            objects: list { $0.object() }, rows: list { generator in generator.list { $0.value() } },
            columns: list { RowColumn(name: $0.string(), type: $0.string()) },
            end: maybe { ($0.token(), $0.unsigned()) }, next: bytes(), explanation: maybe { $0.explanation() },
            total: maybe { $0.unsigned() }, damage: damage())),
        .committed(
          CommitResult(
            revision: integer(), fingerprint: unsigned(),
            identities: list { .init(temporary: $0.id(), permanent: $0.id()) },
            conflicts: list { $0.conflict() }), objects: list { $0.object() }, isComplete: bool(),
          deleted: list { $0.id() }),
        .subscribed(query: unsigned(), resumed: bool(), known: bool()), .unsubscribed(query: unsigned()),
        .delta(delta()),
        .advance(revision: integer(), fingerprint: unsigned()), .reset(query: unsigned(), reason: string()),
        .log(list { $0.entry() }, last: bool(), damage: damage()), .status(status()), .pong(token()),
        .close(code: string(), message: string()),
        .presence(session: unsigned(), author: string(), state: bytes(), left: bool()),
        .undoState(UndoState(undo: maybe { $0.undoStep() }, redo: maybe { $0.undoStep() })),
        .progress(BatchProgress(done: count(), total: count(), changed: count())),
        .revisionAt(RevisionAtTime(revision: integer(), time: integer(), author: string(), head: token())),
        .exportHead(ExportHead(at: token(), objects: unsigned())),
        .windowMoved(
          WindowMoved(
            query: unsigned(), rows: list { $0.id() }, objects: list { $0.object() }, total: unsigned(), at: token())),
        .browserCode(BrowserCode(code: string(), url: string(), milliseconds: unsigned())),
        .rights(list { $0.grant() }),
      ] + fromHistory()
    return bodies.map { ToClient(unsigned(), $0) }
  }

  mutating func damage() -> DamageNotice {
    DamageNotice(objects: list { $0.id() }, commits: list { $0.integer() })
  }

  private mutating func explanation() -> FetchExplanation {
    FetchExplanation(
      statements: list { $0.string() }, arguments: list { $0.string() }, plan: list { $0.string() },
      indexes: list { $0.string() }, checksInMemory: bool(), microseconds: integer(),
      count: Int(clamping: unsigned()), advice: list { $0.string() })
  }

  private mutating func grant() -> Welcome.GrantEntry {
    Welcome.GrantEntry(role: string(), scope: maybe { $0.key() })
  }

  private mutating func welcome() -> Welcome {
    var welcome = Welcome(
      model: model, head: token(), session: unsigned(), server: string(), resumed: bool(), maximumFrameSize: 0,
      heartbeatMilliseconds: 0, principal: "ann", role: .editor)
    welcome.protocolVersion = number()
    welcome.model = ModelHash(bytes: key().bytes) ?? model.hash
    welcome.entities = list {
      Welcome.EntityEntry(
        number: $0.number(), name: $0.string(),
        properties: $0.list {
          Welcome.PropertyEntry(number: $0.number(), name: $0.string(), type: $0.string(), isStored: $0.bool())
        })
    }
    welcome.maximumFrameSize = unsigned()
    welcome.heartbeatMilliseconds = unsigned()
    welcome.lastSequence = unsigned()
    (welcome.author, welcome.principal, welcome.role) = (string(), string(), string())
    welcome.grants = list { $0.grant() }
    welcome.rules = unsigned()
    return welcome
  }

  private mutating func delta() -> Delta {
    var delta = Delta()
    delta.query = unsigned()
    delta.revision = integer()
    delta.time = integer()
    delta.author = string()
    delta.fingerprint = unsigned()
    delta.changes = list { $0.change() }
    delta.total = maybe { $0.unsigned() }
    return delta
  }

  private mutating func change() -> Delta.Change {
    let image = maybe { $0.object() }
    return Delta.Change(
      kind: random.pick([.inserted, .updated, .removed]) ?? .inserted, id: image?.id ?? id(), object: image,
      previous: integer(), edits: list { $0.edit() }, deleted: bool(), place: maybe { $0.unsigned() })
  }

  mutating func entry() -> CommitEntry {
    var entry = CommitEntry()
    entry.revision = integer()
    entry.time = integer()
    entry.author = string()
    entry.transaction = transactionID()
    entry.undoes = maybe { $0.integer() }.flatMap { $0 == 0 ? nil : $0 }
    entry.redoes = maybe { $0.integer() }.flatMap { $0 == 0 ? nil : $0 }
    entry.undo = maybe { $0.undoGroup() }
    entry.changes = list { $0.change() }
    entry.fingerprint = unsigned()
    entry.unlisted = unsigned()
    entry.more = unsigned()
    return entry
  }

  private mutating func status() -> ServerStatus {
    var status = ServerStatus()
    status.server = string()
    status.location = string()
    status.size = unsigned()
    status.head = token()
    status.sessions = unsigned()
    status.registrations = unsigned()
    status.counters = list { .init(property: $0.number(), next: $0.integer()) }
    status.process = unsigned()
    status.oldest = integer()
    status.failure = string()
    status.commitLogSize = unsigned()
    status.exposures = list { $0.string() }
    status.web = string()
    return status
  }
}
