// Tests: HelloTests.swift, RoleTests.swift
import GraphModel
import GraphWire

/// The opening of a session: hello, the lookup of its replica, welcome.
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

  /// Goes on with the hello of a client whose credential was verified.
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
        session.access.since = begin(access, of: principal, &actions)
        findReplica(hello, request, principal, session, &actions)
      }
    }
  }

  private static let changedRights = Refusal(.unavailable, "your rights were changed; connect again")

  private func setRights(_ rights: Rights, of session: Session) {
    session.access.rights = rights
    session.access.visibility = Visibility(rights, model: resolver.model)
  }

  /// Ends the sessions of a principal that have earlier rights, and returns the revision up to which a client may hold
  /// a state that was read with them.
  private mutating func begin(
    _ access: GrantedAccess, of principal: Principal, _ actions: inout [HubAction]
  ) -> Revision {
    for session in sessions.values.inOrder() where session.access.generation < access.generation {
      guard session.token != nil, let other = session.principal, UTF8Comparison.equal(other.id, principal.id) else {
        continue
      }
      end(session, Self.changedRights, &actions)
    }
    if let since = access.since { return since }
    actions.append(.recordAccess(principal: principal.id, generation: access.generation, at: head.revision))
    return head.revision
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
    // The client may still ask for the status, and read what can be read.
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

extension Refusal {
  /// The refusal for a user without a role.
  public static let noRole = Refusal(.notAllowed, "you have no role here: ask an owner of the store for one")
}
