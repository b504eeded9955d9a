import GraphModel
import GraphWire

/// The client half of a session, pure: the mirror of `Hub`. It sends the hello, keeps saves until they are answered,
/// follows queries across reconnects, and publishes a revision only when all of it has arrived.
///
/// Events in, actions out; the owner provides the socket, the clock and the screen.
public struct Replica: Sendable {
  /// The phase of the connection.
  enum Phase {
    case disconnected
    case awaitingWelcome
    case live
  }

  /// Names this client to the server: half of the key of each of its transactions.
  public let id: UniqueID
  /// The author of its commits in history.
  public let author: String
  let program: String
  /// The model of the context that owns the replica.
  var schema: Model?
  private(set) var model: ModelHash?

  var phase = Phase.disconnected
  /// The server's store.
  var store = UniqueID.zero
  var lastRequest: UInt64 = 0
  /// Saves that the server has not answered, oldest first.
  var pending = [PendingSave]()
  /// The purpose of each open request of this connection.
  var asked = [UInt64: PendingRequest]()
  var questions = [RequestID: UInt64]()
  var queries = [QueryID: FollowedQuery]()
  var numbers = [UInt64: QueryID]()
  /// Moved windows of a revision that is not complete yet, with the number that each had before.
  var moves = [QueryID: (moved: WindowMoved, before: UInt64)]()
  /// Deltas that wait for the advance that completes their revision.
  var staged = [Delta]()
  /// The number of subscriptions that the server has not answered. Until it is 0 nothing is published: a query that
  /// resumes may still deliver its part of a revision that the others have.
  var subscribing = 0
  /// Subscriptions of these that have not been sent yet.
  var unsent = [QueryID]()
  /// Questions that were asked while this side caught up, each after so many of the waiting saves.
  private var heldQuestions = [(request: RequestID, question: ReplicaRequest, saves: Int)]()
  /// The newest published revision; no query publishes an older one.
  var shownRevision: Revision = 0
  /// An advance that arrived before all subscriptions were answered.
  var heldAdvance: (revision: Revision, fingerprint: UInt64)?
  /// The newest state that this connection's server has confirmed to know, and the newest denied. Both are states of
  /// this side. States follow from each other: a server that knows a newer one has had the older, even if that was
  /// pruned since.
  var provenRevision: Revision = 0
  var doubtedRevision: Revision = 0
  /// The newest state of which anything is held, and whether the store has confirmed it.
  var newest = ResumeState.proven(nil)
  var lastHeard: Int64 = 0
  /// When the last request that has an answer was sent; other messages cause no reply.
  var lastAsked: Int64 = 0
  /// The revision of the welcome's head, until the queries have reached it; then nil.
  ///
  /// Until then nothing is committed: saves refer to what the queries deliver, their answers arrive last, and a store
  /// that was restored meanwhile is detected.
  var catchingUpTo: Revision?
  /// Whether the store turned out to have another past while this side catches up.
  var hasDiverged = false
  var owed = ReplyTimer.nothing
  /// Whether the owner was notified of a long silence.
  var isSilent = false
  /// The time of the last tick, in milliseconds.
  var now: Int64 = 0
  var heartbeat: Int64 = 15_000
  /// Whether the server of the last welcome supports each of these.
  var knowsUndoSteps = false
  var knowsBatches = false
  var knowsWindows = false
  var knowsPreconditions = false

  enum PendingRequest {
    case hello
    case save(TransactionID)
    case subscribe(QueryID)
    case moveWindow(QueryID)
    case question(RequestID)
    case batch(RequestID)
    /// Whether the store knows the state of the revision.
    case proof(Revision)
    case ping
    case other

    func isAbout(_ query: QueryID) -> Bool {
      switch self {
      case .subscribe(query), .moveWindow(query): true
      default: false
      }
    }
  }

  struct PendingSave {
    enum Kind {
      case transaction(Transaction)
      case undo(UndoRequest)
      case restore(RestoreRequest)
    }

    var kind: Kind
    /// Whether it was sent, on this connection or an earlier one, and so may have been committed.
    var hasLeft = false
    /// Whether it was made in a past that the store does not have.
    var isOutdated = false

    var id: TransactionID {
      switch kind {
      case .transaction(let transaction): transaction.id
      case .undo(let undo): undo.id
      case .restore(let restore): restore.id
      }
    }
  }

  /// A replica without a connection that follows nothing.
  /// - Parameters:
  ///   - id: random, and never used by another replica.
  ///   - model: nil accepts any model of the server.
  public init(id: UniqueID, author: String, program: String = "", model: ModelHash?) {
    self.id = id
    self.author = author
    self.program = program
    self.model = model
  }

  /// Fixes the model for later hellos of a replica that accepted the server's model. After a reconnect another model
  /// is refused instead of being mistaken for this one.
  public mutating func adopt(_ model: ModelHash) { self.model = model }

  /// How long a server may take to answer a hello.
  static let welcomeMilliseconds: Int64 = 10_000
  /// How long the server may owe an answer, and send nothing else, before the owner is notified.
  public static let silenceMilliseconds: Int64 = 5_000

  /// The transactions that the server has not answered.
  public var pendingTransactions: [TransactionID] { pending.map(\.id) }

  /// Handles one event and appends the resulting actions, in order.
  public mutating func handle(_ event: ReplicaEvent, into actions: inout [ReplicaAction]) {
    switch event {
    case .connected: sayHello(&actions)
    case .received(let message): receive(message, &actions)
    case .disconnected: disconnect(&actions)
    case .save(let transaction):
      keep(.transaction(transaction), &actions)
    case .undo(let undo): keep(.undo(undo), &actions)
    case .restore(let restore): keep(.restore(restore), &actions)
    case .subscribe(let query, let subscribe, let most):
      queries[query] = FollowedQuery(subscribe: subscribe, maximumCount: most)
      if case .live = phase { sendSubscribe(query, &actions) }
    case .unsubscribe(let query): unsubscribe(query, &actions)
    case .moveWindow(let query, let offset, let limit): moveWindow(query, offset, limit, &actions)
    case .ask(let request, let question): ask(request, question, &actions)
    case .more(let request):
      if let number = questions[request] { send(.more(of: number), for: .other, &actions) }
    case .presence(let state):
      if case .live = phase { send(.presence(state), for: .other, &actions) }
    case .tick(let milliseconds): tick(milliseconds, &actions)
    }
    if catchingUpTo != nil { endCatchingUp(&actions) }
  }

  /// Handles one event and returns the resulting actions, in order.
  public mutating func handle(_ event: ReplicaEvent) -> [ReplicaAction] {
    var actions = [ReplicaAction]()
    handle(event, into: &actions)
    return actions
  }

  // MARK: - Sending

  mutating func send(_ body: ToServer.Body, for purpose: PendingRequest, _ actions: inout [ReplicaAction]) {
    lastRequest += 1
    if case .other = purpose {
    } else {
      asked[lastRequest] = purpose
      if case .nothing = owed { owed = .sinceNextTick }
      lastAsked = now
    }
    actions.append(.send(ToServer(lastRequest, body)))
  }

  private mutating func keep(_ kind: PendingSave.Kind, _ actions: inout [ReplicaAction]) {
    let save = PendingSave(kind: kind, isOutdated: hasDiverged)
    pending.append(save)
    if case .live = phase, catchingUpTo == nil { send(save, &actions) }
  }

  /// Sends pending saves once the queries have reached the server's head at the time of the welcome. Each keeps its
  /// id, so that a transaction whose answer was lost is committed once.
  private mutating func endCatchingUp(_ actions: inout [ReplicaAction]) {
    guard case .live = phase, subscribing == 0, let head = catchingUpTo else { return }
    for followed in queries.values {
      guard followed.incoming == nil, let token = followed.token, token.revision >= head else { return }
    }
    (catchingUpTo, hasDiverged) = (nil, false)
    for (index, save) in pending.enumerated() {
      askHeld(behind: index, &actions)
      guard save.isOutdated else {
        send(save, &actions)
        continue
      }
      pending.removeAll { $0.id == save.id }
      switch save.kind {
      case .transaction(let transaction): actions.append(.outdated(transaction))
      // A step or a revision of the other past may be something else here.
      case .undo, .restore: actions.append(.saved(save.id, .failure(save.hasLeft ? Self.forgotten : Self.otherPast)))
      }
    }
    askHeld(behind: .max, &actions)
  }

  /// Asks the questions that were held back, in their original order among the saves.
  private mutating func askHeld(behind saves: Int, _ actions: inout [ReplicaAction]) {
    while let held = heldQuestions.first, held.saves <= saves {
      heldQuestions.removeFirst()
      ask(held.request, held.question, &actions)
    }
  }

  static let otherPast = Refusal(
    .unavailable, "the store was restored to an earlier state meanwhile: check its current state, and try again")

  private static let forgotten = Refusal(
    .unavailable,
    "the answer was lost, and the store no longer has the earlier results: check the log for the change")

  private mutating func send(_ save: PendingSave, _ actions: inout [ReplicaAction]) {
    if let index = pending.firstIndex(where: { $0.id == save.id }) { pending[index].hasLeft = true }
    switch save.kind {
    case .transaction(let transaction):
      // An older server would ignore the preconditions, and commit what must not be committed.
      guard knowsPreconditions || transaction.changes.allSatisfy({ $0.onlyIf == nil }) else {
        pending.removeAll { $0.id == transaction.id }
        return actions.append(.saved(transaction.id, .failure(Self.serverWithoutPreconditions)))
      }
      send(.commit(transaction, acknowledged: 0), for: .save(transaction.id), &actions)
    case .undo(let undo):
      // An older server would read a redo as an undo, and undo another step.
      guard knowsUndoSteps || (undo.scope == nil && !undo.redo) else {
        pending.removeAll { $0.id == undo.id }
        return actions.append(.saved(undo.id, .failure(Self.olderServer)))
      }
      send(.undo(undo), for: .save(undo.id), &actions)
    case .restore(let restore): send(.restore(restore), for: .save(restore.id), &actions)
    }
  }

  private static let olderServer = Refusal(
    .notAllowed, "the server is too old for redo and undo scopes: use programs of one release")
  private static let serverWithoutPreconditions = Refusal(
    .notAllowed, "the server is too old for preconditions of a save: use programs of one release")
  static let serverWithoutWindows = Refusal(
    .notAllowed,
    "the server is too old for windows of live queries: use programs of one release, or follow the whole query")
  /// The refusal of a query whose result has more objects than its owner accepts.
  public static func tooMany(_ most: Int) -> Refusal {
    Refusal(
      .limit,
      "the query has more than \(most) objects, the requested maximum: narrow it, or follow a window of it")
  }
  private static let serverWithoutBatches = Refusal(
    .notAllowed, "the server is too old for batches: use programs of one release, or save the changes in transactions")

  private mutating func ask(_ request: RequestID, _ question: ReplicaRequest, _ actions: inout [ReplicaAction]) {
    guard case .live = phase else {
      actions.append(.refused(request, Refusal(.unavailable, "there is no connection to the server")))
      return
    }
    var purpose = PendingRequest.question(request)
    switch question {
    case .batch, .importGraph:
      // It depends on the saves before it, which are sent when the queries have caught up.
      if catchingUpTo != nil, !pending.isEmpty {
        return heldQuestions.append((request, question, pending.count))
      }
      purpose = .batch(request)
    default: break
    }
    let body: ToServer.Body =
      switch question {
      case .fetch(let fetch): .fetch(fetch)
      case .log(let log): .log(log)
      case .status: .status
      case .model: .model
      case .undoState(let scope): .undoState(scope: scope)
      case .revisionAt(let time): .revisionAt(time)
      case .why(let object, let property): .why(object, property)
      case .changes(let changes): .changes(changes)
      case .batchRows(let rows): .batchRows(rows)
      case .batch(let batch): .batch(batch)
      case .exportGraph: .exportGraph
      case .importGraph(let request): .importGraph(request)
      }
    switch question {
    case .undoState where !knowsUndoSteps: return actions.append(.refused(request, Self.olderServer))
    // An older server would close the connection.
    case .batch where !knowsBatches, .batchRows where !knowsBatches:
      return actions.append(.refused(request, Self.serverWithoutBatches))
    default: break
    }
    send(body, for: purpose, &actions)
    questions[request] = lastRequest
  }

  // MARK: - Connection

  private mutating func sayHello(_ actions: inout [ReplicaAction]) {
    lastRequest = 0
    disconnect(&actions)
    phase = .awaitingWelcome
    lastHeard = now
    send(
      .hello(
        Hello(
          model: model, replica: id, author: author, program: program,
          token: newestOfQueries)),
      for: .hello, &actions)
  }

  var newestOfQueries: Token? { queries.values.compactMap(\.token).max { $0.revision < $1.revision } }

  /// The refusal of a question whose answer was lost with the connection.
  public static let lostConnection = Refusal(.unavailable, "the connection was lost")

  private mutating func disconnect(_ actions: inout [ReplicaAction]) {
    phase = .disconnected
    endSilence(&actions)
    asked = [:]
    numbers = [:]
    (staged, moves) = ([], [:])
    (subscribing, unsent, heldAdvance) = (0, [], nil)
    (catchingUpTo, hasDiverged) = (nil, false)
    (provenRevision, doubtedRevision) = (0, 0)
    newest.disconnect()
    for query in queries.keys.sorted() {
      queries[query]?.returnToHeld()
      queries[query]?.comeAnew(behind: shownRevision)
    }
    // A transaction is kept and sent again; repeating a question is up to the owner.
    for request in questions.keys.sorted() {
      actions.append(.refused(request, Self.lostConnection))
    }
    questions = [:]
    for held in heldQuestions { actions.append(.refused(held.request, Self.lostConnection)) }
    heldQuestions = []
  }

  mutating func welcome(_ welcome: Welcome, _ actions: inout [ReplicaAction]) {
    phase = .live
    heartbeat = Int64(clamping: min(max(welcome.heartbeatMilliseconds, 100), 600_000))
    store = welcome.head.store
    (knowsUndoSteps, knowsBatches) = (welcome.knowsUndoSteps, welcome.knowsBatches)
    (knowsWindows, knowsPreconditions) = (welcome.knowsWindows, welcome.knowsPreconditions)
    actions.append(.welcomed(welcome))
    // Must come first: the server answers it before it commits anything.
    askForProof(welcome.head, &actions)
    catchingUpTo = welcome.head.revision
    for query in queries.keys.sorted() { sendSubscribe(query, &actions) }
    if queries.isEmpty, subscribing == 0 { settleProof(&actions) }
  }
}
