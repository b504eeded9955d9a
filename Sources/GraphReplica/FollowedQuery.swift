// Tests: ReconnectTests.swift, ReplicaTests.swift
import GraphModel
import GraphWire

/// A query that the replica follows, across connections.
///
/// After the first result, the owner always holds one. `state` has the token of that result, from which a reconnect
/// resumes. Each query has its own token, because one may be reloading while the others advance.
struct FollowedQuery {
  enum State {
    /// The server does not follow the query: there is no connection, or the subscription has not been sent. `held` is
    /// the state of the owner's result; nil if it has none, or has to reload it.
    case waiting(held: Token?)
    /// The subscription was sent and has not been answered.
    case subscribing(held: Token?)
    /// The server follows the query.
    case followed(Subscription)
  }

  /// A query on the server's side of this connection.
  struct Subscription {
    /// The server's number for the query.
    var number: UInt64
    /// The request that the server's answers name: the subscription, or the window's last move.
    var request: UInt64
    var result: ResultState
    var move = MoveState.idle
  }

  enum ResultState {
    /// The owner has the result of this state.
    case current(at: Token)
    /// A new result is due. The owner keeps the old one, of this state, until then; nil if it has none.
    case reloading(old: Token?)
    /// A new result is being received.
    case receiving(IncomingResult, old: Token?)

    /// The state of the result that the owner has, even if it is being reloaded.
    var held: Token? {
      switch self {
      case .current(let token): token
      case .reloading(let old), .receiving(_, let old): old
      }
    }
  }

  /// The move of a window to another place.
  enum MoveState {
    case idle
    /// The server has not answered.
    case requested
    /// The rows of the new place wait for their revision to be complete. Until then the window has two numbers.
    case answered(WindowMoved, previousNumber: UInt64)
  }

  /// The places of a window that has been subscribed to.
  struct WindowPlaces {
    /// The place that was last sent to the server.
    var sent: Subscribe.Window
    /// The place of the rows that are being received or visible.
    var visible: Subscribe.Window
  }

  /// The query that its owner has requested.
  private(set) var subscribe: Subscribe
  /// The maximum number of objects that its owner accepts; the query is refused if its result is larger. Nil for any
  /// number.
  let maximumCount: Int?
  /// Nil for a query without a window, and before the first subscription.
  private(set) var places: WindowPlaces?
  private(set) var state = State.waiting(held: nil)
  /// The damaged objects that the owner's result lacks.
  private(set) var damage = DamageNotice()

  init(_ subscribe: Subscribe, maximumCount: Int?) {
    self.subscribe = subscribe
    self.maximumCount = maximumCount
  }

  /// The state of the owner's result, unless it is being reloaded.
  var token: Token? {
    switch state {
    case .waiting(let held), .subscribing(let held): return held
    case .followed(let subscription):
      guard case .current(let token) = subscription.result else { return nil }
      return token
    }
  }

  /// Whether the owner has received a first result, and it is not being reloaded.
  var isLoaded: Bool { token != nil }

  /// Whether a result is being received.
  var isReceiving: Bool {
    guard case .followed(let subscription) = state, case .receiving = subscription.result else { return false }
    return true
  }

  var subscription: Subscription? {
    guard case .followed(let subscription) = state else { return nil }
    return subscription
  }

  // MARK: - Subscriptions

  /// The subscription to send now. A result of an earlier connection is current as of its token.
  mutating func beginSubscribing() -> Subscribe {
    if case .waiting = state {
    } else {
      assertionFailure("a query is subscribed to once on each connection")
    }
    places = subscribe.window.map { WindowPlaces(sent: $0, visible: $0) }
    state = .subscribing(held: token)
    var message = subscribe
    if let token { message.since = token }
    return message
  }

  /// The state that the server was asked to resume from; nil if it was asked for a complete result.
  var resumeToken: Token? { token ?? subscribe.since }

  /// Handles an answer that resumes the query: the owner's result stays valid.
  mutating func resume(number: UInt64, request: UInt64) {
    let since = resumeToken
    accept(number: number, request: request) { result in
      switch result {
      case .current: break
      // A server that resumes a reload has no record of what it had sent. The state of the reload counts.
      case .receiving(let incoming, let old): result = .receiving(incoming, old: since ?? old)
      case .reloading: if let since { result = .current(at: since) }
      }
    }
  }

  /// Handles an answer that a new result follows. The owner's result stays visible until then.
  mutating func beginReceiving(number: UInt64, request: UInt64) {
    accept(number: number, request: request) { $0 = .receiving(IncomingResult(), old: $0.held) }
  }

  private mutating func accept(number: UInt64, request: UInt64, _ update: (inout ResultState) -> Void) {
    // From now on, the state of the result is the one to resume from: the owner has seen later states than its first
    // token.
    subscribe.since = nil
    switch state {
    case .waiting(let held), .subscribing(let held):
      if case .waiting = state { assertionFailure("a query that was not subscribed to is not accepted") }
      var result = held.map { ResultState.current(at: $0) } ?? .reloading(old: nil)
      update(&result)
      state = .followed(Subscription(number: number, request: request, result: result))
    case .followed(var subscription):
      subscription.number = number
      update(&subscription.result)
      state = .followed(subscription)
    }
  }

  /// Handles a reset: a new result is due; the old one stays visible until it arrives.
  mutating func beginReload() {
    modifySubscription { $0.result = .reloading(old: $0.result.held) }
  }

  /// Ends the subscription, to subscribe again on the same connection, for a complete result.
  mutating func endSubscription() { state = .waiting(held: nil) }

  /// Resets the query after the connection was lost, and with it a result on its way. The next subscription resumes
  /// from the result that the owner holds; otherwise a store that was restored to an earlier state would go
  /// unnoticed.
  ///
  /// A result that lacks damaged objects is loaded again: they may have been repaired, which is no commit.
  mutating func resetAfterDisconnect() {
    state = .waiting(held: damage.isEmpty ? subscription.map(\.result.held) ?? token : nil)
  }

  /// Requires a complete reload if other queries advanced while this result was on its way. A resume would deliver
  /// deltas of revisions that have passed. The other queries, or a separate request, establish whether the store
  /// still knows the visible state.
  mutating func requireReload(behind published: Revision) {
    if let token, token.revision < published { invalidateHeldResult() }
  }

  /// Invalidates the result that the owner holds.
  mutating func invalidateHeldResult() {
    switch state {
    case .waiting: state = .waiting(held: nil)
    case .subscribing: state = .subscribing(held: nil)
    case .followed:
      modifySubscription { subscription in
        if case .receiving(let incoming, _) = subscription.result {
          subscription.result = .receiving(incoming, old: nil)
        } else {
          subscription.result = .reloading(old: nil)
        }
      }
    }
  }

  /// Records the request of a move, because the server's answers name it from now on.
  mutating func setRequest(_ request: UInt64) {
    modifySubscription { $0.request = request }
  }

  /// Changes a subscription in place; does nothing, and returns nil, if the server does not follow the query.
  @discardableResult
  private mutating func modifySubscription<Result>(_ body: (inout Subscription) -> Result) -> Result? {
    guard case .followed(var subscription) = state else { return nil }
    // Releases the reference of `state`, so that objects are added to the result without a copy.
    state = .waiting(held: nil)
    defer { state = .followed(subscription) }
    return body(&subscription)
  }

  // MARK: - Results

  /// Adds a chunk to the result that is being received.
  /// - Returns: the number of its objects so far; nil if no result is being received.
  mutating func append(_ chunk: Chunk) -> Int? {
    modifyIncoming { incoming in
      incoming.objects += chunk.objects
      incoming.damage = chunk.damage
      if let end = chunk.end { incoming.complete(at: end.at, total: chunk.total ?? end.count) }
      return incoming.objects.count
    }
  }

  /// Marks a complete result as covered if an advance reaches its state.
  mutating func cover(to revision: Revision) {
    modifyIncoming { $0.cover(to: revision) }
  }

  @discardableResult
  private mutating func modifyIncoming<Result>(_ body: (inout IncomingResult) -> Result) -> Result? {
    guard isReceiving else { return nil }
    var result: Result?
    modifySubscription { subscription in
      guard case .receiving(var incoming, let old) = subscription.result else {
        return assertionFailure("a query that receives a result has a part of it")
      }
      subscription.result = .reloading(old: old)
      result = body(&incoming)
      subscription.result = .receiving(incoming, old: old)
    }
    return result
  }

  /// The result that an advance covers, ready to be published; nil if there is none.
  var coveredResult: IncomingResult? {
    guard case .followed(let subscription) = state, case .receiving(let incoming, _) = subscription.result,
      incoming.coveredState != nil
    else { return nil }
    return incoming
  }

  /// Ends a load: the owner has the result of this state.
  /// - Parameter damage: the damaged objects that it lacks.
  mutating func finishLoading(at token: Token, damage: DamageNotice) {
    assert(isReceiving, "a result is published after it was received")
    self.damage = damage
    modifySubscription { $0.result = .current(at: token) }
  }

  /// Advances a current result to a later state.
  mutating func advance(to token: Token) {
    if case .followed(let subscription) = state, case .current(let old) = subscription.result,
      old.revision <= token.revision
    {
      modifySubscription { $0.result = .current(at: token) }
    }
  }

  // MARK: - Windows

  /// Sets the place that the owner of a window wants.
  mutating func setPlace(offset: UInt64, limit: UInt64) {
    guard var window = subscribe.window else { return assertionFailure("only a window has a place") }
    (window.offset, window.limit) = (offset, limit)
    subscribe.window = window
  }

  /// Begins to move to the place that the owner wants, if it differs from the last one sent and those rows are
  /// visible.
  /// - Returns: the place, and the server's number for the query; nil if nothing is to be sent.
  mutating func beginMove() -> (number: UInt64, place: Subscribe.Window)? {
    guard case .followed(let subscription) = state, case .current = subscription.result,
      case .idle = subscription.move, let place = subscribe.window, var places, place != places.sent
    else { return nil }
    places.sent = place
    self.places = places
    modifySubscription { $0.move = .requested }
    return (subscription.number, place)
  }

  /// Handles the answer to a move: the rows wait for their revision to be complete.
  mutating func acceptMove(_ moved: WindowMoved) {
    modifySubscription { subscription in
      if case .requested = subscription.move {
      } else {
        assertionFailure("a move that is answered was requested")
      }
      subscription.move = .answered(moved, previousNumber: subscription.number)
      subscription.number = moved.query
    }
  }

  /// Handles a move that is answered by a new result.
  mutating func reloadAfterMove(number: UInt64) {
    endMove()
    modifySubscription { subscription in
      subscription.number = number
      subscription.result = .receiving(IncomingResult(), old: subscription.result.held)
    }
  }

  /// The answered move of a window, with the number that the window had before; nil if there is none.
  var answeredMove: (moved: WindowMoved, previousNumber: UInt64)? {
    guard case .followed(let subscription) = state, case .answered(let moved, let previous) = subscription.move else {
      return nil
    }
    return (moved, previous)
  }

  /// Ends a move: the rows of the place that was sent last are visible, or being received.
  mutating func endMove() {
    if var places {
      places.visible = places.sent
      self.places = places
    }
    modifySubscription { $0.move = .idle }
  }

  /// Ends a refused move: the window stays where it is.
  mutating func cancelMove() {
    if var places {
      places.sent = places.visible
      self.places = places
      subscribe.window = places.visible
    }
    modifySubscription { $0.move = .idle }
  }
}
