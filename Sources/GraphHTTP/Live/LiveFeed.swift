// Tests: LiveFeedTests.swift
import GraphJSON
import GraphModel
import GraphWire

/// The stream of one live query.
///
/// It begins with a snapshot, or resumes after the event that the client names. Then each commit that changes the
/// result is one event, whose `id` is the token to resume from. A snapshot is written while it arrives, so that a large
/// one needs the memory of one chunk. A client that loses the connection in a snapshot has no complete event and starts
/// again.
struct LiveFeed: EventFeed {
  private enum Phase {
    case greeting
    /// The answer has not begun. `reason` says why the stream can't resume after the client's `Last-Event-ID`.
    case subscribing(reason: String?)
    /// `isFirst`: no object of the snapshot was written yet.
    case snapshot(isFirst: Bool, reason: String?)
    case live
    /// The query was reset: a snapshot follows.
    case reset(reason: String)
    case ended
  }

  private let model: Model
  private var query: Subscribe
  private let lastEventID: String?
  private var remaining: EventLimit
  private var phase = Phase.greeting
  private var welcome: Welcome?
  private var store = UniqueID.zero
  private var hash: UInt64 = 0

  /// - Parameters:
  ///   - lastEventID: the id of the last event that the client has; nil for a new client.
  ///   - limit: the number of events after which the stream ends, without heartbeats.
  init(_ query: Subscribe, lastEventID: String?, limit: Int64?, model: Model) {
    precondition(query.wholeObjects, "events have whole objects")
    (self.query, self.lastEventID, self.model, remaining) = (query, lastEventID, model, EventLimit(limit))
  }

  /// Whether the stream has ended.
  var hasEnded: Bool { if case .ended = phase { true } else { false } }

  mutating func receive(_ message: ToClient, nextRequest: UInt64 = 0) -> [FeedAction] {
    if hasEnded { return [] }
    switch message.body {
    case .welcome(let welcome): return subscribe(welcome)
    case .subscribed(_, let resumed, let known): return subscribed(resumed: resumed, known: known)
    case .chunk(let chunk): return chunkArrived(chunk, of: message.request)
    case .delta(let delta): return commit(delta)
    case .reset(_, let reason):
      if case .snapshot = phase { return end(.abort) }
      phase = .reset(reason: reason)
      return []
    case .rights(let grants):
      // If the session now sees other objects, the server resets the query, and a snapshot follows.
      if var welcome, let role = grants.compactMap({ Role(rawValue: $0.role) }).max() {
        welcome.role = role.rawValue
        (self.welcome, hash) = (welcome, EventID.hash(of: [query], welcome))
      }
      return []
    case .pong(let token): return [.write(heartbeat(token))]
    case .refused(let refusal): return refused(refusal)
    case .close(let code, let message):
      let known = Refusal.Code(rawValue: code)
      return refused(Refusal(known ?? .unavailable, message))
    // With one query, each delta is the complete change of its revision.
    case .advance: return []
    default: return []
    }
  }

  /// Ends the stream, because it has timed out or its session has ended.
  mutating func stop() -> [FeedAction] {
    switch phase {
    case .ended: []
    case .greeting, .subscribing: refused(Refusal(.unavailable, "the server is shutting down"))
    case .snapshot: end(.abort)
    case .live, .reset: end(.finish)
    }
  }

  // MARK: - The first result

  private mutating func subscribe(_ welcome: Welcome) -> [FeedAction] {
    self.welcome = welcome
    (store, hash) = (welcome.head.store, EventID.hash(of: [query], welcome))
    let start = EventID.start(lastEventID, store: store, hash: hash)
    query.since = start.since
    phase = .subscribing(reason: start.reason)
    return [.send(.subscribe(query))]
  }

  private mutating func subscribed(resumed: Bool, known: Bool) -> [FeedAction] {
    switch phase {
    case .subscribing(var reason):
      if resumed, let since = query.since {
        phase = .live
        let start = JSON.object([
          .init("revision", .integer(since.revision)), .init("since", .integer(since.revision)),
        ])
        return [.begin] + count([.write(event("resumed", start, since))])
      }
      if query.since != nil { reason = EventText.reloadReason(isKnown: known) }
      phase = .snapshot(isFirst: true, reason: reason)
      return [.begin, .write(Self.snapshotStart)]
    case .reset(let reason):
      phase = .snapshot(isFirst: true, reason: reason)
      return [.write(Self.snapshotStart)]
    case .greeting, .snapshot, .live, .ended: return end(.abort)
    }
  }

  private static let snapshotStart = Array("event: snapshot\ndata: {\"snapshot\":[".utf8)

  private mutating func chunkArrived(_ chunk: Chunk, of request: UInt64) -> [FeedAction] {
    guard case .snapshot(var isFirst, let reason) = phase else { return end(.abort) }
    var bytes = [UInt8]()
    for image in chunk.objects {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      ObjectJSON.object(image, model).write(to: &bytes)
    }
    guard let end = chunk.end else {
      phase = .snapshot(isFirst: isFirst, reason: reason)
      return [.write(bytes, more: request)]
    }
    bytes += "],\"revision\":\(end.at.revision)".utf8
    if let reason { bytes += ",\"reset\":true,\"reason\":\(JSON.string(reason).text)".utf8 }
    if let damaged = EventText.damaged(chunk.damage) { bytes += ",\"damaged\":\(damaged.value.text)".utf8 }
    bytes += "}\nid: \(EventID(end.at, hash: hash))\n\n".utf8
    phase = .live
    return count([.write(bytes)])
  }

  // MARK: - Commits

  private mutating func commit(_ delta: Delta) -> [FeedAction] {
    guard case .live = phase else {
      // Deltas before a reset belong to the result that the snapshot replaces.
      if case .reset = phase { return [] }
      return end(.abort)
    }
    let json = ObjectJSON.commit(
      revision: delta.revision, author: delta.author, time: delta.time, delta.changes, model)
    let token = Token(store: store, revision: delta.revision, fingerprint: delta.fingerprint)
    return count([.write(event("commit", json, token))])
  }

  /// A heartbeat is an event, because EventSource does not pass comments to a page. It also advances the id when
  /// commits do not concern the query.
  private func heartbeat(_ token: Token) -> [UInt8] {
    guard case .live = phase else { return [] }
    guard token.revision > 0 else { return event("heartbeat", .object([]), nil) }
    return event("heartbeat", .object([.init("revision", .integer(token.revision))]), token)
  }

  private func event(_ name: String, _ json: JSON, _ token: Token?) -> [UInt8] {
    EventText.event(name, json, id: token.map { EventID($0, hash: hash) })
  }

  // MARK: - The end

  /// Counts an event, and ends the stream after the last one.
  private mutating func count(_ actions: [FeedAction]) -> [FeedAction] {
    remaining.count() ? actions + end(.finish) : actions
  }

  private mutating func refused(_ refusal: Refusal) -> [FeedAction] {
    switch phase {
    case .greeting: return end(.refuse(refusal, isLogin: true))
    case .subscribing: return end(.refuse(refusal, isLogin: false))
    case .snapshot: return end(.abort)
    case .live, .reset:
      return [.write(EventText.end(refusal))] + end(.finish)
    case .ended: return []
    }
  }

  private mutating func end(_ action: FeedAction) -> [FeedAction] {
    phase = .ended
    return [action]
  }
}
