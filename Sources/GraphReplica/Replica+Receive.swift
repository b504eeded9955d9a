import GraphModel
import GraphWire

extension Replica {
  mutating func receive(_ message: ToClient, _ actions: inout [ReplicaAction]) {
    lastHeard = now
    endSilence(&actions)
    if case .close(let code, let reason) = message.body {
      return end(code, reason, &actions)
    }
    let purpose = asked[message.request]
    switch (message.body, purpose) {
    case (.welcome(let welcome), .hello?):
      asked[message.request] = nil
      self.welcome(welcome, &actions)
    case (.committed(let committed, let objects, let isComplete), .save(let id)?):
      asked[message.request] = nil
      pending.removeAll { $0.id == id }
      newest.take(committed.token(of: store))
      actions.append(.saved(id, .success(SaveResult(committed: committed, objects: objects, isComplete: isComplete))))
    case (.refused(let refusal), .save(let id)?):
      asked[message.request] = nil
      pending.removeAll { $0.id == id }
      actions.append(.saved(id, .failure(refusal)))
    case (.refused(let refusal), .subscribe(let query)?):
      asked[message.request] = nil
      let number = queries[query]?.number
      queries[query] = nil
      if let number {
        // The subscription was accepted, and its first result failed.
        numbers[number] = nil
        if let before = moves.removeValue(forKey: query)?.before { numbers[before] = nil }
        staged.removeAll { numbers[$0.query] == nil }
      }
      actions.append(.refusedQuery(query, refusal))
      endSubscribing(mayShow: true, wasAnswered: number != nil, &actions)
    case (.refused(let refusal), .question(let request)?), (.refused(let refusal), .batch(let request)?):
      forget(message.request, request)
      actions.append(.refused(request, refusal))
    case (.subscribed(let number, let resumed, let known), .subscribe(let query)?):
      // The query is no longer followed: ignore further answers to its subscription, such as a reset.
      if queries[query] == nil { asked[message.request] = nil }
      takeSubscribed(query, number, resumed: resumed, known: known, &actions)
    case (.subscribed(let number, _, _), .moveWindow(let query)?):
      answersMove(message.request, of: query)
      takeAnew(query, number, &actions)
    case (.windowMoved(let moved), .moveWindow(let query)?):
      answersMove(message.request, of: query)
      take(moved, of: query, &actions)
    case (.refused, .moveWindow(let query)?):
      asked[message.request] = nil
      stay(query)
    case (.chunk(let chunk), .subscribe(let query)?):
      takeChunk(chunk, of: query, message.request, &actions)
    case (.chunk(let chunk), .question(let request)?):
      if let end = chunk.end {
        newest.take(end.at)
        forget(message.request, request)
      }
      actions.append(.chunk(request, chunk))
    case (.exportHead(let head), .question(let request)?):
      send(.more(of: message.request), for: .other, &actions)
      actions.append(.answer(request, .exportHead(head)))
    case (.log(let commits, let last), .question(let request)?):
      if last { forget(message.request, request) } else { send(.more(of: message.request), for: .other, &actions) }
      actions.append(.answer(request, .log(commits, last: last)))
    case (.status(let status), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .status(status)))
    case (.model(let source, let hash), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .model(source: source, hash: hash)))
    case (.undoState(let state), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .undoState(state)))
    case (.revisionAt(let revision), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .revisionAt(revision)))
    case (.why(let origin), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .why(origin)))
    case (.followed(let commits, let at, let head), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .followed(commits, at: at, head: head)))
    case (.followed, .proof(let revision)?):
      asked[message.request] = nil
      takeProof(of: revision, isKnown: true, &actions)
    case (.refused(let refusal), .proof(let revision)?):
      asked[message.request] = nil
      // `unavailable` does not answer the question: ask again on the next connection.
      if refusal.code == .unavailable { return actions.append(.disconnect(refusal)) }
      takeProof(of: revision, isKnown: false, &actions)
    case (.differences(let differences, let last), .question(let request)?):
      if last { forget(message.request, request) }
      actions.append(.answer(request, .differences(differences, last: last)))
    case (.progress(let progress), .question(let request)?):
      forget(message.request, request)
      actions.append(.answer(request, .kept(progress.done)))
    case (.progress(let progress), .batch(let request)?): actions.append(.answer(request, .progress(progress)))
    case (.committed(let committed, let objects, let isComplete), .batch(let request)?):
      forget(message.request, request)
      newest.take(committed.token(of: store))
      let saved = SaveResult(committed: committed, objects: objects, isComplete: isComplete)
      actions.append(.answer(request, .saved(saved)))
    case (.pong(let head), .ping?):
      asked[message.request] = nil
      // The server names a revision only after it has sent everything up to it.
      if subscribing == 0, staged.isEmpty, head.revision > 0 { move(to: head) }
    case (.delta(let delta), _): take(delta, &actions)
    case (.advance(let revision, let fingerprint), _): takeAdvance(to: revision, fingerprint, &actions)
    case (.reset(let number, _), _):
      guard let query = numbers[number] else { return }
      dropMove(of: query)
      queries[query]?.incoming = nil
      queries[query]?.beginAnew()
      staged.removeAll { $0.query == number }
    case (.presence(let session, let author, let state, let left), _):
      actions.append(.presence(session: session, author: author, state: state, left: left))
    default: break
    }
  }

  /// Makes the move the request that the server's answers name from here on.
  private mutating func answersMove(_ number: UInt64, of query: QueryID) {
    asked[number] = queries[query].map { _ in .subscribe(query) }
    if let old = queries[query]?.request { asked[old] = nil }
    queries[query]?.request = number
  }

  private mutating func forget(_ number: UInt64, _ request: RequestID) {
    asked[number] = nil
    questions[request] = nil
  }

  private mutating func end(_ code: String, _ reason: String, _ actions: inout [ReplicaAction]) {
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
