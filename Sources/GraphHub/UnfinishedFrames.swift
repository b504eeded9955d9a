// Tests: IncompleteFrameTests.swift
import GraphModel

/// The incomplete frames of all sessions.
///
/// A client that announces a large message and never completes it occupies server memory, so the time for one frame
/// and the bytes of all of them are bounded. An entry is removed when its frame is complete or its session ends.
struct UnfinishedFrames {
  /// The received part of a session's next frame.
  private struct Part {
    let session: Session
    let bytes: Int
    /// The time at which its first byte arrived, or at which the server last resumed reading from the session.
    var since: Int64
  }

  private let limits: HubLimits
  private var parts = [SessionID: Part]()
  private var bytes = 0

  init(limits: HubLimits) { self.limits = limits }

  /// Records how much of a session's next frame has arrived; 0 if there is no incomplete frame.
  mutating func receive(_ count: Int, of session: Session, at now: Int64) {
    let since = parts[session.id].map(\.since) ?? now
    discard(of: session)
    if count > 0 {
      parts[session.id] = Part(session: session, bytes: count, since: since)
      bytes += count
    }
  }

  /// Discards the record of an incomplete frame that is now complete or whose session has ended.
  mutating func discard(of session: Session) {
    // Most messages arrive in one piece.
    if parts.isEmpty { return }
    if let part = parts.removeValue(forKey: session.id) { bytes -= part.bytes }
    assert(bytes >= 0 && (bytes == 0) == parts.isEmpty, "the total counts each incomplete frame once")
  }

  /// Restarts the time of a frame that its session could not complete while it was paused.
  mutating func restart(of session: Session, at now: Int64) {
    if let index = parts.index(forKey: session.id) { parts.values[index].since = now }
  }

  // MARK: - Limits

  var exceedMemory: Bool { bytes > limits.unfinishedBytes }

  /// The clients whose frames are counted together.
  private enum Sender: Hashable {
    /// A client that has not been welcomed yet.
    case stranger
    case owner
    case user(String)

    init(_ session: Session) {
      self = if let user = session.user { .user(user.id) } else { session.isLive ? .owner : .stranger }
    }
  }

  /// The sessions to end, in this order, while the frames exceed their memory.
  ///
  /// The frames of the user with the most bytes come first, so that a user's frames do not end the sessions of others.
  /// The oldest frames of a user come first, so that a client that sends at full speed is ended last. Small parts are
  /// exempt, because every connection has one now and then.
  var sessionsToEnd: [Session] {
    let large = parts.values.filter { $0.bytes > limits.guaranteedBacklog }
    let totals = large.reduce(into: [Sender: Int]()) { $0[Sender($1.session), default: 0] += $1.bytes }
    return large.map { (part: $0, total: totals[Sender($0.session), default: 0]) }
      .sorted { ($1.total, $0.part.since, $0.part.session.id) < ($0.total, $1.part.since, $1.part.session.id) }
      .map(\.part.session)
  }

  var memoryRefusal: Refusal {
    Refusal(
      .unavailable,
      "the server holds more than \(limits.unfinishedBytes >> 20) MiB of incomplete messages, and this one is the "
        + "oldest: connect again later, and send each message without a pause")
  }

  /// The sessions with an incomplete frame.
  var sessions: [Session] { parts.values.map(\.session) }

  /// The refusal of a session whose frame has been incomplete for too long; nil for other sessions.
  func overdueRefusal(of session: Session, at now: Int64) -> Refusal? {
    guard let part = parts[session.id], !session.isPaused, now - part.since > limits.frameMilliseconds else {
      return nil
    }
    return Refusal(
      .unavailable,
      "a message was not complete within \(limits.frameMilliseconds / 1_000) s; \(part.bytes) bytes of it arrived")
  }
}
