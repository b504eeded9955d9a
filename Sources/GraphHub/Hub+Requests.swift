import GraphModel
import GraphWire

/// What clients ask for: each message is checked against what is legal now, then turned into an action or an answer.
extension Hub {
  mutating func receive(_ message: ToServer, _ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    sessions[id]?.lastHeard = now
    switch session.phase {
    case .closing: return
    case .awaitingHello:
      guard case .hello(let hello) = message.body else {
        return end(id, Refusal(.malformed, "the first message of a connection is hello"), &actions)
      }
      return welcome(hello, id, message.request, &actions)
    case .open: break
    }
    // Rising numbers make every answer unambiguous.
    guard message.request > session.lastRequest else {
      return end(
        id, Refusal(.malformed, "request \(message.request) came after request \(session.lastRequest)"), &actions)
    }
    sessions[id]?.lastRequest = message.request
    var message = message
    do {
      // From here on everything has the server's numbers and names.
      if let lens = session.lens { message = try lens.later(message) }
    } catch {
      return send(answer(error, message.request), to: id, &actions)
    }
    switch message.body {
    case .hello: end(id, Refusal(.malformed, "hello is said once"), &actions)
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
      // In order: nothing overtakes what came before it.
      session.waiting.append(message)
      if case .commit(let transaction, _) = message.body { session.commitBytes += transaction.approximateSize }
      performWaiting(id, &actions)
      limitRequests(id, &actions)
    }
  }

  /// Where a client may resume from: the head, if it has been told everything up to there.
  private func position(of session: Session) -> Token {
    let isLive = session.readers.values.allSatisfy { if case .live = $0.state { true } else { false } }
    if case .current = session.progress, isLive, session.waiting.isEmpty { return head }
    return Token(store: head.store, revision: 0, fingerprint: 0)
  }

  /// Whether a request may be performed now: a fetch sent after a save sees that save, and reads are few at a time.
  private func mayPerform(_ message: ToServer, _ session: Session) -> Bool {
    switch message.body {
    case .commit, .undo, .restore, .batch, .importGraph: true
    case .fetch, .exportGraph, .subscribe, .log, .status, .undoState, .revisionAt, .why, .changes, .moveWindow:
      session.commitsInFlight == 0 && session.reads.count < limits.concurrentReads
    default: session.commitsInFlight == 0
    }
  }

  private mutating func welcome(_ hello: Hello, _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]) {
    guard hello.protocolVersion == ProtocolLimits.version else {
      return end(
        id,
        Refusal(
          .notAllowed,
          "the client speaks protocol \(hello.protocolVersion), this server speaks \(ProtocolLimits.version): "
            + "use programs of one release"), &actions)
    }
    let lens: ModelLens?
    do {
      lens = try self.lens(for: hello.model)
    } catch {
      return end(id, error, &actions)
    }
    guard hello.replica != .zero else {
      return end(id, Refusal(.malformed, "hello names no replica: sixteen random bytes"), &actions)
    }
    guard hello.author.utf8.count <= ProtocolLimits.maximumAuthorSize, !hello.author.isEmpty else {
      return end(
        id,
        Refusal(
          .malformed,
          "the author has \(hello.author.utf8.count) bytes; 1 to \(ProtocolLimits.maximumAuthorSize) are allowed"),
        &actions)
    }
    sessions[id]?.phase = .open
    sessions[id]?.author = hello.author
    sessions[id]?.replica = hello.replica
    sessions[id]?.lens = lens
    sessions[id]?.lastRequest = request
    let resumed = hello.token.map { $0.store == head.store && $0.revision <= head.revision } ?? false
    let welcome = Welcome(
      model: lens?.old ?? model, head: head, session: id, server: server, resumed: resumed,
      maximumFrameSize: limits.maximumFrameSize, heartbeatMilliseconds: Int(limits.heartbeatMilliseconds))
    send(ToClient(request, .welcome(welcome)), to: id, &actions)
  }

  /// Commits that wait are bounded: past the limit the socket is not read until some are answered.
  private mutating func limitRequests(_ id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id], !session.isPaused, hasTooManyCommits(session) else { return }
    session.isPaused = true
    actions.append(.pauseReading(id))
  }

  func hasTooManyCommits(_ session: Session) -> Bool {
    session.commitsInFlight >= limits.outstandingRequests || session.commitBytes >= limits.sessionCommitBytes
      // Whoever has none in flight is not held up by the others: nothing would wake it.
      || session.commitsInFlight > 0 && totalCommitBytes >= limits.totalCommitBytes
  }

  /// - Parameters:
  ///   - rows: those of a batch.
  ///   - bytes: what the session's transactions in flight were counted up by.
  /// - Returns: nil when it was refused at once.
  @discardableResult
  mutating func commit(
    _ request: WriteRequest, rows: Ticket? = nil, bytes: Int, _ id: SessionID, _ number: UInt64,
    _ actions: inout [HubAction]
  ) -> Ticket? {
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
      return Refusal(.notAllowed, "only the server revives objects")
    }
    // The other half of the idempotency key is the connection's own replica: nobody answers for another's outcomes.
    if request.id.replica != session.replica {
      return Refusal(.notAllowed, "the transaction's replica is not the one of hello")
    }
    return nil
  }

  /// Performs what waits, in order, as far as it may.
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
          .transaction(transaction, author: sessions[id]?.author ?? ""), bytes: transaction.approximateSize, id,
          message.request, &actions)
      case .undo(let undo):
        commit(.undo(undo, author: sessions[id]?.author ?? ""), bytes: 0, id, message.request, &actions)
      case .restore(let restore):
        commit(.restore(restore, author: sessions[id]?.author ?? ""), bytes: 0, id, message.request, &actions)
      case .batch(let request): try batch(request, id, message.request, &actions)
      case .importGraph(let request): try importGraph(request, id, message.request, &actions)
      case .exportGraph: try read(.graph, id, message.request, &actions)
      case .undoState(let scope):
        try read(.undoState(author: sessions[id]?.author ?? "", scope: scope), id, message.request, &actions)
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
    } catch {
      send(answer(Refusal(.malformed, "\(error)"), message.request), to: id, &actions)
    }
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

  mutating func read(
    _ request: ReadRequest, _ id: SessionID, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let ticket = ticket()
    tickets[ticket] = .read(id, request: number)
    sessions[id]?.reads[number] = ticket
    actions.append(.read(ticket, seen(request, by: id), session: id, request: number))
  }

  // MARK: - Live queries

  private mutating func subscribe(
    _ subscribe: Subscribe, _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]
  ) throws {
    let entity = try entity(subscribe.entity)
    let predicate = try predicate(subscribe.predicate, entity)
    let query = LiveQuery(entity: subscribe.entity, predicate: predicate, wholeObjects: subscribe.wholeObjects)
    guard let session = sessions[id] else { return }
    guard session.readers.count < limits.queriesPerSession else {
      throw Refusal(.limit, "a connection follows at most \(limits.queriesPerSession) queries")
    }
    let window = try subscribe.window.map {
      (range: try range($0.offset, $0.limit), sort: try windowOrder($0.sort, entity))
    }
    // Only once the new one is sure to come.
    if subscribe.replaces != 0 { drop(subscribe.replaces, id, &actions) }
    let number =
      if let window { register(query, window.range, window.sort, for: id, &actions) } else {
        queries.register(query, through: session.lens, for: id)
      }
    tellWriter(&actions)
    guard let since = subscribe.since else { return load(number, id, request, &actions) }
    // Does the store still remember the state that the client holds?
    let isKnown: Bool?
    if since.store != head.store || since.revision > head.revision {
      isKnown = false
    } else if since.revision == head.revision {
      isKnown = since.fingerprint == head.fingerprint
    } else {
      isKnown = ring[since.revision].map { $0.record.fingerprint == since.fingerprint }
    }
    switch isKnown {
    case true?: resume(number, id, request, since: since.revision, &actions)
    case false?: load(number, id, request, &actions)
    case nil:
      let ticket = ticket()
      tickets[ticket] = .recognize(id, query: number)
      sessions[id]?.readers[number] = Session.Reader(
        state: .recognizing(ticket, since: since.revision), through: .max, request: request)
      sessions[id]?.reads[request] = ticket
      actions.append(.recognize(ticket, since))
    }
  }

  mutating func takeRecognition(_ ticket: Ticket, _ isKnown: Bool, _ actions: inout [HubAction]) {
    guard case .recognize(let id, let query)? = tickets.removeValue(forKey: ticket),
      let reader = sessions[id]?.readers[query], case .recognizing(ticket, let since) = reader.state
    else { return }
    sessions[id]?.reads[reader.request] = nil
    defer { performWaiting(id, &actions) }
    if isKnown {
      resume(query, id, reader.request, since: since, &actions)
    } else {
      load(query, id, reader.request, &actions)
    }
  }

  /// The client holds the result as of `since`: what is missing comes as deltas.
  private mutating func resume(
    _ query: UInt64, _ id: SessionID, _ request: UInt64, since: Revision, _ actions: inout [HubAction]
  ) {
    // Of commits long ago nobody knows any more what they did to a query that follows paths.
    if queries[query]?.isToldByOthers == true { return load(query, id, request, known: true, &actions) }
    sessions[id]?.readers[query] = Session.Reader(state: .live, through: since, request: request)
    send(ToClient(request, .subscribed(query: query, resumed: true, known: true)), to: id, &actions)
    rewind(id, to: since, for: query)
    pump(id, &actions)
  }

  /// Asks the store for a first result, which streams to the session by itself.
  mutating func load(
    _ query: UInt64, _ id: SessionID, _ request: UInt64, known: Bool = false, _ actions: inout [HubAction]
  ) {
    guard let entry = queries[query] else { return }
    if entry.window != nil { return loadWindow(query, id, request, known: known, &actions) }
    let ticket = ticket()
    tickets[ticket] = .load(id, query: query)
    sessions[id]?.readers[query] = Session.Reader(state: .loading(ticket), through: .max, request: request)
    sessions[id]?.reads[request] = ticket
    send(ToClient(request, .subscribed(query: query, resumed: false, known: known)), to: id, &actions)
    let fetch = FetchRequest(entity: entry.query.entity, predicate: entry.query.predicate)
    actions.append(.read(ticket, seen(.objects(fetch), by: id), session: id, request: request))
  }

  mutating func drop(_ query: UInt64, _ id: SessionID, _ actions: inout [HubAction]) {
    guard let reader = sessions[id]?.readers.removeValue(forKey: query) else { return }
    switch reader.state {
    case .loading(let ticket):
      tickets[ticket] = nil
      sessions[id]?.reads[reader.request] = nil
      actions.append(.cancelRead(ticket))
    case .recognizing(let ticket, _):
      tickets[ticket] = nil
      sessions[id]?.reads[reader.request] = nil
    case .waiting, .live: break
    }
    unregister(query, id, &actions)
  }

  mutating func finishRead(_ ticket: Ticket, _ result: Result<Token, Refusal>, _ actions: inout [HubAction]) {
    switch tickets.removeValue(forKey: ticket) {
    case .read(let id, let request)?:
      sessions[id]?.reads[request] = nil
      if case .failure(let refusal) = result { send(answer(refusal, request), to: id, &actions) }
      performWaiting(id, &actions)
    case .load(let id, let query)?:
      guard let reader = sessions[id]?.readers[query] else { return }
      sessions[id]?.reads[reader.request] = nil
      switch result {
      case .failure(let refusal):
        drop(query, id, &actions)
        send(answer(refusal, reader.request), to: id, &actions)
      case .success(let at):
        sessions[id]?.readers[query] = Session.Reader(state: .live, through: at.revision, request: reader.request)
        showWhenReached(query, id, at.revision, &actions)
      }
      performWaiting(id, &actions)
    default: break
    }
  }

  mutating func answerStatus(_ ticket: Ticket, _ status: ServerStatus, _ actions: inout [HubAction]) {
    guard case .statistics(let id, let request)? = tickets.removeValue(forKey: ticket) else { return }
    sessions[id]?.reads[request] = nil
    defer { performWaiting(id, &actions) }
    var status = status
    status.server = server
    let others = sessions.filter { $0.key != id && $0.value.isLive }
    status.sessions = UInt64(others.count)
    status.registrations = UInt64(queries.registrations - (sessions[id]?.readers.count ?? 0))
    send(ToClient(request, .status(status)), to: id, &actions)
  }

  // MARK: - Presence

  private mutating func presence(_ state: [UInt8], _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]) {
    guard state.count <= ProtocolLimits.maximumPresenceSize else {
      return send(
        answer(Refusal(.limit, "a presence has at most \(ProtocolLimits.maximumPresenceSize) bytes"), request), to: id,
        &actions)
    }
    sessions[id]?.hasPresence = true
    forwardPresence(state, of: id, left: false, &actions)
  }

  /// To every other session that has shown itself; never stored, and dropped for those who lag.
  mutating func forwardPresence(_ state: [UInt8], of id: SessionID, left: Bool, _ actions: inout [HubAction]) {
    guard let author = sessions[id]?.author else { return }
    let frame = Frame.encode(ToClient(0, .presence(session: id, author: author, state: state, left: left)))
    for (other, session) in sessions.sorted(by: { $0.key < $1.key })
    where other != id && session.hasPresence && session.isLive && hasRoom(session, for: frame.count) {
      send(frame: frame, to: other, &actions)
    }
  }
}
