import GraphModel
import GraphWire

/// Requests of clients: each message is checked against the session's state, then turned into an action or an answer.
extension Hub {
  mutating func receive(_ message: ToServer, _ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    session.lastHeard = now
    forgetPart(of: session)
    switch session.phase {
    case .closing: return
    case .awaitingHello:
      guard case .hello(let hello) = message.body else {
        return end(id, Refusal(.malformed, "the first message of a connection must be hello"), &actions)
      }
      return welcome(hello, id, message.request, &actions)
    case .open: break
    }
    // Increasing numbers make every answer unambiguous.
    guard message.request > session.lastRequest else {
      return end(
        id, Refusal(.malformed, "request \(message.request) came after request \(session.lastRequest)"), &actions)
    }
    sessions[id]?.lastRequest = message.request
    var message = message
    do {
      // After this, all numbers and names are those of the server's model.
      if let lens = session.lens { message = try lens.upgraded(message) }
    } catch {
      return send(answer(error, message.request), to: id, &actions)
    }
    switch message.body {
    case .hello: end(id, Refusal(.malformed, "hello can be sent only once"), &actions)
    case .ping: send(ToClient(message.request, .pong(position(of: session))), to: id, &actions)
    case .close: end(id, Refusal(.unavailable, "goodbye"), &actions)
    case .more(let request):
      if let ticket = session.reads[request] { actions.append(.continueRead(ticket)) }
    case .presence(let state): presence(state, id, message.request, &actions)
    case .batchRows(let rows): keep(rows, id, message.request, &actions)
    case .commit, .undo, .restore, .batch, .importGraph, .model, .fetch, .exportGraph, .subscribe, .unsubscribe, .log,
      .status, .undoState, .revisionAt, .why, .changes, .moveWindow:
      guard session.waiting.count < limits.waitingRequests else {
        let refusal = Refusal(.limit, "more than \(limits.waitingRequests) requests wait on this connection")
        return send(answer(refusal, message.request), to: id, &actions)
      }
      // Requests are performed in order.
      session.waiting.append(message)
      if case .commit(let transaction, _) = message.body { session.commitBytes += transaction.approximateSize }
      performWaiting(id, &actions)
      limitRequests(id, &actions)
    }
  }

  /// The token that a client may resume from: the head if the client has received everything up to it.
  private func position(of session: Session) -> Token {
    let isLive = session.readers.values.allSatisfy { if case .live = $0.state { true } else { false } }
    if case .current = session.progress, isLive, session.waiting.isEmpty { return head }
    return Token(store: head.store, revision: 0, fingerprint: 0)
  }

  /// Whether a request may be performed now: a fetch waits for earlier commits, and concurrent reads are limited.
  private func mayPerform(_ message: ToServer, _ session: Session) -> Bool {
    switch message.body {
    case .commit, .undo, .restore, .batch, .importGraph: true
    case .fetch, .exportGraph, .subscribe, .log, .status, .undoState, .revisionAt, .why, .changes, .moveWindow:
      session.commitsInFlight == 0 && session.reads.count < limits.concurrentReads
    default: session.commitsInFlight == 0
    }
  }

  /// Pauses reading from a session with too many waiting commits until some of them are answered.
  private mutating func limitRequests(_ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id], !session.isPaused, hasTooManyCommits(session) else { return }
    session.isPaused = true
    actions.append(.pauseReading(id))
  }

  func hasTooManyCommits(_ session: Session) -> Bool {
    session.commitsInFlight >= limits.outstandingRequests || session.commitBytes >= limits.sessionCommitBytes
      // A session without commits in flight is never paused for the total: no answer would resume it.
      || session.commitsInFlight > 0 && totalCommitBytes >= limits.totalCommitBytes
  }

  /// Passes a write request to the writer.
  /// - Parameters:
  ///   - rows: the kept rows of a batch.
  ///   - bytes: the amount that `commitBytes` counts for this transaction.
  /// - Returns: nil when the request was refused.
  @discardableResult
  mutating func commit(
    _ request: WriteRequest, rows: StoreRequestID? = nil, bytes: Int, _ id: SessionID, _ number: UInt64,
    _ actions: inout [HubAction]
  ) -> StoreRequestID? {
    guard let session = sessions[id] else { return nil }
    if let refusal = refusal(of: request, session) {
      session.commitBytes -= bytes
      send(answer(refusal, number), to: id, &actions)
      return nil
    }
    let ticket = ticket()
    commits[ticket] = (id, number, bytes)
    session.commitsInFlight += 1
    totalCommitBytes += bytes
    if let rows { actions.append(.takeRows(rows, for: ticket)) }
    actions.append(.commit(ticket, request))
    return ticket
  }

  private func refusal(of request: WriteRequest, _ session: Session) -> Refusal? {
    if isShuttingDown { return Refusal(.unavailable, "the server is shutting down") }
    if case .transaction(let transaction, _) = request, transaction.changes.contains(where: { $0.kind == .revive }) {
      return Refusal(.notAllowed, "only the server can revive objects")
    }
    // The replica is half of the idempotency key: a client must not learn the outcomes of another's transactions.
    if request.id.replica != session.replica {
      return Refusal(.notAllowed, "the transaction's replica is not the replica of hello")
    }
    return nil
  }

  /// Performs the waiting requests, in order, as far as they may run now.
  mutating func performWaiting(_ id: SessionID, _ actions: inout [HubAction]) {
    while let session = sessions[id], session.isLive, let message = session.waiting.first,
      mayPerform(message, session)
    {
      sessions[id]?.waiting.removeFirst()
      perform(message, id, &actions)
    }
    resumeReading(id, &actions)
  }

  private mutating func perform(_ message: ToServer, _ id: SessionID, _ actions: inout [HubAction]) {
    do {
      switch message.body {
      case .commit(let transaction, _):
        commit(
          .transaction(transaction, author: try author(of: id)), bytes: transaction.approximateSize, id,
          message.request, &actions)
      case .undo(let undo):
        commit(.undo(undo, author: try author(of: id)), bytes: 0, id, message.request, &actions)
      case .restore(let restore):
        commit(.restore(restore, author: try author(of: id)), bytes: 0, id, message.request, &actions)
      case .batch(let request): try batch(request, id, message.request, &actions)
      case .importGraph(let request): try importGraph(request, id, message.request, &actions)
      case .exportGraph: try read(.graph, id, message.request, &actions)
      case .undoState(let scope):
        try read(.undoState(author: try author(of: id), scope: scope), id, message.request, &actions)
      case .revisionAt(let time): try read(.revision(at: time), id, message.request, &actions)
      case .model:
        send(ToClient(message.request, .model(source: model.source, hash: model.hash)), to: id, &actions)
      case .fetch(let fetch):
        try read(.objects(request(for: fetch)), id, message.request, &actions)
      case .log(var log):
        log.after = max(log.after, 0)
        log.limit = log.limit == 0 ? 1_000 : min(log.limit, 100_000)
        try read(.log(log), id, message.request, &actions)
      case .why(let object, let property): try read(.why(object, property), id, message.request, &actions)
      case .changes(.follow(let follow)): try self.follow(follow, id, message.request, &actions)
      case .changes(let changes): try read(.changes(changes), id, message.request, &actions)
      case .status:
        let ticket = ticket()
        tickets[ticket] = .statistics(id, request: message.request)
        sessions[id]?.reads[message.request] = ticket
        actions.append(.statistics(ticket))
      case .subscribe(let subscribe): try self.subscribe(subscribe, id, message.request, &actions)
      case .unsubscribe(let query):
        drop(query, id, &actions)
        send(ToClient(message.request, .unsubscribed(query: query)), to: id, &actions)
      case .moveWindow(let query, let offset, let limit):
        try moveWindow(query, offset, limit, id, message.request, &actions)
      case .hello, .ping, .close, .more, .presence, .batchRows: break
      }
    } catch let refusal as Refusal {
      send(answer(refusal, message.request), to: id, &actions)
    } catch let failure as InvariantFailure {
      actions.append(.report(failure, session: id))
      end(id, Refusal(.unavailable, "\(failure)"), &actions)
    } catch {
      send(answer(Refusal(.malformed, "\(error)"), message.request), to: id, &actions)
    }
  }

  /// The author that the session's hello named.
  /// - Throws: `InvariantFailure`: a session sends no requests before its hello was taken.
  func author(of id: SessionID) throws(InvariantFailure) -> String {
    let session = try invariant(sessions[id], "a request belongs to a session")
    try invariant(!session.author.isEmpty, "a session that sends requests has an author")
    return session.author
  }

  func entity(_ number: EntityNumber) throws -> Entity {
    guard let entity = model.entity(number) else {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(model.name)")
    }
    return entity
  }

  func predicate(_ text: String, _ entity: Entity) throws -> GraphPredicate {
    if text.isEmpty { return .always }
    do {
      return try GraphPredicate(parsing: text, entity: entity, model: model).bound(now: time)
    } catch {
      throw Refusal(.malformed, "the predicate can't be read at \(error)")
    }
  }
}
