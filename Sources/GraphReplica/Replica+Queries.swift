import GraphModel
import GraphWire

/// A query that the replica follows.
struct FollowedQuery {
  var subscribe: Subscribe
  /// Its owner wants all objects of the result, or none when there are more than these.
  var maximumCount: Int?
  /// What the server calls it on this connection.
  var number: UInt64?
  /// A result on its way; nil when none is.
  var incoming: Incoming?
  /// The owner has seen a first result.
  var isLoaded: Bool { token != nil }
  /// The state at which the owner holds the result: what a reconnect resumes from. Each query has its own, for one may be
  /// loading anew while the others go on.
  var token: Token?
  /// The state of the result that the owner still holds while another is on its way.
  private(set) var held: Token?
  /// The request that the server's answers name: the subscription, or the window's last move.
  var request: UInt64?
  /// Of a window: the place that the server was last told.
  var place: Subscribe.Window?
  /// Of a window: the place whose rows come, or are shown.
  var shown: Subscribe.Window?
  /// What is there has not been shown yet.
  var isMoving = false

  struct Incoming {
    var objects = [ObjectImage]()
    /// Where it was read, once all of it is here.
    var at: Token?
    /// Of a window: how many rows there are before limit and offset.
    var total: UInt64 = 0
    /// An advance at or past `at` has come behind the last chunk. An advance that came before it does not speak of this result.
    var isCovered = false
  }

  /// The result comes anew. What the owner holds stays until then.
  mutating func beginAnew() {
    held = token ?? held
    token = nil
  }

  /// The result is here.
  mutating func isShown(at token: Token) {
    self.token = token
    held = nil
  }

  /// The connection is gone, and a result that was on its way with it. The next one is asked after what the owner holds:
  /// else nobody would notice that the store was put back behind it meanwhile.
  mutating func returnToHeld() {
    token = token ?? held
    held = nil
    (number, request, incoming, isMoving) = (nil, nil, nil, false)
  }

  /// Others were shown more, while its result was on its way: what it missed would be told of revisions that have gone by, so
  /// the result comes whole. That the store still knows what was shown is said of the others, or asked.
  mutating func comeAnew(behind shown: Revision) {
    if let token, token.revision < shown { forgetHeld() }
  }

  /// What the owner holds is worth nothing.
  mutating func forgetHeld() { (token, held) = (nil, nil) }
}

/// Live queries: first results, deltas, and the rule that all queries of a session advance to a revision together.
extension Replica {
  mutating func sendSubscribe(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let followed = queries[query] else { return }
    guard followed.subscribe.window == nil || knowsWindows else {
      // It would send all of the result.
      queries[query] = nil
      return actions.append(.refusedQuery(query, Self.serverWithoutWindows))
    }
    subscribing += 1
    // A server reads a few at a time, and refuses what waits beyond its limit.
    if subscribing - unsent.count > Self.maximumSubscribing { unsent.append(query) } else { announce(query, &actions) }
  }

  /// So many subscriptions wait for their answers at most; more of them wait here. A quarter of what the server lets wait.
  static let maximumSubscribing = ProtocolLimits.maximumOutstandingRequests / 4

  private mutating func announce(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    guard let followed = queries[query] else { return }
    queries[query]?.place = followed.subscribe.window
    queries[query]?.shown = followed.subscribe.window
    var subscribe = followed.subscribe
    // What was loaded on an earlier connection is current as of the token.
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
    // It counts among the session's queries until the server says that it does not.
    send(.unsubscribe(query: number), for: .other, &actions)
    numbers[number] = nil
    // Nothing that is still said of it answers anything; a move that is not answered yet has another number to give back.
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
      // What was announced before speaks of a session that did not have this query.
      heldAdvance = nil
      actions.append(.resumed(query, since: queries[query]?.token?.revision ?? 0))
    } else {
      queries[query]?.subscribe.since = nil
      queries[query]?.beginAnew()
      queries[query]?.incoming = FollowedQuery.Incoming()
      staged.removeAll { $0.query == number }
    }
    // After a reset the server answers a second time.
    if !isRepeated { endSubscribing(mayShow: !resumed, &actions) }
  }

  /// One subscription has been answered. What was held is shown when the last one is, unless that one resumes: then
  /// the advance which ends its replay shows it.
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

  /// Whether a delta is all that this side hears of its revision: with one query it is, with several an advance closes it.
  private func isWhole(_ delta: Delta) -> Bool {
    numbers.count == 1 && queries[numbers[delta.query] ?? 0]?.incoming == nil
  }

  /// The store is not the one that this side's newest state is of, or has gone back behind it. Nothing that is held here can
  /// be told from what the store never came to: queries that resumed, from a state that it still knows, load anew as well.
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
      // What else is said under the old number, such as that it begins anew, is not about the new one.
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

  /// An advance has come. It covers the results that were complete before it, also while it is held.
  mutating func takeAdvance(to revision: Revision, _ fingerprint: UInt64, _ actions: inout [ReplicaAction]) {
    for query in queries.keys {
      guard let at = queries[query]?.incoming?.at, at.revision <= revision else { continue }
      queries[query]?.incoming?.isCovered = true
    }
    advance(to: revision, fingerprint, &actions)
  }

  /// All that concerns this replica up to `revision` is here: show it.
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
    // Queries that resumed one after the other brought their parts of a revision one after the other.
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

  /// The query's deltas of revisions that the other queries were shown while its result was on its way: its owner sees the
  /// result as of the last one, and no revision goes by twice. A window's result is never older than what was shown.
  private mutating func foldShown(into incoming: inout FollowedQuery.Incoming, of query: QueryID) {
    guard let schema, queries[query]?.shown == nil else { return }
    let (others, shown) = staged.divided { numbers[$0.query] == query && $0.revision <= shownRevision }
    incoming.fold(shown.sorted { $0.revision < $1.revision }, store: store, model: schema)
    staged = others
  }

  /// Every result that is whole is as of this state now.
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
