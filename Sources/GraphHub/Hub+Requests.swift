// Tests: HubTests.swift, HelloTests.swift, CancellationTests.swift
import GraphModel
import GraphWire

/// Requests of clients: each message is checked against the session's state, then turned into an action or an answer.
extension Hub {
  mutating func receive(_ message: ToServer, _ session: Session, _ actions: inout [HubAction]) {
    session.lastActivity = now
    unfinished.discard(of: session)
    switch session.phase {
    case .closing: return
    case .awaitingHello:
      guard case .hello(let hello) = message.body else {
        return end(session, Refusal(.malformed, "the first message of a connection must be hello"), &actions)
      }
      return receive(hello, session, message.request, &actions)
    case .authenticating, .findingReplica: return receiveEarly(message, session, &actions)
    case .open: break
    }
    // Increasing numbers make every answer unambiguous.
    guard message.request > session.lastRequest else {
      return end(
        session, Refusal(.malformed, "request \(message.request) came after request \(session.lastRequest)"), &actions)
    }
    session.lastRequest = message.request
    var message = message
    do {
      // After this, all numbers and names are those of the server's model.
      if let lens = session.lens { message = try lens.upgraded(message) }
    } catch {
      return sender.refuse(message.request, error, session, &actions)
    }
    if let refusal = message.body.refusal(for: session.role) {
      return sender.refuse(message.request, refusal, session, &actions)
    }
    switch message.body {
    case .hello: end(session, Refusal(.malformed, "hello can be sent only once"), &actions)
    case .ping: sender.send(ToClient(message.request, .pong(position(of: session))), to: session, &actions)
    case .close: end(session, Refusal(.unavailable, "goodbye"), &actions)
    case .more(let request):
      if let ticket = session.reads[request] { actions.append(.continueRead(ticket)) }
    // Both are handled on arrival: the waiting requests may wait for the read that is ended, such as that of a query's
    // first result.
    case .cancel(let request): cancel(request, session, &actions)
    case .unsubscribe(let query):
      drop(session.presentNumber(of: query), session, &actions)
      sender.send(ToClient(message.request, .unsubscribed(query: query)), to: session, &actions)
      executeWaiting(session, &actions)
    case .presence(let state): presence.publish(state, of: session, message.request, &sender, &actions)
    // Rows are staged immediately, ahead of the waiting requests: the batch that needs them is requested later.
    case .batchRows(let rows): stage(rows, session, message.request, &actions)
    default:
      guard session.waiting.count < limits.waitingRequests else {
        let refusal = Refusal(.limit, "more than \(limits.waitingRequests) requests wait on this connection")
        return sender.refuse(message.request, refusal, session, &actions)
      }
      // Requests are performed in order.
      session.waiting.append(message)
      if case .commit(let transaction) = message.body { session.commitBytes += transaction.approximateSize }
      executeWaiting(session, &actions)
      if commits.haveReachedLimit(of: session) { sender.pause(session, &actions) }
    }
  }

  /// The token that a client may resume from: the head if the client has received everything up to it.
  private func position(of session: Session) -> Token {
    let isLive = session.readers.values.allSatisfy { if case .live = $0.state { true } else { false } }
    if case .current = session.progress, isLive, session.waiting.isEmpty { return head }
    return Token(store: head.store, revision: 0, fingerprint: 0)
  }

  /// Whether a request may be performed now: a fetch waits for earlier commits, and concurrent reads are limited.
  private func mayExecute(_ message: ToServer, _ session: Session) -> Bool {
    switch message.body {
    case .commit, .undo, .restore, .batch, .importGraph: true
    case let body:
      session.commitsInFlight == 0 && (!body.readsStore || mayRead(session))
    }
  }

  private func mayRead(_ session: Session) -> Bool {
    session.reads.count < limits.concurrentReads && session.user?.admitsRead(of: session) != false
  }

  /// Passes a write request to the writer.
  /// - Parameters:
  ///   - rows: the staged rows of a batch.
  ///   - bytes: the amount that `commitBytes` counts for this transaction.
  /// - Returns: nil when the request was refused.
  @discardableResult
  mutating func requestCommit(
    _ request: WriteRequest, rows: StoreRequestID? = nil, bytes: Int, _ session: Session, _ number: UInt64,
    _ actions: inout [HubAction]
  ) -> StoreRequestID? {
    if let refusal = refusal(of: request, session) {
      session.commitBytes -= bytes
      assert(session.commitBytes >= 0, "a transaction is counted on arrival")
      sender.refuse(number, refusal, session, &actions)
      return nil
    }
    let ticket = requests.issue()
    let changes = if case .transaction(let transaction, _, _) = request { transaction.changes } else { [Change]() }
    commits.add(ticket, of: session, number, changes: changes, bytes: bytes)
    if let rows { actions.append(.assignRows(rows, for: ticket)) }
    actions.append(.commit(ticket, request))
    return ticket
  }

  private func refusal(of request: WriteRequest, _ session: Session) -> Refusal? {
    if isShuttingDown { return Refusal(.unavailable, "the server is shutting down") }
    if let refusal = session.commitRefusal { return refusal }
    if case .transaction(let transaction, _, _) = request, transaction.changes.contains(where: { $0.kind == .revive }) {
      return Refusal(.notAllowed, "only the server can revive objects")
    }
    // The replica is half of the idempotency key: a client must not learn the outcomes of another's transactions.
    if request.id.replica != session.replica {
      return Refusal(.notAllowed, "the transaction's replica is not the replica of hello")
    }
    return nil
  }

  /// Performs the waiting requests, in order, as far as they may run now.
  mutating func executeWaiting(_ session: Session, _ actions: inout [HubAction]) {
    executeAllowed(session, &actions)
    executeHeld(of: session.user, &actions)
  }

  private mutating func executeAllowed(_ session: Session, _ actions: inout [HubAction]) {
    while session.isLive, let message = session.waiting.first, mayExecute(message, session) {
      session.waiting.removeFirst()
      execute(message, session, &actions)
    }
    resumeReading(session, &actions)
  }

  /// Continues with the sessions that waited for their user to be below a limit.
  mutating func executeHeld(of user: UserSessions?, _ actions: inout [HubAction]) {
    while let session = user?.nextHeld() {
      // A session that has ended meanwhile is ignored.
      if session.isLive { executeAllowed(session, &actions) }
    }
  }

  private mutating func execute(_ message: ToServer, _ session: Session, _ actions: inout [HubAction]) {
    do {
      switch message.body {
      case .commit(let transaction):
        requestCommit(
          .transaction(transaction, author: try author(of: session), rights: session.rights),
          bytes: transaction.approximateSize, session, message.request, &actions)
      case .undo(let undo):
        requestCommit(
          .undo(undo, author: try author(of: session), rights: session.rights), bytes: 0, session, message.request,
          &actions)
      case .restore(let restore):
        requestCommit(
          .restore(restore, author: try author(of: session), rights: session.rights), bytes: 0, session,
          message.request, &actions)
      case .batch(let request): try startBatch(request, session, message.request, &actions)
      case .importGraph(let request): try importGraph(request, session, message.request, &actions)
      case .model:
        sender.send(
          ToClient(message.request, .model(source: resolver.model.source, hash: resolver.model.hash)), to: session,
          &actions)
      case .fetch(let fetch):
        stream(.objects(try resolver.request(for: fetch)), session, message.request, &actions)
      case .log(var log):
        log.after = max(log.after, 0)
        log.limit = log.limit == 0 ? 1_000 : min(log.limit, 100_000)
        try read(.log(log), session, message.request, &actions)
      case .changes(.follow(let follow)): try self.follow(follow, session, message.request, &actions)
      case .status:
        let ticket = startRead(.statistics(session, request: message.request), session, message.request)
        actions.append(.statistics(ticket))
      case .browserLogin(let user): try requestCode(for: user, session, message.request, &actions)
      case .subscribe(let subscribe): try self.subscribe(subscribe, session, message.request, &actions)
      case .moveWindow(let query, let offset, let limit):
        try moveWindow(session.presentNumber(of: query), offset, limit, session, message.request, &actions)
      case .hello, .ping, .close, .more, .cancel, .unsubscribe, .presence, .batchRows:
        assertionFailure("this message is handled on arrival and never waits")
      default:
        try invariant(message.body.readsStore, "the other messages are answered by a reader of the store")
        try read(message.body, session, message.request, &actions)
      }
    } catch let refusal as Refusal {
      sender.refuse(message.request, refusal, session, &actions)
    } catch let failure as InvariantFailure {
      actions.append(.report(failure, session: session.id))
      end(session, Refusal(.unavailable, "\(failure)"), &actions)
    } catch {
      sender.refuse(message.request, Refusal(.malformed, "\(error)"), session, &actions)
    }
  }

  /// The principal of a session.
  /// - Throws: `InvariantFailure`: a session sends no requests before its hello was taken.
  func author(of session: Session) throws(InvariantFailure) -> Principal {
    try invariant(session.principal, "a session that sends requests has an author")
  }

  // MARK: - Batches

  private mutating func stage(
    _ rows: BatchRows, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) {
    do {
      try stagedRows.stage(rows, of: session, request, &requests, &actions)
    } catch {
      sender.refuse(request, error, session, &actions)
    }
  }

  mutating func rowsKept(
    _ ticket: StoreRequestID, _ session: Session, _ request: UInt64, _ result: Result<Int, Refusal>,
    _ actions: inout [HubAction]
  ) {
    switch result {
    case .success(let count):
      stagedRows.acknowledge(request, ticket, of: session)
      sender.send(ToClient(request, .progress(BatchProgress(done: count, total: 0, changed: 0))), to: session, &actions)
    case .failure(let refusal):
      stagedRows.drop(of: session, &requests, &actions)
      sender.refuse(request, refusal, session, &actions)
    }
  }

  private mutating func startBatch(
    _ request: BatchRequest, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    var rows: StoreRequestID?
    if case .insert(_, let count) = request.operation { rows = try stagedRows.ticket(of: request.id, count, session) }
    try start(try resolver.batch(request), rows, session, number, &actions)
  }

  /// Imports a whole graph as a batch.
  private mutating func importGraph(
    _ request: ImportRequest, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let rows = try stagedRows.ticket(of: request.id, request.rows, session)
    let batch = Batch(id: request.id, entity: 0, operation: .restore(rows: Int(clamping: request.rows)))
    try start(batch, rows, session, number, &actions)
  }

  private mutating func start(
    _ batch: Batch, _ rows: StoreRequestID?, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let run = BatchJob(batch, author: try author(of: session), rights: session.rights)
    try run.batch.check(in: resolver.model)
    if let ticket = requestCommit(.batch(run), rows: rows, bytes: 0, session, number, &actions) {
      session.batches.insert(ticket)
      if rows != nil { stagedRows.handOver(of: session, &requests) }
    }
  }

  // MARK: - Cancellation

  /// Cancels an earlier request of the connection, whose answer the client no longer needs.
  ///
  /// A cancelled request still gets its one answer: it is refused as `cancelled`, at once if it waits, reads or
  /// follows, and when the writer has stopped if it is a batch. Answered requests, and requests that can't be
  /// cancelled, are not affected: the client may have sent the cancellation before the answer arrived.
  mutating func cancel(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) {
    let isWithdrawn =
      cancelWaiting(request, session, &actions) || cancelQuery(request, session, &actions)
      || cancelRead(request, session, &actions) || followers.remove(request, of: session)
    if isWithdrawn {
      refuseCancelled(request, session, &actions)
      executeWaiting(session, &actions)
    } else if let unanswered = stagedRows.drop(with: request, of: session, &requests, &actions) {
      for request in unanswered { refuseCancelled(request, session, &actions) }
    } else if let ticket = session.batches.first(where: { commits[$0]?.request == request }) {
      // The writer answers: it may be committing the batch already.
      actions.append(.cancelBatch(ticket))
    }
  }

  private mutating func refuseCancelled(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) {
    sender.refuse(request, Refusal(.cancelled, "the request was cancelled"), session, &actions)
  }

  /// - Returns: false if no request of this number waits, or if it cannot be cancelled.
  private mutating func cancelWaiting(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) -> Bool {
    guard let index = session.waiting.firstIndex(where: { $0.request == request }),
      session.waiting[index].body.canBeCancelled
    else { return false }
    switch session.waiting.remove(at: index).body {
    case .batch(let batch): stagedRows.drop(batch.id, of: session, &requests, &actions)
    case .importGraph(let graph): stagedRows.drop(graph.id, of: session, &requests, &actions)
    default: break
    }
    return true
  }

  /// - Returns: false if no query has this request as its own.
  private mutating func cancelQuery(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) -> Bool {
    guard let query = session.readers.first(where: { $0.value.request == request })?.key else { return false }
    drop(query, session, &actions)
    return true
  }

  /// - Returns: false if no read answers this request.
  private mutating func cancelRead(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) -> Bool {
    guard let ticket = session.endRead(request) else { return false }
    requests.remove(ticket)
    actions.append(.cancelRead(ticket))
    return true
  }
}

extension ToServer.Body {
  /// Whether a client may cancel the message while it waits. A client keeps a save until it is answered.
  fileprivate var canBeCancelled: Bool {
    switch self {
    case .commit, .undo, .restore: false
    default: true
    }
  }
}
