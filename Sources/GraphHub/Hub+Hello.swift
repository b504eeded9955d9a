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
    session.phase = .findingReplica(hello, request: request)
    actions.append(.findReplica(hello.replica, session: session.id))
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
    guard case .findingReplica(let hello, let request) = session.phase else { return }
    var known: KnownReplica?
    switch result {
    case .success(let found): known = found
    // The client may still ask for the status, and read what can be read.
    case .failure(let refusal): session.commitRefusal = refusal
    }
    let principal = handshake.principal(hello, session.peer)
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
