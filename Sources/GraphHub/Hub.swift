import GraphModel
import GraphWire

/// The server half, pure: each session's view of the graph.
///
/// Events in, actions out. The hub never waits, reads a clock or touches a socket, so one thread can run a thousand
/// clients, a crash and a partition from one seed.
///
/// The hub resolves no conflicts: transactions go to the store and come back as commit records. From a record alone,
/// the hub finds which live queries changed, encodes each distinct delta once and sends it to the query's readers;
/// the author's reply comes last. A session whose backlog is full lags: its deltas are dropped, and it catches up
/// from the ring of recent commits or from history. A session that has just loaded a query, or that resumes one,
/// catches up in the same way.
public struct Hub {
  let model: Model
  let lenses: ModelLenses
  let limits: HubLimits
  let server: String
  /// The newest commit that the hub has processed.
  var head: Token
  var ring: CommitRing
  var queries: QueryTable
  var orders = SortedResultTable()
  var sessions = [SessionID: Session]()
  var totalBacklog = 0
  /// Bytes of incomplete frames of all sessions.
  var unfinishedBytes = 0
  /// The session and request of each commit in flight; kept after its session has ended.
  var commits = [StoreRequestID: (session: SessionID, request: UInt64, bytes: Int)]()
  var totalCommitBytes = 0
  var tickets = [StoreRequestID: PendingRequest]()
  var lastTicket: UInt64 = 0
  var now: Int64 = 0
  /// The time of day, set by the runner before each message: the value of `now()` in that message's predicates.
  public var time: Timestamp = 0
  var isShuttingDown = false
  /// Whether some session's first result is ahead of the hub.
  var hasPendingAdvances = false
  /// Test only: a planted bug that the simulation must catch.
  package var forgetsRemovals = false

  /// The receiver of an answer. The requests of a session are removed when it ends.
  enum PendingRequest {
    case read(Session, request: UInt64)
    case load(Session, query: UInt64)
    case history(Session)
    case recognize(Session, query: UInt64)
    case statistics(Session, request: UInt64)
    case rows(Session)
    case order(UInt64)
  }

  /// Creates a hub without sessions.
  /// - Parameters:
  ///   - older: earlier versions of the model; their clients are served through lenses where these exist.
  ///   - head: the state of the store when the hub starts.
  public init(
    model: Model, older: [Model] = [], head: Token, server: String = "", limits: HubLimits = HubLimits()
  ) {
    self.model = model
    lenses = ModelLenses(to: model, from: older)
    self.head = head
    self.server = server
    self.limits = limits
    ring = CommitRing(maximumSize: limits.ringBytes, maximumCount: limits.ringCommits)
    queries = QueryTable(model: model)
  }

  /// Handles one event and appends the resulting actions in order.
  public mutating func handle(_ event: HubEvent, into actions: inout [HubAction]) {
    // A connection may close while its last bytes are still handled.
    switch event {
    case .opened(let id): open(id, &actions)
    case .received(let message, let id): if let session = sessions[id] { receive(message, session, &actions) }
    case .malformed(let reason, let id):
      if let session = sessions[id] { end(session, Refusal(.malformed, reason), &actions) }
    case .receivedPart(let bytes, let id): if let session = sessions[id] { receivePart(bytes, of: session, &actions) }
    case .drained(let id, let bytes): if let session = sessions[id] { drain(session, bytes, &actions) }
    case .closed(let id): if let session = sessions[id] { remove(session, &actions) }
    case .committed(let results): publish(results, &actions)
    case .commitFailed(let tickets, let failure): fail(tickets, failure, &actions)
    case .batchProgress(let ticket, let progress): batchProgressed(ticket, progress, &actions)
    case .rowsKept(let ticket, let request, let result): rowsKept(ticket, request, result, &actions)
    case .readFinished(let ticket, let result): finishRead(ticket, result, &actions)
    case .collected(let ticket, let images): collected(ticket, images, &actions)
    case .collectFinished(let ticket, let result): finishCollecting(ticket, result, &actions)
    case .continueOrder(let ticket): continueOrder(ticket, &actions)
    case .history(let ticket, let result): replayHistory(ticket, result, &actions)
    case .recognized(let ticket, let isKnown): finishRecognizing(ticket, isKnown, &actions)
    case .statistics(let ticket, let status): sendStatus(ticket, status, &actions)
    case .tick(let milliseconds): tick(milliseconds, &actions)
    case .shutdown: shutDown(&actions)
    }
    sendWatches(&actions)
  }

  /// Sends the writer the key-path queries that it is to watch or to stop watching.
  mutating func sendWatches(_ actions: inout [HubAction]) { actions += queries.removePendingWatches() }

  /// Handles one event and returns the resulting actions in order.
  public mutating func handle(_ event: HubEvent) -> [HubAction] {
    var actions = [HubAction]()
    handle(event, into: &actions)
    return actions
  }

  /// The numbers of sessions and of registered live queries; tests check that both return to zero.
  public var census: (sessions: Int, registrations: Int) { (sessions.count, queries.registrations) }

  mutating func ticket() -> StoreRequestID {
    lastTicket += 1
    return StoreRequestID(lastTicket)
  }

  // MARK: - Sending

  mutating func send(_ message: ToClient, to session: Session, _ actions: inout [HubAction]) {
    sendFrame(Frame.encode(session.lens?.downgraded(message) ?? message), to: session, &actions)
  }

  mutating func sendFrame(_ frame: [UInt8], to session: Session, _ actions: inout [HubAction]) {
    session.backlog += frame.count
    totalBacklog += frame.count
    actions.append(.send(frame, to: session.id))
    // A client that does not read its answers may not send further requests.
    if session.backlog > limits.sessionBacklog, !session.isPaused {
      session.isPaused = true
      actions.append(.pauseReading(session.id))
    }
  }

  /// Answers a request with a refusal.
  mutating func refuse(
    _ request: UInt64, _ refusal: Refusal, _ session: Session, _ actions: inout [HubAction]
  ) {
    send(ToClient(request, .refused(refusal)), to: session, &actions)
  }

  /// Whether this number of bytes fits into the session's backlog.
  func fitsBacklog(_ session: Session, for bytes: Int) -> Bool {
    if session.backlog + bytes > limits.sessionBacklog { return false }
    return totalBacklog + bytes <= limits.totalBacklog || session.backlog + bytes <= limits.guaranteedBacklog
  }

  // MARK: - Opening and closing

  private mutating func open(_ id: SessionID, _ actions: inout [HubAction]) {
    assert(sessions[id] == nil, "the ids of sessions are never reused")
    let session = Session(id, lastActivity: now)
    sessions[id] = session
    if isShuttingDown { end(session, Refusal(.unavailable, "the server is shutting down"), &actions) }
  }

  /// Sends the session the reason and closes it.
  mutating func end(_ session: Session, _ refusal: Refusal, _ actions: inout [HubAction]) {
    if case .closing = session.phase { return }
    session.phase = .closing
    send(ToClient(0, .close(code: refusal.code.rawValue, message: refusal.message)), to: session, &actions)
    release(session, &actions)
    actions.append(.close(session.id))
  }

  /// Releases everything that the session registered.
  mutating func release(_ session: Session, _ actions: inout [HubAction]) {
    discardPart(of: session)
    for number in session.readers.keys.sorted() { unregister(number, session, &actions) }
    for (_, ticket) in session.reads.sorted(by: { $0.key < $1.key }) {
      tickets[ticket] = nil
      actions.append(.cancelRead(ticket))
    }
    releaseBatches(of: session, &actions)
    cancelHistory(of: session)
    session.readers = [:]
    session.reads = [:]
    session.replay = []
    session.waiting = []
    session.followers = [:]
    if session.hasPresence {
      session.hasPresence = false
      forwardPresence([], of: session, left: true, &actions)
    }
  }

  private mutating func remove(_ session: Session, _ actions: inout [HubAction]) {
    session.phase = .closing
    release(session, &actions)
    sessions[session.id] = nil
    totalBacklog -= session.backlog
    assert(totalBacklog >= 0 && unfinishedBytes >= 0, "a session has its share of the totals")
    finishShutdown(&actions)
  }

  private mutating func drain(_ session: Session, _ bytes: Int, _ actions: inout [HubAction]) {
    let drained = min(bytes, session.backlog)
    session.backlog -= drained
    session.lastActivity = now
    totalBacklog -= drained
    if session.isBehind { pump(session, &actions) }
    serveWindows(session, &actions)
    if session.isPaused { resumeReading(session, &actions) }
  }

  /// Resumes reading from a paused session when its backlog and its commits are below their limits.
  mutating func resumeReading(_ session: Session, _ actions: inout [HubAction]) {
    guard session.isPaused, session.backlog <= limits.resumeBacklog, !hasTooManyCommits(session) else { return }
    session.isPaused = false
    session.lastActivity = now
    // A paused session could not complete its frame.
    if let part = session.unfinished { session.unfinished = UnfinishedFrame(bytes: part.bytes, since: now) }
    actions.append(.resumeReading(session.id))
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
      // Reading what the server sent counts as a sign of life.
      case .open where silence > limits.silenceMilliseconds:
        end(session, Refusal(.unavailable, "the client was silent for \(limits.silenceMilliseconds) ms"), &actions)
      default: break
      }
    }
    endOverdueFrames(&actions)
    removeIdleOrders(&actions)
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
    guard isShuttingDown, sessions.isEmpty, commits.isEmpty else { return }
    actions.append(.finished)
  }
}
