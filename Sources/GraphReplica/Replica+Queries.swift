import GraphModel
import GraphWire

/// A query that the replica follows.
struct FollowedQuery {
  var subscribe: Subscribe
  /// The most objects that its owner accepts; a larger result refuses the query. Nil for any number.
  var maximumCount: Int?
  /// The server's number for the query on this connection.
  var number: UInt64?
  /// A result that is being received; nil if there is none.
  var incoming: IncomingResult?
  /// Whether the owner has received a first result.
  var isLoaded: Bool { token != nil }
  /// The state of the owner's result, from which a reconnect resumes. Each query has its own, because one may be
  /// reloading while the others advance.
  var token: Token?
  /// The state of the old result that the owner keeps while a new one is on its way.
  private(set) var held: Token?
  /// The request that the server's answers name: the subscription, or the window's last move.
  var request: UInt64?
  /// For a window: the place that the server was sent last.
  var place: Subscribe.Window?
  /// For a window: the place of the rows that are being received or visible.
  var shown: Subscribe.Window?
  /// Whether the window is moving, and the rows of its new place are not visible yet.
  var isMoving = false

  struct IncomingResult {
    var objects = [ObjectImage]()
    /// The state at which it was read, once it is complete.
    var at: Token?
    /// For a window: the number of rows before limit and offset.
    var total: UInt64 = 0
    /// Whether an advance at or past `at` has arrived after the last chunk. An earlier advance does not cover this
    /// result.
    var isCovered = false
  }

  /// Starts a reload; the old result stays visible until the new one arrives.
  mutating func beginAnew() {
    held = token ?? held
    token = nil
  }

  /// Ends a reload: the new result is visible.
  mutating func isShown(at token: Token) {
    self.token = token
    held = nil
  }

  /// Resets the query after the connection was lost, and with it a result on its way. The next subscription resumes
  /// from the result that the owner holds; otherwise a store that was restored to an earlier state would go
  /// unnoticed.
  mutating func returnToHeld() {
    token = token ?? held
    held = nil
    (number, request, incoming, isMoving) = (nil, nil, nil, false)
  }

  /// Requires a complete reload if other queries advanced while this result was on its way. A resume would deliver
  /// deltas of revisions that have passed. The other queries, or a separate request, establish whether the store
  /// still knows the visible state.
  mutating func comeAnew(behind shown: Revision) {
    if let token, token.revision < shown { forgetHeld() }
  }

  /// Invalidates the result that the owner holds.
  mutating func forgetHeld() { (token, held) = (nil, nil) }
}

/// Live queries: first results, deltas, and the rule that all queries of a session advance to a revision together.
extension Replica {
  mutating func sendSubscribe(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let followed = queries[query] else { return }
    guard followed.subscribe.window == nil || knowsWindows else {
      // An older server would send the complete result.
      queries[query] = nil
      return actions.append(.refusedQuery(query, Self.serverWithoutWindows))
    }
    subscribing += 1
    // A server reads a few at a time, and refuses requests beyond its limit.
    if subscribing - unsent.count > Self.maximumSubscribing { unsent.append(query) } else { announce(query, &actions) }
  }

  /// The most subscriptions that await their answers; the others wait here. A quarter of the requests that the server
  /// lets wait.
  static let maximumSubscribing = ProtocolLimits.maximumOutstandingRequests / 4

  private mutating func announce(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let followed = queries[query] else { return }
    queries[query]?.place = followed.subscribe.window
    queries[query]?.shown = followed.subscribe.window
    var subscribe = followed.subscribe
    // A result of an earlier connection is current as of the token.
    if let token = followed.token { subscribe.since = token }
    send(.subscribe(subscribe), for: .subscribe(query), &actions)
    queries[query]?.request = lastRequest
  }

  mutating func unsubscribe(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let followed = queries.removeValue(forKey: query) else { return }
    if let place = unsent.firstIndex(of: query) {
      unsent.remove(at: place)
      return endSubscribing(mayShow: true, &actions)
    }
    guard let number = followed.number, case .live = phase else { return }
    // The query counts against the session's limit until the server confirms.
    send(.unsubscribe(query: number), for: .other, &actions)
    numbers[number] = nil
    // Later answers to the subscription are ignored. An unanswered move has a second number to release.
    if let request = followed.request { asked[request] = nil }
    if let before = moves.removeValue(forKey: query)?.before { numbers[before] = nil }
    staged.removeAll { numbers[$0.query] == nil }
  }

  mutating func takeSubscribed(
    _ query: QueryID, _ number: UInt64, resumed: Bool, known: Bool, _ actions: inout [ReplicaAction]
  ) {
    guard queries[query] != nil else {
      send(.unsubscribe(query: number), for: .other, &actions)
      return endSubscribing(mayShow: true, &actions)
    }
    let isRepeated = numbers.updateValue(query, forKey: number) != nil
    queries[query]?.number = number
    let since = queries[query]?.token ?? queries[query]?.subscribe.since
    if let since, !isRepeated { prove(since.revision, isKnown: known || resumed) }
    if resumed {
      queries[query]?.token = since
      // An earlier advance was for a session without this query.
      heldAdvance = nil
      actions.append(.resumed(query, since: queries[query]?.token?.revision ?? 0))
    } else {
      queries[query]?.subscribe.since = nil
      queries[query]?.beginAnew()
      queries[query]?.incoming = FollowedQuery.IncomingResult()
      staged.removeAll { $0.query == number }
    }
    // After a reset the server answers a second time.
    if !isRepeated { endSubscribing(mayShow: !resumed, &actions) }
  }

  /// Handles the answer to one subscription. The last answer publishes what was held back, unless that query resumes:
  /// then the advance at the end of its replay does.
  mutating func endSubscribing(mayShow: Bool, wasAnswered: Bool = false, _ actions: inout [ReplicaAction]) {
    if !wasAnswered {
      subscribing = max(0, subscribing - 1)
      if !unsent.isEmpty, subscribing - unsent.count < Self.maximumSubscribing {
        announce(unsent.removeFirst(), &actions)
      }
    }
    guard subscribing == 0 else { return }
    settleProof(&actions)
    guard subscribing == 0, mayShow else { return }
    if let held = heldAdvance {
      heldAdvance = nil
      advance(to: held.revision, held.fingerprint, &actions)
    } else if let last = staged.last, isWhole(last) {
      advance(to: last.revision, last.fingerprint, &actions)
    }
  }

  /// Whether a delta completes its revision: with one query it does, with several an advance does.
  private func isWhole(_ delta: Delta) -> Bool {
    numbers.count == 1 && queries[numbers[delta.query] ?? 0]?.incoming == nil
  }

  /// Handles a store that is not the one of this side's newest state, or was restored to an earlier one. Held objects
  /// can't be distinguished from those of states that the store never reached, so queries that resumed from a state
  /// that it knows are reloaded as well.
  mutating func diverge(_ actions: inout [ReplicaAction]) {
    (provenRevision, doubtedRevision, shownRevision) = (0, 0, 0)
    newest.forget()
    hasDiverged = catchingUpTo != nil
    for index in pending.indices { pending[index].isOutdated = true }
    actions.append(.diverged)
    for query in queries.keys.sorted() {
      guard let followed = queries[query] else { continue }
      queries[query]?.forgetHeld()
      guard let number = followed.number, followed.incoming == nil, followed.isLoaded else { continue }
      numbers[number] = nil
      dropMove(of: query)
      queries[query]?.isMoving = false
      // Answers under the old request, such as a reset, do not concern the new subscription.
      asked = asked.filter { !$0.value.isAbout(query) }
      staged.removeAll { $0.query == number }
      queries[query]?.number = nil
      queries[query]?.subscribe.since = nil
      send(.unsubscribe(query: number), for: .other, &actions)
      sendSubscribe(query, &actions)
    }
  }

  mutating func takeChunk(_ chunk: Chunk, of query: QueryID, _ request: UInt64, _ actions: inout [ReplicaAction]) {
    guard queries[query]?.incoming != nil else { return }
    queries[query]?.incoming?.objects += chunk.objects
    if let most = queries[query]?.maximumCount, queries[query]?.incoming?.objects.count ?? 0 > most {
      unsubscribe(query, &actions)
      return actions.append(.refusedQuery(query, Self.tooMany(most)))
    }
    if let end = chunk.end {
      queries[query]?.incoming?.at = end.at
      queries[query]?.incoming?.total = chunk.total ?? end.count
    } else {
      send(.more(of: request), for: .other, &actions)
    }
  }

  mutating func take(_ delta: Delta, _ actions: inout [ReplicaAction]) {
    guard numbers[delta.query] != nil else { return }
    staged.append(delta)
    if subscribing == 0, isWhole(delta) { advance(to: delta.revision, delta.fingerprint, &actions) }
  }

  /// Handles an advance. It covers the results that were complete before it, even while it is held back.
  mutating func takeAdvance(to revision: Revision, _ fingerprint: UInt64, _ actions: inout [ReplicaAction]) {
    for query in queries.keys {
      guard let at = queries[query]?.incoming?.at, at.revision <= revision else { continue }
      queries[query]?.incoming?.isCovered = true
    }
    advance(to: revision, fingerprint, &actions)
  }

  /// Publishes everything up to `revision`, all of which has arrived.
  private mutating func advance(to revision: Revision, _ fingerprint: UInt64, _ actions: inout [ReplicaAction]) {
    guard subscribing == 0 else {
      heldAdvance = (revision, fingerprint)
      return
    }
    heldAdvance = nil
    for query in queries.keys.sorted() {
      guard var incoming = queries[query]?.incoming, incoming.isCovered else { continue }
      queries[query]?.incoming = nil
      foldShown(into: &incoming, of: query)
      guard let at = incoming.at else { preconditionFailure("a result that an advance covers is complete") }
      queries[query]?.isShown(at: at)
      if let place = queries[query]?.shown {
        let rows = WindowRows(incoming.objects, total: incoming.total, place)
        actions.append(.loadedWindow(query, rows, at: at))
        moveOn(query, &actions)
      } else {
        actions.append(.loaded(query, incoming.objects, at: at))
      }
    }
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
    for update in updates {
      showMoves(before: update.revision, &actions)
      actions.append(.changed(update))
    }
    showMoves(before: revision + 1, &actions)
    shownRevision = max(shownRevision, revision)
    move(to: Token(store: store, revision: revision, fingerprint: fingerprint))
  }

  /// Applies deltas of revisions that other queries published while this result was on its way. The owner receives
  /// the result as of the last one, and no revision is published twice. A window's result is never older than the
  /// published revision.
  private mutating func foldShown(into incoming: inout FollowedQuery.IncomingResult, of query: QueryID) {
    guard let schema, queries[query]?.shown == nil else { return }
    let (others, shown) = staged.divided { numbers[$0.query] == query && $0.revision <= shownRevision }
    incoming.fold(shown.sorted { $0.revision < $1.revision }, store: store, model: schema)
    staged = others
  }

  /// Advances every complete result to this state.
  mutating func move(to token: Token) {
    newest.take(token)
    for query in queries.keys {
      guard let followed = queries[query], followed.number != nil, followed.incoming == nil,
        let old = followed.token, old.revision <= token.revision
      else { continue }
      queries[query]?.token = token
    }
  }
}

extension Array {
  /// The elements that do not satisfy the condition, and those that do, each in their order.
  fileprivate func divided(by condition: (Element) -> Bool) -> (rest: [Element], matching: [Element]) {
    (filter { !condition($0) }, filter(condition))
  }
}
