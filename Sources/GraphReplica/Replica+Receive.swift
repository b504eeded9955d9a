import GraphModel
import GraphWire

extension Replica {
  mutating func receive(_ message: ToClient, _ actions: inout [ReplicaAction]) {
    if timer.recordMessage() { actions.append(.silence(false)) }
    if case .close(let code, let reason) = message.body {
      return receiveClose(code, reason, &actions)
    }
    let purpose = openRequests.purpose(of: message.request)
    switch (message.body, purpose) {
    case (.welcome(let welcome), .hello?):
      openRequests.close(message.request)
      receiveWelcome(welcome, &actions)
    case (.committed(let committed, let objects, let isComplete), .save(let id)?):
      openRequests.close(message.request)
      pending.removeAll { $0.id == id }
      resume.record(committed.token(of: store))
      actions.append(.saved(id, .success(SaveResult(committed: committed, objects: objects, isComplete: isComplete))))
    case (.refused(let refusal), .save(let id)?):
      openRequests.close(message.request)
      pending.removeAll { $0.id == id }
      actions.append(.saved(id, .failure(refusal)))
    case (.refused(let refusal), .subscribe(let query)?):
      openRequests.close(message.request)
      receiveSubscribeRefusal(query, refusal, &actions)
    case (.refused(let refusal), .question(let request)?), (.refused(let refusal), .batch(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.refused(request, refusal))
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
    case (.chunk(let chunk), .question(let request)?):
      if let end = chunk.end {
        resume.record(end.at)
        openRequests.close(message.request, question: request)
      }
      actions.append(.chunk(request, chunk))
    case (.exportHead(let head), .question(let request)?):
      send(.more(of: message.request), for: .unanswered, &actions)
      actions.append(.answer(request, .exportHead(head)))
    case (.log(let commits, let last), .question(let request)?):
      if last {
        openRequests.close(message.request, question: request)
      } else {
        send(.more(of: message.request), for: .unanswered, &actions)
      }
      actions.append(.answer(request, .log(commits, last: last)))
    case (.status(let status), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .status(status)))
    case (.model(let source, let hash), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .model(source: source, hash: hash)))
    case (.undoState(let state), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .undoState(state)))
    case (.revisionAt(let revision), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .revisionAt(revision)))
    case (.why(let origin), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .why(origin)))
    case (.followed(let commits, let at, let head), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .followed(commits, at: at, head: head)))
    case (.followed, .confirmation(let revision)?):
      openRequests.close(message.request)
      receiveConfirmation(of: revision, isKnown: true, &actions)
    case (.refused(let refusal), .confirmation(let revision)?):
      openRequests.close(message.request)
      // `unavailable` does not answer the question: ask again on the next connection.
      if refusal.code == .unavailable { return actions.append(.disconnect(refusal)) }
      receiveConfirmation(of: revision, isKnown: false, &actions)
    case (.differences(let differences, let last), .question(let request)?):
      if last { openRequests.close(message.request, question: request) }
      actions.append(.answer(request, .differences(differences, last: last)))
    case (.progress(let progress), .question(let request)?):
      openRequests.close(message.request, question: request)
      actions.append(.answer(request, .kept(progress.done)))
    case (.progress(let progress), .batch(let request)?): actions.append(.answer(request, .progress(progress)))
    case (.committed(let committed, let objects, let isComplete), .batch(let request)?):
      openRequests.close(message.request, question: request)
      resume.record(committed.token(of: store))
      let saved = SaveResult(committed: committed, objects: objects, isComplete: isComplete)
      actions.append(.answer(request, .saved(saved)))
    case (.pong(let head), .ping?):
      openRequests.close(message.request)
      // The server names a revision only after it has sent everything up to it.
      if subscriptions.areAnswered, staged.isEmpty, head.revision > 0 { advanceResults(to: head) }
    case (.delta(let delta), _): receiveDelta(delta, &actions)
    case (.advance(let revision, let fingerprint), _): receiveAdvance(to: revision, fingerprint, &actions)
    case (.reset(let number, _), _): receiveReset(number)
    case (.presence(let session, let author, let state, let left), _):
      actions.append(.presence(session: session, author: author, state: state, left: left))
    default: break
    }
  }

  private mutating func receiveClose(_ code: String, _ reason: String, _ actions: inout [ReplicaAction]) {
    let refusal = Refusal(Refusal.Code(rawValue: code) ?? .unavailable, reason)
    // A server that shuts down comes back; one that rejects this client will not change its decision.
    if refusal.code == .unavailable { actions.append(.disconnect(refusal)) } else { actions.append(.rejected(refusal)) }
  }
}

extension CommitResult {
  /// The state after the commit.
  fileprivate func token(of store: UniqueID) -> Token {
    Token(store: store, revision: revision, fingerprint: fingerprint)
  }
}
