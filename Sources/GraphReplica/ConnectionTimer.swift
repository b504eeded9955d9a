// Tests: TimeLimitTests.swift, UnresponsiveServerTests.swift

/// The times of a connection, in milliseconds of a monotonic clock. It says when to ping, when the server is silent,
/// and when the connection counts as lost.
///
/// An idle client sleeps between heartbeats: more frequent ticks are not needed.
struct ConnectionTimer {
  /// The phase of the connection, which decides how long the server may be silent.
  enum Phase {
    case disconnected
    case handshaking
    case welcomed
  }

  /// Whether the server owes an answer, and since when.
  private enum AwaitedReply {
    /// No request was sent since the server's last message.
    case nothing
    /// A request was sent since the last tick; the next tick records the time.
    case sinceNextTick
    /// A request was sent at this time.
    case since(Int64)
  }

  /// The time of the last tick; 0 before the first.
  private var now: Int64 = 0
  private var lastReceived: Int64 = 0
  /// The time at which the last request was sent that the server answers; it does not answer other messages.
  private var lastRequested: Int64 = 0
  private var heartbeat: Int64 = 15_000
  private var awaited = AwaitedReply.nothing
  /// Whether the owner was notified of a long silence.
  private(set) var isSilent = false

  /// The time within which a server must answer a hello.
  private static let welcomeMilliseconds: Int64 = 10_000

  // MARK: - Deadlines

  /// The time at which the next tick is due; nil without a connection.
  func deadline(in phase: Phase) -> Int64? {
    guard let due = due(in: phase) else { return nil }
    if case .sinceNextTick = awaited { return now }
    return due
  }

  /// The next ping or timeout, apart from requests since the last tick.
  private func due(in phase: Phase) -> Int64? {
    switch phase {
    case .disconnected: return nil
    case .handshaking: return lastReceived + patience(in: phase)
    case .welcomed:
      let due = min(lastRequested + heartbeat, lastReceived + patience(in: phase))
      guard case .since(let time) = awaited, !isSilent else { return due }
      return min(due, time + Replica.silenceMilliseconds)
    }
  }

  /// The milliseconds without a message after which the connection counts as lost.
  func patience(in phase: Phase) -> Int64 {
    switch phase {
    case .handshaking: Self.welcomeMilliseconds
    case .disconnected, .welcomed: 3 * heartbeat
    }
  }

  // MARK: - Ticks

  /// Sets the clock.
  mutating func advance(to milliseconds: Int64, in phase: Phase) {
    if now == 0 {
      // The first tick only sets the clock.
      (lastReceived, lastRequested) = (milliseconds, milliseconds)
    } else if let due = due(in: phase), milliseconds - due > heartbeat {
      // A tick this late means that the process was suspended and could not receive. The server was not silent then.
      lastReceived += milliseconds - now
      if case .since(let time) = awaited { awaited = .since(time + milliseconds - now) }
    }
    now = milliseconds
  }

  /// Whether the server has been silent for so long that the connection counts as lost.
  func isLost(in phase: Phase) -> Bool { now - lastReceived >= patience(in: phase) }

  /// Whether a ping is due.
  var isPingDue: Bool { now - lastRequested >= heartbeat }

  /// Records a long silence.
  /// - Returns: true if a silence has begun; the caller then notifies the owner.
  mutating func beginSilence() -> Bool {
    guard !isSilent, case .since(let time) = awaited, now - time >= Replica.silenceMilliseconds else { return false }
    isSilent = true
    return true
  }

  /// Records the time of the requests since the last tick.
  mutating func finishTick() {
    if case .sinceNextTick = awaited { (awaited, lastRequested) = (.since(now), now) }
  }

  // MARK: - Messages

  /// Starts to wait for the welcome of a new connection.
  mutating func startHandshake() { lastReceived = now }

  /// Sets the heartbeat that a server asks for, within limits.
  mutating func setHeartbeat(milliseconds: UInt64) {
    heartbeat = Int64(clamping: min(max(milliseconds, 100), 600_000))
  }

  /// Records that a request was sent that the server answers.
  mutating func recordRequest() {
    if case .nothing = awaited { awaited = .sinceNextTick }
    lastRequested = now
  }

  /// Records that a message was received.
  /// - Returns: whether it ends a silence.
  mutating func recordMessage() -> Bool {
    lastReceived = now
    return endSilence()
  }

  /// Ends a silence, because a message arrived or the connection ended.
  /// - Returns: true if there was one; the caller then notifies the owner of its end.
  mutating func endSilence() -> Bool {
    awaited = .nothing
    defer { isSilent = false }
    return isSilent
  }
}
