import GraphModel

/// Limits on incomplete frames. A client that announces a large message and never completes it occupies server
/// memory, so the time for one frame and the bytes of all of them are bounded.
extension Hub {
  /// The received part of a session's next frame.
  struct UnfinishedFrame {
    var bytes: Int
    /// When its first byte arrived, or when the server last resumed reading from the session.
    var since: Int64
  }

  mutating func receivePart(_ bytes: Int, of session: Session, _ actions: inout [HubAction]) {
    let since = session.unfinished?.since ?? now
    discardPart(of: session)
    guard bytes > 0 else { return }
    session.unfinished = UnfinishedFrame(bytes: bytes, since: since)
    unfinishedBytes += bytes
    limitUnfinished(&actions)
  }

  /// Discards the record of an incomplete frame that is now complete or whose session has ended.
  mutating func discardPart(of session: Session) {
    guard let part = session.unfinished else { return }
    session.unfinished = nil
    unfinishedBytes -= part.bytes
    assert(unfinishedBytes >= 0, "the total counts each incomplete frame once")
  }

  /// Ends the sessions with the oldest incomplete frames first, so that a client that sends at full speed is ended
  /// last.
  ///
  /// Small parts are exempt, because every connection has one now and then.
  private mutating func limitUnfinished(_ actions: inout [HubAction]) {
    guard unfinishedBytes > limits.unfinishedBytes else { return }
    let candidates = sessions.values.compactMap { session in
      session.unfinished.flatMap { $0.bytes > limits.guaranteedBacklog ? (since: $0.since, session: session) : nil }
    }
    for (_, session) in candidates.sorted(by: { ($0.since, $0.session.id) < ($1.since, $1.session.id) })
    where unfinishedBytes > limits.unfinishedBytes {
      let reason =
        "the server holds more than \(limits.unfinishedBytes >> 20) MiB of incomplete messages, and this one is the "
        + "oldest: connect again later, and send each message without a pause"
      end(session, Refusal(.unavailable, reason), &actions)
    }
  }

  /// Ends sessions whose frame has been incomplete for too long.
  mutating func endOverdueFrames(_ actions: inout [HubAction]) {
    guard unfinishedBytes > 0 else { return }
    for session in sessions.values.inOrder() {
      guard let part = session.unfinished, !session.isPaused, now - part.since > limits.frameMilliseconds else {
        continue
      }
      let reason =
        "a message was not complete within \(limits.frameMilliseconds / 1_000) s; \(part.bytes) bytes of it arrived"
      end(session, Refusal(.unavailable, reason), &actions)
    }
  }
}
