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
  var waitingForHead = false
  /// Test only: a planted bug that the simulation must catch.
  public var forgetsRemovals = false

  enum PendingRequest {
    case read(SessionID, request: UInt64)
    case load(SessionID, query: UInt64)
    case history(SessionID)
    case recognize(SessionID, query: UInt64)
    case statistics(SessionID, request: UInt64)
    case rows(SessionID)
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
    switch event {
    case .opened(let id): open(id, &actions)
    case .received(let message, let id): receive(message, id, &actions)
    case .malformed(let reason, let id): end(id, Refusal(.malformed, reason), &actions)
    case .receivedPart(let bytes, let id): receivePart(bytes, of: id, &actions)
    case .drained(let id, let bytes): drain(id, bytes, &actions)
    case .closed(let id): forget(id, &actions)
    case .committed(let results): deliver(results, &actions)
    case .commitFailed(let tickets, let failure): fail(tickets, failure, &actions)
    case .batchProgress(let ticket, let progress): batchProgressed(ticket, progress, &actions)
    case .rowsKept(let ticket, let request, let result): rowsKept(ticket, request, result, &actions)
    case .readFinished(let ticket, let result): finishRead(ticket, result, &actions)
    case .collected(let ticket, let images): collected(ticket, images, &actions)
    case .collectFinished(let ticket, let result): finishCollecting(ticket, result, &actions)
    case .continueOrder(let ticket): continueOrder(ticket, &actions)
    case .history(let ticket, let result): takeHistory(ticket, result, &actions)
    case .recognized(let ticket, let isKnown): takeRecognition(ticket, isKnown, &actions)
    case .statistics(let ticket, let status): answerStatus(ticket, status, &actions)
    case .tick(let milliseconds): tick(milliseconds, &actions)
    case .shutdown: shutDown(&actions)
    }
    tellWriter(&actions)
  }

  /// Sends the writer the key-path queries that it is to watch or to stop watching.
  mutating func tellWriter(_ actions: inout [HubAction]) { actions += queries.takeWatches() }

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

  mutating func send(_ message: ToClient, to id: SessionID, _ actions: inout [HubAction]) {
    send(frame: Frame.encode(sessions[id]?.lens?.downgraded(message) ?? message), to: id, &actions)
  }

  mutating func send(frame: [UInt8], to id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    session.backlog += frame.count
    totalBacklog += frame.count
    actions.append(.send(frame, to: id))
    // A client that does not read its answers may not send further requests.
    if session.backlog > limits.sessionBacklog, !session.isPaused {
      session.isPaused = true
      actions.append(.pauseReading(id))
    }
  }

  func answer(_ refusal: Refusal, _ request: UInt64) -> ToClient { ToClient(request, .refused(refusal)) }

  /// Whether this number of bytes fits into the session's backlog.
  func hasRoom(_ session: Session, for bytes: Int) -> Bool {
    if session.backlog + bytes > limits.sessionBacklog { return false }
    return totalBacklog + bytes <= limits.totalBacklog || session.backlog + bytes <= limits.fairShare
  }

  // MARK: - Opening and closing

  private mutating func open(_ id: SessionID, _ actions: inout [HubAction]) {
    sessions[id] = Session(lastHeard: now)
    if isShuttingDown { end(id, Refusal(.unavailable, "the server is shutting down"), &actions) }
  }

  /// Sends the session the reason and closes it.
  mutating func end(_ id: SessionID, _ refusal: Refusal, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    if case .closing = session.phase { return }
    sessions[id]?.phase = .closing
    send(ToClient(0, .close(code: refusal.code.rawValue, message: refusal.message)), to: id, &actions)
    release(id, &actions)
    actions.append(.close(id))
  }

  /// Releases everything that the session registered.
  mutating func release(_ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    forgetPart(of: session)
    for number in session.readers.keys.sorted() { unregister(number, id, &actions) }
    for (_, ticket) in session.reads.sorted(by: { $0.key < $1.key }) {
      tickets[ticket] = nil
      actions.append(.cancelRead(ticket))
    }
    releaseBatches(of: id, &actions)
    sessions[id]?.readers = [:]
    sessions[id]?.reads = [:]
    sessions[id]?.replay = []
    sessions[id]?.waiting = []
    sessions[id]?.followers = [:]
    if session.hasPresence {
      sessions[id]?.hasPresence = false
      forwardPresence([], of: id, left: true, &actions)
    }
  }

  private mutating func forget(_ id: SessionID, _ actions: inout [HubAction]) {
    release(id, &actions)
    if let session = sessions.removeValue(forKey: id) { totalBacklog -= session.backlog }
    finishShutdown(&actions)
  }

  private mutating func drain(_ id: SessionID, _ bytes: Int, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    let drained = min(bytes, session.backlog)
    session.backlog -= drained
    session.lastHeard = now
    totalBacklog -= drained
    if session.isBehind { pump(id, &actions) }
    serveWindows(id, &actions)
    if session.isPaused { resumeReading(id, &actions) }
  }

  /// Resumes reading from a paused session when its backlog and its commits are below their limits.
  mutating func resumeReading(_ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id], session.isPaused, session.backlog <= limits.resumeBacklog,
      !hasTooManyCommits(session)
    else { return }
    session.isPaused = false
    session.lastHeard = now
    // A paused session could not complete its frame.
    session.unfinished?.since = now
    actions.append(.resumeReading(id))
  }

  private mutating func tick(_ milliseconds: Int64, _ actions: inout [HubAction]) {
    // The first tick only sets the clock.
    if now == 0 { for id in sessions.keys { sessions[id]?.lastHeard = milliseconds } }
    now = milliseconds
    for (id, session) in sessions.sorted(by: { $0.key < $1.key }) {
      let silence = now - session.lastHeard
      switch session.phase {
      case .awaitingHello where silence > limits.helloMilliseconds:
        end(id, Refusal(.malformed, "no hello arrived within \(limits.helloMilliseconds) ms"), &actions)
      // Reading what the server sent counts as a sign of life.
      case .open where silence > limits.silenceMilliseconds:
        end(id, Refusal(.unavailable, "the client was silent for \(limits.silenceMilliseconds) ms"), &actions)
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
    for id in sessions.keys.sorted() where sessions[id]?.commitsInFlight == 0 {
      end(id, Refusal(.unavailable, "the server is shutting down"), &actions)
    }
  }

  /// Reports the end of a shutdown, once all sessions have ended and all commits in flight are answered.
  mutating func finishShutdown(_ actions: inout [HubAction]) {
    guard isShuttingDown, sessions.isEmpty, commits.isEmpty else { return }
    actions.append(.finished)
  }
}
