import GraphModel
import GraphWire

extension Replica {
  mutating func receive(_ message: ToClient, _ actions: inout [ReplicaAction]) {
    if timer.recordMessage() { actions.append(.silence(false)) }
    if case .close(let code, let reason) = message.body { return receiveClose(code, reason, &actions) }
    let purpose = openRequests.purpose(of: message.request)
    switch (message.body, purpose) {
    case (.welcome(let welcome), .hello?):
      openRequests.close(message.request)
      receiveWelcome(welcome, &actions)
    case (.committed(let committed, let objects, let isComplete, let deleted), .save(let id)?):
      resume.record(committed.token(of: store))
      let saved = SaveResult(committed: committed, objects: objects, isComplete: isComplete, deleted: deleted)
      receiveOutcome(.success(saved), of: id, message.request, &actions)
    case (.refused(let refusal), .save(let id)?):
      receiveOutcome(.failure(refusal), of: id, message.request, &actions)
    case (.refused(let refusal), .subscribe(let query)?):
      openRequests.close(message.request)
      receiveSubscribeRefusal(query, refusal, &actions)
    case (.refused(let refusal), .batch(let request)?):
      identity.finishBatch(request)
      receiveRefusal(refusal, of: request, message.request, &actions)
    case (.refused(let refusal), .request(let request)?):
      receiveRefusal(refusal, of: request, message.request, &actions)
    case (.subscribed(let number, let resumed, let known), .subscribe(let query)?):
      // The query is no longer followed: ignore further answers to its subscription, such as a reset.
      if queries[query] == nil { openRequests.close(message.request) }
      receiveSubscribed(query, number, message.request, resumed: resumed, known: known, &actions)
    case (.subscribed(let number, _, _), .moveWindow(let query)?):
      receiveMovedAsReload(number, of: query, message.request, &actions)
    case (.windowMoved(let moved), .moveWindow(let query)?):
      receiveMoved(moved, of: query, message.request, &actions)
    case (.refused, .moveWindow(let query)?):
      openRequests.close(message.request)
      receiveMoveRefusal(query)
    case (.chunk(let chunk), .subscribe(let query)?):
      receiveChunk(chunk, of: query, message.request, &actions)
    case (.followed, .confirmation(let revision)?):
      openRequests.close(message.request)
      receiveConfirmation(of: revision, isKnown: true, &actions)
    case (.refused(let refusal), .confirmation(let revision)?):
      openRequests.close(message.request)
      receiveConfirmationRefusal(refusal, of: revision, &actions)
    case (.pong(let head), .ping?):
      openRequests.close(message.request)
      receivePong(head)
    case (.delta(let delta), _): receiveDelta(delta, &actions)
    case (.advance(let revision, let fingerprint), _): receiveAdvance(to: revision, fingerprint, &actions)
    case (.reset(let number, _), _): receiveReset(number)
    case (.presence(let session, let author, let state, let left), _):
      actions.append(.presence(session: session, author: author, state: state, left: left))
    case (.rights(let grants), _): actions.append(.rights(grants))
    case (let reply, .request(let request)?):
      receiveReply(reply, to: request, message.request, isLast: !reply.awaitsMore, &actions)
    case (let reply, .batch(let request)?):
      let isProgress = if case .progress = reply { true } else { false }
      if !isProgress { identity.finishBatch(request) }
      receiveReply(reply, to: request, message.request, isLast: !isProgress, &actions)
    default: break
    }
  }

  /// Passes on the refusal of a request of the owner.
  private mutating func receiveRefusal(
    _ refusal: Refusal, of request: RequestID, _ number: UInt64, _ actions: inout [ReplicaAction]
  ) {
    openRequests.close(number, of: request)
    actions.append(.refused(request, refusal))
  }

  private mutating func receiveConfirmationRefusal(
    _ refusal: Refusal, of revision: Revision, _ actions: inout [ReplicaAction]
  ) {
    // `unavailable` does not answer the question: ask again on the next connection.
    if refusal.code == .unavailable { return actions.append(.disconnect(refusal)) }
    receiveConfirmation(of: revision, isKnown: false, &actions)
  }

  private mutating func receivePong(_ head: Token) {
    // The server names a revision only after it has sent everything up to it.
    if subscriptions.areAnswered, staged.isEmpty, head.revision > 0 { advanceResults(to: head) }
  }

  /// Passes on the outcome of a save, which is no longer pending.
  private mutating func receiveOutcome(
    _ outcome: Result<SaveResult, Refusal>, of id: TransactionID, _ number: UInt64, _ actions: inout [ReplicaAction]
  ) {
    openRequests.close(number)
    pending.removeAll { $0.id == id }
    actions.append(.saved(id, outcome))
  }

  /// Passes on the reply to a request of the owner, or a part of it.
  private mutating func receiveReply(
    _ reply: ToClient.Body, to request: RequestID, _ number: UInt64, isLast: Bool, _ actions: inout [ReplicaAction]
  ) {
    switch reply {
    case .chunk(let chunk): if let end = chunk.end { resume.record(end.at) }
    case .committed(let committed, _, _, _): resume.record(committed.token(of: store))
    default: break
    }
    if isLast { openRequests.close(number, of: request) }
    actions.append(.reply(request, reply, isLast: isLast))
  }

  private mutating func receiveClose(_ code: String, _ reason: String, _ actions: inout [ReplicaAction]) {
    let refusal = Refusal(Refusal.Code(rawValue: code) ?? .unavailable, reason)
    // A server that shuts down is usually restarted; a server that rejects this client will not change its decision.
    if refusal.code == .unavailable { actions.append(.disconnect(refusal)) } else { actions.append(.rejected(refusal)) }
  }
}

extension CommitResult {
  /// The state after the commit.
  fileprivate func token(of store: UniqueID) -> Token {
    Token(store: store, revision: revision, fingerprint: fingerprint)
  }
}
