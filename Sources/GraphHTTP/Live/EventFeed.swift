// Tests: LiveFeedTests.swift, CombinedFeedTests.swift
import GraphModel
import GraphWire

/// The state of a stream of events, without I/O: it receives the messages of a session and returns server-sent events.
protocol EventFeed {
  /// - Parameter nextRequest: the number that the session gives to the next message.
  mutating func receive(_ message: ToClient, nextRequest: UInt64) -> [FeedAction]

  /// Ends the stream, because it has timed out or its session has ended.
  mutating func stop() -> [FeedAction]
}

/// An action of a stream. The handler performs several actions in their order.
enum FeedAction: Hashable {
  /// Send a message to the session.
  case send(ToServer.Body)
  /// Begin the answer; events follow.
  case begin
  /// Write a part of an event or whole events. When they have been written, request the next chunk of the request
  /// `more`.
  case write([UInt8], more: UInt64? = nil)
  /// Answer with a problem instead of events.
  case refuse(Refusal, isLogin: Bool)
  /// Complete the answer.
  case finish
  /// Break the connection, because the last event is incomplete.
  case abort
}

/// The number of events after which a stream ends. Heartbeats do not count.
struct EventLimit {
  /// The events that may follow; nil for any number.
  private var remaining: Int64?

  init(_ limit: Int64?) {
    if let limit { precondition(limit > 0, "a stream has at least one event") }
    remaining = limit
  }

  /// Counts an event.
  /// - Returns: whether it is the last one.
  mutating func count() -> Bool {
    guard let left = remaining else { return false }
    assert(left > 0, "a stream ends with its last event")
    remaining = left - 1
    return left == 1
  }
}

/// Formats server-sent events.
enum EventText {
  /// - Parameter id: nil if the client's state is incomplete after the event.
  static func event(_ name: String, _ json: JSON, id: EventID?) -> [UInt8] {
    var bytes = Array("event: \(name)\ndata: ".utf8)
    json.write(to: &bytes)
    if let id { bytes += "\nid: \(id)".utf8 }
    return bytes + "\n\n".utf8
  }

  static func end(_ refusal: Refusal) -> [UInt8] {
    let json = JSON.object([
      .init("code", .string(refusal.code.rawValue)), .init("message", .string(refusal.message)),
    ])
    return event("end", json, id: nil)
  }

  /// The objects that a snapshot lacks because they are damaged; nil for none.
  static func damaged(_ damage: DamageNotice) -> JSON.Member? {
    if damage.objects.isEmpty { return nil }
    return .init("damaged", .array(damage.objects.sorted().map { .string($0.description) }))
  }

  /// The reason why a stream begins with a snapshot although its `Last-Event-ID` is of the same queries.
  /// - Parameter isKnown: whether the store has the state of the event.
  static func reloadReason(isKnown: Bool) -> String {
    isKnown
      ? "the effect of the commits since the event on this query is not known"
      : "the store does not have the state of the event: it was restored, or its history was pruned"
  }
}
