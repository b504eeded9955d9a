// Tests: HubTests.swift
import GraphModel
import GraphWire

/// Sends frames to sessions, and counts the bytes that their sockets have not written yet.
///
/// A session whose backlog is full receives no deltas, and its messages are not read until the backlog is small again.
struct SessionSender {
  private let limits: HubLimits
  /// Bytes sent to all sessions and not yet written to their sockets.
  private var backlog = 0

  init(limits: HubLimits) { self.limits = limits }

  mutating func send(_ message: ToClient, to session: Session, _ actions: inout [HubAction]) {
    sendFrame(Frame.encode(session.lens?.downgraded(message) ?? message), to: session, &actions)
  }

  mutating func sendFrame(_ frame: [UInt8], to session: Session, _ actions: inout [HubAction]) {
    count(frame.count, for: session)
    actions.append(.send(frame, to: session.id))
    // A client that does not read its answers may not send further requests.
    if session.backlog > limits.sessionBacklog { pause(session, &actions) }
  }

  /// Answers a request with a refusal.
  mutating func refuse(_ request: UInt64, _ refusal: Refusal, _ session: Session, _ actions: inout [HubAction]) {
    let shown = session.rights == nil ? refusal : refusal.withoutPaths
    send(ToClient(request, .refused(shown)), to: session, &actions)
    if refusal.code == .notAllowed, let user = session.user {
      let event = AuditEvent(.refusal, principal: user.id, token: session.token, reason: refusal.message)
      actions.append(.audit(event, session: session.id))
    }
  }

  /// Stops reading from a session until its backlog and its commits are below their limits.
  func pause(_ session: Session, _ actions: inout [HubAction]) {
    if session.isPaused { return }
    session.isPaused = true
    actions.append(.pauseReading(session.id))
  }

  // MARK: - The backlog

  /// Counts bytes that an action sends to a session.
  mutating func count(_ bytes: Int, for session: Session) {
    session.backlog += bytes
    backlog += bytes
  }

  /// Counts bytes that a session's socket has written.
  mutating func drain(_ bytes: Int, of session: Session) {
    let drained = min(bytes, session.backlog)
    session.backlog -= drained
    backlog -= drained
  }

  /// Forgets the backlog of a session whose connection has closed.
  mutating func remove(_ session: Session) {
    backlog -= session.backlog
    assert(backlog >= 0, "a session has its share of the total")
  }

  /// Whether this number of bytes fits into the session's backlog.
  func fits(_ bytes: Int, for session: Session) -> Bool {
    if session.backlog + bytes > limits.sessionBacklog { return false }
    if session.backlog + bytes <= limits.guaranteedBacklog { return true }
    return backlog + bytes <= limits.totalBacklog && session.user?.fits(bytes) != false
  }

  /// Whether a session that catches up, and for which this number of bytes is collected, can receive another commit.
  func hasSpace(after bytes: Int, for session: Session) -> Bool {
    if session.backlog + bytes >= limits.sessionBacklog / 2 { return false }
    if session.backlog + bytes < limits.guaranteedBacklog { return true }
    return backlog + bytes < limits.totalBacklog && session.user?.fits(bytes) != false
  }

  /// Whether the backlog is so small that the session receives more.
  func isDrained(_ session: Session) -> Bool { session.backlog <= limits.resumeBacklog }
}
