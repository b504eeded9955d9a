import GraphModel
import GraphWire

/// The server half, pure: what every session believes. Events in, actions out; nothing here waits, reads a clock or
/// knows a socket, so one thread can run a thousand clients, a crash and a partition from one seed.
///
/// The hub resolves nothing: transactions go to the store and come back as commit records. From a record alone it
/// finds which live queries changed, encodes each distinct delta once, and sends it to that query's readers, the
/// author's reply last. A session that can't take more lags: its deltas are dropped, and it catches up from the ring
/// of recent commits or from history. A session that has just loaded a query, and one that resumes, read the same way.
public struct Hub {
  let model: Model
  let lenses: ModelLenses
  let limits: HubLimits
  let server: String
  /// The newest commit that sessions have been told of.
  var head: Token
  var ring: CommitRing
  var queries: QueryTable
  var orders = OrderTable()
  var sessions = [SessionID: Session]()
  var totalBacklog = 0
  /// Bytes of incomplete frames, of all sessions.
  var unfinishedBytes = 0
  /// Who asked for what; the answer finds its session here, unless that is gone.
  var commits = [Ticket: (session: SessionID, request: UInt64, bytes: Int)]()
  var totalCommitBytes = 0
  var tickets = [Ticket: Purpose]()
  var lastTicket: UInt64 = 0
  var now: Int64 = 0
  /// The time of day, as whoever runs the hub sets it before a message: what `now()` means in that message's query.
  public var time: Timestamp = 0
  var isShuttingDown = false
  /// Some session's first result is ahead of the hub.
  var waitingForHead = false
  /// Test only: plants a bug that the simulation must catch.
  public var forgetsRemovals = false

  enum Purpose {
    case read(SessionID, request: UInt64)
    case load(SessionID, query: UInt64)
    case history(SessionID)
    case recognize(SessionID, query: UInt64)
    case statistics(SessionID, request: UInt64)
    case rows(SessionID)
    case order(UInt64)
  }

  /// A hub without sessions, as far as a store is that has not been asked yet.
  /// - Parameter older: earlier versions of the model, whose clients work through lenses where there are any.
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

  /// Takes one event and appends what is to be done.
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

  /// Which queries the writer is to look after.
  mutating func tellWriter(_ actions: inout [HubAction]) { actions += queries.takeWatches() }

  /// Takes one event and returns what is to be done, in order.
  public mutating func handle(_ event: HubEvent) -> [HubAction] {
    var actions = [HubAction]()
    handle(event, into: &actions)
    return actions
  }

  /// Sessions and live queries that are registered; a test sees both at zero after its clients were killed.
  public var census: (sessions: Int, registrations: Int) { (sessions.count, queries.registrations) }

  mutating func ticket() -> Ticket {
    lastTicket += 1
    return Ticket(lastTicket)
  }

  // MARK: - Sending

  mutating func send(_ message: ToClient, to id: SessionID, _ actions: inout [HubAction]) {
    send(frame: Frame.encode(sessions[id]?.lens?.view(of: message) ?? message), to: id, &actions)
  }

  mutating func send(frame: [UInt8], to id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    session.backlog += frame.count
    totalBacklog += frame.count
    actions.append(.send(frame, to: id))
    // Whoever does not read its answers is asked no further questions.
    if session.backlog > limits.sessionBacklog, !session.isPaused {
      session.isPaused = true
      actions.append(.pauseReading(id))
    }
  }

  func answer(_ refusal: Refusal, _ request: UInt64) -> ToClient { ToClient(request, .refused(refusal)) }

  /// Whether so many more bytes may wait for the session.
  func hasRoom(_ session: Session, for bytes: Int) -> Bool {
    if session.backlog + bytes > limits.sessionBacklog { return false }
    return totalBacklog + bytes <= limits.totalBacklog || session.backlog + bytes <= limits.fairShare
  }

  // MARK: - Coming and going

  private mutating func open(_ id: SessionID, _ actions: inout [HubAction]) {
    sessions[id] = Session(lastHeard: now)
    if isShuttingDown { end(id, Refusal(.unavailable, "the server is shutting down"), &actions) }
  }

  /// Tells the session why, and closes it.
  mutating func end(_ id: SessionID, _ refusal: Refusal, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    if case .closing = session.phase { return }
    sessions[id]?.phase = .closing
    send(ToClient(0, .close(code: refusal.code.rawValue, message: refusal.message)), to: id, &actions)
    release(id, &actions)
    actions.append(.close(id))
  }

  /// Everything that the session registered goes.
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

  /// Reads on when the session takes its answers again and not too much of it waits.
  mutating func resumeReading(_ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id], session.isPaused, session.backlog <= limits.resumeBacklog,
      !hasTooManyCommits(session)
    else { return }
    session.isPaused = false
    session.lastHeard = now
    // While it was not read from, it could not complete its frame.
    session.unfinished?.since = now
    actions.append(.resumeReading(id))
  }

  private mutating func tick(_ milliseconds: Int64, _ actions: inout [HubAction]) {
    // The first tick only tells what time it is.
    if now == 0 { for id in sessions.keys { sessions[id]?.lastHeard = milliseconds } }
    now = milliseconds
    for (id, session) in sessions.sorted(by: { $0.key < $1.key }) {
      let silence = now - session.lastHeard
      switch session.phase {
      case .awaitingHello where silence > limits.helloMilliseconds:
        end(id, Refusal(.malformed, "no hello came within \(limits.helloMilliseconds) ms"), &actions)
      // Taking what was sent counts as a sign of life.
      case .open where silence > limits.silenceMilliseconds:
        end(id, Refusal(.unavailable, "nothing was heard for \(limits.silenceMilliseconds) ms"), &actions)
      default: break
      }
    }
    endOverdueFrames(&actions)
    removeIdleOrders(&actions)
  }

  // MARK: - The end

  private mutating func shutDown(_ actions: inout [HubAction]) {
    isShuttingDown = true
    finishShutdown(&actions)
    for id in sessions.keys.sorted() where sessions[id]?.commitsInFlight == 0 {
      end(id, Refusal(.unavailable, "the server is shutting down"), &actions)
    }
  }

  /// Sessions with commits in flight end when those are answered.
  mutating func finishShutdown(_ actions: inout [HubAction]) {
    guard isShuttingDown, sessions.isEmpty, commits.isEmpty else { return }
    actions.append(.finished)
  }
}
