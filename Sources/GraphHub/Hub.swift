import GraphModel
import GraphWire

/// The server half of a session, without I/O: each session's view of the graph.
///
/// The hub receives events and returns actions. It never waits, reads a clock or uses a socket, so that a simulation
/// can run a thousand clients, crashes and network partitions in one thread, from one seed.
///
/// The hub does not resolve conflicts: it passes transactions to the store and receives commit records. From a record
/// alone, it finds the live queries that changed, encodes each distinct delta once and sends it to the query's readers.
/// The reply to the author comes last. A session whose backlog is full lags: its deltas are dropped, and it catches up
/// from the ring of recent commits or from history. A session that has just loaded a query, or that resumes one,
/// catches up in the same way.
///
/// The hub coordinates parts that own their state. Only the hub ends sessions and passes data between the parts.
public struct Hub {
  let limits: HubLimits
  /// A session with rights resumes no state up to this revision, because that state may have been read under other
  /// rules of the model.
  let accessRulesSince: Revision
  let handshake: Handshake
  var resolver: RequestResolver
  var sender: SessionSender
  /// The newest commit that the hub has processed.
  var head: Token
  var ring: CommitRing
  var queries: QueryTable
  var orders = SortedResultTable()
  var sessions = [SessionID: Session]()
  var unfinished: UnfinishedFrames
  var commits: CommitsInFlight
  var requests = StoreRequestTable()
  var stagedRows = StagedRowTable()
  var followers: FollowerTable
  var presence = PresenceTable()
  var replicaOwners = ReplicaOwners()
  var unknownOutcomes = UnknownOutcomes()
  var users: UserTable
  /// The newest generation of rights with which each principal has logged in.
  var generations = [String: Int64]()
  var now: Int64 = 0
  var isShuttingDown = false
  /// Whether some session's first result is ahead of the hub.
  var hasPendingAdvances = false
  /// Test only: a planted bug that the simulation must catch.
  package var forgetsRemovals = false

  /// Creates a hub without sessions.
  /// - Parameters:
  ///   - older: earlier versions of the model; their clients are served through lenses where these exist.
  ///   - head: the state of the store when the hub starts.
  ///   - authenticates: whether credentials are verified; without it, a client of the network is one of the owner.
  ///   - accessRulesSince: the head when the present rules about what users see were first served.
  public init(
    model: Model, older: [Model] = [], head: Token, server: String = "", limits: HubLimits = HubLimits(),
    authenticates: Bool = false, accessRulesSince: Revision = 0
  ) {
    assert(accessRulesSince <= head.revision, "rules are served from a commit on that exists")
    self.head = head
    self.accessRulesSince = accessRulesSince
    self.limits = limits
    handshake = Handshake(model: model, older: older, server: server, limits: limits, authenticates: authenticates)
    resolver = RequestResolver(model: model, limits: limits)
    sender = SessionSender(limits: limits)
    unfinished = UnfinishedFrames(limits: limits)
    commits = CommitsInFlight(limits: limits)
    followers = FollowerTable(limits: limits)
    users = UserTable(limits: limits)
    ring = CommitRing(maximumSize: limits.ringBytes, maximumCount: limits.ringCommits)
    queries = QueryTable(model: model, commitSteps: limits.commitSteps)
  }

  /// Handles one event and appends the resulting actions in order.
  public mutating func handle(_ event: HubEvent, into actions: inout [HubAction]) {
    // A connection may close while its last bytes are still being handled, and an answer of the store may arrive after
    // its session has ended.
    switch event {
    case .opened(let id, let peer): open(id, peer, &actions)
    case .received(let message, let id): if let session = sessions[id] { receive(message, session, &actions) }
    case .malformed(let reason, let id):
      if let session = sessions[id] { end(session, Refusal(.malformed, reason), &actions) }
    case .receivedPart(let bytes, let id): if let session = sessions[id] { receivePart(bytes, of: session, &actions) }
    case .drained(let id, let bytes): if let session = sessions[id] { drain(session, bytes, &actions) }
    case .closed(let id): if let session = sessions[id] { remove(session, &actions) }
    case .committed(let results): publish(results, &actions)
    case .commitFailed(let tickets, let failure): fail(tickets, failure, &actions)
    case .batchProgress(let ticket, let progress): batchProgressed(ticket, progress, &actions)
    case .rowsKept(let ticket, let request, let result):
      if let session = requests.session(ofRows: ticket) { rowsKept(ticket, session, request, result, &actions) }
    case .readFinished(let ticket, let result): finishRead(ticket, result, &actions)
    case .collected(let ticket, let objects):
      if let order = requests.order(ticket) { collected(order, objects, &actions) }
    case .collectFinished(let ticket, let result, let damage):
      if let order = requests.order(ticket) { finishCollecting(order, ticket, result, damage, &actions) }
    case .continueOrder(let ticket): if let order = requests.order(ticket) { continueOrder(order, ticket, &actions) }
    case .history(let ticket, let result):
      if let session = requests.removeHistory(ticket) { replayHistory(ticket, session, result, &actions) }
    case .authenticated(let result, let id):
      if let session = sessions[id] { finishAuthenticating(session, result, &actions) }
    case .tokensEnded(let refusals): endTokens(refusals, &actions)
    case .tokenRequired(let refusal): endSessionsWithoutToken(refusal, &actions)
    case .rightsChanged(let changed): changeRights(changed, &actions)
    case .foundReplica(let result, let id):
      if let session = sessions[id] { welcome(session, result, &actions) }
      replicaOwners.endLookup()
    case .recognized(let ticket, let isKnown):
      if let (session, query) = requests.removeRecognition(ticket) {
        finishRecognizing(ticket, query, session, isKnown, &actions)
      }
    case .foundHead(let state): foundHead(state, &actions)
    case .statistics(let ticket, let status):
      if let (session, request) = requests.removeStatistics(ticket) { sendStatus(status, session, request, &actions) }
    case .browserCode(let ticket, let result):
      if let (session, request) = requests.removeBrowserCode(ticket) { sendCode(result, session, request, &actions) }
    case .tick(let milliseconds): tick(milliseconds, &actions)
    case .shutdown: shutDown(&actions)
    }
    sendWatches(&actions)
  }

  /// Sends the writer the key-path queries to watch and to stop watching.
  mutating func sendWatches(_ actions: inout [HubAction]) { actions += queries.removePendingWatches() }

  /// Handles one event and returns the resulting actions in order.
  public mutating func handle(_ event: HubEvent) -> [HubAction] {
    var actions = [HubAction]()
    handle(event, into: &actions)
    return actions
  }

  /// The time of day, set by the runner before each message: the value of `now()` in that message's predicates.
  public var time: Timestamp {
    get { resolver.time }
    set { resolver.time = newValue }
  }

  /// The numbers of sessions and of registered live queries; tests check that both return to zero.
  public var counts: (sessions: Int, registrations: Int) { (sessions.count, queries.registrations) }

  /// The principal of a session; nil before its hello is accepted, and for a session that has ended.
  public func principal(of session: SessionID) -> Principal? { sessions[session]?.principal }

  /// The id of the user for whom a session is counted; nil for the machine's owner, and before the hello is accepted.
  public func user(of session: SessionID) -> String? { sessions[session]?.user?.id }

  /// The user whose rows are kept under an id; nil for the machine's owner, and for rows that were dropped.
  public func user(ofRows ticket: StoreRequestID) -> String? { requests.session(ofRows: ticket)?.user?.id }

  /// Whether any user has an open session; tests check that it is false at the end.
  package var hasUsers: Bool { !users.isEmpty }

  /// The numbers of the tokens that sessions use, with the generation of the rights. Of several sessions the oldest
  /// generation is used, so that a change reaches all of them.
  public var tokensInUse: [UInt64: Int64] {
    sessions.values.reduce(into: [:]) { tokens, session in
      if let token = session.token {
        tokens[token] = min(session.access.generation, tokens[token, default: session.access.generation])
      }
    }
  }

  /// Whether a commit may exist that the hub does not know; the next tick looks for it.
  package var mayLackCommit: Bool { unknownOutcomes.isPossible }

  /// Whether a client of the network acts without a token, as is allowed until there is a user.
  public var hasSessionsWithoutToken: Bool { sessions.values.contains(where: \.actsWithoutToken) }

  /// The number of reads of the store that are not answered; tests check that it returns to zero.
  package var openReads: Int { requests.readCount }

  // MARK: - Opening and closing

  private mutating func open(_ id: SessionID, _ peer: Peer, _ actions: inout [HubAction]) {
    assert(sessions[id] == nil, "the ids of sessions are never reused")
    let session = Session(id, peer, lastActivity: now, guaranteedBacklog: limits.guaranteedBacklog)
    sessions[id] = session
    if isShuttingDown { end(session, Refusal(.unavailable, "the server is shutting down"), &actions) }
  }

  /// Sends the session the reason and closes it.
  mutating func end(_ session: Session, _ refusal: Refusal, _ actions: inout [HubAction]) {
    if case .closing = session.phase { return }
    session.phase = .closing
    let shown = session.rights == nil ? refusal : refusal.withoutPaths
    sender.send(ToClient(0, .close(code: shown.code.rawValue, message: shown.message)), to: session, &actions)
    release(session, &actions)
    actions.append(.close(session.id))
  }

  /// Releases everything that the session registered.
  mutating func release(_ session: Session, _ actions: inout [HubAction]) {
    unfinished.discard(of: session)
    for number in session.readers.keys.sorted() { unregister(number, session, &actions) }
    for (request, ticket) in session.reads.sorted(by: { $0.key < $1.key }) {
      session.endRead(request)
      requests.remove(ticket)
      actions.append(.cancelRead(ticket))
    }
    stagedRows.drop(of: session, &requests, &actions)
    for ticket in session.batches.sorted() { actions.append(.cancelBatch(ticket)) }
    cancelHistory(of: session)
    session.readers = [:]
    session.replay = []
    session.waiting = []
    session.pendingAdvance = nil
    followers.remove(session)
    if session.isBound {
      replicaOwners.release(session.replica, of: session.id, commits: session.commitsInFlight)
    }
    session.isBound = false
    presence.remove(session, &sender, &actions)
    executeHeld(of: session.user, &actions)
  }

  private mutating func remove(_ session: Session, _ actions: inout [HubAction]) {
    session.phase = .closing
    release(session, &actions)
    sessions[session.id] = nil
    sender.remove(session)
    let user = session.user
    users.remove(session)
    executeHeld(of: user, &actions)
    finishShutdown(&actions)
  }

  private mutating func drain(_ session: Session, _ bytes: Int, _ actions: inout [HubAction]) {
    sender.drain(bytes, of: session)
    session.lastActivity = now
    if session.isBehind { pump(session, &actions) }
    serveWindows(session, &actions)
    if session.isPaused { resumeReading(session, &actions) }
  }

  /// Resumes reading from a paused session when its backlog and its commits are below their limits.
  mutating func resumeReading(_ session: Session, _ actions: inout [HubAction]) {
    if session.isPaused, sender.isDrained(session), !commits.haveReachedLimit(of: session) {
      session.isPaused = false
      session.lastActivity = now
      unfinished.restart(of: session, at: now)
      actions.append(.resumeReading(session.id))
    }
  }

  private mutating func receivePart(_ bytes: Int, of session: Session, _ actions: inout [HubAction]) {
    // A session that ended in this turn may have received more before its connection noticed.
    if case .closing = session.phase { return }
    unfinished.receive(bytes, of: session, at: now)
    while let id = unfinished.sessionToEnd { end(incomplete(id), unfinished.memoryRefusal, &actions) }
  }

  /// A session with an incomplete frame.
  private func incomplete(_ id: SessionID) -> Session {
    guard let session = sessions[id] else { preconditionFailure("the frame of a session is discarded at its end") }
    return session
  }

  private mutating func tick(_ milliseconds: Int64, _ actions: inout [HubAction]) {
    // The first tick only sets the clock.
    if now == 0 { for session in sessions.values { session.lastActivity = milliseconds } }
    now = milliseconds
    for session in sessions.values.inOrder() {
      let silence = now - session.lastActivity
      switch session.phase {
      case .awaitingHello where silence > limits.helloMilliseconds:
        end(session, Refusal(.malformed, "no hello arrived within \(limits.helloMilliseconds) ms"), &actions)
      // A client that reads the server's bytes is not silent.
      case .open where silence > limits.silenceMilliseconds:
        end(session, Refusal(.unavailable, "the client was silent for \(limits.silenceMilliseconds) ms"), &actions)
      default: break
      }
    }
    for session in unfinished.sessions.map(incomplete) {
      if let refusal = unfinished.overdueRefusal(of: session, at: now) { end(session, refusal, &actions) }
    }
    removeIdleOrders(&actions)
    if unknownOutcomes.beginSearch() { actions.append(.findHead) }
    users.beginSecond()
    presence.publishPostponed(&sender, &actions)
  }

  // MARK: - Shutting down

  private mutating func shutDown(_ actions: inout [HubAction]) {
    isShuttingDown = true
    finishShutdown(&actions)
    for session in sessions.values.inOrder() where session.commitsInFlight == 0 {
      end(session, Refusal(.unavailable, "the server is shutting down"), &actions)
    }
  }

  /// Reports the end of a shutdown, once all sessions have ended and all commits in flight are answered.
  mutating func finishShutdown(_ actions: inout [HubAction]) {
    if isShuttingDown, sessions.isEmpty, commits.isEmpty { actions.append(.finished) }
  }
}
