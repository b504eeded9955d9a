// Tests: HelloTests.swift
import GraphModel
import GraphWire

/// The opening of a session: hello, the lookup of its replica, welcome.
extension Hub {
  mutating func receive(_ hello: Hello, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]) {
    do {
      session.lens = try handshake.check(hello)
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
    // The session may have ended meanwhile.
    if case .authenticating(let hello, let request) = session.phase {
      switch result {
      case .failure(let refusal): end(session, refusal, &actions)
      case .success(.owner): findReplica(hello, request, Principal(author: hello.author), session, &actions)
      case .success(.user(let principal, let token)):
        session.token = token
        findReplica(hello, request, principal, session, &actions)
      }
    }
  }

  private func findReplica(
    _ hello: Hello, _ request: UInt64, _ principal: Principal, _ session: Session, _ actions: inout [HubAction]
  ) {
    session.phase = .findingReplica(hello, request: request, principal)
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
    // The session may have ended meanwhile.
    if case .findingReplica(let hello, let request, let principal) = session.phase {
      open(session, hello, request, principal, result, &actions)
    }
  }

  private mutating func open(
    _ session: Session, _ hello: Hello, _ request: UInt64, _ principal: Principal,
    _ result: Result<KnownReplica?, Refusal>, _ actions: inout [HubAction]
  ) {
    var known: KnownReplica?
    switch result {
    case .success(let found): known = found
    // The client may still ask for the status, and read what can be read.
    case .failure(let refusal): session.commitRefusal = refusal
    }
    do {
      try replicaOwners.bind(hello.replica, to: principal, author: known?.author)
    } catch {
      return end(session, error, &actions)
    }
    session.isBound = true
    session.phase = .open
    session.principal = principal
    session.replica = hello.replica
    session.lastRequest = request
    let welcome = handshake.welcome(hello, session, head: head, known)
    sender.send(ToClient(request, .welcome(welcome)), to: session, &actions)
    let early = session.waiting
    session.waiting = []
    for message in early { receive(message, session, &actions) }
    if session.isLive { resumeReading(session, &actions) }
  }
}
