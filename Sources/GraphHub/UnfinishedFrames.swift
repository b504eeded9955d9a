// Tests: IncompleteFrameTests.swift
import GraphModel

/// The incomplete frames of all sessions: the time for one frame and the bytes of all of them are bounded.
struct UnfinishedFrames {
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

  private let limits: HubLimits
  private var frames: UnfinishedInputs<SessionID, Sender>

  init(limits: HubLimits) {
    self.limits = limits
    frames = UnfinishedInputs(limit: limits.unfinishedBytes, guaranteed: limits.guaranteedBacklog)
  }

  /// Records how much of a session's next frame has arrived; 0 if there is no incomplete frame.
  mutating func receive(_ count: Int, of session: Session, at now: Int64) {
    frames.receive(count, of: session.id, from: Sender(session), at: now)
  }

  /// Discards the record of an incomplete frame that is now complete or whose session has ended.
  mutating func discard(of session: Session) { frames.discard(session.id) }

  /// Restarts the time of a frame that its session could not complete while it was paused.
  mutating func restart(of session: Session, at now: Int64) { frames.restart(session.id, at: now) }

  // MARK: - Limits

  /// The session to end next because the frames exceed their memory; nil if they do not.
  var sessionToEnd: SessionID? { frames.inputToEnd }

  var memoryRefusal: Refusal {
    Refusal(
      .unavailable,
      "the server holds more than \(limits.unfinishedBytes >> 20) MiB of incomplete messages, and this one is the "
        + "oldest: connect again later, and send each message without a pause")
  }

  /// The sessions with an incomplete frame, in order.
  var sessions: [SessionID] { frames.ids.sorted() }

  /// The refusal of a session whose frame has been incomplete for too long; nil for other sessions.
  func overdueRefusal(of session: Session, at now: Int64) -> Refusal? {
    guard let part = frames.part(of: session.id), !session.isPaused, now - part.since > limits.frameMilliseconds else {
      return nil
    }
    return Refusal(
      .unavailable,
      "a message was not complete within \(limits.frameMilliseconds / 1_000) s; \(part.bytes) bytes of it arrived")
  }
}
