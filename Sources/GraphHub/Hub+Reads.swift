// Tests: HubTests.swift, HistoryRequestTests.swift, PastRequestTests.swift
import GraphModel
import GraphWire

/// Reads of the store for a session. Frames stream directly to the client, except for the last one of each read: the
/// hub sends it, so that the hub's next message follows the complete result.
extension Hub {
  /// Answers a message by reading the store.
  mutating func read(
    _ message: ToServer.Body, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    try invariant(message.readsStore, "only a message that reads the store is answered from it")
    stream(.message(message, author: try author(of: session)), session, number, &actions)
  }

  mutating func stream(
    _ request: ReadRequest, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) {
    let ticket = startRead(.read(session, request: number), session, number)
    actions.append(.read(ticket, session.perspective(of: request), session: session.id, request: number))
  }

  /// Registers a read that answers a request; `reads` contains it until it ends or is cancelled.
  mutating func startRead(_ receiver: StoreRequestTable.Receiver, _ session: Session, _ request: UInt64)
    -> StoreRequestID
  {
    assert(session.isLive, "a session that has ended reads nothing")
    let ticket = requests.issue(for: receiver)
    session.beginRead(request, ticket)
    return ticket
  }

  mutating func finishRead(
    _ ticket: StoreRequestID, _ result: Result<ReadCompletion, Refusal>, _ actions: inout [HubAction]
  ) {
    switch requests.remove(ticket) {
    case .read(let session, let request)?:
      session.endRead(request)
      switch result {
      case .failure(let refusal): sender.refuse(request, refusal, session, &actions)
      case .success(let end): sender.sendFrame(end.lastFrame, to: session, &actions)
      }
      executeWaiting(session, &actions)
    case .load(let session, let query)?:
      guard let reader = session.readers[query], case .loading = reader.state else {
        return assertionFailure("a query whose first result is read has a reader that loads it")
      }
      session.endRead(reader.request)
      switch result {
      case .failure(let refusal):
        drop(query, session, &actions)
        sender.refuse(reader.request, refusal, session, &actions)
      case .success(let end):
        let revision = end.at.revision
        session.readers[query] = Session.Subscription(state: .live, through: revision, request: reader.request)
        sender.sendFrame(end.lastFrame, to: session, &actions)
        showWhenReached(query, session, revision, &actions)
      }
      executeWaiting(session, &actions)
    // The read was cancelled.
    case nil: break
    case .history?, .recognize?, .statistics?, .browserCode?, .rows?, .order?:
      assertionFailure("only a read for a session ends with a last frame")
    }
  }

  /// Reads the commits after a token, or waits at the head of the store for the next commit.
  mutating func follow(
    _ follow: FollowRequest, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) throws {
    // Any other token can be answered now, if only with a refusal.
    if follow.waits, follow.since == head {
      try followers.add(follow, of: session, request)
    } else {
      try read(.changes(.follow(follow)), session, request, &actions)
    }
  }

  /// Answers the waiting follow requests after a commit.
  mutating func answerFollowers(_ actions: inout [HubAction]) {
    for (id, request, follow) in followers.removeDue(at: head) {
      guard let session = sessions[id] else {
        assertionFailure("the requests of a session are removed when it ends")
        continue
      }
      do {
        try read(.changes(.follow(follow)), session, request, &actions)
      } catch {
        sender.refuse(request, Refusal(.unavailable, "\(error)"), session, &actions)
      }
    }
  }

  mutating func sendStatus(
    _ status: ServerStatus, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) {
    session.endRead(request)
    defer { executeWaiting(session, &actions) }
    var status = status
    status.server = handshake.server
    status.sessions = UInt64(sessions.values.count { $0 !== session && $0.isLive })
    status.registrations = UInt64(queries.registrations - session.readers.count)
    // The machine is the business of its owner.
    if session.rights != nil {
      (status.location, status.process) = ("", 0)
      if !status.failure.isEmpty { status.failure = StoreFailure.textWithoutPaths }
    }
    // Sizes, next numbers and sessions would count objects and users that the session does not see.
    if session.visibility != nil {
      (status.size, status.commitLogSize, status.counters) = (0, 0, [])
      (status.sessions, status.registrations) = (0, 0)
    }
    sender.send(ToClient(request, .status(status)), to: session, &actions)
  }
}
