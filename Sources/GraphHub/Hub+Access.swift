// Tests: HelloTests.swift, RoleTests.swift, ChangedRightsTests.swift
import GraphModel
import GraphWire

/// The access of a session. It begins with the hello, the lookup of the replica and the welcome, and ends with the
/// token.
extension Hub {
  mutating func receive(_ hello: Hello, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]) {
    do {
      try handshake.check(hello)
    } catch {
      return end(session, error, &actions)
    }
    if !hello.credential.isEmpty || session.peer == .network && handshake.authenticates {
      session.phase = .authenticating(hello, request: request)
      actions.append(.authenticate(hello.credential.isEmpty ? nil : hello.credential, session: session.id))
    } else {
      findReplica(hello, request, handshake.principal(hello, session.peer), session, &actions)
    }
  }

  /// Continues with the hello of a client whose credential was verified.
  mutating func finishAuthenticating(
    _ session: Session, _ result: Result<ClientIdentity, Refusal>, _ actions: inout [HubAction]
  ) {
    // A session that has ended meanwhile is in another phase.
    if case .authenticating(let hello, let request) = session.phase {
      switch result {
      case .failure(let refusal): end(session, refusal, &actions)
      case .success(.owner): findReplica(hello, request, Principal(author: hello.author), session, &actions)
      case .success(.user(let principal, let token, let access)):
        guard let role = access.rights.strongestRole else { return end(session, .noRole, &actions) }
        // The grants may have changed while the credential was verified.
        guard access.generation >= generations[principal.id, default: access.generation] else {
          return end(session, Self.changedRights, &actions)
        }
        generations[principal.id] = access.generation
        session.access = Session.Access(token: token, role: role, generation: access.generation)
        setRights(access.rights, of: session)
        session.access.since = apply(access, to: principal.id, &actions)
        findReplica(hello, request, principal, session, &actions)
      }
    }
  }

  static let changedRights = Refusal(.unavailable, "your rights were changed; connect again")

  func setRights(_ rights: Rights, of session: Session) {
    session.access.rights = rights
    session.access.visibility = Visibility(rights, model: resolver.model).map { queries.shared($0) }
  }

  private mutating func findReplica(
    _ hello: Hello, _ request: UInt64, _ principal: Principal, _ session: Session, _ actions: inout [HubAction]
  ) {
    do {
      session.lens = try handshake.lens(for: hello.model)
    } catch {
      return end(session, error, &actions)
    }
    // Other users of the machine are editors; programs of the daemon's own user may do everything.
    if case .user = session.peer, session.rights == nil {
      setRights(Rights(user: principal.id, role: session.role), of: session)
    }
    session.phase = .findingReplica(hello, request: request, principal)
    replicaOwners.beginLookup()
    actions.append(.findReplica(hello.replica, session: session.id))
  }

  /// Ends the sessions of tokens that can no longer be used.
  mutating func endTokens(_ refusals: [UInt64: Refusal], _ actions: inout [HubAction]) {
    for session in sessions.values.inOrder() {
      if let token = session.token, let refusal = refusals[token] { end(session, refusal, &actions) }
    }
  }

  /// Ends the sessions of network clients that were accepted without a token before there was a user.
  mutating func endSessionsWithoutToken(_ refusal: Refusal, _ actions: inout [HubAction]) {
    for session in sessions.values.inOrder() where session.actsWithoutToken { end(session, refusal, &actions) }
  }

  /// Keeps a message that arrives between hello and welcome. A client that waits for the welcome sends none.
  mutating func receiveEarly(_ message: ToServer, _ session: Session, _ actions: inout [HubAction]) {
    guard session.waiting.count < limits.waitingRequests else {
      return end(
        session, Refusal(.limit, "more than \(limits.waitingRequests) requests arrived before the welcome"), &actions)
    }
    session.waiting.append(message)
    sender.pause(session, &actions)
  }

  /// Answers the hello, and handles the messages that arrived after it.
  mutating func welcome(
    _ session: Session, _ result: Result<KnownReplica?, Refusal>, _ actions: inout [HubAction]
  ) {
    // A session that has ended meanwhile is in another phase.
    if case .findingReplica(let hello, let request, let principal) = session.phase {
      accept(hello, request, principal, session, result, &actions)
    }
  }

  private mutating func accept(
    _ hello: Hello, _ request: UInt64, _ principal: Principal, _ session: Session,
    _ result: Result<KnownReplica?, Refusal>, _ actions: inout [HubAction]
  ) {
    if session.token != nil, session.access.generation < generations[principal.id, default: 0] {
      return end(session, Self.changedRights, &actions)
    }
    var known: KnownReplica?
    switch result {
    case .success(let found): known = found
    // The client may still request the status, and read the store as far as that is possible.
    case .failure(let refusal): session.commitRefusal = refusal
    }
    do {
      try replicaOwners.bind(hello.replica, to: principal, author: known?.author)
    } catch {
      if session.rights != nil {
        let event = AuditEvent(.refusal, principal: principal.id, token: session.token, reason: error.message)
        actions.append(.audit(event, session: session.id))
      }
      return end(session, error, &actions)
    }
    (session.isBound, session.replica) = (true, hello.replica)
    // Without rights, the session is one of the machine's owner.
    if session.rights != nil {
      do {
        try users.add(session, of: principal)
      } catch {
        return end(session, error, &actions)
      }
    }
    session.phase = .open
    session.principal = principal
    session.lastRequest = request
    let welcome = handshake.welcome(hello, session, principal, head: head, known)
    sender.send(ToClient(request, .welcome(welcome)), to: session, &actions)
    if let user = session.user {
      actions.append(.audit(AuditEvent(.login, principal: user.id, token: session.token), session: session.id))
    }
    let early = session.waiting
    session.waiting = []
    for message in early { receive(message, session, &actions) }
    if session.isLive { resumeReading(session, &actions) }
  }
}

/// Rights that change while sessions are open.
///
/// A session keeps its connection and receives its new roles. If it now sees other objects, each of its live queries is
/// registered for the new visibility class, under a new number, and loaded again. The client keeps the old result until
/// the new one is complete, so the change arrives as inserts and removals. If the session can no longer see some
/// objects, its reads in progress are refused, because the rest of their answers could contain such objects. A commit
/// that the writer already has is checked with the rights at the time of its request.
extension Hub {
  /// Gives the sessions of principals their present rights.
  mutating func changeRights(_ changed: [String: GrantedAccess], _ actions: inout [HubAction]) {
    for (principal, access) in changed.sorted(by: { $0.key < $1.key }) { apply(access, to: principal, &actions) }
  }

  /// Gives the sessions of a principal rights that are newer than theirs.
  /// - Returns: the revision up to which a client may hold a state that was read with earlier rights.
  @discardableResult
  mutating func apply(_ access: GrantedAccess, to principal: String, _ actions: inout [HubAction]) -> Revision {
    generations[principal] = max(access.generation, generations[principal, default: access.generation])
    let since = if let since = access.since { since } else { head.revision }
    let older = sessions.values.filter { $0.access.generation < access.generation }
    for session in older.inOrder() {
      guard session.isLive, session.token != nil, let own = session.principal?.id,
        UTF8Comparison.equal(own, principal)
      else {
        continue
      }
      change(access, since: since, of: session, &actions)
    }
    if access.since == nil {
      actions.append(.recordAccess(principal: principal, generation: access.generation, at: since))
    }
    return since
  }

  private mutating func change(
    _ access: GrantedAccess, since: Revision, of session: Session, _ actions: inout [HubAction]
  ) {
    assert(session.isLive, "an ended session has no rights")
    guard let role = access.rights.strongestRole else { return end(session, .noRole, &actions) }
    let former = session.visibility
    (session.access.role, session.access.generation, session.access.since) = (role, access.generation, since)
    setRights(access.rights, of: session)
    sender.send(ToClient(0, .rights(Welcome.GrantEntry.all(of: access.rights))), to: session, &actions)
    if session.visibility != former { changeVisibility(of: session, from: former, &actions) }
  }

  private mutating func changeVisibility(
    of session: Session, from former: Visibility?, _ actions: inout [HubAction]
  ) {
    presence.changeVisibility(of: session, from: former, &sender, &actions)
    let seesAll = session.visibility.map { now in former.map { now.covers($0) } == true } != false
    if !seesAll { refuseReads(of: session, &actions) }
    renewQueries(of: session, &actions)
    if session.isLive { executeWaiting(session, &actions) }
  }

  /// Refuses the reads in progress that answer requests. Reads of live queries are started again.
  private mutating func refuseReads(of session: Session, _ actions: inout [HubAction]) {
    for (request, ticket) in session.reads.sorted(by: { $0.key < $1.key }) where requests.isAnswer(ticket) {
      session.endRead(request)
      requests.remove(ticket)
      actions.append(.cancelRead(ticket))
      sender.refuse(request, Self.changedDuringRead, session, &actions)
    }
  }

  private static let changedDuringRead = Refusal(
    .unavailable, "your rights were changed while the answer was read; ask again")

  /// Registers each live query of the session with its present visibility, and loads it.
  private mutating func renewQueries(of session: Session, _ actions: inout [HubAction]) {
    let former = session.readers.keys.sorted()
    guard session.access.renumbered.count + former.count <= limits.renumberedQueries else {
      return end(session, Self.changedRights, &actions)
    }
    // No commit is missed: each query begins again with a complete result.
    session.progress = .current
    session.replay = []
    cancelHistory(of: session)
    for number in former { renew(number, of: session, &actions) }
  }

  private mutating func renew(_ number: UInt64, of session: Session, _ actions: inout [HubAction]) {
    guard let reader = session.readers[number], let entry = queries[number] else {
      return assertionFailure("a query with a reader is registered")
    }
    // The new entry is registered first, so that parts which both share are not removed with the old one.
    let renewed: UInt64
    if let window = entry.window {
      guard let sort = orders[window.order]?.key.sort else {
        return assertionFailure("a window has an order")
      }
      renewed = register(entry.query, window.range, sort, for: session, &actions)
    } else {
      renewed = queries.register(entry.query, through: session.lens, seenBy: session.visibility, for: session.id)
    }
    session.user?.follow(renewed, of: session.id, steps: entry.query.predicate.evaluationSteps)
    sendWatches(&actions)
    if case .recognizing(let ticket, _) = reader.state {
      // Its client does not know a number yet, and learns from the first answer whether the store knows its state.
      requests.moveRecognition(ticket, to: renewed, of: session)
      session.readers[number] = nil
      session.readers[renewed] = reader
      return unregister(number, session, &actions)
    }
    sender.send(ToClient(0, .reset(query: number, reason: "your rights were changed")), to: session, &actions)
    drop(number, session, &actions)
    session.access.renumber(number, as: renewed)
    load(renewed, session, reader.request, &actions)
  }
}

/// Codes with which a browser logs in as the user of a session.
extension Hub {
  /// Requests a code from the server's accounts.
  /// - Parameter name: empty for the session's own user; only the machine's owner names another one.
  /// - Throws: `Refusal` if the session must not name a user, or if it acts for no user that can have a code.
  mutating func requestCode(
    for name: String, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) throws(Refusal) {
    let user: BrowserUser
    if let token = session.access.token {
      guard name.isEmpty else {
        throw Refusal(.notAllowed, "you can only log a browser in as yourself; leave the user out")
      }
      user = .token(token)
    } else {
      switch session.peer {
      case .owner: break
      case .network where !name.isEmpty:
        throw Refusal(.notAllowed, "only the machine's owner can name a user, over the Unix-domain socket")
      case .network: break
      case .user:
        throw Refusal(.notAllowed, "you have no account: ask the owner of the store for a token, and log in with it")
      }
      guard name.utf8.count <= ProtocolLimits.maximumAuthorSize else {
        throw Refusal(
          .malformed,
          "the user's name has \(name.utf8.count) bytes; at most \(ProtocolLimits.maximumAuthorSize) are allowed")
      }
      user = .named(name)
    }
    let ticket = startRead(.browserCode(session, request: request), session, request)
    actions.append(.makeBrowserCode(ticket, user))
  }

  mutating func sendCode(
    _ result: Result<BrowserCode, Refusal>, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) {
    session.endRead(request)
    defer { executeWaiting(session, &actions) }
    switch result {
    case .success(let code): sender.send(ToClient(request, .browserCode(code)), to: session, &actions)
    case .failure(let refusal): sender.refuse(request, refusal, session, &actions)
    }
  }
}
