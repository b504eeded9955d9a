import GraphModel
import GraphWire

/// Live queries: first results, deltas, and the rule that all queries of a session advance to a revision together.
extension Replica {
  // MARK: - Subscriptions

  /// Subscribes to a query, now or when the server has answered enough of the others.
  mutating func subscribe(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    assert(state.isWelcomed, "queries are subscribed to on a connection")
    assert(queries[query] != nil, "a query that is subscribed to is followed")
    if subscriptions.add(query) { sendSubscription(query, &actions) }
  }

  private mutating func sendSubscription(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    let message = queries.modify(query) { $0.beginSubscribing() }
    send(.subscribe(message), for: .subscribe(query), &actions)
  }

  mutating func unsubscribe(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    // The server may have refused the query.
    guard let followed = queries.removeValue(forKey: query) else { return }
    if subscriptions.removeUnsent(query) { return finishSubscribing(mayPublish: true, &actions) }
    // If the subscription has not been answered, the answer ends it.
    guard let subscription = followed.subscription else { return }
    // The query counts against the session's limit until the server confirms.
    send(.unsubscribe(query: subscription.number), for: .unanswered, &actions)
    // Later answers to the subscription are ignored.
    openRequests.close(subscription.request)
    removeNumbers(of: followed)
  }

  /// Removes the server's numbers of a query that is no longer followed. An answered move has a second one.
  mutating func removeNumbers(of followed: FollowedQuery) {
    if let subscription = followed.subscription { numbers[subscription.number] = nil }
    if let move = followed.answeredMove { numbers[move.previousNumber] = nil }
    staged.removeAll { numbers[$0.query] == nil }
  }

  /// Handles the server's number for a query. A server also sends it a second time, after a reset; the number is then
  /// another one if the rights have changed.
  mutating func receiveSubscribed(
    _ query: QueryID, _ number: UInt64, _ request: UInt64, resumed: Bool, known: Bool,
    _ actions: inout [ReplicaAction]
  ) {
    guard let followed = queries[query] else {
      // The query is no longer followed.
      send(.unsubscribe(query: number), for: .unanswered, &actions)
      return finishSubscribing(mayPublish: true, &actions)
    }
    let former = followed.subscription?.number
    let isRepeated = former != nil
    if let former, former != number {
      numbers[former] = nil
      staged.removeAll { $0.query == former }
    }
    numbers[number] = query
    let since = followed.resumeToken
    if let since, !isRepeated { resume.record(since.revision, isKnown: known || resumed) }
    if resumed {
      queries.modify(query) { $0.resume(number: number, request: request) }
      // An earlier advance was for a session without this query.
      deferredAdvance = nil
      actions.append(.resumed(query, since: since.revisionOrZero))
    } else {
      queries.modify(query) { $0.beginReceiving(number: number, request: request) }
      staged.removeAll { $0.query == number }
    }
    if !isRepeated { finishSubscribing(mayPublish: !resumed, &actions) }
  }

  /// Handles a refused subscription, or a result that failed after the subscription was accepted.
  mutating func receiveSubscribeRefusal(_ query: QueryID, _ refusal: Refusal, _ actions: inout [ReplicaAction]) {
    let followed = queries.removeValue(forKey: query)
    if let followed { removeNumbers(of: followed) }
    actions.append(.refusedQuery(query, refusal))
    finishSubscribing(mayPublish: true, wasAnswered: followed?.subscription != nil, &actions)
  }

  /// Handles the answer to one subscription. The last answer publishes the held-back revisions, unless its query
  /// resumes. In that case the advance at the end of the replay publishes them.
  mutating func finishSubscribing(
    mayPublish: Bool, wasAnswered: Bool = false, _ actions: inout [ReplicaAction]
  ) {
    if !wasAnswered, let next = subscriptions.recordAnswer() { sendSubscription(next, &actions) }
    if !subscriptions.areAnswered { return }
    finishResumeValidation(&actions)
    // The validation may have subscribed to queries again, or asked the store once more.
    guard subscriptions.areAnswered, mayPublish else { return }
    if let deferred = deferredAdvance {
      deferredAdvance = nil
      advance(to: deferred.revision, deferred.fingerprint, &actions)
    } else if let last = staged.last, isWhole(last) {
      advance(to: last.revision, last.fingerprint, &actions)
    }
  }

  /// Handles a reset: a new result follows. The server's number may be of a query that is no longer followed.
  mutating func receiveReset(_ number: UInt64) {
    guard let query = numbers[number] else { return }
    dropMove(of: query)
    queries.modifyIfPresent(query) { $0.beginReload() }
    staged.removeAll { $0.query == number }
  }

  // MARK: - Results and deltas

  /// Handles a part of a result. A chunk that was sent before a reset is ignored.
  mutating func receiveChunk(_ chunk: Chunk, of query: QueryID, _ request: UInt64, _ actions: inout [ReplicaAction]) {
    guard let appended = queries.modifyIfPresent(query, { $0.append(chunk) }), let count = appended else { return }
    if let most = queries[query]?.maximumCount, count > most {
      unsubscribe(query, &actions)
      return actions.append(.refusedQuery(query, Self.tooMany(most)))
    }
    if chunk.end == nil { send(.more(of: request), for: .unanswered, &actions) }
  }

  /// Handles a query's part of a commit. The server may have sent it before it ended the query.
  mutating func receiveDelta(_ delta: Delta, _ actions: inout [ReplicaAction]) {
    if numbers[delta.query] == nil { return }
    staged.append(delta)
    if subscriptions.areAnswered, isWhole(delta) { advance(to: delta.revision, delta.fingerprint, &actions) }
  }

  /// Whether a delta completes its revision: with one query it does, with several an advance does.
  private func isWhole(_ delta: Delta) -> Bool {
    guard numbers.count == 1 else { return false }
    guard let query = numbers[delta.query], let followed = queries[query] else { return true }
    return !followed.isReceiving
  }

  /// Handles an advance. It covers the results that were complete before it, even while it is held back.
  mutating func receiveAdvance(to revision: Revision, _ fingerprint: UInt64, _ actions: inout [ReplicaAction]) {
    queries.modifyAll { $0.cover(to: revision) }
    advance(to: revision, fingerprint, &actions)
  }

  /// Publishes everything up to `revision`, all of which has arrived.
  private mutating func advance(to revision: Revision, _ fingerprint: UInt64, _ actions: inout [ReplicaAction]) {
    guard subscriptions.areAnswered else {
      deferredAdvance = (revision, fingerprint)
      return
    }
    deferredAdvance = nil
    for query in queries.keys.sorted() { publishResult(of: query, &actions) }
    let moved = queries.compactMap { $0.value.answeredMove == nil ? nil : $0.key }.sorted()
    for update in takeUpdates(through: revision) {
      publishMoves(of: moved, before: update.revision, &actions)
      actions.append(.changed(update))
    }
    publishMoves(of: moved, before: revision + 1, &actions)
    publishedRevision = max(publishedRevision, revision)
    advanceResults(to: Token(store: store, revision: revision, fingerprint: fingerprint))
  }

  /// Publishes the new result of a query, if an advance covers it.
  private mutating func publishResult(of query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let followed = queries[query], var incoming = followed.coveredResult else { return }
    if followed.places == nil { foldPublished(into: &incoming, of: query) }
    guard let (at, total) = incoming.coveredState else {
      return assertionFailure("a result that an advance covers is complete")
    }
    queries.modify(query) { $0.finishLoading(at: at, damage: incoming.damage) }
    if !incoming.damage.isEmpty { actions.append(.incomplete(query, incoming.damage)) }
    if let place = followed.places?.visible {
      actions.append(.loadedWindow(query, WindowRows(incoming.objects, total: total, place), at: at))
      requestMove(query, &actions)
    } else {
      actions.append(.loaded(query, incoming.objects, at: at))
    }
  }

  /// Removes the staged deltas up to a revision, and returns them by commit, in order.
  private mutating func takeUpdates(through revision: Revision) -> [CommitUpdate] {
    var updates = [CommitUpdate]()
    var rest = [Delta]()
    // Queries that resumed one after the other delivered their parts of a revision separately.
    for delta in staged.sorted(by: { $0.revision < $1.revision }) {
      guard delta.revision <= revision, let query = numbers[delta.query] else {
        rest.append(delta)
        continue
      }
      if updates.last?.revision != delta.revision {
        updates.append(
          CommitUpdate(revision: delta.revision, time: delta.time, author: delta.author, changes: []))
      }
      updates[updates.count - 1].changes.append((query, delta.changes))
      if let total = delta.total { updates[updates.count - 1].totals[query] = total }
    }
    staged = rest
    assert(
      zip(updates, updates.dropFirst()).allSatisfy { $0.revision < $1.revision }, "commits are published in their order"
    )
    return updates
  }

  /// Applies deltas of revisions that other queries published while this result was on its way. The owner receives
  /// the result as of the last one, and no revision is published twice. A window's result is never older than the
  /// published revision.
  private mutating func foldPublished(into incoming: inout FollowedQuery.IncomingResult, of query: QueryID) {
    guard let schema else { return assertionFailure("a replica that follows queries belongs to a context") }
    let (others, published) = staged.divided { numbers[$0.query] == query && $0.revision <= publishedRevision }
    incoming.fold(published.sorted { $0.revision < $1.revision }, store: store, model: schema)
    staged = others
  }

  /// Advances every current result to this state.
  mutating func advanceResults(to token: Token) {
    resume.record(token)
    queries.modifyAll { $0.advance(to: token) }
  }
}

extension Token? {
  /// The revision of the state; 0 for none.
  fileprivate var revisionOrZero: Revision { if let self { self.revision } else { 0 } }
}

extension Array {
  /// The elements that do not satisfy the condition, and those that do, each in their order.
  fileprivate func divided(by condition: (Element) -> Bool) -> (rest: [Element], matching: [Element]) {
    (filter { !condition($0) }, filter(condition))
  }
}
