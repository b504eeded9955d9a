import GraphModel
import GraphWire

/// The client half of a session, pure: the mirror of `Hub`. It sends the hello, keeps saves until they are answered,
/// follows queries across reconnects, and publishes a revision only when all of it has arrived.
///
/// Events in, actions out; the owner provides the socket, the clock and the screen.
package struct Replica: Sendable {
  /// The state of the connection.
  enum State {
    case disconnected
    /// The hello was sent.
    case handshaking
    /// The server has accepted the hello, and the queries have not reached its head of that time.
    case resuming(CatchUp)
    case live

    /// Whether the server has accepted the hello.
    var isWelcomed: Bool { phase == .welcomed }

    var phase: ConnectionTimer.Phase {
      switch self {
      case .disconnected: .disconnected
      case .handshaking: .handshaking
      case .resuming, .live: .welcomed
      }
    }
  }

  /// The way of a new connection's queries to the server's head.
  ///
  /// Until they have reached it nothing is committed, because saves refer to the objects of the queries, and because a
  /// store that was restored meanwhile must be detected first.
  struct CatchUp {
    /// The revision of the welcome's head.
    let head: Revision
    /// Whether the store turned out to have another past.
    var hasDiverged = false
  }

  /// Names this client to the server: half of the key of each of its transactions. A copy takes a new one.
  package var id: UniqueID { identity.id }
  var identity: ReplicaIdentity
  /// The author of its commits in history.
  package let author: String
  let program: String
  /// The secret in the next hello; empty for none.
  private var credential = ""
  /// The model of the context that owns the replica.
  var schema: Model?
  private(set) var model: ModelHash?

  var state = State.disconnected
  /// The store of the last welcome.
  private(set) var store = UniqueID.zero
  var timer = ConnectionTimer()
  var openRequests = OpenRequests()
  /// Saves that the server has not answered, oldest first.
  var pending = [PendingSave]()
  /// Batches and imports that were requested while this side caught up, each after so many of the waiting saves.
  private var heldRequests = [(request: RequestID, body: ToServer.Body, saves: Int)]()
  /// The newest rows that were sent for a batch which has not been requested. The server keeps them after its answer.
  private var unusedRows: (request: RequestID, number: UInt64)?
  var queries = [QueryID: FollowedQuery]()
  /// The query of each number of the server's.
  var numbers = [UInt64: QueryID]()
  var subscriptions = SubscriptionQueue()
  /// Deltas that wait for the advance that completes their revision.
  var staged = [Delta]()
  /// An advance that arrived before all subscriptions were answered.
  var deferredAdvance: (revision: Revision, fingerprint: UInt64)?
  /// The newest published revision; no query publishes an older one.
  var publishedRevision: Revision = 0
  var resume = ResumeValidation()

  struct PendingSave {
    enum Kind {
      case transaction(Transaction)
      case undo(UndoRequest)
      case restore(RestoreRequest)
    }

    var kind: Kind
    /// The id under which it was sent, on this connection or an earlier one, and so may have been committed.
    var sentID: TransactionID?
    /// Whether it was made in a past that the store does not have.
    var isOutdated = false

    var wasSent: Bool { sentID != nil }

    /// The owner's id.
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
  ///   - lastSequence: the highest sequence number that was sent under the id; 0 for a new replica.
  ///   - model: nil accepts any model of the server.
  package init(
    id: UniqueID, author: String, program: String = "", model: ModelHash?, lastSequence: UInt64 = 0
  ) {
    identity = ReplicaIdentity(id: id, lastSequence: lastSequence)
    self.author = author
    self.program = program
    self.model = model
  }

  /// Fixes the model for later hellos of a replica that accepted the server's model. After a reconnect another model
  /// is refused instead of being mistaken for this one.
  package mutating func adopt(_ model: ModelHash) { self.model = model }

  /// The transactions that the server has not answered.
  package var pendingTransactions: [TransactionID] { pending.map(\.id) }

  /// Handles one event and appends the resulting actions, in order.
  package mutating func handle(_ event: ReplicaEvent, into actions: inout [ReplicaAction]) {
    switch event {
    case .connected: sendHello(&actions)
    case .received(let message): receive(message, &actions)
    case .disconnected: disconnect(&actions)
    case .save(let transaction): enqueue(.transaction(transaction), &actions)
    case .undo(let undo): enqueue(.undo(undo), &actions)
    case .restore(let restore): enqueue(.restore(restore), &actions)
    case .subscribe(let query, let subscribe, let most):
      assert(queries[query] == nil, "the number of a query is used once: \(query)")
      queries[query] = FollowedQuery(subscribe, maximumCount: most)
      if state.isWelcomed { self.subscribe(query, &actions) }
    case .unsubscribe(let query): unsubscribe(query, &actions)
    case .moveWindow(let query, let offset, let limit): moveWindow(query, offset, limit, &actions)
    case .request(let request, let body): sendRequest(body, as: request, &actions)
    case .more(let request):
      if let number = openRequests.number(of: request) { send(.more(of: number), for: .unanswered, &actions) }
    case .cancel(let request): cancel(request, &actions)
    case .presence(let presence):
      if state.isWelcomed { send(.presence(presence), for: .unanswered, &actions) }
    case .renew(let id): renew(id, &actions)
    case .credential(let credential): self.credential = credential
    case .tick(let milliseconds): tick(milliseconds, &actions)
    }
    if case .resuming(let catchUp) = state { finishResuming(to: catchUp.head, &actions) }
    if case .copied = identity.phase { requestNewID(&actions) }
  }

  /// Handles one event and returns the resulting actions, in order.
  package mutating func handle(_ event: ReplicaEvent) -> [ReplicaAction] {
    var actions = [ReplicaAction]()
    handle(event, into: &actions)
    return actions
  }

  // MARK: - Sending

  mutating func send(_ body: ToServer.Body, for purpose: OpenRequests.Purpose, _ actions: inout [ReplicaAction]) {
    if case .unanswered = purpose {
    } else {
      timer.recordRequest()
    }
    actions.append(.send(ToServer(openRequests.add(purpose), body)))
  }

  private mutating func enqueue(_ kind: PendingSave.Kind, _ actions: inout [ReplicaAction]) {
    var save = PendingSave(kind: kind)
    if case .resuming(let catchUp) = state { save.isOutdated = catchUp.hasDiverged }
    pending.append(save)
    if case .live = state, identity.phase == .unique { submit(save, &actions) }
  }

  /// Sends pending saves once the queries have reached the server's head at the time of the welcome. Each keeps its
  /// id, so that a transaction whose answer was lost is committed once.
  private mutating func finishResuming(to head: Revision, _ actions: inout [ReplicaAction]) {
    let haveCaughtUp =
      subscriptions.areAnswered
      && queries.values.allSatisfy { followed in followed.token.map { $0.revision >= head } == true }
    if !haveCaughtUp { return }
    state = .live
    for (index, save) in pending.enumerated() {
      sendHeldRequests(behind: index, &actions)
      guard save.isOutdated else {
        if identity.phase == .unique || save.wasSent { submit(save, &actions) }
        continue
      }
      pending.removeAll { $0.id == save.id }
      switch save.kind {
      case .transaction(let transaction): actions.append(.outdated(transaction))
      // In the present store, the step or the revision may be a different one.
      case .undo, .restore: actions.append(.saved(save.id, .failure(save.wasSent ? Self.forgotten : Self.otherPast)))
      }
    }
    sendHeldRequests(behind: .max, &actions)
  }

  /// Sends the requests that were held back, in their original order among the saves.
  private mutating func sendHeldRequests(behind saves: Int, _ actions: inout [ReplicaAction]) {
    while let held = heldRequests.first, held.saves <= saves {
      heldRequests.removeFirst()
      sendRequest(held.body, as: held.request, &actions)
    }
  }

  static let otherPast = Refusal(
    .unavailable, "the store was restored to an earlier state meanwhile: check its current state, and try again")

  private static let forgotten = Refusal(
    .unavailable,
    "its answer was lost, and the history of the store has changed: the log shows whether it was done")

  private mutating func submit(_ save: PendingSave, _ actions: inout [ReplicaAction]) {
    let id = save.sentID ?? identity.wireID(save.id)
    if let index = pending.firstIndex(where: { $0.id == save.id }) { pending[index].sentID = id }
    identity.recordSent(id)
    switch save.kind {
    case .transaction(var transaction):
      transaction.id = id
      send(.commit(transaction), for: .save(save.id), &actions)
    case .undo(var undo):
      undo.id = id
      send(.undo(undo), for: .save(save.id), &actions)
    case .restore(var restore):
      restore.id = id
      send(.restore(restore), for: .save(save.id), &actions)
    }
  }

  /// The refusal of a query whose result has more objects than its owner accepts.
  package static func tooMany(_ most: Int) -> Refusal {
    Refusal(
      .limit,
      "the query has more than \(most) objects, the requested maximum: narrow it, or follow a window of it")
  }

  /// Sends a request of the owner.
  private mutating func sendRequest(_ body: ToServer.Body, as request: RequestID, _ actions: inout [ReplicaAction]) {
    guard state.isWelcomed else {
      actions.append(.refused(request, Refusal(.unavailable, "there is no connection to the server")))
      return
    }
    if let batch = body.batchID, !identity.maySend(batch: batch) {
      actions.append(.refused(request, Self.copied))
      return
    }
    switch body {
    case .batch, .importGraph:
      unusedRows = nil
      // The request depends on the saves before it, which are sent when the queries have caught up.
      if case .resuming = state, !pending.isEmpty {
        heldRequests.append((request, body, pending.count))
      } else {
        sendBatch(body, as: request, &actions)
      }
    case .hello, .commit, .undo, .restore, .subscribe, .moveWindow, .unsubscribe, .more, .cancel, .ping, .close,
      .presence:
      preconditionFailure("only the replica itself sends this message: \(body)")
    case .batchRows(var rows):
      rows.id = identity.wireID(ofBatch: rows.id)
      send(.batchRows(rows), for: .request(request), &actions)
      unusedRows = openRequests.number(of: request).map { (request, $0) }
    default: send(body, for: .request(request), &actions)
    }
  }

  /// Cancels a request of the owner. It may have been answered.
  private mutating func cancel(_ request: RequestID, _ actions: inout [ReplicaAction]) {
    if let index = heldRequests.firstIndex(where: { $0.request == request }) {
      heldRequests.remove(at: index)
      return actions.append(.refused(request, Refusal(.cancelled, "the request was cancelled")))
    }
    let unused = unusedRows.flatMap { $0.request == request ? $0.number : nil }
    if let number = openRequests.number(of: request) ?? unused {
      if unused != nil { unusedRows = nil }
      send(.cancel(of: number), for: .unanswered, &actions)
      if case .batch? = openRequests.purpose(of: number) { return }
      // The server answers once more; parts of the reply may be on their way, too.
      openRequests.close(number, of: request)
    }
  }

  // MARK: - Connection

  private mutating func sendHello(_ actions: inout [ReplicaAction]) {
    disconnect(&actions)
    openRequests.restartNumbers()
    state = .handshaking
    timer.startHandshake()
    send(
      .hello(
        Hello(
          model: model, replica: id, author: author, program: program,
          token: newestOfQueries, credential: credential)),
      for: .hello, &actions)
  }

  var newestOfQueries: Token? { queries.values.compactMap(\.token).max { $0.revision < $1.revision } }

  /// The error of a reply of another kind than its request's.
  package static let unexpectedReply = Refusal(.malformed, "the server's reply is of another kind than the request")

  /// The refusal of a request whose answer was lost with the connection.
  package static let lostConnection = Refusal(.unavailable, "the connection was lost")

  private mutating func disconnect(_ actions: inout [ReplicaAction]) {
    state = .disconnected
    identity.disconnect()
    if timer.endSilence() { actions.append(.silence(false)) }
    let requests = openRequests.removeAll()
    (numbers, staged, deferredAdvance, unusedRows) = ([:], [], nil, nil)
    subscriptions = SubscriptionQueue()
    resume.disconnect()
    let published = publishedRevision
    queries.modifyAll { followed in
      followed.resetAfterDisconnect()
      followed.requireReload(behind: published)
    }
    // A transaction is kept and sent again; repeating a request is up to the owner.
    for request in requests { actions.append(.refused(request, Self.lostConnection)) }
    for held in heldRequests { actions.append(.refused(held.request, Self.lostConnection)) }
    heldRequests = []
  }

  mutating func receiveWelcome(_ welcome: Welcome, _ actions: inout [ReplicaAction]) {
    assert(state.phase == .handshaking, "a welcome answers the hello")
    state = .resuming(CatchUp(head: welcome.head.revision))
    timer.setHeartbeat(milliseconds: welcome.heartbeatMilliseconds)
    identity.connect(known: welcome.lastSequence)
    store = welcome.head.store
    actions.append(.welcomed(welcome))
    // Must come first: the server answers it before it commits a save.
    beginResumeValidation(welcome.head, &actions)
    for query in queries.keys.sorted() { subscribe(query, &actions) }
    if queries.isEmpty, subscriptions.areAnswered { finishResumeValidation(&actions) }
  }
}
