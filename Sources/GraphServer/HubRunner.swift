import Foundation
import GraphHub
import GraphModel
import GraphWire
import Logging
import NIOCore

/// Performs the hub's actions. Only this class connects the hub, which has no I/O, with sockets and threads.
///
/// `@unchecked Sendable`: mutable state is used on `loop` only, and other threads enter through `submit`. Reader
/// threads use `reads`, `limits` and `collectedMemory`, which are constants of Sendable types. All connections are on
/// that loop, so the hub needs neither a lock nor a mailbox.
///
/// Exclusivity checks are disabled for the properties that each commit changes: only the loop uses them, the hub is
/// pure and never calls back, and a collection is copied before its elements are passed on. The checks cost a fiftieth
/// of a small commit's time on the loop.
final class HubRunner: @unchecked Sendable {
  let loop: any EventLoop
  @exclusivity(unchecked) private var hub: Hub
  let reads: StoreReadRunner
  private let writer: WriterThread
  private var fastPath = SingleClientFastPath()
  /// The threads for the reads of sessions.
  let readers: ReadExecutor
  /// The thread for the hub's own reads, which are short and never wait for the reads of sessions.
  let internalReaders: ReaderPool
  let spoolDirectory: String
  let limits: HubLimits
  let conditions: ServingConditions
  private let log: Logger
  @exclusivity(unchecked) private var connections = [SessionID: any HubConnection]()
  @exclusivity(unchecked) private var turn = Turn()
  /// The number of commits that the writer's thread has, or whose results the hub has not handled yet.
  @exclusivity(unchecked) private var pendingResults = 0
  var streams = [StoreRequestID: ReadStream]()
  /// Objects of orders that the hub has not received yet.
  var slices = [StoreRequestID: OrderTransfer]()
  let collectedMemory: OrderMemoryLimiter
  private let spoolMeter: SpoolMeter
  /// Rows of batches that have not been requested yet, and of those to be committed next.
  private var spools = [StoreRequestID: RowSpool]()
  /// Batches that the writer's thread is running or has queued.
  private var batches = [StoreRequestID: BatchTask]()
  private var lastSession: SessionID = 0
  private var reports = Reports()
  var accounts = Accounts()
  /// Tests that wait for the end of all work.
  @exclusivity(unchecked) var idleWaiters = [EventLoopPromise<ServerProbe.WorkInProgress>]()
  private let finished: EventLoopPromise<Void>

  /// The work for the end of a turn of the loop.
  private struct Turn {
    /// Connections with frames to flush.
    var dirty = [any HubConnection]()
    /// Bytes written to sockets and not yet reported to the hub.
    var drained = [(SessionID, Int)]()
    /// Commits received in this turn. They are passed to the writer together, so that they share one disk sync and one
    /// delta for each watcher.
    var commits = [(StoreRequestID, WriteRequest)]()
    /// The hub's actions of the last event, kept for their capacity; empty while `dispatch` uses them.
    var actions = [HubAction]()

    var isEmpty: Bool { commits.isEmpty && dirty.isEmpty && drained.isEmpty }
  }

  /// The recent log lines, so that a client that retries does not fill the log.
  private struct Reports {
    var limiter = LogRateLimiter(clock: { Int64(NIODeadline.now().uptimeNanoseconds) })
    /// Failed batches since the last successful one.
    var refusedBatches = 0
  }

  init(
    loop: any EventLoop, hub: Hub, store: any GraphStoring, writer: WriterThread, readers: ReadExecutor,
    internalReaders: ReaderPool, spoolDirectory: String, limits: HubLimits, conditions: ServingConditions, log: Logger
  ) {
    self.loop = loop
    self.hub = hub
    reads = StoreReadRunner(store: store, searchLimit: .milliseconds(limits.searchMilliseconds))
    self.writer = writer
    self.readers = readers
    self.internalReaders = internalReaders
    collectedMemory = OrderMemoryLimiter(limit: limits.orderBytes)
    spoolMeter = SpoolMeter(limit: limits.user.spooledBytes)
    self.spoolDirectory = spoolDirectory
    self.limits = limits
    self.conditions = conditions
    self.log = log
    finished = loop.makePromise()
  }

  /// Completes when every session has ended after `.shutdown`.
  var whenFinished: EventLoopFuture<Void> { finished.futureResult }

  /// Submits an event from any thread.
  func submit(_ event: HubEvent) {
    loop.execute {
      switch event {
      case .committed(let results):
        self.pendingResults -= results.count
        for (ticket, _) in results { self.batches[ticket] = nil }
      case .commitFailed(let tickets, _):
        self.pendingResults -= tickets.count
        for ticket in tickets { self.batches[ticket] = nil }
      default: break
      }
      assert(self.pendingResults >= 0, "each request of the writer is answered once")
      self.process(event)
    }
  }

  /// Handles an event, performs the hub's actions and flushes every socket once.
  func process(_ event: HubEvent) {
    loop.preconditionInEventLoop()
    dispatch(event)
    flush()
  }

  // MARK: - Connections

  /// Whether another connection may be accepted.
  /// - Parameter handshakes: the connections that are not registered yet.
  func hasRoom(besides handshakes: Int) -> Bool { connections.count + handshakes < conditions.maximumConnections }

  /// Registers a connection of a peer; nil when the maximum number of connections is reached.
  func open(_ connection: any HubConnection, of peer: Peer) -> SessionID? {
    loop.assertInEventLoop()
    guard connections.count < conditions.maximumConnections else {
      if let omitted = reports.limiter.omitted(before: "connections") {
        let maximum = conditions.maximumConnections
        log.warning(
          "a connection was refused",
          metadata: ["maximum": "\(maximum)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
      }
      return nil
    }
    lastSession += 1
    connections[lastSession] = connection
    dispatch(.opened(lastSession, of: peer))
    return lastSession
  }

  /// Handles a message of a connection; the caller flushes after its last message.
  func receive(_ message: ToServer, from id: SessionID) {
    loop.assertInEventLoop()
    hub.time = GraphServer.now()
    dispatch(.received(message, from: id))
  }

  /// Handles a part of a message; the caller flushes after its last message.
  func receivePart(_ bytes: Int, from id: SessionID) { dispatch(.receivedPart(bytes: bytes, from: id)) }

  func closed(_ id: SessionID) {
    connections[id] = nil
    process(.closed(id))
  }

  func flush() {
    loop.assertInEventLoop()
    // Each of these steps may cause more of the others.
    while !turn.isEmpty {
      writeCommits()
      let ready = turn.dirty
      turn.dirty.removeAll(keepingCapacity: true)
      for connection in ready { connection.flush() }
      let left = turn.drained
      turn.drained.removeAll(keepingCapacity: true)
      for (id, bytes) in left { dispatch(.drained(id, bytes: bytes)) }
    }
  }

  private func writeCommits() {
    if turn.commits.isEmpty { return }
    let requests = turn.commits
    turn.commits.removeAll(keepingCapacity: true)
    if let result = writer.write(requests, isFree: pendingResults == 0, &fastPath) {
      dispatch(result)
    } else {
      pendingResults += requests.count
    }
  }

  /// Whether the writer's thread has work, or its results have not been handled yet.
  var isCommitting: Bool { pendingResults > 0 }

  /// Runs `work` on the writer's thread between two commits; meanwhile no commit runs on the loop.
  /// - Parameter then: called on the loop with the result.
  func betweenCommits<Value: Sendable>(
    _ work: @escaping @Sendable () -> Value, then: @escaping @Sendable (Value) -> Void
  ) {
    loop.preconditionInEventLoop()
    pendingResults += 1
    writer.betweenCommits { [self] in
      let value = work()
      loop.execute {
        self.pendingResults -= 1
        then(value)
      }
    }
  }

  /// Records that these bytes were written to a session's socket; the flush reports them to the hub.
  func drained(_ id: SessionID, bytes: Int) { turn.drained.append((id, bytes)) }

  // MARK: - Actions

  /// The largest number of actions for which `dispatch` keeps the memory.
  private static let keptActions = 1_024

  private func dispatch(_ event: HubEvent) {
    if case .commitFailed(_, let failure) = event {
      report(failure)
    } else if case .committed = event {
      reportRecovery()
    }
    // An action may lead to another event, which then uses an array of its own.
    var actions = [HubAction]()
    swap(&actions, &turn.actions)
    hub.handle(event, into: &actions)
    for action in actions { perform(action) }
    if !idleWaiters.isEmpty { resumeIdleWaiters() }
    if actions.capacity > Self.keptActions { return }
    actions.removeAll(keepingCapacity: true)
    swap(&actions, &turn.actions)
  }

  /// Logs one line at once, then at most one in ten seconds, because many clients may retry.
  private func report(_ failure: StoreFailure) {
    reports.refusedBatches += 1
    if let omitted = reports.limiter.omitted(before: failure.code.rawValue) {
      log.critical(
        "the store refuses commits",
        metadata: ["failure": "\(failure)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
    }
  }

  private func reportRecovery() {
    if reports.refusedBatches == 0 { return }
    // This line is limited as well, because a store can alternate between failure and success.
    if let omitted = reports.limiter.omitted(before: "recovery") {
      log.notice(
        "the store accepts commits again",
        metadata: ["refused": "\(reports.refusedBatches)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 }
      )
    }
    reports.refusedBatches = 0
  }

  func reportErasure(_ error: any Error) {
    if let omitted = reports.limiter.omitted(before: "erasure") {
      log.error(
        "erased names are still in the store; it is tried again",
        metadata: ["failure": "\(error)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
    }
  }

  private func perform(_ action: HubAction) {
    switch action {
    case .send(let frame, let id): write(ByteBuffer(bytes: frame), to: id)
    case .broadcast(let frame, let ids):
      let buffer = ByteBuffer(bytes: frame)
      for id in ids { write(buffer, to: id) }
    case .commit(let ticket, .batch(let run)): turn.commits.append((ticket, .batch(supervised(run, ticket))))
    case .commit(let ticket, let request): turn.commits.append((ticket, request))
    case .keepRows(let ticket, let rows, let request): keepRows(rows, ticket, request)
    case .dropRows(let ticket): spools[ticket] = nil
    case .assignRows(let rows, let ticket): spools[ticket] = spools.removeValue(forKey: rows)
    case .cancelBatch(let ticket): batches[ticket]?.cancel()
    case .read(let ticket, let request, let session, let number): read(ticket, request, session, number)
    case .collect(let ticket, let fetch, let visibility, let session): collect(ticket, fetch, visibility, session)
    case .continueRead(let ticket): continueRead(ticket)
    case .cancelRead(let ticket):
      streams.removeValue(forKey: ticket)?.cancel()
      readers.cancel(ticket)
      if let rest = slices.removeValue(forKey: ticket) { free { rest.free() } }
    case .continueOrder(let ticket): inNextTurn { $0.process(.continueOrder(ticket)) }
    case .discard(let rows): discard(rows)
    case .history(let ticket, let after, let through):
      internalReaders.enqueue { [self] in
        submit(.history(ticket, reads.history(after: after, through: through, limits: limits)))
      }
    case .watch(let query, let number, let visibility):
      reads.store.watch(query, number: number, seenBy: visibility)
    case .unwatch(let number): reads.store.unwatch(number)
    case .recordReferences(let isWanted): reads.store.recordReferences(isWanted)
    case .authenticate(let credential, let id): authenticate(credential, id)
    case .recordAccess(let principal, let generation, let revision):
      internalReaders.enqueue { [authenticator = accounts.authenticator] in
        authenticator?.record(generation: generation, of: principal, at: revision)
      }
    case .findReplica(let replica, let id):
      internalReaders.enqueue { [self] in submit(.foundReplica(reads.known(replica), session: id)) }
    case .recognize(let ticket, let token):
      internalReaders.enqueue { [self] in
        submit(.recognized(ticket, reads.recognizes(token)))
      }
    case .findHead: internalReaders.enqueue { [self] in submit(.foundHead(try? reads.store.head)) }
    case .statistics(let ticket):
      internalReaders.enqueue { [self, web = accounts.webAddress] in submit(.statistics(ticket, status(web))) }
    case .makeBrowserCode(let ticket, let user): makeCode(for: user, ticket)
    case .pauseReading(let id): connections[id]?.setReading(false)
    case .resumeReading(let id): connections[id]?.setReading(true)
    case .close(let id): connections[id]?.close()
    case .audit(let event, let id): audit(event, from: address(of: id))
    case .report(let failure, let id):
      log.critical(
        "an invariant is broken: the session ends",
        metadata: [
          "invariant": "\(failure.name)", "session": "\(id)",
          "principal": "\(hub.principal(of: id)?.id ?? "none")",
        ])
    case .finished: finished.succeed()
    }
  }

  private func write(_ buffer: ByteBuffer, to id: SessionID) {
    // The connection may have closed in this turn.
    guard let connection = connections[id] else { return }
    if connection.write(buffer) { turn.dirty.append(connection) }
  }

  // MARK: - Batches

  private func keepRows(_ rows: [[Value]], _ ticket: StoreRequestID, _ request: UInt64) {
    let spool =
      spools[ticket]
      ?? RowSpool(
        directory: spoolDirectory, maximumBytes: limits.rowBytes,
        allowance: hub.user(ofRows: ticket).map { SpoolAllowance(spoolMeter, user: $0) })
    spools[ticket] = spool
    let number = spool.reserve(rows: rows.count)
    internalReaders.enqueue { [self] in submit(.rowsKept(ticket, request: request, spool.write(rows, at: number))) }
  }

  private func supervised(_ run: BatchJob, _ ticket: StoreRequestID) -> BatchJob {
    let task = BatchTask(searchLimit: reads.searchLimit) { [self] progress in submit(.batchProgress(ticket, progress)) }
    batches[ticket] = task
    var run = run
    run.rows = spools.removeValue(forKey: ticket)
    run.progress = { try task.progressed($0) }
    run.selectionRefusal = { task.selectionRefusal(found: $0, at: .now) }
    return run
  }

  private func read(_ ticket: StoreRequestID, _ request: ReadRequest, _ session: SessionID, _ number: UInt64) {
    let user = hub.user(of: session)
    let stream = ReadStream(directory: spoolDirectory, spool: user.map { (spoolMeter, $0) }) { [self] output in
      loop.execute { self.forward(output, ticket, session) }
    }
    streams[ticket] = stream
    let reads = reads(of: user)
    readers.enqueue(ticket, of: session, user: user, isLong: !request.canRunShort) { shortRead in
      if let shortRead, request.canRunShort { return reads.runShort(request, number, into: stream, shortRead) }
      reads.run(request, number, into: stream)
      return .answered
    }
  }

  /// The runner of a user's reads; without a user, of the machine's owner.
  func reads(of user: String?) -> StoreReadRunner {
    if user == nil { return reads }
    var reads = reads
    reads.budget = ReadBudget(limits.user)
    return reads
  }

  private func forward(_ output: ReadStream.Output, _ ticket: StoreRequestID, _ session: SessionID) {
    // A cancelled read has no stream.
    guard streams[ticket] != nil else { return }
    switch output {
    case .frame(let frame):
      // Not counted in the hub's backlog: at most a window of frames is sent ahead of the client.
      connections[session]?.writeUncounted(ByteBuffer(bytes: frame))
      flush()
    case .finished(let result):
      streams[ticket] = nil
      process(.readFinished(ticket, result))
    }
  }

  private func continueRead(_ ticket: StoreRequestID) {
    // The read may have ended meanwhile.
    guard let stream = streams[ticket] else { return }
    if stream.usesFile {
      internalReaders.enqueue { stream.more() }
    } else {
      stream.more()
    }
  }

  /// Cancels the remaining work and closes the remaining sessions.
  func cancelRemaining() {
    for (_, batch) in batches { batch.cancel() }
    for (_, stream) in streams { stream.cancel() }
    for (_, connection) in connections.sorted(by: { $0.key < $1.key }) { connection.close() }
    finished.succeed()
  }

  /// The work in progress for sessions.
  var workInProgress: ServerProbe.WorkInProgress {
    loop.assertInEventLoop()
    return ServerProbe.WorkInProgress(
      registrations: hub.counts.registrations, openReads: hub.openReads, streams: streams.count,
      scheduledReads: readers.scheduledReads, keptRows: spools.count, batches: batches.count)
  }

  func tick() {
    process(.tick(Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)))
    checkTokens()
    // Twice a second, because a session must end within a second after its token, and the check takes time, too.
    loop.scheduleTask(in: .milliseconds(500)) { self.checkTokens() }
  }

  /// The user for whom a session is counted; nil for the machine's owner.
  func user(of id: SessionID) -> String? { hub.user(of: id) }

  /// The tokens that sessions use, with the generations of their rights, and whether a network client acts without one.
  var tokensInUse: (tokens: [UInt64: Int64], includeNone: Bool) { (hub.tokensInUse, hub.hasSessionsWithoutToken) }

  /// The network address of a session's client; `local` for one on a Unix-domain socket.
  func address(of id: SessionID) -> String { connections[id]?.address ?? "local" }

  /// Logs a refused login, at most one line in ten seconds.
  func reportLogin(_ refusal: Refusal, _ address: String) {
    if let omitted = reports.limiter.omitted(before: "logins") {
      log.notice(
        "a login was refused",
        metadata: ["address": "\(address)", "reason": "\(refusal.message)"].merging(
          omitted > 0 ? ["omitted": "\(omitted)"] : [:]
        ) { $1 })
    }
  }
}
