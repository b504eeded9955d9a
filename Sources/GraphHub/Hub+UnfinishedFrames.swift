import GraphModel

/// Frames of which a part is here and the rest is not: a client that announces a large message and never sends the end of
/// it holds memory of the server. The time of one frame and the bytes of all of them are bounded.
extension Hub {
  /// The part of a session's next frame that is here.
  struct UnfinishedFrame {
    var bytes: Int
    /// When its first byte came, or when the server last began to read from the session again.
    var since: Int64
  }

  mutating func receivePart(_ bytes: Int, of id: SessionID, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    let since = session.unfinished?.since ?? now
    forgetPart(of: session)
    guard bytes > 0 else { return }
    session.unfinished = UnfinishedFrame(bytes: bytes, since: since)
    unfinishedBytes += bytes
    limitUnfinished(&actions)
  }

  /// The frame is complete, or its session has ended.
  mutating func forgetPart(of session: Session) {
    unfinishedBytes -= session.unfinished?.bytes ?? 0
    session.unfinished = nil
  }

  /// The frames that began first go first: a client that sends on as fast as it can is the last one to be refused. Small
  /// parts stay, for every connection has one now and then.
  private mutating func limitUnfinished(_ actions: inout [HubAction]) {
    guard unfinishedBytes > limits.unfinishedBytes else { return }
    let candidates = sessions.compactMap { id, session in
      session.unfinished.flatMap { $0.bytes > limits.fairShare ? (since: $0.since, id: id) : nil }
    }
    for (_, id) in candidates.sorted(by: { ($0.since, $0.id) < ($1.since, $1.id) })
    where unfinishedBytes > limits.unfinishedBytes {
      let reason =
        "the server holds more than \(limits.unfinishedBytes >> 20) MiB of incomplete messages, and this one began first: "
        + "connect again later, and send each message without a pause"
      end(id, Refusal(.unavailable, reason), &actions)
    }
  }

  /// Ends sessions whose frame is incomplete for too long.
  mutating func endOverdueFrames(_ actions: inout [HubAction]) {
    guard unfinishedBytes > 0 else { return }
    for (id, session) in sessions.sorted(by: { $0.key < $1.key }) {
      guard let part = session.unfinished, !session.isPaused, now - part.since > limits.frameMilliseconds else {
        continue
      }
      let reason =
        "a message was not complete within \(limits.frameMilliseconds / 1_000) s; \(part.bytes) bytes of it came"
      end(id, Refusal(.unavailable, reason), &actions)
    }
  }
}
