// Tests: CombinedFeedTests.swift
import GraphJSON
import GraphModel
import GraphWire

/// The stream of several live queries, whose changes of a commit arrive together.
///
/// The feed turns each message into an event immediately and buffers no results: chunks of several first results can
/// alternate. While all queries are complete, the deltas of a commit are staged until the advance that ends the commit,
/// which is in the same frame; they become one event with an `id`. From a query's first result or reset to the advance
/// that covers the result, events have no `id`, and the changes of a commit can be spread over several events. A client
/// that loses the connection in this time receives the events since the last `id` again. Events contain whole objects,
/// so applying one twice changes nothing.
struct CombinedFeed: EventFeed {
  private enum Phase {
    case greeting
    /// The answer has not begun, because the server has not answered every subscription. If it refuses one, the answer
    /// is a problem instead of events; until then, messages that have arrived are kept here.
    case subscribing([ToClient])
    case following
    case ended
  }

  private enum Progress {
    /// The server has not answered the subscription, or has reset the query.
    case requested
    /// `isFirst`: no part of the snapshot was written yet.
    case loading(isFirst: Bool)
    /// The result of a revision is complete; the next advance at or past it covers the result.
    case loaded(Revision)
    /// All changes up to the last advance were written.
    case current
  }

  private struct Followed {
    var query: Subscribe
    var request: UInt64 = 0
    var progress = Progress.requested
    /// The reason why the next snapshot replaces the client's result; nil if the client has no result.
    var reason: String?
  }

  private let model: Model
  private let lastEventID: String?
  private var remaining: EventLimit
  private var phase = Phase.greeting
  private var followed: [Followed]
  /// The server's numbers of the queries.
  private var indices = [UInt64: Int]()
  /// The deltas of the current commit, until the advance that ends it.
  private var staged = [(index: Int, delta: Delta)]()
  private var store = UniqueID.zero
  private var hash: UInt64 = 0
  private var welcome: Welcome?

  /// - Parameters:
  ///   - lastEventID: the id of the last event that the client has; nil for a new client.
  ///   - limit: the number of events after which the stream ends, without heartbeats.
  init(_ queries: [Subscribe], lastEventID: String?, limit: Int64?, model: Model) {
    precondition(queries.count > 1, "one query has a stream of another form")
    precondition(queries.allSatisfy(\.wholeObjects), "events have whole objects")
    followed = queries.map { Followed(query: $0) }
    (self.lastEventID, self.model, remaining) = (lastEventID, model, EventLimit(limit))
  }

  private var isComplete: Bool {
    followed.allSatisfy { if case .current = $0.progress { true } else { false } }
  }

  mutating func receive(_ message: ToClient, nextRequest: UInt64) -> [FeedAction] {
    if case .ended = phase { return [] }
    switch message.body {
    case .welcome(let welcome): return subscribe(welcome, nextRequest)
    case .refused(let refusal): return refused(refusal)
    case .close(let code, let message):
      let known = Refusal.Code(rawValue: code)
      return refused(Refusal(known ?? .unavailable, message))
    default: break
    }
    if case .subscribing(let early) = phase { return begin(early + [message]) }
    return follow(message)
  }

  /// Begins the answer if these messages answer every subscription.
  private mutating func begin(_ early: [ToClient]) -> [FeedAction] {
    let answers = early.count { if case .subscribed = $0.body { true } else { false } }
    guard answers >= followed.count else {
      phase = .subscribing(early)
      return []
    }
    phase = .following
    return [.begin] + early.flatMap { follow($0) }
  }

  private mutating func follow(_ message: ToClient) -> [FeedAction] {
    if case .ended = phase { return [] }
    switch message.body {
    case .subscribed(let number, let resumed, let known):
      return subscribed(number, message.request, resumed: resumed, known: known)
    case .chunk(let chunk): return chunkArrived(chunk, of: message.request)
    case .rights(let grants): return rightsChanged(grants)
    case .delta(let delta): return deltaArrived(delta)
    case .advance(let revision, let fingerprint):
      return advance(to: Token(store: store, revision: revision, fingerprint: fingerprint))
    case .reset(let number, let reason): return reset(number, reason)
    case .pong(let token): return heartbeat(token)
    default: return []
    }
  }

  mutating func stop() -> [FeedAction] {
    switch phase {
    case .ended: []
    case .greeting, .subscribing: refused(Refusal(.unavailable, "the server is shutting down"))
    case .following: end(.finish)
    }
  }

  // MARK: - First results

  private mutating func subscribe(_ welcome: Welcome, _ nextRequest: UInt64) -> [FeedAction] {
    self.welcome = welcome
    (store, hash) = (welcome.head.store, EventID.hash(of: followed.map(\.query), welcome))
    let start = EventID.start(lastEventID, store: store, hash: hash)
    for index in followed.indices {
      followed[index].query.since = start.since
      followed[index].reason = start.reason
      followed[index].request = nextRequest + UInt64(index)
    }
    phase = .subscribing([])
    return followed.map { .send(.subscribe($0.query)) }
  }

  private mutating func subscribed(
    _ number: UInt64, _ request: UInt64, resumed: Bool, known: Bool
  ) -> [FeedAction] {
    guard let index = followed.firstIndex(where: { $0.request == request }) else { return end(.abort) }
    let isAnswer = indices.updateValue(index, forKey: number) == nil
    if isAnswer, let since = followed[index].query.since {
      if resumed {
        followed[index].progress = .loaded(since.revision)
        let json = JSON.object([
          .init("query", .integer(Int64(index))), .init("revision", .integer(since.revision)),
          .init("since", .integer(since.revision)),
        ])
        return events([EventText.event("resumed", json, id: nil)])
      }
      followed[index].reason = EventText.reloadReason(isKnown: known)
    }
    followed[index].progress = .loading(isFirst: true)
    return []
  }

  private mutating func chunkArrived(_ chunk: Chunk, of request: UInt64) -> [FeedAction] {
    guard let index = followed.firstIndex(where: { $0.request == request }),
      case .loading(let isFirst) = followed[index].progress
    else { return end(.abort) }
    var members = [
      JSON.Member("query", .integer(Int64(index))),
      .init("snapshot", .array(chunk.objects.map { ObjectJSON.object($0, model) })),
    ]
    if isFirst, let reason = followed[index].reason {
      members += [.init("reset", .bool(true)), .init("reason", .string(reason))]
    }
    if let end = chunk.end {
      members.append(.init("revision", .integer(end.at.revision)))
      if let damaged = EventText.damaged(chunk.damage) { members.append(damaged) }
      followed[index].progress = .loaded(end.at.revision)
      followed[index].reason = nil
    } else {
      members.append(.init("more", .bool(true)))
      followed[index].progress = .loading(isFirst: false)
    }
    return events([EventText.event("snapshot", .object(members), id: nil)], more: chunk.end == nil ? request : nil)
  }

  private mutating func reset(_ number: UInt64, _ reason: String) -> [FeedAction] {
    guard let index = indices[number] else { return end(.abort) }
    followed[index].progress = .requested
    followed[index].reason = reason
    // The server may give the query a new number now. Without `since`, `subscribed` does not take the message for the
    // answer to the client's subscription.
    followed[index].query.since = nil
    return commits(id: nil)
  }

  /// The ids of later events are computed with the new rights. If the session now sees other objects, the server resets
  /// the queries, and snapshots follow.
  private mutating func rightsChanged(_ grants: [Welcome.GrantEntry]) -> [FeedAction] {
    guard var welcome, let role = grants.compactMap({ Role(rawValue: $0.role) }).max() else { return [] }
    welcome.role = role.rawValue
    (self.welcome, hash) = (welcome, EventID.hash(of: followed.map(\.query), welcome))
    return []
  }

  // MARK: - Commits

  private mutating func deltaArrived(_ delta: Delta) -> [FeedAction] {
    guard let index = indices[delta.query] else { return end(.abort) }
    switch followed[index].progress {
    case .requested, .loading: return end(.abort)
    case .loaded, .current: break
    }
    staged.append((index, delta))
    return isComplete ? [] : commits(id: nil)
  }

  /// The advance completes every query that is loaded up to its revision.
  private mutating func advance(to token: Token) -> [FeedAction] {
    let wasComplete = isComplete
    for index in followed.indices {
      if case .loaded(let revision) = followed[index].progress, revision <= token.revision {
        followed[index].progress = .current
      }
    }
    guard isComplete else { return commits(id: nil) }
    let id = EventID(token, hash: hash)
    if wasComplete { return commits(id: id) }
    let complete = EventText.event("complete", .object([.init("revision", .integer(token.revision))]), id: id)
    return commits(id: nil) + events([complete])
  }

  /// The staged deltas as events, one for each commit.
  /// - Parameter id: the id of the last event.
  private mutating func commits(id: EventID?) -> [FeedAction] {
    let deltas = staged
    staged = []
    let revisions = Set(deltas.map(\.delta.revision)).sorted()
    return events(
      revisions.map { revision in
        let parts = deltas.filter { $0.delta.revision == revision }
        return EventText.event("commit", json(parts), id: revision == revisions.last ? id : nil)
      })
  }

  private func json(_ parts: [(index: Int, delta: Delta)]) -> JSON {
    guard let commit = parts.first?.delta,
      case .object(var members) = ObjectJSON.commit(
        revision: commit.revision, author: commit.author, time: commit.time, [], model),
      let last = members.popLast()
    else { preconditionFailure("a commit is an object of JSON, and has deltas") }
    let changes = parts.flatMap { index, delta in
      delta.changes.map { change -> JSON in
        guard case .object(let members) = ObjectJSON.change(change, model) else {
          preconditionFailure("a change is an object of JSON")
        }
        return .object([.init("query", .integer(Int64(index)))] + members)
      }
    }
    assert(last.name == "changes", "the changes are the last member of a commit")
    return .object(members + [.init("changes", .array(changes))])
  }

  private mutating func heartbeat(_ token: Token) -> [FeedAction] {
    // The token of a session that is behind has no revision.
    guard token.revision > 0 else { return [.write(EventText.event("heartbeat", .object([]), id: nil))] }
    let json = JSON.object([.init("revision", .integer(token.revision))])
    return [.write(EventText.event("heartbeat", json, id: isComplete ? EventID(token, hash: hash) : nil))]
  }

  // MARK: - The end

  /// Writes events, up to the limit of the stream.
  private mutating func events(_ events: [[UInt8]], more: UInt64? = nil) -> [FeedAction] {
    var actions = [FeedAction]()
    for event in events {
      if case .ended = phase { break }
      actions.append(.write(event, more: more))
      if remaining.count() { actions += end(.finish) }
    }
    return actions
  }

  private mutating func refused(_ refusal: Refusal) -> [FeedAction] {
    switch phase {
    case .greeting: end(.refuse(refusal, isLogin: true))
    case .subscribing: end(.refuse(refusal, isLogin: false))
    case .following: [.write(EventText.end(refusal))] + end(.finish)
    case .ended: []
    }
  }

  private mutating func end(_ action: FeedAction) -> [FeedAction] {
    phase = .ended
    return [action]
  }
}
